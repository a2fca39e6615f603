//! P08 searches, sets and lazy merges by an order of the caller's.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::Result;
use isowarp::buffer::Buffer;
use isowarp::element::{DType, Element, Num};
use isowarp::prelude::*;

/// Lengths of both inputs: none of either, one, edges of tiles, unlike ones.
const SIZES: [(u64, u64); 8] = [(0, 0), (0, 33), (33, 0), (1, 1), (255, 257), (4097, 3), (3, 4097), (10_007, 9001)];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    // Kernels of their own: too many to compile in the quick run's minute.
    c.quick(false);
    for (m, n) in SIZES {
        c.add(format!("merge_by/from/u32/{m}+{n}"), move |d| {
            let (a, b) = (sorted(d, m, "a")?, sorted(d, n, "b")?);
            let falling = d.sort(&b).by(|a, b| by_tens(b, a)).run()?;
            let merged = d.merge(a.map(|x| x), falling.reversed().map(|x| x)).by(by_tens).run()?;
            let pairs = d.merge(&a, &b).by(by_tens).with_values(index(), index().map(|i| i + 100_000)).run()?;
            Ok((merged, pairs, d.merge(counting(m).map(|i| i * 3), counting(n).map(|i| i * 2 + 1)).by(|a, b| (a / 8).lt(b / 8)).run()?))
        });
        c.add(format!("merge_by/checked_from/u32/{m}+{n}"), move |d| {
            let (a, b) = (sorted(d, m, "a")?, sorted(d, n, "b")?);
            let pairs = d.merge(&a, &b).by(by_tens).with_values(index(), index()).checked().run()?;
            let out = d.upload(&vec![7u32; (m + n) as usize + 2])?;
            d.merge(counting(m).map(|i| i * 3), b.map(|x| x)).by(by_tens).checked().write_to(&out)?;
            Ok((pairs, out))
        });
        c.add(format!("merge_by/search/u32/{m}+{n}"), move |d| {
            let (a, x) = (sorted(d, m, "a")?, input::<B, u32>(d, Fill::Plain, n, "x")?);
            let x = d.map(&x, |x| x >> 12)?;
            let of = (
                d.lower_bound(&a, &x).by(by_tens).run()?,
                d.upper_bound(&a, &x).by(by_tens).run()?,
                d.count_equal(&a, &x).by(by_tens).run()?,
            );
            Ok((of, d.lower_bound(counting(m).map(|i| i * i), x.reversed().map(|x| x >> 4)).by(Expr::lt).run()?))
        });
        c.add(format!("merge_by/sets/u32/{m}+{n}"), move |d| sets(d, &sorted(d, m, "a")?, &sorted(d, n, "b")?, by_tens));
    }
    types::<B, u8>(c);
    types::<B, f32>(c);
    types::<B, f64>(c);
    types::<B, i64>(c);
    // Not sorted, and no order: what comes of it is the same everywhere.
    c.add("merge_by/from/unsorted/f32", |d| {
        let (a, b) = (input::<B, f32>(d, Fill::Bits, 5003, "a")?, input::<B, f32>(d, Fill::Bits, 4001, "b")?);
        let merged = d.merge(a.map(|x| x), b.map(|x| x)).by(Expr::lt).run()?;
        Ok((merged, d.lower_bound(&a, &b).by(Expr::le).run()?, sets(d, &a, &b, Expr::gt)?))
    });
}

fn by_tens(a: Expr<u32>, b: Expr<u32>) -> Expr<bool> {
    (a / 10).lt(b / 10)
}

/// Few keys of each ten, in the order of tens.
fn sorted<B: Target>(d: &B, n: u64, name: &str) -> Result<Buffer<B, u32>> {
    d.sort(&d.map(&input::<B, u32>(d, Fill::Plain, n, name)?, |x| x >> 18)?).by(by_tens).run()
}

type FourSets<B, K> = ((Buffer<B, K>, Buffer<B, K>), (Buffer<B, K>, Buffer<B, K>));

fn sets<B: Target, K: Element>(
    d: &B,
    a: &Buffer<B, K>,
    b: &Buffer<B, K>,
    before: impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
) -> Result<FourSets<B, K>> {
    let of = |found: Selected<B, Buffer<B, K>>| found.values.slice(..found.len_blocking()?);
    let both = (of(d.union(a, b).by(&before).run()?)?, of(d.symmetric_difference(a, b).by(&before).run()?)?);
    Ok((both, (of(d.intersection(a, b).by(&before).run()?)?, of(d.difference(a, b).by(&before).run()?)?)))
}

fn types<B: Target, K: Element>(c: &mut Cases<B>)
where
    K::Reg: Num,
{
    let t = K::DTYPE;
    c.add(format!("merge_by/sets_and_search/{t}"), move |d| {
        let falls = |a: Expr<K::Reg>, b: Expr<K::Reg>| a.gt(b);
        let of = |n, name| d.sort(&input::<B, K>(d, Fill::Wide, n, name)?).by(falls).run();
        let (a, b) = (of(3001, "a")?, of(2503, "b")?);
        let places = (d.upper_bound(&a, &b).by(falls).run()?, d.count_equal(&b, &a).by(falls).run()?);
        Ok((sets(d, &a, &b, falls)?, places))
    })
    .needs(&[t, DType::U32]);
}
