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
use isowarp_core::patterns::convolution::WindowAxis;

/// Results of a row that a thread takes at a time.
const PIECE: usize = 1 << 13;

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
    let (product, [z, y, x], [of_filters, of_images, results]) = (&task.product, task.axes, task.extents());
    let mut pending = Pending::of(outs, results)?;
    let operands = Operands::lock(leaves);
    let filters = elements::<T>(&operands, &product.a, 0, of_filters)?;
    let mut finishing = Blocks::new(&product.finish);
    let mut sums: Vec<T> = host::filled(y.out * x.out, T::default())?;
    let of_row = (x.out as usize).div_ceil(PIECE);
    // The channels that a group of filters looks at, of one image.
    let (looks, outs_of, terms) = (task.images * task.groups, task.channels[1], task.terms() as usize);
    for look in 0..looks {
        let image = elements::<T>(&operands, &product.b, look * (of_images / looks), of_images / looks)?;
        for plane in 0..outs_of * z.out {
            let filter = look % task.groups * outs_of + plane / z.out;
            let taps = &filters[filter as usize * terms..][..terms];
            let pieces = sums.chunks_mut(x.out as usize).flat_map(|row| row.chunks_mut(PIECE)).collect();
            threads::each(pieces, &(), |(), piece, out| {
                let at = [plane % z.out, (piece / of_row) as u64, (piece % of_row * PIECE) as u64];
                results_of_row(task, (&image, taps), at, out);
            });
            for first in (0..sums.len()).step_by(BLOCK) {
                let some = &sums[first..sums.len().min(first + BLOCK)];
                let at = (look * outs_of * z.out + plane) * y.out * x.out + first as u64;
                operands.eval_with(&product.finish, &mut finishing, at, T::lanes(some));
                pending.iter_mut().enumerate().for_each(|(r, out)| out.put(at, finishing.result(r)));
            }
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

/// Results of a row, from a column of it on.
fn results_of_row<T: Term>(task: &ConvolutionTask, operands: (&[T], &[T]), at: [u64; 3], out: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has them.
        return unsafe { with_avx2(task, operands, at, out) };
    }
    plainly(task, operands, at, out);
}

/// Compiles the same loops for wider registers: fused products and sums are rounded alike on every processor.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<T: Term>(task: &ConvolutionTask, operands: (&[T], &[T]), at: [u64; 3], out: &mut [T]) {
    plainly(task, operands, at, out);
}

#[inline(always)]
fn plainly<T: Term>(task: &ConvolutionTask, (image, taps): (&[T], &[T]), [plane, row, column]: [u64; 3], out: &mut [T]) {
    let [z, y, x] = task.axes;
    let columns = out.len() as u64 + x.taps - 1;
    let places: Vec<Option<i64>> = (column..column + columns).map(|c| task.border.index(c as i64 - x.before, x.n as i64)).collect();
    // The elements that a row of taps reads, sums of a block, and those of the blocks before it.
    let mut line = vec![T::default(); columns as usize];
    let mut sums = vec![T::default(); out.len()];
    let inside = |o: u64, t: u64, axis: &WindowAxis| task.border.index((o + t) as i64 - axis.before, axis.n as i64);
    for (row_of_taps, weights) in taps.chunks_exact(x.taps as usize).enumerate() {
        let (slice, ky) = (row_of_taps as u64 / y.taps, row_of_taps as u64 % y.taps);
        let at = inside(plane, slice % z.taps, &z).zip(inside(row, ky, &y));
        let from = at.map(|(plane, row)| {
            let first = ((slice / z.taps * z.n + plane as u64) * y.n + row as u64) * x.n;
            &image[first as usize..][..x.n as usize]
        });
        for (to, place) in line.iter_mut().zip(&places) {
            *to = from.zip(*place).map_or_else(T::default, |(from, place)| from[place as usize]);
        }
        for (kx, &weight) in weights.iter().enumerate() {
            for (sum, &element) in sums.iter_mut().zip(&line[kx..]) {
                *sum = T::fused(weight, element, *sum);
            }
            let terms = (row_of_taps * weights.len() + kx + 1) as u64;
            if terms.is_multiple_of(task.product.block()) || terms == taps.len() as u64 {
                let is_first = terms <= task.product.block();
                for (total, sum) in out.iter_mut().zip(&mut sums) {
                    *total = if is_first { *sum } else { T::add(*total, *sum) };
                    *sum = T::default();
                }
            }
        }
    }
}
