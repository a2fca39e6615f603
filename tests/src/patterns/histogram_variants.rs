//! P06 histogram, the rungs of the ladder: every one over sizes, samples that meet and that do not, bins of every kind, and more than a dispatch holds.

use super::{FOLDED, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::Result;
use isowarp::element::DType;
use isowarp::patterns::Bins;
use isowarp::prelude::*;
use isowarp_textbook::HistogramVariant;
use isowarp_textbook::histogram::SHARED_BINS;

/// Around subgroups, workgroups and their samples (256 and 4096).
const SIZES: [u64; 17] = [0, 1, 2, 31, 33, 255, 256, 257, 1000, 4095, 4096, 4097, 8191, 8193, 20_011, 65_536, 100_003];
/// Value that a caller's buffer holds where nothing is written.
const BEFORE: u32 = 0xABAB_ABAB;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for variant in HistogramVariant::ALL {
        // The pattern itself has cases of its own.
        c.quick(variant != HistogramVariant::Replicated);
        sizes(c, variant);
        c.quick(false);
        bins(c, variant);
        kinds(c, variant);
        large(c, variant);
    }
}

/// The caller's output whole.
fn counted<B: Target>(d: &B, variant: HistogramVariant, bins: u64, of: impl Bins<B>) -> Result<Buffer<B, u32>> {
    let out = d.upload(&vec![BEFORE; bins as usize + 3])?;
    d.histogram(&of).variant(variant).write_to(&out)?;
    Ok(out)
}

fn sizes<B: Target>(c: &mut Cases<B>, variant: HistogramVariant) {
    let v = variant.name();
    for n in SIZES {
        // Letters, four to a bin; what is none is in no bin.
        c.add(format!("histogram_variants/{v}/letters/u8/n={n}"), move |d| {
            let x = input::<B, u8>(d, Fill::Plain, n, "text")?;
            counted(d, variant, 7, binned(&x, 7, |x: Expr<u32>| ((x & 31u32) - 1) / 4))
        })
        .needs(&[DType::U8])
        .quick &= n <= 8193;
        c.add(format!("histogram_variants/{v}/even/u32/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            counted(d, variant, 256, even_bins(&x, 1 << 20, 1 << 31, 256))
        })
        .full();
    }
}

fn bins<B: Target>(c: &mut Cases<B>, variant: HistogramVariant) {
    let v = variant.name();
    let few = [1, 2, 3, 33, 255, 256, 257, 1000, 4095, SHARED_BINS as u32];
    let many = [4097, 8193, 70_000, 1 << 20].into_iter().filter(|_| variant.most_bins().is_none());
    for bins in few.into_iter().chain(many) {
        c.add(format!("histogram_variants/{v}/bins/{bins}"), move |d| {
            let x = d.generate(30_011, index(), move |i| {
                let mixed = i * 2_654_435_761;
                (mixed ^ (mixed >> 15)) % (bins + bins / 8 + 1)
            })?;
            counted(d, variant, bins.into(), binned(&x, bins, |x: Expr<u32>| x))
        });
    }
}

fn kinds<B: Target>(c: &mut Cases<B>, variant: HistogramVariant) {
    let v = variant.name();
    // Equal samples, runs of any length, half of them alike, neighbours in different bins.
    let all: [(&str, fn(Expr<u32>) -> Expr<u32>); 5] = [
        ("equal", |_| lit(77)),
        ("runs", |i| (i * 2_654_435_761) >> (20 + ((i >> 4) & 7u32))),
        ("long_runs", |i| i >> 9),
        ("half_equal", |i| select((i & 1u32).eq(0), 77, i * 2_654_435_761)),
        ("none", |_| lit(u32::MAX)),
    ];
    for (name, of) in all {
        c.add(format!("histogram_variants/{v}/samples_{name}"), move |d| {
            let x = d.generate(50_021, index(), of)?;
            counted(d, variant, 1000, binned(&x, 1000, |x: Expr<u32>| select(x.eq(u32::MAX), x, x % 1003)))
        });
    }
    c.add(format!("histogram_variants/{v}/even/f32"), move |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Bits, 9001, "x")?, input::<B, f32>(d, Fill::Plain, 9001, "y")?);
        let table = counted(d, variant, 91, (even_bins(&x, -2.0, 3.0, 7), even_bins(&y, -1.0, 1.0, 13)))?;
        Ok((counted(d, variant, 100, even_bins(&x, -2.0, 3.0, 100))?, table))
    });
    c.add(format!("histogram_variants/{v}/between/f32"), move |d| {
        let edges = Edges::new(d, &[-1.0f32, -0.25, 0.0, 0.0, 0.5, 2.0])?;
        let x = input::<B, f32>(d, Fill::Bits, 9001, "x")?;
        counted(d, variant, 5, bins_between(&x, &edges))
    });
    c.add(format!("histogram_variants/{v}/views/u32"), move |d| {
        let (x, out) = (input::<B, u32>(d, Fill::Plain, 9001, "x")?, input::<B, u32>(d, Fill::Plain, 300, "out")?);
        let (odd, back) = (x.strided(1, 4500, 2)?, x.slice(3..5003)?.reversed());
        d.histogram(binned(&odd, 100, |x: Expr<u32>| x >> 24)).variant(variant).write_to(&out.slice(5..105)?)?;
        d.histogram(binned((&back, index()), 100, |(x, i): (Expr<u32>, Expr<u32>)| (x ^ i) >> 25))
            .variant(variant)
            .write_to(&out.slice(150..)?)?;
        Ok(out)
    });
}

fn large<B: Target>(c: &mut Cases<B>, variant: HistogramVariant) {
    let v = variant.name();
    for n in [(1 << 20) + 1, FOLDED] {
        c.add(format!("histogram_variants/{v}/large/u8/n={n}"), move |d| {
            let x = d.generate(n, index(), |i| ((i * 2_654_435_761) >> 24).store_as::<u8>())?;
            counted(d, variant, 256, binned(&x, 256, |x: Expr<u32>| x))
        })
        .needs(&[DType::U8])
        .bytes(n)
        .full();
    }
}
