//! P03 scan, the textbooks' algorithms: every one over sizes, element types, awkward numbers and operators that show the order.

use super::reduce_variants::compose;
use super::{ABOVE_BINDING, FOLDED, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::element::{DType, Element, Num};
use isowarp::prelude::*;
use isowarp_textbook::ScanVariant;

/// Around subgroups, lanes, every tile (256, 512, 1024), and a second and third level.
const SIZES: [u64; 29] = [
    0, 1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 511, 512, 513, 767, 769, 1023, 1024, 1025, 2047, 2049, 4097, 65_535, 65_536, 65_537,
    65_793, 100_003, 262_657,
];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for variant in ScanVariant::ALL {
        // The pattern itself has cases of its own.
        c.quick(variant != ScanVariant::SinglePass);
        sizes(c, variant);
        numbers::<B, f32>(c, variant);
        numbers::<B, i32>(c, variant);
        numbers::<B, u32>(c, variant);
        numbers::<B, f64>(c, variant);
        numbers::<B, u64>(c, variant);
        operators(c, variant);
        large(c, variant);
    }
}

fn sizes<B: Target>(c: &mut Cases<B>, variant: ScanVariant) {
    let v = variant.name();
    for n in SIZES {
        c.add(format!("scan_variants/{v}/sum/f32/cancel/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Cancel, n, "x")?;
            Ok((d.scan(&x, Sum).variant(variant).run()?, d.scan(&x, Sum).variant(variant).exclusive().run()?))
        });
        c.add(format!("scan_variants/{v}/sum/u32/plain/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            Ok((d.scan(&x, Sum).variant(variant).run()?, d.scan(&x, Sum).variant(variant).exclusive().run()?))
        })
        .full();
    }
}

fn numbers<B: Target, T: Element<Reg = T> + Num>(c: &mut Cases<B>, variant: ScanVariant) {
    let (v, t) = (variant.name(), T::DTYPE);
    for fill in Fill::ALL {
        for n in [37, 5003] {
            c.add(format!("scan_variants/{v}/all/{t}/{}/n={n}", fill.name()), move |d| {
                let x = input::<B, T>(d, fill, n, "x")?;
                Ok((
                    d.scan(&x, Sum).variant(variant).run()?,
                    d.scan(&x, Max).variant(variant).run()?,
                    d.scan(&x, Min).variant(variant).exclusive().run()?,
                ))
            })
            .needs(&[t])
            .quick &= T::DTYPE == DType::F32 && fill == Fill::Bits;
        }
    }
}

fn operators<B: Target>(c: &mut Cases<B>, variant: ScanVariant) {
    let v = variant.name();
    for n in [2, 33, 257, 1025, 4097, 70_001] {
        c.add(format!("scan_variants/{v}/subtraction_shows_order/f32/n={n}"), move |d| {
            // Not associative: only the algorithm's own order gives these bits.
            d.scan(&input::<B, f32>(d, Fill::Wide, n, "x")?, Op::associative(0.0, |a, b| a - b * 0.5)).variant(variant).run()
        });
        c.add(format!("scan_variants/{v}/affine/u32/n={n}"), move |d| {
            d.scan(&input::<B, u32>(d, Fill::Plain, n, "x")?, Op::associative(1 << 16, compose)).variant(variant).exclusive().run()
        })
        .full();
    }
    for start in [1, 3, 1023] {
        c.add(format!("scan_variants/{v}/slice/f32/+{start}"), move |d| {
            let (x, out) = (input::<B, f32>(d, Fill::Cancel, 9000, "x")?, input::<B, f32>(d, Fill::Plain, 9000, "out")?);
            d.scan(&x.slice(start..7000)?, Sum).variant(variant).exclusive_if(start == 3).write_to(&out.slice(start + 2..)?)?;
            Ok(out)
        });
    }
    c.add(format!("scan_variants/{v}/of_lengths/u8"), move |d| {
        let (x, out) = (input::<B, u8>(d, Fill::Plain, 9001, "x")?, d.buffer::<u32>(9001)?);
        d.scan((&x.reversed(), index()).map(|(x, i)| x + i), Sum).variant(variant).exclusive().write_to(&out)?;
        Ok(out)
    })
    .needs(&[u8::DTYPE])
    .full();
}

fn large<B: Target>(c: &mut Cases<B>, variant: ScanVariant) {
    let v = variant.name();
    for n in [(1 << 20) + 1, FOLDED, ABOVE_BINDING] {
        c.add(format!("scan_variants/{v}/large_sum/f32/n={n}"), move |d| {
            let x = d.generate(n, index(), |i| (i * 2_654_435_761).bitcast::<i32>().cast::<f32>())?;
            let out = d.scan(&x, Sum).variant(variant).exclusive_if(n % 2 == 0).run()?;
            Ok((out.slice(n - 1000..)?, d.reduce((&out, index()).map(|(x, i)| x.bitcast::<u32>() * (i | 1)), Sum).run()?))
        })
        .bytes(4 * n)
        .full();
    }
}
