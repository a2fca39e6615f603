//! A steady state, as recording a sequence as a graph needs it: after a warm-up, enqueueing patterns into the caller's buffers allocates
//! nothing and waits for nothing. Counted by the stub of `cargo xtask cuda-stub`, which sees every call of the driver and runs no kernel.

mod common;

use common::gpu;
use half::f16;
use isowarp_core::backend::Backend as _;
use isowarp_core::buffer::{Buffer, DeviceScalar, Memory as _};
use isowarp_core::input::{Source as _, counting, index, scalar};
use isowarp_core::ir::{Expr, select};
use isowarp_core::ops::{Max, Min, Sum};
use isowarp_core::patterns::Difference as _;
use isowarp_core::patterns::GroupFolds as _;
use isowarp_core::patterns::Quadrature as _;
use isowarp_core::patterns::{Atomics as _, Groups as _, Histogram as _, Ordered as _, Overflow, Shuffle, even_bins};
use isowarp_core::patterns::{Border, Filter as _, FilterKind, Image, Layout as _, Map as _, Move as _, Reduce as _, Scan as _, ScatterOp};
use isowarp_core::patterns::{Merge as _, RunLengths as _, Search as _, Select as _, Sets as _, Sort as _};
use isowarp_cuda::Cuda;

/// The stub's counts of calls that allocate memory, and of calls that wait for the device; `None` where the driver is no stub.
fn counts() -> Option<(u64, u64)> {
    // SAFETY: the library is loaded already, and the two functions have this signature.
    unsafe {
        let driver = libloading::Library::new("libcuda.so.1").ok()?;
        let count = |name: &[u8]| driver.get::<unsafe extern "C" fn() -> std::ffi::c_ulong>(name).map(|f| f()).ok();
        #[allow(clippy::useless_conversion, reason = "a c_ulong has 32 bits on some systems")]
        Some((count(b"isowarp_stub_allocations\0")?.into(), count(b"isowarp_stub_waits\0")?.into()))
    }
}

/// One round of every pattern into the caller's buffers.
fn round(gpu: &Cuda, x: &Buffer<Cuda, f32>, y: &Buffer<Cuda, f32>, one: &Buffer<Cuda, f32>, k: f32) -> isowarp_core::Result<()> {
    gpu.map_into((x, scalar(k)), |(x, k)| x * k + 1.0, y)?;
    gpu.scan(y, Sum).write_to(x)?;
    gpu.reduce(x, Max).write_to(one)?;
    gpu.filter_into(&Image::new(x.clone(), 100, 100, 1)?, FilterKind::gaussian3(), Border::Clamp, &Image::new(y.clone(), 100, 100, 1)?)?;
    gpu.copy_into(y, x)?;
    // A temporary takes the memory that the last one gave back.
    gpu.buffer::<f32>(10_000).map(drop)
}

/// The same of what orders, selects and moves 10,000 words.
fn words_round(gpu: &Cuda, [x, y, z]: [&Buffer<Cuda, u32>; 3], count: &Buffer<Cuda, u32>, limit: u32) -> isowarp_core::Result<()> {
    gpu.sort(x).write_to(z)?;
    gpu.sort(z).descending().scratch(x).write_to(y)?;
    gpu.argsort(x).bits(3..17).write_to(y)?;
    gpu.sort(x).in_place()?;
    gpu.sort(x).with_values(z).in_place()?;
    gpu.sort(x).axis(&[x.len() / 100, 100], 1).write_to(z)?;
    gpu.top_k(x, 1000).smallest().with_indices().write_to((y, z))?;
    // Rows by themselves, and short ones together.
    gpu.top_k(x, 9).smallest().axis(&[x.len() / 100, 100], 1).with_indices().write_to((y, z))?;
    gpu.top_k(x, 2).smallest().axis(&[x.len() / 8, 8], 1).with_indices().write_to((y, z))?;
    // So many that they are not sorted.
    gpu.top_k(&gpu.buffer(1 << 18)?, 1000).smallest().with_indices().write_to((y, z))?;
    gpu.select((x, scalar(limit)), |(x, k)| x.gt(k)).finish(|(x, _)| x).write_to((y, count))?;
    gpu.partition(x, |x| (x & 1u32).eq(1)).write_to((y, count))?;
    gpu.unique(x).write_to((y, count))?;
    gpu.run_length_encode(x).write_to(((y, z), count))?;
    gpu.histogram(even_bins(x, 0, limit + 1, 1)).write_to(y)?;
    gpu.histogram(even_bins(x, 0, 1 << 20, 1 << 10)).weighted(x).write_to(y)?;
    gpu.reduce(x, Sum).segments(y).write_to(z)?;
    gpu.reduce(x, Sum).by_key(x).write_to(((y, z), count))?;
    gpu.sort(x).segments(z).write_to(y)?;
    gpu.adjacent_difference(x).write_to(y)?;
    gpu.gather(x, z).write_to(y)?;
    gpu.scatter(x, z).unique().write_to(y)?;
    gpu.scatter(x, z).write_to(y)?;
    gpu.scatter(x, z).reduce(ScatterOp::Sum).write_to(y)?;
    gpu.reverse(x).write_to(y)?;
    gpu.rotate(x, i64::from(limit)).write_to(y)?;
    gpu.transpose(x, 100, 100).write_to(y)?;
    gpu.transpose(y, 200, 50).in_place()?;
    gpu.permute_axes(x, &[10, 50, 20], &[2, 0, 1]).write_to(y)?;
    gpu.copy_2d_into((x, 100), (y, 90), 100, 80)?;
    gpu.merge(&x.slice(..4000)?, &x.slice(4000..)?).write_to(y)?;
    gpu.sort(x).by(|a, b| (a >> 3).gt(b >> 3)).write_to(y)?;
    gpu.sort(y).by(Expr::lt).in_place()?;
    gpu.sort(x).by(Expr::lt).scratch(y).write_to(z)?;
    gpu.argsort(x).by(Expr::lt).write_to(z)?;
    gpu.sort(y).with_values(z).by(Expr::gt).in_place()?;
    let half = |x: &Buffer<Cuda, u32>| Ok::<_, isowarp_core::Error>((x.slice(..5000)?, x.slice(5000..)?));
    let ((a, b), (c, d), (e, f)) = (half(x)?, half(y)?, half(z)?);
    gpu.sort(&a).with_values(&b).by(Expr::lt).scratch((&c, &d)).write_to((&e, &f))?;
    gpu.argsort(&a).by(Expr::lt).scratch(([&b, &c], &d)).write_to(&e)?;
    gpu.merge(&x.slice(..4000)?, &x.slice(4000..)?).by(Expr::lt).write_to(y)?;
    gpu.upper_bound(y, x).write_to(z)?;
    gpu.co_ranks(&y.slice(..5000)?, &y.slice(5000..)?, x).write_to(z)?;
    gpu.intersection(&y.slice(..5000)?, &y.slice(4000..)?).write_to((z, count))?;
    gpu.union(&y.slice(..5000)?, &y.slice(6000..)?).write_to((z, count))
}

/// The same of groups and atomics.
fn groups_round(gpu: &Cuda, [x, y, z]: [&Buffer<Cuda, u32>; 3], floats: &Buffer<Cuda, f32>, limit: u32) -> isowarp_core::Result<()> {
    gpu.group_shuffle(x, 40, Shuffle::Down(limit)).write_to(y)?;
    gpu.group_ballot((x, scalar(limit)).map(|(x, k)| x.gt(k)), 33).write_to(y)?;
    gpu.group_count(x.map(|x| x.gt(3)), 100).write_to(y)?;
    gpu.group_rank(x.map(|x| x.gt(3)), 100).write_to(y)?;
    gpu.group_match(x, 32).write_to((y, z))?;
    gpu.group_partition(x, 500).write_to((y, z))?;
    gpu.tickets(x).write_to((y, z))?;
    gpu.scatter_inc_into(x, limit, y)?;
    let (values, sums) = (floats.slice(..5000)?, floats.slice(5000..)?);
    gpu.scatter(&values, &x.slice(..5000)?).reduce(ScatterOp::Sum).write_to(&sums)?;
    gpu.scatter(&values, &x.slice(..5000)?).reduce(ScatterOp::Min).write_to(&sums)?;
    let fixed = gpu.buffer::<i64>(100)?;
    gpu.scatter_fixed_into(&values, &x.slice(..5000)?, 10, Overflow::Saturate, &fixed)
}

/// A selection, a sort and a sum that follow its count, and what else reads a number that the device has found.
fn counted_round(gpu: &Cuda, [x, y, z]: [&Buffer<Cuda, u32>; 3], count: &Buffer<Cuda, u32>, limit: u32) -> isowarp_core::Result<()> {
    gpu.select((x, scalar(limit)), |(x, k)| x.gt(k)).finish(|(x, _)| x).write_to((y, count))?;
    let kept = DeviceScalar::from_buffer(count.clone())?;
    gpu.sort(y).length(&kept).write_to(z)?;
    gpu.argsort(y).length(&kept).write_to(z)?;
    gpu.sort(x).with_values(y).length(&kept).write_to((&gpu.buffer(10_000)?, z))?;
    gpu.reduce(z, Sum).length(&kept).write_to(&gpu.buffer(1)?)?;
    gpu.unique((x, index()).map(|(x, i)| (x >> 8, i))).by(|a, b| a.0.eq(b.0)).write_to(((y, z), count))?;
    gpu.non_trivial_runs(x.map(|x| x >> 8)).write_to(((y, z), count))?;
    gpu.reduce(x, Sum).by_key(x.map(|x| x >> 8)).write_to(((y, z), count))?;
    gpu.run_length_decode(x, y, z.len()).length(&kept).write_to(z)?;
    gpu.lower_bound(x, y).by(Expr::lt).write_to(z)?;
    gpu.merge(x.slice(..4000)?.map(|x| x), x.slice(4000..)?.map(|x| x)).by(Expr::lt).write_to(z)?;
    gpu.union(&y.slice(..5000)?, &y.slice(6000..)?).by(Expr::lt).write_to((z, count))?;
    gpu.group_reduce(x, 33, Sum).write_to(y)?;
    gpu.group_scan(x, 33, Sum).exclusive().write_to(y)
}

/// Everything that maps, reduces and scans, in the forms that the others leave out: 10,000 floats, as many words, and where single values go.
struct Forms<'a> {
    x: &'a Buffer<Cuda, f32>,
    y: &'a Buffer<Cuda, f32>,
    words: &'a Buffer<Cuda, u32>,
    halves: &'a Buffer<Cuda, f16>,
    one: &'a Buffer<Cuda, f32>,
    two: &'a Buffer<Cuda, f32>,
    place: &'a Buffer<Cuda, u32>,
}

fn maps_round(d: &Cuda, f: &Forms<'_>, k: f32) -> isowarp_core::Result<()> {
    d.map_into((counting(f.x.len()), scalar(k), scalar(0.5)), |(i, start, step)| i.cast::<f32>() * step + start, f.x)?;
    d.map_into((scalar(k), f.x, f.x), |(a, x, y)| a * x + y, f.y)?;
    d.map_into((f.x, f.y), |(x, y)| x.min(y), f.y)?;
    d.map_into((f.y, scalar(1.0), scalar(k)), |(x, old, new)| select(x.eq(old), new, x), f.y)?;
    d.map_into(f.y, Expr::store_as::<half::f16>, f.halves)?;
    d.generate_into(10_000, (index(), scalar(k)), |(i, k)| (i % 97).eq(k.cast::<u32>()).cast::<u32>(), f.words)
}

fn reductions_round(d: &Cuda, f: &Forms<'_>, k: f32) -> isowarp_core::Result<()> {
    let Forms { x, y, one, two, place, .. } = *f;
    d.reduce((x, scalar(k)).map(|(x, k)| x * k), Max).write_to(one)?;
    d.reduce((counting(10_000), scalar(k)).map(|(i, k)| i.cast::<f32>() + k), Min).write_to(one)?;
    d.reduce(x, Sum).axis(&[100, 100], 0).write_to(y)?;
    d.reduce(x, Sum).axis(&[100, 100], 1).write_to(y)?;
    d.reduce((x, scalar(k)).map(|(x, k)| x - k), Max).axis(&[10, 1000], 1).write_to(y)?;
    d.reduce_by(x.map(|x| (x, x * x)), |a: Pair, b| (a.0 + b.0, a.1 + b.1)).write_to((one, two))?;
    d.reduce(f.halves, Sum).write_to(one)?;
    d.reduce((x, scalar(k)).map(|(x, k)| x.gt(k).cast::<u32>()), Sum).write_to(place)?;
    d.reduce(x, Min).with_index().write_to((one, place))?;
    d.reduce(x, Max).with_index().write_to((one, place))?;
    d.reduce(x, Min).index().write_to(place)?;
    d.reduce(x, Max).index().write_to(place)?;
    d.reduce_by(x.map(|x| (x, x)), |a, b| (a.0.min(b.0), a.1.max(b.1))).write_to((one, two))?;
    d.reduce(x, Sum).finish(|sum| sum / x.len() as f32).write_to(one)?;
    d.reduce((x, x).map(|(x, y)| x * y), Sum).write_to(one)?;
    d.reduce(x.map(Expr::abs), Sum).write_to(one)?;
    d.reduce(x.map(|x| x * x), Sum).finish(Expr::sqrt).write_to(one)?;
    d.reduce_by(x.map(Expr::abs), Expr::max).identity(0.0).write_to(one)?;
    d.reduce((x, y).map(|(x, y)| (x - y).abs()), Max).write_to(one)?;
    d.trapezoid(0.0, k, 1000, |x| x * x).write_to(one)?;
    d.simpson(0.0, k, 1000, |x| x * x).write_to(one)
}

fn scans_round(d: &Cuda, f: &Forms<'_>, k: f32) -> isowarp_core::Result<()> {
    let Forms { x, y, words, .. } = *f;
    d.scan(x, Sum).write_to(y)?;
    d.scan(x, Sum).exclusive().write_to(y)?;
    d.scan((x, scalar(k)).map(|(x, k)| x * k), Max).write_to(y)?;
    d.scan(x, Sum).axis(&[100, 100], 0).write_to(y)?;
    d.scan(x, Sum).axis(&[100, 100], 1).exclusive().write_to(y)?;
    d.scan((x, scalar(k)).map(|(x, k)| x * k), Sum).axis(&[10, 1000], 1).write_to(y)?;
    d.scan_by((x, words).map(|(x, w)| (x, w.cast::<f32>())), |a: Pair, b| (a.0 * b.0, a.1 * b.0 + b.1)).finish(|a| a.1).write_to(y)?;
    d.scan_by(x.map(|x| (x, x)), |a: Pair, b| (a.0 + b.0, a.1.max(b.1))).identity((0.0, 0.5)).exclusive().finish(|a| a.1).write_to(y)?;
    d.scan(x, Sum).by_flags(words).write_to(y)?;
    d.scan((x, scalar(k)).map(|(x, k)| x + k), Sum).by_flags(words).write_to(y)?;
    d.scan(x, Sum).by_flags(words).exclusive().write_to(y)?;
    d.scan(x, Sum).by_key(words).write_to(y)?;
    d.scan((x, scalar(k)).map(|(x, k)| x + k), Sum).by_key(words).write_to(y)?;
    d.scan(x, Sum).by_key(words).exclusive().write_to(y)?;
    d.scan((x, scalar(k)).map(|(x, k)| x + k), Sum).by_flags(words).exclusive().write_to(y)?;
    d.scan((x, scalar(k)).map(|(x, k)| x + k), Sum).by_key(words).exclusive().write_to(y)?;
    d.scan(x, Sum).segments(words).write_to(y)?;
    d.scan((x, scalar(k)).map(|(x, k)| x * k), Sum).segments(words).write_to(y)?;
    d.scan((x, scalar(k)).map(|(x, k)| x * k), Sum).segments(words).exclusive().write_to(y)?;
    d.scan(x, Sum).segments(words).exclusive().write_to(y)
}

type Pair = (Expr<f32>, Expr<f32>);

#[test]
fn after_a_warm_up_nothing_is_allocated_and_nothing_waited_for() {
    let Some(gpu) = gpu() else { return };
    if counts().is_none() {
        eprintln!("NOT TESTED: this driver is no stub, so its calls cannot be counted; `cargo xtask cuda-stub --test` counts them");
        return;
    }
    let x = gpu.upload(&[0.5f32; 10_000]).expect("uploaded");
    let (y, one) = (gpu.buffer(10_000).expect("allocated"), gpu.buffer(1).expect("allocated"));
    let words = gpu.upload(&[7u32; 10_000]).expect("uploaded");
    let (more, most, count) =
        (gpu.buffer(10_000).expect("allocated"), gpu.buffer(10_000).expect("allocated"), gpu.buffer(1).expect("allocated"));
    let (another, two, halves) =
        (gpu.buffer(10_000).expect("allocated"), gpu.buffer(1).expect("allocated"), gpu.buffer(10_000).expect("allocated"));
    let forms = Forms { x: &x, y: &another, words: &more, halves: &halves, one: &one, two: &two, place: &count };
    let turns = |from: u16| {
        for turn in from..from + 20 {
            round(&gpu, &x, &y, &one, f32::from(turn)).expect("enqueued");
            words_round(&gpu, [&words, &more, &most], &count, turn.into()).expect("enqueued");
            groups_round(&gpu, [&words, &more, &most], &x, turn.into()).expect("enqueued");
            counted_round(&gpu, [&words, &more, &most], &count, turn.into()).expect("enqueued");
            maps_round(&gpu, &forms, turn.into()).expect("enqueued");
            reductions_round(&gpu, &forms, turn.into()).expect("enqueued");
            scans_round(&gpu, &forms, turn.into()).expect("enqueued");
        }
    };
    turns(0);
    gpu.synchronize().expect("done");
    let warm = counts();
    turns(20);
    assert_eq!(counts(), warm, "(allocations, waits)");
    gpu.synchronize().expect("done");
    assert_ne!(counts(), warm, "the stub counts");
}
