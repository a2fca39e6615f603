//! P07 sort, the textbooks' algorithms: every one over sizes, element types, orders of keys that are hard for it, and what shows its own order.

use super::{FOLDED, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::{DType, Element};
use isowarp::prelude::*;
use isowarp_textbook::SortVariant;

/// Around subgroups, workgroups, windows and tiles (512 and 1024), and powers of two, which networks have.
const SIZES: [u64; 26] =
    [0, 1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 511, 512, 513, 767, 1023, 1024, 1025, 1535, 1537, 2047, 2048, 2049, 4097, 9001];
/// Keys, at most, of cases of a quadratic sort: more take long on every device.
const QUADRATIC: u64 = 5_000;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for variant in SortVariant::ALL {
        // The pattern itself has cases of its own.
        c.quick(variant != SortVariant::Radix);
        sizes(c, variant);
        c.quick(false);
        forms(c, variant);
        if variant == SortVariant::Radix {
            continue;
        }
        types::<B, u8>(c, variant);
        types::<B, f16>(c, variant);
        types::<B, u32>(c, variant);
        types::<B, i32>(c, variant);
        types::<B, f32>(c, variant);
        types::<B, u64>(c, variant);
        types::<B, i64>(c, variant);
        types::<B, f64>(c, variant);
        shapes(c, variant);
        large(c, variant);
    }
}

fn most(variant: SortVariant) -> u64 {
    if is_quadratic(variant) { QUADRATIC } else { u64::MAX }
}

fn is_quadratic(variant: SortVariant) -> bool {
    variant == SortVariant::OddEvenTransposition
}

fn sizes<B: Target>(c: &mut Cases<B>, variant: SortVariant) {
    let v = variant.name();
    for n in SIZES.into_iter().chain([20_011, 65_536, 100_003]).filter(|&n| n <= most(variant)) {
        c.add(format!("sort_variants/{v}/keys/u32/plain/n={n}"), move |d| {
            d.sort(&input::<B, u32>(d, Fill::Plain, n, "k")?).variant(variant).run()
        })
        .quick &= n <= 4097;
        // Of three values: which of equal keys comes first is the variant's own.
        c.add(format!("sort_variants/{v}/pairs/few_values/n={n}"), move |d| {
            let keys = d.map(&input::<B, u32>(d, Fill::Plain, n, "few")?, |k| (k >> 7) % 3)?;
            d.sort(&keys).with_values(&d.iota(n, 0u32, 1)?).descending().variant(variant).run()
        })
        .full();
    }
}

fn types<B: Target, K: Element>(c: &mut Cases<B>, variant: SortVariant) {
    let (v, t) = (variant.name(), K::DTYPE);
    let width = 8 * t.size_bytes() as u32;
    for fill in [Fill::Plain, Fill::Bits, Fill::Equal] {
        let name = fill.name();
        for n in [33, if is_quadratic(variant) { 1537 } else { 5003 }] {
            c.add(format!("sort_variants/{v}/up_and_down/{t}/{name}/n={n}"), move |d| {
                let keys = input::<B, K>(d, fill, n, "k")?;
                Ok((d.sort(&keys).variant(variant).run()?, d.sort(&keys).descending().variant(variant).run()?))
            })
            .needs(&[t]);
        }
        let n = if is_quadratic(variant) { 1025 } else { 3001 };
        c.add(format!("sort_variants/{v}/pairs/{t}/{name}"), move |d| {
            let (keys, values) = (input::<B, K>(d, fill, n, "k")?, input::<B, u32>(d, Fill::Bits, n, "v")?);
            Ok((
                d.sort(&keys).with_values(&values).descending().variant(variant).run()?,
                d.sort(&keys).with_values(&values).bits(width / 3..width - 3).variant(variant).run()?,
            ))
        })
        .needs(&[t]);
    }
}

/// Keys that are hard to part or to sort: in order, against it, all but one in order, equal between samples, at every power of two.
fn shapes<B: Target>(c: &mut Cases<B>, variant: SortVariant) {
    let v = variant.name();
    let n = if is_quadratic(variant) { 2049 } else { 70_001u64 };
    let all: [(&str, fn(u32, u32) -> u32); 7] = [
        ("rising", |i, _| i),
        ("falling", |i, n| n - i),
        ("equal", |_, _| 7),
        ("one_out_of_place", |i, n| if i == n - 1 { 0 } else { i + 1 }),
        ("between_samples", |i, _| if i % 16 < 15 { 1 << 20 } else { i }),
        ("organ_pipe", |i, n| i.min(n - i)),
        ("powers_of_two", |i, _| 1 << (i.wrapping_mul(2_654_435_761) >> 27)),
    ];
    for (shape, of) in all {
        c.add(format!("sort_variants/{v}/shape/{shape}"), move |d| {
            let keys: Vec<u32> = (0..n as u32).map(|i| of(i, n as u32)).collect();
            d.sort(&d.upload(&keys)?).with_values(&d.iota(n, 0u32, 1)?).variant(variant).run()
        });
    }
    for bits in [0..0, 0..1, 5..6, 3..17, 30..32] {
        let (start, end) = (bits.start, bits.end);
        c.add(format!("sort_variants/{v}/bits/u32/{start}-{end}"), move |d| {
            let keys = input::<B, u32>(d, Fill::Plain, 5003, "k")?;
            d.sort(&keys).bits(start..end).variant(variant).run()
        });
        c.add(format!("sort_variants/{v}/bits/i64/{start}-{end}"), move |d| {
            let keys = input::<B, i64>(d, Fill::Plain, 1537, "k")?;
            d.sort(&keys).descending().bits(2 * start..2 * end).variant(variant).run()
        })
        .needs(&[DType::I64]);
    }
}

fn forms<B: Target>(c: &mut Cases<B>, variant: SortVariant) {
    let v = variant.name();
    let end = if is_quadratic(variant) { 2100 } else { 4000 };
    for start in [1, 3, 1023] {
        c.add(format!("sort_variants/{v}/slice/f32/+{start}"), move |d| {
            let (x, out) = (input::<B, f32>(d, Fill::Bits, 6000, "x")?, input::<B, f32>(d, Fill::Plain, 6000, "out")?);
            d.sort(&x.slice(start..end)?).variant(variant).write_to(&out.slice(start + 2..)?)?;
            Ok(out)
        });
        c.add(format!("sort_variants/{v}/slice/u8/+{start}"), move |d| {
            let (x, out) = (input::<B, u8>(d, Fill::Plain, 6000, "x")?, input::<B, u8>(d, Fill::Plain, 6000, "out")?);
            // Values and where they go lie in one buffer.
            let values = input::<B, u32>(d, Fill::Bits, 12_000, "v")?;
            let pairs = (out.slice(start + 2..)?, values.slice(6001..)?);
            d.sort(&x.slice(start..end)?)
                .with_values(&values.slice(start..end)?)
                .descending()
                .variant(variant)
                .write_to((&pairs.0, &pairs.1))?;
            Ok((out, values))
        })
        .needs(&[DType::U8]);
    }
    // Sorts one after another take the same scratch.
    c.add(format!("sort_variants/{v}/again/f32"), move |d| {
        let keys = input::<B, f32>(d, Fill::Wide, 3000, "k")?;
        let up = d.sort(&keys).variant(variant).run()?;
        let down = d.sort(&up).descending().variant(variant).run()?;
        Ok((d.sort(&down).variant(variant).run()?, down))
    });
}

fn large<B: Target>(c: &mut Cases<B>, variant: SortVariant) {
    let v = variant.name();
    // Arrays above the binding limit are the pattern's alone. Two bits of more keys than a dimension of a grid has workgroups for.
    let most = most(variant);
    let longest = if variant == SortVariant::OddEvenMerge { (1 << 18) + 1 } else { (1 << 20) + 1 };
    let all = [(longest, 0..32), (if variant == SortVariant::RadixSplit { FOLDED } else { (1 << 19) - 1 }, 3..5)];
    for (n, bits) in all.into_iter().filter(|(n, _)| *n <= most) {
        c.add(format!("sort_variants/{v}/large/u32/n={n}"), move |d| {
            let keys = d.generate(n, index(), |i| (i * 2_654_435_761) >> 3)?;
            let (keys, values) = d.sort(&keys).with_values(&d.iota(n, 0u32, 1)?).descending().bits(bits.clone()).variant(variant).run()?;
            let digest = d.reduce((&keys, &values, index()).map(|(k, v, i)| (k + v * 7) * (i | 1)), Sum).run()?;
            Ok((keys.slice(n - 1000..)?, digest))
        })
        .bytes(24 * n)
        .full();
    }
}
