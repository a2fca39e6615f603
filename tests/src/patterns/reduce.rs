//! P02 reduce: built-in operators over sizes, element types and awkward numbers; along axes; several results; quadrature.

use super::{ABOVE_BINDING, FEW, FOLDED, ROWS_ABOVE_BINDING, SIZES, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::{DType, Element, Float, Int, Num};
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("reduce/sum/f32/cancel/n={n}"), move |d| d.sum(&input::<B, f32>(d, Fill::Cancel, n, "x")?));
        c.add(format!("reduce/sum/u32/plain/n={n}"), move |d| d.sum(&input::<B, u32>(d, Fill::Plain, n, "x")?));
        c.add(format!("reduce/argmin/f32/plain/n={n}"), move |d| d.argmin(&input::<B, f32>(d, Fill::Plain, n, "x")?));
    }
    numbers::<B, f32>(c);
    numbers::<B, i32>(c);
    numbers::<B, u32>(c);
    numbers::<B, f64>(c);
    numbers::<B, i64>(c);
    numbers::<B, u64>(c);
    floats::<B, f32>(c);
    floats::<B, f64>(c);
    bit_operators(c);
    narrow(c);
    axes::<B, f32>(c);
    axes::<B, u32>(c);
    axes::<B, f64>(c);
    quadrature(c);
    large(c);
}

fn numbers<B: Target, T: Element<Reg = T> + Num>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    // A quick run compiles fewer kernels: of types other than f32 and u32 only the sums.
    let quick = matches!(t, DType::F32 | DType::U32);
    for n in FEW {
        c.add(format!("reduce/sum_product/{t}/n={n}"), move |d| {
            let x = input::<B, T>(d, Fill::Plain, n, "x")?;
            Ok((d.reduce(&x, Sum).run()?, d.reduce(&x, Product).run()?))
        })
        .needs(&[t])
        .quick = quick;
        c.add(format!("reduce/min/{t}/n={n}"), move |d| d.reduce(&input::<B, T>(d, Fill::Plain, n, "x")?, Min).run()).needs(&[t]).quick =
            quick;
        c.add(format!("reduce/max/{t}/n={n}"), move |d| d.reduce(&input::<B, T>(d, Fill::Plain, n, "x")?, Max).run()).needs(&[t]).quick =
            quick;
        c.add(format!("reduce/dot/{t}/n={n}"), move |d| {
            d.dot(&input::<B, T>(d, Fill::Wide, n, "x")?, &input::<B, T>(d, Fill::Plain, n, "y")?)
        })
        .needs(&[t])
        .quick = quick;
        c.add(format!("reduce/argmax/{t}/n={n}"), move |d| d.argmax(&input::<B, T>(d, Fill::Sorted, n, "x")?)).needs(&[t]).quick = quick;
    }
    for fill in Fill::ALL {
        let f = fill.name();
        for n in [37, 5003, 70_001] {
            c.add(format!("reduce/sum/{t}/{f}/n={n}"), move |d| d.sum(&input::<B, T>(d, fill, n, "x")?)).needs(&[t]);
            c.add(format!("reduce/min_max_with_index/{t}/{f}/n={n}"), move |d| {
                let x = input::<B, T>(d, fill, n, "x")?;
                Ok((d.reduce(&x, Min).with_index().run()?, d.reduce(&x, Max).with_index().run()?, d.minmax(&x)?))
            })
            .needs(&[t])
            .quick = quick;
        }
    }
}

fn floats<B: Target, T: Element<Reg = T> + Float + Num>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    let quick = t.size_bytes() < 8;
    for n in FEW {
        c.add(format!("reduce/mean/{t}/n={n}"), move |d| d.mean(&input::<B, T>(d, Fill::Plain, n, "x")?)).needs(&[t]);
        c.add(format!("reduce/norms/{t}/n={n}"), move |d| {
            let x = input::<B, T>(d, Fill::Plain, n, "x")?;
            Ok((d.norm1(&x)?, d.norm2(&x)?, d.norm_inf(&x)?))
        })
        .needs(&[t])
        .quick = quick;
        c.add(format!("reduce/variance/{t}/n={n}"), move |d| {
            let x = input::<B, T>(d, Fill::Plain, n, "x")?;
            Ok((d.variance(&x, 0)?, d.std_dev(x.map(|x| x - x.floor()), 1)?))
        })
        .needs(&[t])
        .quick = quick;
        c.add(format!("reduce/percentiles/{t}/n={n}"), move |d| {
            let (x, any) = (input::<B, T>(d, Fill::Plain, n, "x")?, input::<B, T>(d, Fill::Bits, n, "y")?);
            Ok((d.percentiles(&x, &[0.0, 33.3, 50.0, 99.0, 100.0])?, d.median(&any)?))
        })
        .needs(&[t])
        .quick = quick;
        c.add(format!("reduce/max_abs_diff/{t}/n={n}"), move |d| {
            d.max_abs_diff(&input::<B, T>(d, Fill::Wide, n, "x")?, &input::<B, T>(d, Fill::Wide, n, "y")?)
        })
        .needs(&[t])
        .quick = quick;
    }
    for fill in [Fill::Bits, Fill::Subnormal] {
        c.add(format!("reduce/norms/{t}/{}", fill.name()), move |d| {
            let x = input::<B, T>(d, fill, 4099, "x")?;
            Ok((d.norm1(&x)?, d.norm2(&x)?, d.norm_inf(&x)?))
        })
        .needs(&[t])
        .quick = quick;
    }
}

fn bit_operators<B: Target>(c: &mut Cases<B>) {
    for n in FEW {
        bits::<B, i32>(c, n);
        bits::<B, u32>(c, n);
        bits::<B, i64>(c, n);
        bits::<B, u64>(c, n);
        c.add(format!("reduce/count/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, n, "x")?;
            Ok((d.count(&x, |x| x.gt(0.25) & x.lt(1e10))?, d.count(&x, Expr::is_nan)?))
        });
    }
}

fn bits<B: Target, T: Element<Reg = T> + Int>(c: &mut Cases<B>, n: u64)
where
    Expr<T>: core::ops::BitAnd<Output = Expr<T>> + core::ops::BitOr<Output = Expr<T>> + core::ops::BitXor<Output = Expr<T>>,
{
    c.add(format!("reduce/and_or_xor/{}/n={n}", T::DTYPE), move |d| {
        let x = input::<B, T>(d, Fill::Bits, n, "x")?;
        Ok((d.reduce(&x, And).run()?, d.reduce(&x, Or).run()?, d.reduce(&x, Xor).run()?))
    })
    .needs(&[T::DTYPE])
    .quick = T::DTYPE.size_bytes() < 8;
}

fn narrow<B: Target>(c: &mut Cases<B>) {
    for n in FEW {
        c.add(format!("reduce/sum_wide/f16/n={n}"), move |d| d.sum(&input::<B, f16>(d, Fill::Wide, n, "x")?)).needs(&[f16::DTYPE]);
        c.add(format!("reduce/sum_from/u8/n={n}"), move |d| d.reduce(&input::<B, u8>(d, Fill::Plain, n, "x")?, Sum).run())
            .needs(&[u8::DTYPE]);
    }
    for start in [0, 1, 2, 3, 7] {
        c.add(format!("reduce/slice/u8/+{start}"), move |d| {
            let x = input::<B, u8>(d, Fill::Plain, 10_007, "x")?.slice(start..10_000)?;
            Ok((d.reduce(&x, Sum).run()?, d.reduce(&x, Max).run()?))
        })
        .needs(&[u8::DTYPE]);
        c.add(format!("reduce/slice/f32/+{start}"), move |d| d.sum(&input::<B, f32>(d, Fill::Cancel, 10_007, "x")?.slice(start..10_000)?));
    }
    c.add("reduce/views/f32", |d| {
        let x = input::<B, f32>(d, Fill::Cancel, 30_000, "x")?;
        let views = [x.reversed(), x.strided(1, 9_999, 3)?, x.strided(5, 1000, 0)?];
        views.iter().map(|v| d.reduce(v, Sum).run()).collect::<Result<Vec<_>, _>>()
    });
    c.add("reduce/fused_inputs/f32", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Plain, 50_000, "x")?, input::<B, f32>(d, Fill::Plain, 50_000, "y")?);
        let inside = d.reduce((&x, &y, index()).map(|(x, y, _)| (x * x + y * y).le(1.0).cast::<u32>()), Sum).run()?;
        let weighted = d.reduce(((&x, &y).map(|(x, y)| x * y), index()).map(|(p, i)| p * i.cast::<f32>()), Sum).run()?;
        Ok((inside, weighted))
    });
    c.add("reduce/negated", |d| d.reduce(d.upload(&[10i32, 20, 30])?.map(|x| -x), Sum).run());
    c.add("reduce/into_slice/f32", |d| {
        let (x, out) = (input::<B, f32>(d, Fill::Plain, 5000, "x")?, input::<B, f32>(d, Fill::Plain, 9, "out")?);
        d.reduce(&x, Sum).write_to(&out.slice(3..4)?)?;
        d.reduce(&x, Max).write_to(&out.slice(5..)?)?;
        Ok(out)
    });
    c.add("reduce/range_without_length", |d| d.reduce(counting(12_345).map(|i| i * i), Sum).run());
}

/// Row-major shapes with long, short and single axes.
const SHAPES: [[u64; 3]; 9] =
    [[1, 1, 1], [3, 5, 7], [2, 1000, 3], [1, 33, 257], [300, 2, 2], [4, 3, 1030], [1, 70_001, 1], [17, 1, 300], [5, 0, 3]];

fn axes<B: Target, T: Element<Reg = T> + Num>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    for shape in SHAPES {
        for axis in 0..3 {
            let n = shape.iter().product();
            let name = format!("{}x{}x{}/axis={axis}", shape[0], shape[1], shape[2]);
            c.add(format!("reduce/axis_sum/{t}/{name}"), move |d| {
                d.reduce(&input::<B, T>(d, Fill::Cancel, n, "x")?, Sum).axis(&shape, axis).run()
            })
            .needs(&[t]);
            c.add(format!("reduce/axis_max/{t}/{name}"), move |d| {
                d.reduce(&input::<B, T>(d, Fill::Wide, n, "x")?, Max).axis(&shape, axis).run()
            })
            .needs(&[t])
            .quick = t.size_bytes() < 8;
        }
    }
    for (rows, columns) in [(1u64, 5000u64), (5000, 1), (100, 100), (33, 8193), (8193, 33), (3000, 7)] {
        for axis in 0..2 {
            c.add(format!("reduce/axis_sum/{t}/{rows}x{columns}/axis={axis}"), move |d| {
                d.reduce(&input::<B, T>(d, Fill::Cancel, rows * columns, "x")?, Sum).axis(&[rows, columns], axis).run()
            })
            .needs(&[t]);
        }
    }
}

fn quadrature<B: Target>(c: &mut Cases<B>) {
    for intervals in [1, 2, 10, 1000, 65_536, 1_000_000] {
        c.add(format!("reduce/trapezoid/{intervals}"), move |d| d.trapezoid(0.0, core::f32::consts::PI, intervals, Expr::sin).run()).full();
        if intervals % 2 == 0 {
            c.add(format!("reduce/simpson/{intervals}"), move |d| d.simpson(-1.0, 2.0, intervals, |x| (-x * x).exp()).run()).full();
        }
    }
}

fn large<B: Target>(c: &mut Cases<B>) {
    for n in [1 << 20, (1 << 20) + 1, FOLDED, ABOVE_BINDING] {
        let full = n > 2_000_000;
        c.add(format!("reduce/generated_sum/f32/n={n}"), move |d| {
            d.reduce(counting(n).map(|i| (i * 2_654_435_761).cast::<f32>() * 1e-3 - 2_147_483.0), Sum).run()
        })
        .quick &= !full;
        c.add(format!("reduce/generated_min/u32/n={n}"), move |d| {
            let x = d.generate(n, index(), |i| (i ^ (i >> 15)) * 0x2C1B_3C6D)?;
            Ok((d.reduce(&x, Min).with_index().run()?, d.reduce(&x, Sum).run()?))
        })
        .bytes(4 * n)
        .quick &= !full;
    }
    c.add(format!("reduce/above_binding_limit/f32/n={ABOVE_BINDING}"), |d| {
        let x = d.generate(ABOVE_BINDING, index(), |i| (i * 2_654_435_761).bitcast::<i32>().cast::<f32>())?;
        Ok((d.sum(&x)?, d.dot(&x, &x)?, d.sum(&x)?))
    })
    .bytes(4 * ABOVE_BINDING)
    .full();
    let [rows, columns] = ROWS_ABOVE_BINDING;
    c.add(format!("reduce/axis_above_binding_limit/f32/{rows}x{columns}"), move |d| {
        let x = d.generate(rows * columns, index(), |i| (i * 2_654_435_761).bitcast::<i32>().cast::<f32>())?;
        let sums = d.reduce(&x, Sum).axis(&ROWS_ABOVE_BINDING, 0).run()?;
        let digest = d.reduce((&sums, index()).map(|(x, i)| x.bitcast::<u32>() * (i | 1)), Sum).run()?;
        Ok((sums.slice(columns - 1000..)?, digest, d.reduce(&x, Sum).axis(&ROWS_ABOVE_BINDING, 1).run()?))
    })
    .bytes(4 * rows * columns)
    .full();
}
