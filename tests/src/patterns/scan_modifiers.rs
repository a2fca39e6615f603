//! P03 scan: initial values, wider accumulators, stored values and accumulators of several parts, over every domain.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::Element as _;
use isowarp::prelude::*;

/// Several tiles, the last one not full.
const N: u64 = 20_011;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    initial(c);
    wider(c);
    parts(c);
}

fn initial<B: Target>(c: &mut Cases<B>) {
    for n in [0, 1, 257, N] {
        c.add(format!("scan/initial/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Cancel, n, "x")?;
            Ok((d.scan(&x, Sum).initial(0.1).run()?, d.scan(&x, Sum).exclusive().initial(-0.0).run()?))
        });
    }
    c.add("scan/initial/axis/i32", |d| {
        let x = input::<B, i32>(d, Fill::Wide, 37 * 541, "x")?;
        let rows = d.scan(&x, Max).axis(&[37, 541], 1).initial(1 << 20).run()?;
        Ok((rows, d.scan(&x, Sum).axis(&[37, 541], 0).exclusive().initial(-7).run()?))
    })
    .full();
    c.add("scan/initial/flags/f32", |d| {
        let (x, flags) = (input::<B, f32>(d, Fill::Wide, N, "x")?, input::<B, u32>(d, Fill::Equal, N, "flags")?);
        let starts = || (&flags, index()).map(|(f, i)| ((i * 7 + f) % 1000).eq(0).cast::<u32>());
        let inclusive = d.scan(&x, Sum).by_flags(starts()).initial(0.7).run()?;
        Ok((inclusive, d.scan(&x, Sum).by_flags(starts()).initial(0.7).exclusive().run()?))
    })
    .full();
    c.add("scan/initial/offsets/u32", |d| {
        let (x, offsets) = (input::<B, u32>(d, Fill::Plain, N, "x")?, d.iota(40, 3u32, 499)?);
        let inclusive = d.scan(&x, Xor).segments(&offsets).initial(0xF0F0).run()?;
        Ok((inclusive, d.scan(&x, Xor).segments(&offsets).initial(0xF0F0).exclusive().run()?))
    })
    .full();
}

fn wider<B: Target>(c: &mut Cases<B>) {
    c.add("scan/accumulate_in/u64_of_u8", |d| {
        let x = input::<B, u8>(d, Fill::Bits, N, "x")?;
        Ok((d.scan(&x, Sum).accumulate_in::<u64>().run()?, d.scan(&x, Sum).initial(255u32).accumulate_in::<u64>().exclusive().run()?))
    })
    .needs(&[u8::DTYPE, u64::DTYPE]);
    c.add("scan/accumulate_in/f64_of_f32", |d| {
        let x = input::<B, f32>(d, Fill::Cancel, N, "x")?;
        Ok((d.scan(&x, Sum).accumulate_in::<f64>().run()?, d.scan(&x, Sum).accumulate_in::<f64>().axis(&[N, 1], 0).run()?))
    })
    .needs(&[f64::DTYPE]);
    c.add("scan/accumulate_in/f32_of_i32", |d| {
        let (x, keys) = (input::<B, i32>(d, Fill::Wide, N, "x")?, input::<B, u32>(d, Fill::Sorted, N, "keys")?);
        d.scan(&x, Max).accumulate_in::<f32>().by_key(keys.map(|k| k >> 27)).run()
    });
    c.add("scan/finish/f16", |d| {
        let x = input::<B, f32>(d, Fill::Plain, N, "x")?;
        d.scan(&x, Sum).initial(-3.0).finish(Expr::store_as::<f16>).run()
    })
    .needs(&[f16::DTYPE]);
}

type Best = (Expr<f32>, Expr<u32>);

fn better(a: Best, b: Best) -> Best {
    (a.0.max(b.0), a.0.ge(b.0).select(a.1, b.1))
}

fn parts<B: Target>(c: &mut Cases<B>) {
    c.add("scan/parts_by_flags/f32", |d| {
        let x = input::<B, f32>(d, Fill::Wide, N, "x")?;
        let starts = || index().map(|i| (i % 1021).eq(5).cast::<u32>());
        let inclusive = d.scan_by((&x, index()), better).by_flags(starts()).run()?;
        let before = d.scan_by((&x, index()), better).by_flags(starts()).identity((f32::NEG_INFINITY, 0)).exclusive().run()?;
        Ok((inclusive, before))
    })
    .full();
    c.add("scan/parts_by_key/f32", |d| {
        let (x, keys) = (input::<B, f32>(d, Fill::Plain, N, "x")?, input::<B, u32>(d, Fill::Sorted, N, "keys")?);
        let mean = d.scan_by(x.map(|x| (x, lit(1u32))), |a, b| (a.0 + b.0, a.1 + b.1)).by_key(keys.map(|k| k >> 25));
        mean.finish(|(sum, n)| sum / n.cast::<f32>()).run()
    })
    .full();
    c.add("scan/parts_by_offsets/u32", |d| {
        let (x, offsets) = (input::<B, u32>(d, Fill::Plain, N, "x")?, d.iota(30, 11u32, 600)?);
        // x -> a x + b of 32 bits each, composed from left to right.
        let maps = (&x, index()).map(|(x, i)| (x | 1, i));
        let composed = d.scan_by(maps, |f, g| (f.0 * g.0, f.1 * g.0 + g.1)).segments(&offsets);
        composed.identity((1, 0)).exclusive().initial((3, 5)).run()
    })
    .full();
    c.add("scan/parts_axis/f32", |d| {
        let x = input::<B, f32>(d, Fill::Wide, 41 * 487, "x")?;
        let columns = d.scan_by((&x, index()), better).axis(&[41, 487], 0).run()?;
        Ok((columns, d.scan_by((&x, index()), better).axis(&[41, 487], 1).identity((f32::NEG_INFINITY, u32::MAX)).exclusive().run()?))
    })
    .full();
}
