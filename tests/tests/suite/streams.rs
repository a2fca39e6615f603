//! Streams, events, threads, several devices at once, and loops that allocate nothing: on every device.

use crate::common::{cpu, devices, each, each_alone, gpus};
use half::f16;
use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::prelude::*;
use isowarp_conformance::data::{self, Fill};
use std::thread;

/// A sequence of patterns that depend on each other, and its result's bits.
fn chain(d: &Device, seed: u64) -> Vec<u32> {
    let x = d.upload(&data::data::<f32>(Fill::Cancel, 20_000 + seed % 97, seed)).unwrap();
    let y = d.scan(&x, Sum).run().unwrap();
    let total = d.reduce(&y, Max).run().unwrap();
    let z = d.map((&y, &total, index()), |(y, t, i)| (y / t).exp() + (i % 7).cast::<f32>()).unwrap();
    let k = d.argmin(&z).unwrap();
    d.map((&z, &k), |(z, k)| z.bitcast::<u32>() ^ k).unwrap().read_blocking().unwrap()
}

#[test]
fn threads_that_share_a_device_do_not_disturb_each_other() {
    let expected: Vec<Vec<u32>> = (0..4).map(|seed| chain(&cpu(), seed)).collect();
    each(|d| {
        thread::scope(|s| {
            for (seed, expected) in (0..).zip(&expected) {
                s.spawn(move || (0..3).for_each(|_| assert_eq!(chain(d, seed), *expected)));
            }
        });
    });
}

#[test]
fn several_devices_work_at_once() {
    let expected = chain(&cpu(), 5);
    // Twice each: as other handles on the same device, and as devices opened anew.
    let mut all = devices();
    let (again, _) = isowarp_conformance::present(&[], isowarp_conformance::Again::Never).unwrap();
    all.extend(again.into_iter().map(|p| p.device));
    thread::scope(|s| {
        for d in &all {
            s.spawn(|| assert_eq!(chain(d, 5), expected));
        }
    });
}

#[test]
fn a_stream_that_waits_for_an_event_sees_what_was_before_it() {
    each(|d| {
        let other = d.new_stream().unwrap();
        let x = d.iota(1 << 18, 0u32, 1).unwrap();
        for round in 0..8u32 {
            d.map_into(&x, |x| x + 1, &x).unwrap();
            let event = d.record().unwrap();
            other.wait(&event).unwrap();
            let sum = other.sum(&x).unwrap();
            d.wait(&other.record().unwrap()).unwrap();
            let n = 1u32 << 18;
            let expected = (u64::from(n) * u64::from(n - 1) / 2) as u32;
            assert_eq!(sum.read_blocking().unwrap(), expected.wrapping_add(n.wrapping_mul(round + 1)));
        }
    });
}

#[test]
fn results_are_read_with_futures_too() {
    each(|d| {
        let x = d.iota(1000, 1u32, 1).unwrap();
        let (a, b) = (x.read(), d.sum(&x).unwrap());
        let (a, b) = pollster::block_on(async { (a.await.unwrap(), b.read().await.unwrap()) });
        assert_eq!((a[999], b), (1000, 500_500));
    });
}

#[test]
fn a_buffer_may_go_before_the_work_on_it_is_done() {
    each(|d| {
        let mut x = d.iota(100_000, 0u32, 1).unwrap();
        for _ in 0..50 {
            x = d.map(&x, |x| x * 3 + 1).unwrap();
        }
        let first = (0..50).fold(0u32, |v, _| v.wrapping_mul(3).wrapping_add(1));
        assert_eq!(x.slice(..1).unwrap().read_blocking().unwrap(), [first]);
    });
}

#[test]
fn time_is_measured_and_the_work_is_done() {
    each(|d| {
        let x = d.iota(1 << 20, 0u32, 1).unwrap();
        let taken = d.time(&mut || d.map_into(&x, |x| x + 1, &x)).unwrap();
        assert_eq!(taken.is_some(), d.caps().timestamps);
        assert!(taken.is_none_or(|s| (0.0..10.0).contains(&s)), "{taken:?}");
        assert_eq!(x.slice(..2).unwrap().read_blocking().unwrap(), [1, 2]);
    });
}

/// One round of every pattern into the caller's buffers.
fn round(d: &Device, x: &Buffer<Device, f32>, y: &Buffer<Device, f32>, one: &Buffer<Device, f32>, k: f32) {
    d.map_into((x, scalar(k)), |(x, k)| x * k + 1.0, y).unwrap();
    d.scan(y, Sum).write_to(x).unwrap();
    d.reduce(x, Max).write_to(one).unwrap();
    let image = |b: &Buffer<Device, f32>| Image::new(b.clone(), 100, 100, 1).unwrap();
    d.filter_into(&image(x), FilterKind::gaussian3(), Border::Clamp, &image(y)).unwrap();
    d.copy_into(y, x).unwrap();
}

/// The same of what orders, selects and moves 10,000 words.
fn words_round(d: &Device, [x, y, z]: [&Buffer<Device, u32>; 3], count: &Buffer<Device, u32>, limit: u32) {
    d.map_into((x, scalar(limit)), |(x, k)| (x ^ k) % 9973, y).unwrap();
    d.sort(y).write_to(z).unwrap();
    d.sort(z).descending().scratch(x).write_to(y).unwrap();
    d.argsort(x).bits(3..17).write_to(y).unwrap();
    d.sort(x).in_place().unwrap();
    d.sort(x).with_values(z).in_place().unwrap();
    d.sort(x).axis(&[x.len() / 100, 100], 1).write_to(z).unwrap();
    d.select((x, scalar(limit)), |(x, k)| x.gt(k)).finish(|(x, _)| x).write_to((y, count)).unwrap();
    d.partition(x, |x| (x & 1u32).eq(1)).write_to((y, count)).unwrap();
    d.unique(x).write_to((y, count)).unwrap();
    d.run_length_encode(x).write_to(((y, z), count)).unwrap();
    d.reduce(x, Sum).segments(y).write_to(z).unwrap();
    d.reduce(x, Sum).by_key(x).write_to(((y, z), count)).unwrap();
    d.sort(x).segments(z).write_to(y).unwrap();
    d.adjacent_difference(x).write_to(y).unwrap();
    d.gather(x, z).write_to(y).unwrap();
    d.scatter(x, z).unique().write_to(y).unwrap();
    d.scatter(x, z).write_to(y).unwrap();
    d.scatter(x, z).reduce(ScatterOp::Sum).write_to(y).unwrap();
    d.reverse(x).write_to(y).unwrap();
    d.rotate(x, i64::from(limit)).write_to(y).unwrap();
    d.transpose(x, 100, 100).write_to(y).unwrap();
    d.transpose(y, 200, 50).in_place().unwrap();
    d.permute_axes(x, &[10, 50, 20], &[2, 0, 1]).write_to(y).unwrap();
    d.copy_2d_into((x, 100), (y, 90), 100, 80).unwrap();
    d.sort(x).write_to(z).unwrap();
    let (low, high) = (z.slice(..4000).unwrap(), z.slice(4000..).unwrap());
    d.merge(&low, &high).write_to(y).unwrap();
    d.upper_bound(y, x).write_to(z).unwrap();
    d.sort(x).by(|a, b| (a >> 3).gt(b >> 3)).write_to(y).unwrap();
    d.sort(y).by(Expr::lt).in_place().unwrap();
    d.sort(x).by(Expr::lt).scratch(y).write_to(z).unwrap();
    d.argsort(x).by(Expr::lt).write_to(z).unwrap();
    d.sort(y).with_values(z).by(Expr::gt).in_place().unwrap();
    let half = |x: &Buffer<Device, u32>| (x.slice(..5000).unwrap(), x.slice(5000..).unwrap());
    let ((keys, values), (lent, more), (out, places)) = (half(x), half(y), half(z));
    d.sort(&keys).with_values(&values).by(Expr::lt).scratch((&lent, &more)).write_to((&out, &places)).unwrap();
    d.argsort(&keys).by(Expr::lt).scratch(([&out, &lent], &more)).write_to(&places).unwrap();
    d.merge(&x.slice(..4000).unwrap(), &x.slice(4000..).unwrap()).by(Expr::lt).write_to(y).unwrap();
    d.sort(x).write_to(y).unwrap();
    d.co_ranks(&y.slice(..5000).unwrap(), &y.slice(5000..).unwrap(), x).write_to(z).unwrap();
    d.intersection(&y.slice(..5000).unwrap(), &y.slice(4000..).unwrap()).write_to((z, count)).unwrap();
    d.union(&y.slice(..5000).unwrap(), &y.slice(6000..).unwrap()).write_to((z, count)).unwrap();
    d.copy_into(y, x).unwrap();
}

/// The same of groups and atomics.
fn groups_round(d: &Device, [x, y, z]: [&Buffer<Device, u32>; 3], floats: &Buffer<Device, f32>, limit: u32) {
    d.group_shuffle(x, 40, Shuffle::Down(limit)).write_to(y).unwrap();
    d.group_ballot((x, scalar(limit)).map(|(x, k)| x.gt(k)), 33).write_to(y).unwrap();
    d.group_rank(x.map(|x| x.gt(3)), 100).write_to(y).unwrap();
    d.group_match(x, 32).write_to((y, z)).unwrap();
    d.group_partition(x, 500).write_to((y, z)).unwrap();
    d.tickets(x).write_to((y, z)).unwrap();
    d.scatter_inc_into(x, limit, y).unwrap();
    let (values, sums) = (floats.slice(..5000).unwrap(), floats.slice(5000..).unwrap());
    d.scatter(&values, &x.slice(..5000).unwrap()).reduce(ScatterOp::Sum).write_to(&sums).unwrap();
    d.scatter(&values, &x.slice(..5000).unwrap()).reduce(ScatterOp::Min).write_to(&sums).unwrap();
}

/// A selection, a sort and a sum that follow its count, and what else reads a number that the device has found.
fn counted_round(d: &Device, [x, y, z]: [&Buffer<Device, u32>; 3], count: &Buffer<Device, u32>, limit: u32) {
    let one = d.buffer(1).unwrap();
    d.select((x, scalar(limit << 20)), |(x, k)| x.gt(k)).finish(|(x, _)| x).write_to((y, count)).unwrap();
    let kept = DeviceScalar::from_buffer(count.clone()).unwrap();
    d.sort(y).length(&kept).write_to(z).unwrap();
    d.argsort(y).length(&kept).write_to(z).unwrap();
    d.reduce(z, Sum).length(&kept).write_to(&one).unwrap();
    d.unique((x, index()).map(|(x, i)| (x >> 20, i))).by(|a, b| a.0.eq(b.0)).write_to(((y, z), count)).unwrap();
    d.reduce(x, Sum).by_key(x.map(|x| x >> 20)).write_to(((y, z), count)).unwrap();
    d.run_length_decode(x, y, z.len()).length(&kept).write_to(z).unwrap();
    d.lower_bound(x, y).by(Expr::lt).write_to(z).unwrap();
    d.merge(x.slice(..4000).unwrap().map(|x| x), x.slice(4000..).unwrap().map(|x| x)).by(Expr::lt).write_to(z).unwrap();
    d.union(&y.slice(..5000).unwrap(), &y.slice(6000..).unwrap()).by(Expr::lt).write_to((z, count)).unwrap();
    d.group_scan(x, 33, Sum).exclusive().write_to(y).unwrap();
}

#[test]
fn after_a_warm_up_a_loop_of_into_calls_allocates_nothing_and_waits_for_nothing() {
    each_alone(|d| {
        let x = d.upload(&data::data::<f32>(Fill::Plain, 10_000, 1)).unwrap();
        let (y, one) = (d.buffer(x.len()).unwrap(), d.upload(&[0.0f32]).unwrap());
        let words = d.iota(10_000, 0u32, 7919).unwrap();
        let (more, most, count) = (d.buffer(words.len()).unwrap(), d.buffer(words.len()).unwrap(), d.upload(&[0u32]).unwrap());
        let turns = |from: u32| {
            for turn in from..from + 20 {
                round(d, &x, &y, &one, 0.5 + turn as f32 * 1e-3);
                words_round(d, [&words, &more, &most], &count, turn);
                groups_round(d, [&words, &more, &most], &x, turn);
            }
        };
        turns(0);
        d.synchronize().unwrap();
        let warm = usage(d);
        turns(20);
        assert_eq!(usage(d), warm);
        turns(40);
        assert_eq!(usage(d), warm);
    });
}

#[test]
fn a_chain_behind_a_count_reads_nothing_back() {
    each_alone(|d| {
        let words = d.iota(10_000, 0u32, 7919 << 12).unwrap();
        let (more, most, count) = (d.buffer(words.len()).unwrap(), d.buffer(words.len()).unwrap(), d.upload(&[0u32]).unwrap());
        let turns = |from: u32| (from..from + 20).for_each(|turn| counted_round(d, [&words, &more, &most], &count, turn));
        turns(0);
        d.synchronize().unwrap();
        let warm = usage(d);
        turns(20);
        assert_eq!(usage(d), warm);
    });
}

/// Everything that maps, reduces and scans, in the forms that the others leave out: 10,000 floats, as many words, and where single values go.
struct Forms<'a> {
    x: &'a Buffer<Device, f32>,
    y: &'a Buffer<Device, f32>,
    words: &'a Buffer<Device, u32>,
    halves: &'a Buffer<Device, f16>,
    one: &'a Buffer<Device, f32>,
    two: &'a Buffer<Device, f32>,
    place: &'a Buffer<Device, u32>,
}

fn maps_round(d: &Device, f: &Forms<'_>, k: f32) -> isowarp::Result<()> {
    d.map_into((counting(f.x.len()), scalar(k), scalar(0.5)), |(i, start, step)| i.cast::<f32>() * step + start, f.x)?;
    d.map_into((scalar(k), f.x, f.x), |(a, x, y)| a * x + y, f.y)?;
    d.map_into((f.x, f.y), |(x, y)| x.min(y), f.y)?;
    d.map_into((f.y, scalar(1.0), scalar(k)), |(x, old, new)| select(x.eq(old), new, x), f.y)?;
    d.map_into(f.y, Expr::store_as::<half::f16>, f.halves)?;
    d.generate_into(10_000, (index(), scalar(k)), |(i, k)| (i % 97).eq(k.cast::<u32>()).cast::<u32>(), f.words)
}

fn reductions_round(d: &Device, f: &Forms<'_>, k: f32) -> isowarp::Result<()> {
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

fn scans_round(d: &Device, f: &Forms<'_>, k: f32) -> isowarp::Result<()> {
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
fn after_a_warm_up_every_form_of_maps_reductions_and_scans_allocates_nothing_and_waits_for_nothing() {
    each_alone(|d| {
        let x = d.upload(&data::data::<f32>(Fill::Plain, 10_000, 1)).unwrap();
        let (y, words, halves) = (d.buffer(10_000).unwrap(), d.buffer(10_000).unwrap(), d.buffer(10_000).unwrap());
        let (one, two, place) = (d.buffer(1).unwrap(), d.buffer(1).unwrap(), d.buffer(1).unwrap());
        let forms = Forms { x: &x, y: &y, words: &words, halves: &halves, one: &one, two: &two, place: &place };
        let turns = |from: u32| {
            for turn in from..from + 5 {
                let k = 0.5 + turn as f32;
                maps_round(d, &forms, k).unwrap();
                reductions_round(d, &forms, k).unwrap();
                scans_round(d, &forms, k).unwrap();
            }
        };
        turns(0);
        d.synchronize().unwrap();
        let warm = usage(d);
        turns(5);
        assert_eq!(usage(d), warm);
        turns(10);
        assert_eq!(usage(d), warm);
    });
}

/// Reductions and scans of 2^24 elements take at most a hundredth of the memory that the elements take. For CUDA: `crates/backend-cuda/tests/scratch.rs`.
#[cfg(feature = "wgpu")]
#[test]
fn scratch_is_at_most_a_hundredth_of_the_input() {
    type Work<'a> = (&'a str, &'a dyn Fn(&Device) -> isowarp::Result<()>);
    const N: u64 = 1 << 24;
    each_alone(|d| {
        let Device::Wgpu(gpu) = d else { return };
        let (x, y) = (d.iota(N, 0.0f32, 1.0).unwrap(), d.buffer::<f32>(N).unwrap());
        let (one, place) = (d.buffer::<f32>(1).unwrap(), d.buffer::<u32>(1).unwrap());
        let (wide, tall) = ([1 << 12, 1 << 12], [1 << 20, 1 << 4]);
        let works: [Work<'_>; 9] = [
            ("sum", &|d| d.reduce(&x, Sum).write_to(&one)),
            ("argmin", &|d| d.reduce(&x, Min).index().write_to(&place)),
            ("sums of rows", &|d| d.reduce(&x, Sum).axis(&wide, 1).write_to(&y)),
            ("sums of columns", &|d| d.reduce(&x, Sum).axis(&wide, 0).write_to(&y)),
            ("sums of few columns", &|d| d.reduce(&x, Sum).axis(&tall, 0).write_to(&y)),
            ("scan", &|d| d.scan(&x, Sum).write_to(&y)),
            ("scan of rows", &|d| d.scan(&x, Sum).axis(&wide, 1).write_to(&y)),
            ("scan of columns", &|d| d.scan(&x, Sum).axis(&wide, 0).write_to(&y)),
            ("scan of few columns", &|d| d.scan(&x, Sum).axis(&tall, 0).write_to(&y)),
        ];
        let mut all = 0;
        for (what, work) in works {
            d.synchronize().unwrap();
            gpu.trim();
            let before = gpu.usage().created_bytes;
            work(d).unwrap();
            let scratch = gpu.usage().created_bytes - before;
            assert!(scratch <= 4 * N / 100, "{what}: {scratch} bytes of scratch");
            all += scratch;
        }
        assert!(all > 0, "scratch is counted");
    });
}

/// Returns what a device holds beside the buffers of its user, and the number of waits for it, in a form that can be compared. For CUDA the calls
/// of the driver are counted: `crates/backend-cuda/tests/steady.rs`.
fn usage(d: &Device) -> String {
    match d {
        #[cfg(feature = "wgpu")]
        Device::Wgpu(w) => format!("{:?}", w.usage().settled()),
        _ => String::new(),
    }
}

#[test]
fn buffers_of_another_device_are_refused() {
    let Some(gpu) = gpus().into_iter().next() else { return };
    let (here, there) = (cpu().upload(&[1.0f32; 4]).unwrap(), gpu.upload(&[1.0f32; 4]).unwrap());
    assert!(matches!(gpu.map(&here, |x| x), Err(isowarp::Error::WrongDevice { .. })));
    assert!(matches!(cpu().map((&here, &there), |(x, y)| x + y), Err(isowarp::Error::WrongDevice { .. })));
    assert!(matches!(gpu.copy_into(&there, &here), Err(isowarp::Error::WrongDevice { .. })));
}

#[test]
fn plans_of_another_device_are_refused() {
    let Some(gpu) = gpus().into_iter().next() else { return };
    let (z, out) = (gpu.upload(&[1.0f32; 24]).unwrap(), gpu.upload(&[5.0f32; 26]).unwrap());
    let refused = |result: isowarp::Result<()>| assert!(matches!(result, Err(isowarp::Error::WrongDevice { .. })));
    // Of levels, and of a chirp.
    for n in [12, 11] {
        let plan = cpu().fft_plan::<f32>(n).unwrap();
        refused(gpu.fft(&z.slice(..2 * n).unwrap()).plan(&plan).write_to(&out));
        let plan = cpu().rfft_plan::<f32>(n).unwrap();
        refused(gpu.rfft(&z.slice(..n).unwrap()).plan(&plan).write_to(&out));
        refused(gpu.irfft(&z.slice(..2 * (n / 2 + 1)).unwrap(), n).plan(&plan).write_to(&out));
    }
    assert_eq!(out.read_blocking().unwrap(), [5.0; 26]);
}

#[test]
fn copies_there_and_back_wait_for_nobody() {
    each(|d| {
        let (a, b) = (d.iota(1 << 16, 0u32, 1).unwrap(), d.iota(1 << 16, 0u32, 1).unwrap());
        let copies = |from: &Buffer<Device, u32>, to: &Buffer<Device, u32>| (0..200).for_each(|_| d.copy_into(from, to).unwrap());
        thread::scope(|s| {
            s.spawn(|| copies(&a, &b));
            s.spawn(|| copies(&b, &a));
        });
        assert_eq!(a.read_blocking().unwrap(), b.read_blocking().unwrap());
    });
}
