//! P08 merge, the rungs of the ladder: every one over lengths, keys that meet and that do not, sides that end early, and values that show which came first.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::Result;
use isowarp::element::Element;
use isowarp::prelude::*;
use isowarp_textbook::MergeVariant;

/// Around lanes' keys (8), tiles (1024), a workgroup's keys (2048) and sections (4096), together and on either side.
const SIZES: [(u64, u64); 22] = [
    (0, 0),
    (1, 0),
    (0, 1),
    (1, 1),
    (7, 9),
    (5, 4),
    (255, 2),
    (1023, 1),
    (1024, 1024),
    (1025, 1022),
    (2047, 1),
    (2048, 2049),
    (4095, 0),
    (0, 4096),
    (4097, 0),
    (3000, 1095),
    (3000, 1097),
    (1, 8191),
    (8193, 3),
    (9001, 20_011),
    (33_000, 31_000),
    (100_003, 70),
];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for variant in MergeVariant::ALL {
        // The pattern itself has cases of its own.
        c.quick(variant != MergeVariant::MergePath);
        sizes(c, variant);
        c.quick(false);
        types::<B, u32>(c, variant);
        types::<B, i32>(c, variant);
        types::<B, f32>(c, variant);
        shapes(c, variant);
        slices(c, variant);
        large(c, variant);
    }
}

fn sorted<B: Target, K: Element>(d: &B, fill: Fill, n: u64, name: &str, order: SortOrder) -> Result<Buffer<B, K>> {
    d.sort(&input::<B, K>(d, fill, n, name)?).order(order).run()
}

fn sizes<B: Target>(c: &mut Cases<B>, variant: MergeVariant) {
    let v = variant.name();
    for (m, n) in SIZES {
        c.add(format!("merge_variants/{v}/keys/u32/m={m}/n={n}"), move |d| {
            let up = SortOrder::Ascending;
            d.merge(&sorted(d, Fill::Plain, m, "a", up)?, &sorted::<B, u32>(d, Fill::Plain, n, "b", up)?).variant(variant).run()
        })
        .quick &= m + n <= 9001;
        // Of three values: where each came from shows which went first.
        c.add(format!("merge_variants/{v}/pairs/few_values/m={m}/n={n}"), move |d| {
            let few = |n: u64, name: &str| {
                let keys = d.map(&input::<B, u32>(d, Fill::Plain, n, name)?, |k| (k >> 7) % 3)?;
                d.sort(&keys).descending().run()
            };
            let (v, w) = (d.iota(m, 0u32, 1)?, d.iota(n, 1_000_000u32, 1)?);
            d.merge(&few(m, "few")?, &few(n, "fewer")?).with_values(&v, &w).descending().variant(variant).run()
        })
        .full();
    }
}

fn types<B: Target, K: Element>(c: &mut Cases<B>, variant: MergeVariant) {
    let (v, t) = (variant.name(), K::DTYPE);
    for fill in [Fill::Plain, Fill::Bits, Fill::Equal] {
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let name = if order == SortOrder::Ascending { "up" } else { "down" };
            c.add(format!("merge_variants/{v}/{name}/{t}/{}", fill.name()), move |d| {
                let (a, b) = (sorted::<B, K>(d, fill, 5003, "a", order)?, sorted::<B, K>(d, fill, 4001, "b", order)?);
                let (v, w) = (input::<B, u32>(d, Fill::Bits, 5003, "v")?, input::<B, u32>(d, Fill::Bits, 4001, "w")?);
                Ok((
                    d.merge(&a, &b).order(order).variant(variant).run()?,
                    d.merge(&a, &b).with_values(&v, &w).order(order).variant(variant).run()?,
                ))
            });
        }
    }
}

/// Sides that take turns in every way: one before the other, by ones, in runs of all lengths, equal, and arrays that are not sorted, whose result is not
/// determined but whose neighbours stay.
fn shapes<B: Target>(c: &mut Cases<B>, variant: MergeVariant) {
    let v = variant.name();
    let all: [(&str, fn(u32) -> u32, fn(u32) -> u32); 6] = [
        ("first_before_second", |i| i, |i| i + 100_000),
        ("second_before_first", |i| i + 100_000, |i| i),
        ("by_turns", |i| 2 * i, |i| 2 * i + 1),
        ("in_runs", |i| i / 700 * 1400 + i % 700, |i| i / 1100 * 2200 + i % 1100),
        ("equal", |_| 7, |_| 7),
        ("dense_in_sparse", |i| 4000 + i / 4, |i| 10 * i),
    ];
    for (shape, a, b) in all {
        c.add(format!("merge_variants/{v}/shape/{shape}"), move |d| {
            let side = |n: u32, of: fn(u32) -> u32| d.upload(&(0..n).map(of).collect::<Vec<_>>());
            let (x, y) = (side(13_000, a)?, side(9_001, b)?);
            let (v, w) = (d.iota(13_000, 0u32, 1)?, d.iota(9_001, 1u32 << 20, 1)?);
            d.merge(&x, &y).with_values(&v, &w).variant(variant).run()
        });
    }
    c.add(format!("merge_variants/{v}/not_sorted"), move |d| {
        let (x, y) = (input::<B, u32>(d, Fill::Bits, 9001, "x")?, input::<B, u32>(d, Fill::Bits, 7001, "y")?);
        let out = d.upload(&vec![7u32; 16_100])?;
        d.merge(&x, &y).variant(variant).write_to(&out.slice(50..16_052)?)?;
        d.fill(&out.slice(50..16_052)?, 0)?;
        Ok(out)
    });
}

fn slices<B: Target>(c: &mut Cases<B>, variant: MergeVariant) {
    let v = variant.name();
    for start in [1, 3, 1023] {
        c.add(format!("merge_variants/{v}/slice/f32/+{start}"), move |d| {
            let up = SortOrder::Ascending;
            let (x, y) = (sorted::<B, f32>(d, Fill::Bits, 6000, "x", up)?, sorted::<B, f32>(d, Fill::Bits, 6000, "y", up)?);
            let (out, values) = (input::<B, f32>(d, Fill::Plain, 12_000, "out")?, input::<B, u32>(d, Fill::Bits, 24_000, "v")?);
            // Values and where they go lie in one buffer.
            let a = (x.slice(start..4000)?, values.slice(start..4000)?);
            let b = (y.slice(start + 5..5000)?, values.slice(start + 5..5000)?);
            let to = (out.slice(start + 2..)?, values.slice(12_001..)?);
            d.merge(&a.0, &b.0).with_values(&a.1, &b.1).order(up).variant(variant).write_to((&to.0, &to.1))?;
            Ok((out, values))
        });
    }
}

fn large<B: Target>(c: &mut Cases<B>, variant: MergeVariant) {
    let v = variant.name();
    for total in [(1 << 20) + 1, (1 << 24) + 4097] {
        c.add(format!("merge_variants/{v}/large/u32/n={total}"), move |d| {
            let m = total / 3;
            let (a, b) = (d.generate(m, index(), |i| i * 3 + (i & 1u32))?, d.generate(total - m, index(), |i| i + (i >> 1))?);
            let keys = d.merge(&a, &b).variant(variant).run()?;
            let digest = d.reduce((&keys, index()).map(|(k, i)| k * (i | 1)), Sum).run()?;
            Ok((keys.slice(total - 1000..)?, digest))
        })
        .bytes(8 * total)
        .full();
    }
}
