//! Patterns on inputs that are not random, as they are measured: in order, backwards, all alike, of few values, and such as their algorithms are slow for.

use super::{Ready, Shape, Work, counted_of, one_of, work, zeroed};
use isowarp::element::DType;
use isowarp::ir::select;
use isowarp::prelude::*;
use isowarp::{Device, Result};

/// Function that makes an element from its place, random bits, and the number of elements.
type Kind = fn(Expr<u32>, Expr<u32>, u32) -> Expr<u32>;

const RISING: Kind = |i, _, n| i * (u32::MAX / n);
const FALLING: Kind = |i, _, n| lit(u32::MAX) - i * (u32::MAX / n);
const ALIKE: Kind = |_, _, _| lit(77);
/// Four values.
const FEW: Kind = |_, bits, _| bits & 3u32;
/// Only the lowest digit of a radix sort differs: in all other passes one bin takes everything.
const LOW_DIGIT: Kind = |_, bits, _| bits & 255u32;
/// Places with their bits in reverse: in every merge of a merge sort of a power of two elements those of either run take turns.
const BITS_REVERSED: Kind = |i, _, _| i.reverse_bits();
/// Two halves whose elements take turns.
const TURNS: Kind = |i, _, n| select(i.lt(n / 2), i * 2, (i - n / 2) * 2 + 1);

pub(super) fn works() -> Vec<Work> {
    vec![
        work("sort/keys_rising", DType::U32, 8, |d, s| keys(d, s, RISING)),
        work("sort/keys_falling", DType::U32, 8, |d, s| keys(d, s, FALLING)),
        work("sort/keys_alike", DType::U32, 8, |d, s| keys(d, s, ALIKE)),
        work("sort/keys_few", DType::U32, 8, |d, s| keys(d, s, FEW)),
        work("sort/keys_low_digit", DType::U32, 8, |d, s| keys(d, s, LOW_DIGIT)),
        work("sort/by_rising", DType::U32, 8, |d, s| by(d, s, RISING)),
        work("sort/by_falling", DType::U32, 8, |d, s| by(d, s, FALLING)),
        work("sort/by_alike", DType::U32, 8, |d, s| by(d, s, ALIKE)),
        work("sort/by_few", DType::U32, 8, |d, s| by(d, s, FEW)),
        work("sort/by_bits_reversed", DType::U32, 8, |d, s| by(d, s, BITS_REVERSED)),
        work("merge/apart", DType::U32, 8, |d, s| merged(d, s, RISING)),
        work("merge/alike", DType::U32, 8, |d, s| merged(d, s, ALIKE)),
        work("merge/turns", DType::U32, 8, |d, s| merged(d, s, TURNS)),
        work("select/none", DType::U32, 4, |d, s| selected(d, s, |x| x.lt(0))),
        work("select/all", DType::U32, 8, |d, s| selected(d, s, |x| x.ge(0))),
        work("select/first_half", DType::U32, 6, |d, s| selected(d, s, |x| (x >> 31).eq(0))),
        work("select/partition_first_half", DType::U32, 8, |d, s| {
            counted_of(d, s, made(d, s, RISING)?, |d, x, out, count| d.partition(x, |x| (x >> 31).eq(0)).write_to((out, count)))
        }),
        work("select/unique_alike", DType::U32, 4, |d, s| unique(d, s, ALIKE)),
        work("select/unique_rising", DType::U32, 8, |d, s| unique(d, s, RISING)),
        work("select/runs_alike", DType::U32, 4, |d, s| runs(d, s, ALIKE)),
        work("select/runs_rising", DType::U32, 12, |d, s| runs(d, s, RISING)),
        work("segmented/by_key_alike", DType::U32, 8, |d, s| by_key(d, s, ALIKE)),
        work("segmented/by_key_rising", DType::U32, 16, |d, s| by_key(d, s, RISING)),
    ]
}

/// An input for every turn.
fn made(d: &Device, s: &Shape, kind: Kind) -> Result<Buffer<Device, u32>> {
    let n = s.n as u32;
    d.generate(s.n * s.copies, (index(), scalar(s.seed)), move |(i, seed)| {
        let h = (i + seed) * 0x9E37_79B9;
        kind(i % n, h ^ (h >> 15), n)
    })
}

fn keys(d: &Device, s: &Shape, kind: Kind) -> Result<Ready> {
    one_of(d, s, made(d, s, kind)?, |d, x, out| d.sort(x).write_to(out))
}

fn by(d: &Device, s: &Shape, kind: Kind) -> Result<Ready> {
    one_of(d, s, made(d, s, kind)?, |d, x, out| d.sort(x).by(Expr::lt).write_to(out))
}

fn merged(d: &Device, s: &Shape, kind: Kind) -> Result<Ready> {
    let half = s.n / 2;
    one_of(d, s, made(d, s, kind)?, move |d, x, out| d.merge(&x.slice(..half)?, &x.slice(half..)?).write_to(out))
}

fn selected(d: &Device, s: &Shape, condition: fn(Expr<u32>) -> Expr<bool>) -> Result<Ready> {
    counted_of(d, s, made(d, s, RISING)?, move |d, x, out, count| d.select(x, condition).write_to((out, count)))
}

fn unique(d: &Device, s: &Shape, kind: Kind) -> Result<Ready> {
    counted_of(d, s, made(d, s, kind)?, |d, x, out, count| d.unique(x).write_to((out, count)))
}

fn runs(d: &Device, s: &Shape, kind: Kind) -> Result<Ready> {
    let lengths = zeroed::<u32>(d, s.n)?;
    counted_of(d, s, made(d, s, kind)?, move |d, x, out, count| d.run_length_encode(x).write_to(((out, &lengths), count)))
}

/// Sums of the keys themselves.
fn by_key(d: &Device, s: &Shape, kind: Kind) -> Result<Ready> {
    let found = zeroed::<u32>(d, s.n)?;
    counted_of(d, s, made(d, s, kind)?, move |d, x, out, count| d.reduce(x, Sum).by_key(x).write_to(((&found, out), count)))
}
