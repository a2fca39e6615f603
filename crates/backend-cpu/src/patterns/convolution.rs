//! P12 convolutions of planes: chains of fused multiply-adds over the taps, row by row, blocks added left to right.

use super::product::Term;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use crate::{Cpu, threads};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::Ty;
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::{BLOCK, Blocks, Func};
use isowarp_core::patterns::ConvolutionTask;

impl Run<ConvolutionTask> for Cpu {
    fn run(&self, task: &ConvolutionTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        match task.product.ty() {
            Ty::F32 => convolution::<f32>(task, leaves, outs),
            Ty::F64 => convolution::<f64>(task, leaves, outs),
            _ => convolution::<u32>(task, leaves, outs),
        }
    }
}

fn convolution<T: Term>(task: &ConvolutionTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
    let (product, [y, x], [of_filters, _, results]) = (&task.product, task.axes, task.extents());
    let mut pending = Pending::of(outs, results)?;
    let operands = Operands::lock(leaves);
    let filters = elements::<T>(&operands, &product.a, 0, of_filters)?;
    let mut finishing = Blocks::new(&product.finish);
    let mut sums: Vec<T> = host::filled(y.out * x.out, T::default())?;
    for plane in 0..product.batch {
        let image = elements::<T>(&operands, &product.b, plane * y.n * x.n, y.n * x.n)?;
        let taps = &filters[(plane % task.filters * y.taps * x.taps) as usize..][..(y.taps * x.taps) as usize];
        let rows = sums.chunks_mut(x.out as usize).collect();
        threads::each(rows, &(), |(), row, out| results_of_row(task, (&image, taps), row as u64, out));
        for first in (0..sums.len()).step_by(BLOCK) {
            let (some, at) = (&sums[first..sums.len().min(first + BLOCK)], plane * y.out * x.out + first as u64);
            operands.eval_with(&product.finish, &mut finishing, at, T::lanes(some));
            pending.iter_mut().enumerate().for_each(|(r, out)| out.put(at, finishing.result(r)));
        }
    }
    drop(operands);
    pending.iter_mut().zip(outs).try_for_each(|(pending, out)| pending.write(out))
}

/// Elements of an operand, from an index on.
fn elements<T: Term>(operands: &Operands<'_>, func: &Func, first: u64, count: u64) -> Result<Vec<T>> {
    let mut all: Vec<T> = host::filled(count, T::default())?;
    let parts = all.chunks_mut(BLOCK).collect();
    threads::each(parts, &Blocks::new(func), |blocks, part, some| {
        operands.eval(func, blocks, first + (part * BLOCK) as u64, 1, some.len());
        let lanes = blocks.result(0);
        some.iter_mut().enumerate().for_each(|(l, value)| *value = T::of(lanes.get(l)));
    });
    Ok(all)
}

/// A row of results.
fn results_of_row<T: Term>(task: &ConvolutionTask, operands: (&[T], &[T]), row: u64, out: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has them.
        return unsafe { with_avx2(task, operands, row, out) };
    }
    plainly(task, operands, row, out);
}

/// Compiles the same loops for wider registers: fused products and sums are rounded alike on every processor.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<T: Term>(task: &ConvolutionTask, operands: (&[T], &[T]), row: u64, out: &mut [T]) {
    plainly(task, operands, row, out);
}

#[inline(always)]
fn plainly<T: Term>(task: &ConvolutionTask, (image, taps): (&[T], &[T]), row: u64, out: &mut [T]) {
    let [y, x] = task.axes;
    let columns = x.out + x.taps - 1;
    let places: Vec<Option<i64>> = (0..columns as i64).map(|c| task.border.index(c - x.before, x.n as i64)).collect();
    // The elements that a row of taps reads, sums of a block, and those of the blocks before it.
    let mut line = vec![T::default(); columns as usize];
    let mut sums = vec![T::default(); out.len()];
    let mut terms = 0;
    for ky in 0..y.taps {
        let from = task.border.index((row + ky) as i64 - y.before, y.n as i64).map(|y| &image[y as usize * x.n as usize..][..x.n as usize]);
        for (to, place) in line.iter_mut().zip(&places) {
            *to = from.zip(*place).map_or_else(T::default, |(from, place)| from[place as usize]);
        }
        for kx in 0..x.taps as usize {
            let weight = taps[ky as usize * x.taps as usize + kx];
            for (sum, &element) in sums.iter_mut().zip(&line[kx..]) {
                *sum = T::fused(weight, element, *sum);
            }
            terms += 1;
            if terms % task.product.block() == 0 || terms == y.taps * x.taps {
                let is_first = terms <= task.product.block();
                for (total, sum) in out.iter_mut().zip(&mut sums) {
                    *total = if is_first { *sum } else { T::add(*total, *sum) };
                    *sum = T::default();
                }
            }
        }
    }
}
