//! P01 map: sizes, views, arrays, several inputs and outputs, in place, above the limits of grids and bindings.

use super::{ABOVE_BINDING, FEW, FOLDED, SIZES, input};
use crate::case::{Case, Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::{Element, Num, Scalar};
use isowarp::ir::{branch, lit};
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    sizes(c);
    views::<B, f32>(c);
    views::<B, u32>(c);
    views::<B, f16>(c);
    views::<B, u8>(c);
    views::<B, u64>(c);
    inputs(c);
    arrays(c);
    places(c);
    large(c);
}

fn axpy<B: Target, T: Scalar + Num + Element<Reg = T>>(d: &B, a: T, n: u64) -> isowarp::Result<Buffer<B, T>> {
    d.axpy(a, &input::<B, T>(d, Fill::Plain, n, "x")?, &input::<B, T>(d, Fill::Plain, n, "y")?)
}

fn sizes<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("map/axpy/f32/n={n}"), move |d| axpy(d, 1.1f32, n));
        c.add(format!("map/axpy/f64/n={n}"), move |d| axpy(d, 1.1f64, n)).needs(&[f64::DTYPE]);
        c.add(format!("map/iota/u32/n={n}"), move |d| d.iota(n, 5u32, 3));
    }
    for n in FEW {
        c.add(format!("map/polynomial/f16/n={n}"), move |d| {
            d.map(&input::<B, f16>(d, Fill::Plain, n, "x")?, |x| (x * x + 0.5).store_as::<f16>())
        })
        .needs(&[f16::DTYPE]);
        c.add(format!("map/increment/u8/n={n}"), move |d| d.map(&input::<B, u8>(d, Fill::Plain, n, "x")?, |x| (x + 1).store_as::<u8>()))
            .needs(&[u8::DTYPE]);
    }
}

fn views<B: Target, T: Element>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    for (start, len, stride) in [(0, 100, 3), (1, 99, 10), (999, 1000, -1), (998, 100, -7), (17, 50, 0), (1, 999, 1), (3, 0, 5)] {
        c.add(format!("map/strided/{t}/{start}+{len}x{stride}"), move |d| {
            let x = input::<B, T>(d, Fill::Bits, 1000, "strided")?;
            d.map(&x.strided(start, len, stride)?, isowarp::prelude::Expr::store_as::<T>)
        })
        .needs(&[t]);
    }
    c.add(format!("map/reversed_slice/{t}"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 1000, "reversed")?;
        let y = x.slice(3..501)?;
        d.map((&y, &x.slice(502..1000)?.reversed()), |(a, b)| (a.eq(b), select(a.ne(b), b, a).store_as::<T>()))
    })
    .needs(&[t]);
    for offset in [0, 1, 2, 3, 5] {
        c.add(format!("map/into_slice/{t}/+{offset}"), move |d| {
            let x = input::<B, T>(d, Fill::Plain, 300, "from")?;
            let out = input::<B, T>(d, Fill::Bits, 300, "around")?;
            d.map_into(&x.slice(1..270 - offset)?, isowarp::prelude::Expr::store_as::<T>, &out.slice(offset..)?)?;
            Ok(out)
        })
        .needs(&[t]);
    }
    c.add(format!("map/longer_output/{t}"), |d| {
        let out = input::<B, T>(d, Fill::Plain, 300, "kept")?;
        d.map_into(&input::<B, T>(d, Fill::Plain, 101, "short")?, isowarp::prelude::Expr::store_as::<T>, &out)?;
        Ok(out)
    })
    .needs(&[t]);
}

fn inputs<B: Target>(c: &mut Cases<B>) {
    for n in FEW {
        c.add(format!("map/four_in_four_out/f32/n={n}"), move |d| {
            let x: Vec<Buffer<B, f32>> = ["a", "b", "c", "d"].iter().map(|k| input(d, Fill::Wide, n, k)).collect::<Result<_, _>>()?;
            d.map((&x[0], &x[1], &x[2], &x[3]), |(a, b, c, d)| (a * b + c, a.min(b).max(c), select(a.lt(d), b, c) - d, a * b - c * d))
        });
        c.add(format!("map/mixed_in_out/n={n}"), move |d| {
            let (a, b) = (input::<B, f32>(d, Fill::Wide, n, "a")?, input::<B, i32>(d, Fill::Wide, n, "b")?);
            let e = input::<B, u32>(d, Fill::Bits, n, "e")?;
            d.map((&a, &b, &e, index()), |(a, b, e, i)| (a + b.cast::<f32>(), (b * 3) ^ i.cast::<i32>(), e.reverse_bits() + i, a.lt(0.0)))
        });
    }
    c.add("map/narrow_in_out", |d| {
        let (a, b) = (input::<B, u8>(d, Fill::Plain, 1001, "a")?, input::<B, f16>(d, Fill::Wide, 1001, "b")?);
        d.map((&a, &b), |(a, b)| ((a + 250).store_as::<u8>(), (b * a.cast::<f32>()).store_as::<f16>(), b.cast::<i32>() + a.cast::<i32>()))
    })
    .needs(&[u8::DTYPE, f16::DTYPE]);
    c.add("map/lazy_and_scalars", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 5000, "x")?;
        let total = d.sum(&x)?;
        let squares = x.map(|x| x * x);
        d.map((squares, scalar(0.25f32), &total, index()), |(s, k, total, i)| s * k / total + i.cast::<f32>())
    });
    c.add("map/one_kernel_many_values", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 100, "x")?;
        let out: Vec<_> =
            [0.5f32, -0.0, f32::INFINITY, 1e-40].map(|a| d.map((&x, scalar(a)), |(x, a)| x * a)).into_iter().collect::<Result<_, _>>()?;
        Ok(out)
    });
    c.add("map/branches", |d| {
        d.map(&input::<B, f32>(d, Fill::Wide, 4099, "x")?, |x| {
            let inner = || branch(x.gt(1.0), || x.sqrt() + 1.0, || x * 0.5 - 1.0);
            branch(x.lt(0.0), || (-x).rsqrt(), inner) + branch(x.abs().lt(10.0), || x, || lit(3.0))
        })
    });
    c.add("map/fusion_rule", |d| {
        let (a, b) = (input::<B, f32>(d, Fill::Cancel, 4099, "a")?, input::<B, f32>(d, Fill::Cancel, 4099, "b")?);
        d.map((&a, &b), |(a, b)| (a * b + b * b, a * a - b * b, a * 0.1 + (b * 0.1 + a * 0.3), (a * 0.7) * 1.3 + (a * 0.7 + a * 0.3)))
    });
    c.add("map/separate_rounding", |d| {
        let (a, b) = (input::<B, f32>(d, Fill::Cancel, 4099, "a")?, input::<B, f32>(d, Fill::Plain, 4099, "b")?);
        d.map((&a, &b), |(a, b)| (a.mul_rn(b) + a, a.mul_rn(a) - b.mul_rn(b)))
    });
    c.add("map/sums_keep_their_order", |d| {
        let (a, b) = (input::<B, f32>(d, Fill::Cancel, 4099, "a")?, input::<B, f32>(d, Fill::Plain, 4099, "b")?);
        d.map((&a, &b), |(a, b)| ((a + b) - a, (a + 1e10) - 1e10, (b * 3.0) / 3.0, a + (b + a) + (b + 0.1) + 0.1))
    });
}

fn arrays<B: Target>(c: &mut Cases<B>) {
    for n in FEW {
        c.add(format!("map/gather/u32/n={n}"), move |d| {
            let (values, at) = (input::<B, u32>(d, Fill::Plain, n, "values")?, input::<B, u32>(d, Fill::Plain, n + 100, "at")?);
            let size = n.max(1) as u32;
            d.map((array(&values), &at), |(values, at)| values.at(at % (size + size / 7 + 1)))
        });
        c.add(format!("map/neighbours/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Plain, n, "x")?;
            d.generate(n, (array(&x), index()), |(x, i)| (x.at(i - 1) + x.at(i + 1)) * 0.5 + x.at(i))
        });
    }
    c.add("map/signed_index_outside_is_zero", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 100, "x")?;
        d.generate(300, (array(&x), index()), |(x, i)| x.at(i.cast::<i32>() - 100))
    });
    c.add("map/array_of_slice", |d| {
        let x = input::<B, u8>(d, Fill::Plain, 1000, "x")?.slice(3..403)?;
        d.generate(401, (array(&x), index()), |(x, i)| x.at((i * 7) % 401))
    })
    .needs(&[u8::DTYPE]);
    c.add("map/array_of_f16", |d| {
        let x = input::<B, f16>(d, Fill::Bits, 1000, "x")?.slice(1..998)?;
        d.generate(1001, (array(&x), index()), |(x, i)| x.at((i * 31) % 1001))
    })
    .needs(&[f16::DTYPE]);
    c.add("map/array_of_u64", |d| {
        let x = input::<B, u64>(d, Fill::Bits, 1000, "x")?.slice(1..998)?;
        d.generate(1001, (array(&x), index64()), |(x, i)| x.at((i * 31) % 1001) + i)
    })
    .needs(&[u64::DTYPE]);
}

fn places<B: Target>(c: &mut Cases<B>) {
    axpy_in_place(c, 0.3f32, -0.7);
    axpy_in_place(c, 0.3f64, -0.7).needs(&[f64::DTYPE]);
    c.add("map/in_place_slice/i32", |d| {
        let x = input::<B, i32>(d, Fill::Wide, 1000, "x")?;
        let part = x.slice(101..900)?;
        d.map_into(&part, |v| v * v - 1, &part)?;
        Ok(x)
    });
    c.add("map/halves_of_one_buffer/f32", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 1000, "x")?;
        d.map_into(&x.slice(..500)?, |v| v + 1.0, &x.slice(500..)?)?;
        Ok(x)
    });
    c.add("map/fill/f32", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 1000, "x")?;
        d.fill(&x.slice(10..20)?, -0.0)?;
        d.fill(&x.slice(30..40)?, f32::from_bits(0xFFC1_2345))?;
        Ok(x)
    });
    c.add("map/fill/u8", |d| {
        let x = input::<B, u8>(d, Fill::Plain, 1000, "x")?;
        d.fill(&x.slice(9..22)?, 7)?;
        d.fill(&x.slice(31..32)?, 9)?;
        Ok(x)
    })
    .needs(&[u8::DTYPE]);
    c.add("map/replace/f32", |d| {
        let x = input::<B, f32>(d, Fill::Bits, 4099, "x")?;
        Ok((d.replace(&x, 0.0, 5.0)?, d.replace(&x, f32::NAN, 1.0)?, d.replace(&x, f32::INFINITY, f32::NAN)?))
    });
    c.add("map/nan_is_canonical_when_stored", |d| d.map(&input::<B, f32>(d, Fill::Bits, 4099, "x")?, |x| x));
}

fn large<B: Target>(c: &mut Cases<B>) {
    c.add(format!("map/folded_grid/u32/n={FOLDED}"), |d| d.generate(FOLDED, index(), |i| i * 2_654_435_761 + 1)).bytes(4 * FOLDED).full();
    c.add(format!("map/folded_grid/u8/n={FOLDED}"), |d| d.generate(FOLDED, index(), |i| (i ^ (i >> 7)).store_as::<u8>()))
        .needs(&[u8::DTYPE])
        .bytes(FOLDED)
        .full();
    c.add(format!("map/above_binding_limit/f32/n={ABOVE_BINDING}"), |d| {
        let x = d.generate(ABOVE_BINDING, index(), |i| (i * 2_654_435_761).cast::<f32>())?;
        d.map_into(&x, |x| x * 0.5 + 1.0, &x)?;
        let at = |start: u64| x.slice(start..(start + 1000).min(ABOVE_BINDING));
        // Both ends, and around 128 MiB.
        let parts = [at(0)?, at((128 << 20) / 4 - 500)?, at(ABOVE_BINDING - 1000)?];
        let sum = d.reduce(x.map(isowarp::prelude::Expr::bitcast::<u32>), Xor).run()?;
        Ok((parts.to_vec(), sum))
    })
    .bytes(4 * ABOVE_BINDING)
    .full();
    c.add(format!("map/gather_above_binding_limit/u32/n={ABOVE_BINDING}"), |d| {
        let x = d.iota(ABOVE_BINDING, 1u32, 1)?;
        let step = ABOVE_BINDING as u32 / 1000;
        d.generate(1100, (array(&x), index()), |(x, i)| x.at(i * step))
    })
    .bytes(4 * ABOVE_BINDING)
    .full();
    c.add(format!("map/reversed_above_binding_limit/u32/n={ABOVE_BINDING}"), |d| {
        let x = d.iota(ABOVE_BINDING, 1u32, 1)?;
        let y = d.map(x.reversed(), |x| x)?;
        Ok((y.slice(..1000)?, y.slice((128 << 20) / 4 - 500..(128 << 20) / 4 + 500)?, y.slice(ABOVE_BINDING - 1000..)?))
    })
    .bytes(4 * ABOVE_BINDING)
    .full();
}

fn axpy_in_place<B: Target, T: Scalar + Num + Element<Reg = T>>(c: &mut Cases<B>, first: T, second: T) -> &mut Case<B> {
    c.add(format!("map/axpy_in_place/{}", T::DTYPE), move |d| {
        let (x, y) = (input::<B, T>(d, Fill::Plain, 70_001, "x")?, input(d, Fill::Plain, 70_001, "y")?);
        d.map_into((scalar(first), &x, &y), |(a, x, y)| a * x + y, &y)?;
        d.map_into((scalar(second), &x, &y), |(a, x, y)| a * x + y, &y)?;
        Ok((x, y))
    })
}
