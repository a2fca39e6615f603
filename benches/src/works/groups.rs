//! Groups and atomics.

use super::{Ready, Shape, Work, one, random, turn_of, work, zeroed};
use isowarp::element::{DType, Element};
use isowarp::prelude::*;
use isowarp::{Device, Result};
use std::rc::Rc;

pub(super) fn works() -> Vec<Work> {
    vec![
        work("groups/ballot", DType::U32, 4, |d, s| {
            // A bit to an element.
            one::<u32>(d, s, |d, x, out| d.group_ballot(x.map(|x| (x >> 31).eq(0)), 32).write_to(out))
        }),
        work("groups/match", DType::U32, 8, |d, s| one::<u32>(d, s, |d, x, out| d.group_match_mask(x.map(|x| x >> 28), 32).write_to(out))),
        work("groups/rank_1024", DType::U32, 8, |d, s| {
            one::<u32>(d, s, |d, x, out| d.group_rank(x.map(|x| (x >> 31).eq(0)), 1024).write_to(out))
        }),
        work("groups/shuffle_xor", DType::U32, 8, |d, s| {
            one::<u32>(d, s, |d, x, out| d.group_shuffle(x, 32, Shuffle::Xor(5)).write_to(out))
        }),
        work("atomics/scatter_sum_2^16", DType::F32, 8, |d, s| sums(d, s, 1 << 16)),
        work("atomics/scatter_sum_2^24", DType::F32, 8, |d, s| sums(d, s, 1 << 24)),
        work("atomics/scatter_min_2^16", DType::F32, 8, |d, s| {
            scattered(d, s, 1 << 16, 0.0, |d, x, at, out| d.scatter(x, at).reduce(ScatterOp::Min).write_to(out))
        }),
        work("atomics/scatter_fixed_2^16", DType::F32, 8, |d, s| {
            scattered(d, s, 1 << 16, 0i32, |d, x, at, out| d.scatter_fixed_into(x, at, 16, Overflow::Wrap, out))
        }),
        work("atomics/tickets", DType::U32, 12, |d, s| {
            let counts = zeroed::<u32>(d, s.n)?;
            one::<u32>(d, s, move |d, x, out| d.tickets(x.map(|x| x >> 12)).write_to((out, &counts)))
        }),
    ]
}

fn sums(d: &Device, shape: &Shape, targets: u64) -> Result<Ready> {
    scattered(d, shape, targets, 0.0, |d, x, at, out| d.scatter(x, at).reduce(ScatterOp::Sum).write_to(out))
}

/// Sources scattered at random; the targets are cleared before, so that each turn gives what the first one did.
fn scattered<T: Element>(
    d: &Device,
    shape: &Shape,
    targets: u64,
    zero: T,
    scatter: impl Fn(&Device, &Buffer<Device, f32>, &Buffer<Device, u32>, &Buffer<Device, T>) -> Result<()> + 'static,
) -> Result<Ready> {
    let (shape, device) = (*shape, d.clone());
    let x = random::<f32>(d, shape.n * shape.copies, shape.seed)?;
    let at = random::<u32>(d, shape.n, !shape.seed)?;
    d.map_into((&at, scalar(targets as u32)), |(at, targets)| at % targets, &at)?;
    let out = zeroed::<T>(d, targets)?;
    let (all, targets) = (x.clone(), out.clone());
    let enqueue = move |turn| {
        device.fill(&targets, zero)?;
        scatter(&device, &turn_of(&all, &shape, turn)?, &at, &targets)
    };
    Ready::new(d, &shape, &x, (&out, None), Rc::new(enqueue))
}
