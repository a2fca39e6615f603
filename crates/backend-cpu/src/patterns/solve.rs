//! P10 solves: the chains of the contract, a system at a time.

use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use crate::{Cpu, threads};
use bytemuck::Pod;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::product::Steps;
use isowarp_core::patterns::solve::{Pivoting, SolveKind, SolveTask};

/// Floats of systems.
trait Real: Pod + Send + Sync + PartialOrd {
    const ZERO: Self;
    const ONE: Self;
    const NAN: Self;
    /// `c - a b`, rounded once.
    fn minus(a: Self, b: Self, c: Self) -> Self;
    fn mul(a: Self, b: Self) -> Self;
    fn div(a: Self, b: Self) -> Self;
    fn root(self) -> Self;
    fn negative(self) -> Self;
    /// Magnitude as an integer, all NaN equal and above infinity.
    fn key(self) -> u64;
    fn is_finite(self) -> bool;
}

macro_rules! real {
    ($($t:ident, $nan:expr;)*) => {$(
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NAN: Self = $nan;
            #[inline(always)]
            fn minus(a: Self, b: Self, c: Self) -> Self {
                (-a).mul_add(b, c)
            }
            fn mul(a: Self, b: Self) -> Self {
                a * b
            }
            fn div(a: Self, b: Self) -> Self {
                a / b
            }
            fn root(self) -> Self {
                self.sqrt()
            }
            fn negative(self) -> Self {
                -self
            }
            fn key(self) -> u64 {
                if self.is_nan() { u64::MAX } else { u64::from(self.abs().to_bits()) }
            }
            fn is_finite(self) -> bool {
                self.is_finite()
            }
        }
    )*};
}
real! {
    f32, Self::from_bits(0x7FC0_0000);
    f64, Self::from_bits(0x7FF8_0000_0000_0000);
}

impl Run<SolveTask> for Cpu {
    fn run(&self, task: &SolveTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        if task.dtype == DType::F64 { systems::<f64>(task, leaves, outs) } else { systems::<f32>(task, leaves, outs) }
    }
}

/// Results of a system: X, factors or a determinant, with the permutation and the status.
struct Solved<T> {
    values: Vec<T>,
    permutation: Vec<u32>,
    status: u32,
}

fn systems<T: Real>(task: &SolveTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
    let SolveTask { kind, n, rights, batch, .. } = *task;
    let values = match kind {
        SolveKind::Solve | SolveKind::Triangular { .. } => n * rights,
        SolveKind::Determinant => 1,
        _ => n * n,
    };
    // Values of a system, then of its permutation and its status.
    let lengths = match kind {
        SolveKind::Lu => vec![values, n, 1],
        SolveKind::Determinant => vec![values],
        _ => vec![values, 1],
    };
    let of = |out: &Out<HostBuffer>, &length: &u64| Pending::new(out.dtype, batch * length);
    let mut pending = outs.iter().zip(&lengths).map(|(out, length)| of(out, length)).collect::<Result<Vec<_>>>()?;
    let operands = Operands::lock(leaves);
    let mut floats = Vec::new();
    for (k, leaf) in leaves.iter().enumerate() {
        let Leaf::Elements { offset, .. } = leaf else {
            return Err(Error::InvalidArgument { what: "solve", reason: "matrices are elements in memory".to_owned() });
        };
        floats.push(&bytemuck::cast_slice::<u64, T>(operands.words(k))[*offset as usize..]);
    }
    let results: Vec<Option<Solved<T>>> = (0..batch).map(|_| None).collect();
    let mut results = results;
    threads::each(results.chunks_mut(1).collect(), &(), |(), p, result| result[0] = Some(system(task, &floats, p as u64)));
    drop(operands);
    for (p, solved) in results.into_iter().flatten().enumerate() {
        for ((at, pending), &length) in pending.iter_mut().enumerate().zip(&lengths) {
            let bytes = pending.bytes();
            let size = bytes.len() / (batch * length).max(1) as usize;
            let part = &mut bytes[p * length as usize * size..][..length as usize * size];
            match at {
                0 => {
                    // Stored NaN is canonical.
                    let values: Vec<T> = solved.values.iter().map(|&v| if v.key() == u64::MAX { T::NAN } else { v }).collect();
                    part.copy_from_slice(bytemuck::cast_slice(&values));
                }
                1 if kind == SolveKind::Lu => part.copy_from_slice(bytemuck::cast_slice(&solved.permutation)),
                _ => part.copy_from_slice(&solved.status.to_ne_bytes()),
            }
        }
    }
    pending.iter_mut().zip(outs).try_for_each(|(pending, out)| pending.write(out))
}

/// A matrix of the batch, row by row.
fn matrix<T: Real>(from: &[T], steps: Steps, p: u64, rows: u64, columns: u64) -> Vec<Vec<T>> {
    let at = |i: u64, j: u64| from[(p * steps.batch + i * steps.row + j * steps.column) as usize];
    (0..rows).map(|i| (0..columns).map(|j| at(i, j)).collect()).collect()
}

fn system<T: Real>(task: &SolveTask, floats: &[&[T]], p: u64) -> Solved<T> {
    let SolveTask { kind, n, rights, pivoting, .. } = *task;
    let mut a = matrix(floats[0], task.a_steps, p, n, n);
    let mut b = match kind {
        SolveKind::Solve | SolveKind::Triangular { .. } => matrix(floats[1], task.b_steps, p, n, rights),
        SolveKind::Inverse => (0..n).map(|i| (0..n).map(|j| if i == j { T::ONE } else { T::ZERO }).collect()).collect(),
        _ => vec![Vec::new(); n as usize],
    };
    let mut permutation: Vec<u32> = (0..n as u32).collect();
    match kind {
        SolveKind::Cholesky => {
            let status = cholesky(&mut a);
            Solved { values: a.concat(), permutation, status }
        }
        SolveKind::Triangular { upper, unit } => {
            let bad = |i: &usize| a[*i][*i].key() == 0 || !a[*i][*i].is_finite();
            let status = if unit { None } else { (0..n as usize).find(bad) }.map_or(0, |i| i as u32 + 1);
            if upper {
                backward(&a, &mut b, unit);
            } else {
                forward(&a, &mut b, unit);
            }
            let mut values = vec![T::NAN; (n * rights) as usize];
            if status == 0 {
                for (i, row) in b.iter().enumerate() {
                    let places = (0..).map(|j: u64| (i as u64 * task.x_steps.row + j * task.x_steps.column) as usize);
                    row.iter().zip(places).for_each(|(&x, to)| values[to] = x);
                }
            }
            Solved { values, permutation, status }
        }
        _ => {
            let (status, determinant) = eliminate(&mut a, &mut b, &mut permutation, pivoting);
            let values = match kind {
                SolveKind::Lu => a.concat(),
                SolveKind::Determinant => vec![determinant],
                _ if status > 0 => vec![T::NAN; b.len() * b[0].len()],
                _ => {
                    forward(&a, &mut b, true);
                    backward(&a, &mut b, false);
                    let mut x = b.clone();
                    if pivoting == Pivoting::Full {
                        permutation.iter().zip(b).for_each(|(&to, row)| x[to as usize] = row);
                    }
                    x.concat()
                }
            };
            Solved { values, permutation, status }
        }
    }
}

/// `to - by from`, element by element.
fn take_off<T: Real>(to: &mut [T], by: T, from: &[T]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has them.
        return unsafe { take_off_with_avx2(to, by, from) };
    }
    each_minus(to, by, from);
}

/// Compiles the same loop for wider registers: fused products and sums are rounded alike on every processor.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn take_off_with_avx2<T: Real>(to: &mut [T], by: T, from: &[T]) {
    each_minus(to, by, from);
}

#[inline(always)]
fn each_minus<T: Real>(to: &mut [T], by: T, from: &[T]) {
    to.iter_mut().zip(from).for_each(|(c, &u)| *c = T::minus(by, u, *c));
}

/// Two rows, of which the first one is above the second.
fn two<T>(rows: &mut [Vec<T>], first: usize, second: usize) -> (&[T], &mut [T]) {
    let (above, below) = rows.split_at_mut(second);
    (&above[first], &mut below[0])
}

/// L and U in place of A, with the rows of B in the order of the pivots. The permutation is that of rows, with full pivoting that of columns. What is returned
/// is the status and the determinant.
fn eliminate<T: Real>(a: &mut [Vec<T>], b: &mut [Vec<T>], permutation: &mut [u32], pivoting: Pivoting) -> (u32, T) {
    let n = a.len();
    let (mut status, mut determinant) = (0, T::ONE);
    for k in 0..n {
        let (mut p, mut q) = (k, k);
        let columns = match pivoting {
            Pivoting::None => k..k,
            Pivoting::Partial => k..k + 1,
            Pivoting::Full => k..n,
        };
        for i in k..n {
            for j in columns.clone() {
                if a[i][j].key() > a[p][q].key() {
                    (p, q) = (i, j);
                }
            }
        }
        a.swap(k, p);
        b.swap(k, p);
        a.iter_mut().for_each(|row| row.swap(k, q));
        permutation.swap(k, if pivoting == Pivoting::Full { q } else { p });
        let pivot = a[k][k];
        if status == 0 {
            for _ in [p, q].iter().filter(|&&place| place != k) {
                determinant = determinant.negative();
            }
            determinant = T::mul(determinant, pivot);
            if pivot.key() == 0 || !pivot.is_finite() {
                status = k as u32 + 1;
                determinant = if pivot.key() == 0 { T::ZERO } else { T::NAN };
            }
        }
        for i in k + 1..n {
            let (above, row) = two(a, k, i);
            if pivot.key() != 0 {
                row[k] = T::div(row[k], pivot);
            }
            let l = row[k];
            take_off(&mut row[k + 1..], l, &above[k + 1..]);
        }
    }
    (status, determinant)
}

/// L in place of A's lower triangle, and zeros above it. What is returned is the status.
fn cholesky<T: Real>(a: &mut [Vec<T>]) -> u32 {
    let n = a.len();
    let mut status = 0;
    for k in 0..n {
        let sound = a[k][k] > T::ZERO && a[k][k].is_finite();
        if status == 0 && !sound {
            status = k as u32 + 1;
        }
        a[k][k] = if sound { a[k][k].root() } else { T::NAN };
        let d = a[k][k];
        a[k][k + 1..].fill(T::ZERO);
        let column: Vec<T> = a[k + 1..].iter().map(|row| T::div(row[k], d)).collect();
        for (i, row) in a[k + 1..].iter_mut().enumerate() {
            row[k] = column[i];
            take_off(&mut row[k + 1..][..=i], column[i], &column[..=i]);
        }
    }
    status
}

/// The lower triangle's solutions in place of B.
fn forward<T: Real>(a: &[Vec<T>], b: &mut [Vec<T>], unit: bool) {
    for (i, of) in a.iter().enumerate() {
        for (k, &l) in of[..i].iter().enumerate() {
            let (x, row) = two(b, k, i);
            take_off(row, l, x);
        }
        if !unit {
            b[i].iter_mut().for_each(|x| *x = T::div(*x, of[i]));
        }
    }
}

/// The upper triangle's solutions in place of B.
fn backward<T: Real>(a: &[Vec<T>], b: &mut [Vec<T>], unit: bool) {
    for (i, of) in a.iter().enumerate().rev() {
        for (k, &u) in of.iter().enumerate().skip(i + 1).rev() {
            let (rows, x) = b.split_at_mut(k);
            take_off(&mut rows[i], u, &x[0]);
        }
        if !unit {
            b[i].iter_mut().for_each(|x| *x = T::div(*x, of[i]));
        }
    }
}
