//! P10 products of matrices: chains of fused multiply-adds in ascending k, blocks added left to right.

use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use crate::{Cpu, threads};
use bytemuck::Pod;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::Ty;
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::{BLOCK, Blocks, Func, Lanes};
use isowarp_core::patterns::product::{FixedRow, Steps};
use isowarp_core::patterns::{ProductOrder, ProductTask};

/// Rows of the product that are computed side by side.
const ROWS: usize = 4;
/// Columns likewise.
const COLUMNS: usize = 32;

/// A type of sums, and how it is computed with.
pub(super) trait Term: Pod + Send + Sync + Default {
    fn fused(a: Self, b: Self, c: Self) -> Self;
    fn add(a: Self, b: Self) -> Self;
    fn of(bits: u64) -> Self;
    fn lanes(values: &[Self]) -> Lanes<'_>;
}

macro_rules! term {
    ($($t:ty: $fused:expr, $add:expr, $of:expr, $lanes:expr;)*) => {$(
        impl Term for $t {
            #[inline(always)]
            fn fused(a: Self, b: Self, c: Self) -> Self {
                ($fused)(a, b, c)
            }
            #[inline(always)]
            fn add(a: Self, b: Self) -> Self {
                ($add)(a, b)
            }
            fn of(bits: u64) -> Self {
                ($of)(bits)
            }
            fn lanes(values: &[Self]) -> Lanes<'_> {
                ($lanes)(bytemuck::cast_slice(values))
            }
        }
    )*};
}
term! {
    f32: f32::mul_add, |a, b| a + b, |bits| f32::from_bits(bits as u32), Lanes::Narrow;
    f64: f64::mul_add, |a, b| a + b, f64::from_bits, Lanes::Wide;
    u32: |a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c), u32::wrapping_add, |bits| bits as u32, Lanes::Narrow;
}

impl Run<ProductTask> for Cpu {
    fn run(&self, task: &ProductTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        match task.ty() {
            Ty::F32 => product::<f32>(task, leaves, outs),
            Ty::F64 => product::<f64>(task, leaves, outs),
            _ => product::<u32>(task, leaves, outs),
        }
    }
}

fn product<T: Term>(task: &ProductTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
    let ProductTask { m, n, k, batch, .. } = *task;
    let [.., extent] = task.extents();
    let mut pending = Pending::of(outs, extent)?;
    // Between elements of the product others stay.
    if extent != batch * m * n {
        pending.iter_mut().zip(outs).try_for_each(|(pending, out)| pending.read(out))?;
    }
    let operands = Operands::lock(leaves);
    let mut finishing = Blocks::new(&task.finish);
    let mut values: [Option<Vec<T>>; 2] = [None, None];
    let mut sums: Vec<T> = host::filled(m * n, T::default())?;
    for p in 0..batch {
        // A matrix that is the same for all products of the batch is looked at once.
        for (known, (func, steps, rows, columns)) in values.iter_mut().zip([(&task.a, task.a_steps, m, k), (&task.b, task.b_steps, k, n)]) {
            if known.is_none() || steps.batch != 0 {
                *known = Some(matrix(&operands, func, (steps, p), (rows, columns))?);
            }
        }
        if let [Some(a), Some(b)] = &values {
            let sizes = [m, n, k].map(|side| side as usize);
            if task.order == ProductOrder::Fixed30 {
                fixed((bytemuck::cast_slice(a), bytemuck::cast_slice(b)), sizes, bytemuck::cast_slice_mut(&mut sums));
            } else {
                let parts = sums.chunks_mut((ROWS as u64 * n.max(1)) as usize).collect();
                threads::each(parts, &(), |(), c, part| rows((a, b), (sizes[1], sizes[2], task.block() as usize), c * ROWS, part));
            }
        }
        for i in 0..m {
            let first = p * task.c_steps.batch + i * task.c_steps.row;
            for j in (0..n).step_by(BLOCK) {
                let of_row = &sums[(i * n + j) as usize..][..BLOCK.min((n - j) as usize)];
                operands.eval_with(&task.finish, &mut finishing, first + j, T::lanes(of_row));
                pending.iter_mut().enumerate().for_each(|(r, out)| out.put(first + j, finishing.result(r)));
            }
        }
    }
    drop(operands);
    pending.iter_mut().zip(outs).try_for_each(|(pending, out)| pending.write(out))
}

/// Elements of a fixed-point product, as the bits of `f32`.
fn fixed((a, b): (&[u32], &[u32]), [m, n, k]: [usize; 3], out: &mut [u32]) {
    let columns: Vec<FixedRow> = (0..n).map(|j| FixedRow::new((0..k).map(|q| f32::from_bits(b[q * n + j])))).collect();
    threads::each(out.chunks_mut(n.max(1)).take(m).collect(), &(), |(), i, of_row| {
        let row = FixedRow::new(a[i * k..][..k].iter().map(|&bits| f32::from_bits(bits)));
        of_row.iter_mut().zip(&columns).for_each(|(out, column)| *out = row.product(column));
    });
}

/// The elements of an operand, row by row.
fn matrix<T: Term>(operands: &Operands<'_>, func: &Func, (steps, p): (Steps, u64), (rows, columns): (u64, u64)) -> Result<Vec<T>> {
    let mut all: Vec<T> = host::filled(rows * columns, T::default())?;
    let parts = all.chunks_mut(columns.max(1) as usize).collect();
    threads::each(parts, &Blocks::new(func), |blocks, i, row| {
        let first = p * steps.batch + i as u64 * steps.row;
        for (at, some) in row.chunks_mut(BLOCK).enumerate() {
            operands.eval(func, blocks, first + (at * BLOCK) as u64 * steps.column, steps.column, some.len());
            let lanes = blocks.result(0);
            some.iter_mut().enumerate().for_each(|(l, value)| *value = T::of(lanes.get(l)));
        }
    });
    Ok(all)
}

/// Some rows of a product, from row `first` of A on.
fn rows<T: Term>(operands: (&[T], &[T]), sizes: (usize, usize, usize), first: usize, out: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has them; every one that has AVX-512 has FMA.
        return unsafe { rows_with_avx512(operands, sizes, first, out) };
    } else if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has them.
        return unsafe { rows_with_avx2(operands, sizes, first, out) };
    }
    some_rows(operands, sizes, first, out);
}

/// Compiles the same loops for wider registers: fused products and sums are rounded alike on every processor.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn rows_with_avx2<T: Term>(operands: (&[T], &[T]), sizes: (usize, usize, usize), first: usize, out: &mut [T]) {
    some_rows(operands, sizes, first, out);
}

/// As [`rows_with_avx2`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn rows_with_avx512<T: Term>(operands: (&[T], &[T]), sizes: (usize, usize, usize), first: usize, out: &mut [T]) {
    some_rows(operands, sizes, first, out);
}

#[inline(always)]
fn some_rows<T: Term>((a, b): (&[T], &[T]), (n, k, block): (usize, usize, usize), first: usize, out: &mut [T]) {
    let count = out.len() / n.max(1);
    for j in (0..n).step_by(COLUMNS) {
        let width = COLUMNS.min(n - j);
        let mut total = [[T::default(); COLUMNS]; ROWS];
        for start in (0..k.max(1)).step_by(block) {
            let mut sum = [[T::default(); COLUMNS]; ROWS];
            for q in start..k.min(start + block) {
                let mut right = [T::default(); COLUMNS];
                right[..width].copy_from_slice(&b[q * n + j..][..width]);
                for (r, sum) in sum.iter_mut().enumerate().take(count) {
                    let left = a[(first + r) * k + q];
                    for c in 0..COLUMNS {
                        sum[c] = T::fused(left, right[c], sum[c]);
                    }
                }
            }
            for (total, sum) in total.iter_mut().zip(&sum) {
                for c in 0..COLUMNS {
                    total[c] = if start == 0 { sum[c] } else { T::add(total[c], sum[c]) };
                }
            }
        }
        for (row, total) in out.chunks_mut(n).zip(&total) {
            row[j..j + width].copy_from_slice(&total[..width]);
        }
    }
}
