//! P26 atomics: tickets, counters that wrap, fixed-point sums; and what floats are combined by where they are scattered to.

use super::{ABOVE_BINDING, FEW, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::Result;
use isowarp::element::{Element, Num};
use isowarp::patterns::moves::IndexScalar;
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (n, targets) in SHAPES {
        c.add(format!("atomics/scatter_sum/f32/{n}->{targets}"), move |d| scattered::<B, f32>(d, Fill::Wide, ScatterOp::Sum, (n, targets)));
    }
    // Another kernel for each form and type: too many to compile in the quick run's minute.
    c.quick(false);
    for (n, targets) in SHAPES {
        for op in [ScatterOp::Sub, ScatterOp::Min, ScatterOp::Max] {
            c.add(format!("atomics/scatter_{}/f32/{n}->{targets}", op.name()), move |d| {
                scattered::<B, f32>(d, Fill::Bits, op, (n, targets))
            });
        }
        for op in [ScatterOp::Min, ScatterOp::Max] {
            c.add(format!("atomics/scatter_{}/f64/{n}->{targets}", op.name()), move |d| {
                scattered::<B, f64>(d, Fill::Bits, op, (n, targets))
            })
            .needs(&[f64::DTYPE, u64::DTYPE]);
        }
    }
    for (op, fill, (n, targets)) in [
        (ScatterOp::Sum, Fill::Bits, (33, 5)),
        (ScatterOp::Sum, Fill::Cancel, (8193, 1)),
        (ScatterOp::Sub, Fill::Bits, (8193, 977)),
        // Rounded in two parts.
        (ScatterOp::Sum, Fill::Wide, (5000, 263_000)),
    ] {
        let name = format!("atomics/scatter_{}/f64/{}/{n}->{targets}", op.name(), fill.name());
        c.add(name, move |d| scattered::<B, f64>(d, fill, op, (n, targets))).bytes(272 * targets).needs(&[f64::DTYPE, u64::DTYPE]);
    }
    for fill in Fill::ALL {
        c.add(format!("atomics/scatter_sum/{}", fill.name()), move |d| scattered::<B, f32>(d, fill, ScatterOp::Sum, (20_011, 1009)));
    }
    indexed::<B, i32>(c);
    indexed::<B, u64>(c);
    tickets(c);
    wrapping(c);
    fixed(c);
    large(c);
}

/// Sources and targets.
const SHAPES: [(u64, u64); 7] = [(0, 7), (1, 1), (33, 5), (8193, 1), (8193, 977), (100_003, 60_000), (5000, 300_000)];

/// Well-mixed indices, some of them outside.
fn indices<B: Target>(d: &B, n: u64, targets: u64) -> Result<Buffer<B, u32>> {
    d.generate(n, (index(), scalar(targets as u32 + 3)), |(i, limit)| {
        let mixed = i * 2_654_435_761;
        (mixed ^ (mixed >> 15)) % limit
    })
}

/// The targets and what surrounds them.
fn scattered<B: Target, T: Element<Reg = T> + Num>(d: &B, fill: Fill, op: ScatterOp, (n, targets): (u64, u64)) -> Result<Buffer<B, T>> {
    let out = input::<B, T>(d, Fill::Bits, targets + 3, "targets")?;
    d.scatter(&input::<B, T>(d, fill, n, "values")?, &indices(d, n, targets)?).reduce(op).write_to(&out.slice(1..targets + 1)?)?;
    Ok(out)
}

fn indexed<B: Target, I: IndexScalar>(c: &mut Cases<B>) {
    let i = I::DTYPE;
    c.add(format!("atomics/indices/{i}"), |d| {
        let to: Vec<I> = (0..5000u64).map(|k| I::from_bits64(if k % 7 == 0 { u64::MAX - k } else { k * k % 601 })).collect();
        let (to, x) = (d.upload(&to)?, input::<B, f32>(d, Fill::Plain, 5000, "x")?);
        let (sums, most, counts) = (d.upload(&[1.5f32; 600])?, d.upload(&[0.5f32; 600])?, d.upload(&[3u32; 600])?);
        d.scatter(&x, &to).reduce(ScatterOp::Sum).write_to(&sums)?;
        d.scatter(&x, &to).reduce(ScatterOp::Max).write_to(&most)?;
        d.scatter_inc_into(&to, 10, &counts)?;
        Ok((sums, most, counts))
    })
    .needs(&[i]);
}

fn tickets<B: Target>(c: &mut Cases<B>) {
    for n in FEW {
        for keys in [1u64, 40, 70_000] {
            c.add(format!("atomics/tickets/{keys}/n={n}"), move |d| d.tickets(&indices(d, n, keys)?).run());
        }
        c.add(format!("atomics/tickets/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, n, "x")?;
            let out = (d.upload(&vec![7u32; n as usize + 2])?, d.upload(&vec![8u32; n as usize + 2])?);
            d.tickets((&x, index()).map(|(x, i)| select((i & 1u32).eq(0), x, 1.0))).write_to((&out.0, &out.1))?;
            Ok(out)
        });
    }
}

fn wrapping<B: Target>(c: &mut Cases<B>) {
    for limit in [0, 1, 6, 1000, u32::MAX - 1, u32::MAX] {
        for (n, targets) in [(0, 3), (33, 5), (8193, 1), (20_011, 977)] {
            c.add(format!("atomics/inc_and_dec/{limit}/{n}->{targets}"), move |d| {
                let to = indices(d, n, targets)?;
                let below = |fill| d.map(&input::<B, u32>(d, fill, targets, "targets")?, move |x| select((x & 1u32).eq(0), x % 7, x));
                let (up, down) = (below(Fill::Bits)?, below(Fill::Bits)?);
                d.scatter_inc_into(&to, limit, &up)?;
                d.scatter_dec_into(&to, limit, &down)?;
                Ok((up, down))
            });
        }
    }
}

fn fixed<B: Target>(c: &mut Cases<B>) {
    for overflow in [Overflow::Wrap, Overflow::Saturate] {
        for digits in [-20, 0, 24, 62, 120] {
            for (n, targets) in [(33, 5), (8193, 1), (20_011, 977)] {
                c.add(format!("atomics/fixed/{overflow:?}/{digits}/{n}->{targets}"), move |d| {
                    let (x, to) = (input::<B, f32>(d, Fill::Bits, n, "x")?, indices(d, n, targets)?);
                    let out = input::<B, i64>(d, Fill::Plain, targets + 2, "out")?;
                    d.scatter_fixed_into(&x, &to, digits, overflow, &out.slice(1..targets + 1)?)?;
                    Ok((d.fixed_to_float(&out, digits).run()?, out))
                })
                .needs(&[i64::DTYPE, u64::DTYPE]);
                if digits.abs() <= 24 {
                    c.add(format!("atomics/fixed_i32/{overflow:?}/{digits}/{n}->{targets}"), move |d| {
                        let (x, to) = (input::<B, f32>(d, Fill::Bits, n, "x")?, indices(d, n, targets)?);
                        let out = input::<B, i32>(d, Fill::Plain, targets + 2, "out")?;
                        d.scatter_fixed_into(&x, &to, digits, overflow, &out.slice(1..targets + 1)?)?;
                        Ok((d.fixed_to_float(&out, digits).run()?, out))
                    });
                }
            }
        }
    }
}

/// The sum of all words, each times an odd number of its own.
fn hash<B: Target>(d: &B, out: &Buffer<B, u32>) -> Result<DeviceScalar<B, u32>> {
    d.reduce((out, index()).map(|(x, i)| x * (i * 2 + 1)), Sum).run()
}

fn large<B: Target>(c: &mut Cases<B>) {
    // Words of exact sums and targets in several windows.
    let (n, targets) = (1_000_003, (1 << 22) + 5);
    c.add("atomics/large/scatter_sum", move |d| {
        let out = d.generate(targets, index(), |i| (i & 0xffff).cast::<f32>())?;
        let x = d.generate(n, index(), |i| i.cast::<f32>() * 0.125)?;
        d.scatter(&x, &indices(d, n, targets)?).reduce(ScatterOp::Sum).write_to(&out)?;
        hash(d, &d.map(&out, Expr::bitcast::<u32>)?)
    })
    .bytes(44 * targets);
    let n = ABOVE_BINDING;
    c.add("atomics/large/scatter_min", move |d| {
        let out = d.generate(5000, index(), |i| (i & 0xffff).cast::<f32>())?;
        let x = d.generate(n, index(), |i| (i ^ (i >> 9)).cast::<f32>() - 5000.0)?;
        d.scatter(&x, &indices(d, n, 5000)?).reduce(ScatterOp::Min).write_to(&out)?;
        Ok(out)
    })
    .bytes(4 * n);
}
