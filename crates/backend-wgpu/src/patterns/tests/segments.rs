//! Segments: every form is WGSL that fits WebGPU's default limits; windows of elements, of bounds and of results; tiles of other lengths.

use super::texts::{SHARED, accept, signature};
use super::trees::trees_both_ways;
use super::{Sample, both, device, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use crate::patterns::accumulator::Accumulator;
use crate::patterns::segmented_sort::Short;
use crate::patterns::segments::{Step, holes, program};
use isowarp_core::backend::Run;
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::element::Element;
use isowarp_core::ops::{Max, Op, Sum};
use isowarp_core::patterns::{
    GatherTask, MapTask, Ordered as _, Reduce as _, ReduceTask, ScanTask, ScatterTask, Segmented, SegmentedReduceTask, SegmentedSortTask,
    SelectTask, Sort, SortOrder,
};
use isowarp_cpu::Cpu;
use std::sync::atomic::Ordering;

#[test]
fn segments_of_every_type_operator_and_form() {
    for (tree, numerics) in trees_both_ways() {
        let dtype = tree.dtype;
        let stride = Accumulator::new(tree.load.result_types()).stride();
        let task = SegmentedReduceTask {
            load: tree.load.clone(),
            combine: tree.combine.clone(),
            finish: tree.finish.clone(),
            nothing: vec![0; tree.load.results.len()],
            n: 1,
            segments: 1,
            counted: false,
            numerics,
        };
        let short = |counted, wide, lists, tiny| Step::Short { counted, wide, lists, tiny };
        let shorts = [short(false, false, false, true), short(true, false, true, true), short(false, true, true, false)];
        let steps = shorts.into_iter().chain([Step::Tiles, Step::Join]);
        for step in steps {
            let leaves: &[_] = if step == Step::Join { &[] } else { &[(dtype, 1)] };
            for rolled in [false, true] {
                let rows = step.rows(stride).expect("small");
                let (holes, signature) = (holes(step, (rows, rolled), stride), signature(leaves, &[(dtype, 1)]));
                let shared = accept(&program(step, &task, &signature, &holes));
                assert!(shared <= SHARED, "{step:?} of {stride} bytes: {shared} bytes of shared memory");
            }
        }
    }
}

/// Tasks that a device has to run.
trait Runs:
    Segmented
    + Sort
    + Run<SegmentedSortTask>
    + Run<GatherTask>
    + Run<ScanTask>
    + Run<ScatterTask>
    + Run<SelectTask>
    + Run<ReduceTask>
    + Run<MapTask>
{
}
impl<
    B: Segmented
        + Sort
        + Run<SegmentedSortTask>
        + Run<GatherTask>
        + Run<ScanTask>
        + Run<ScatterTask>
        + Run<SelectTask>
        + Run<ReduceTask>
        + Run<MapTask>,
> Runs for B
{
}

/// Sums in the tree's order, and by an operator that shows it.
fn sums<B: Runs>(d: &B, x: &Buffer<B, f32>, offsets: &Buffer<B, u32>) -> [Buffer<B, f32>; 2] {
    let order = Op::associative(0.0, |a, b| a - b * 0.5);
    [d.reduce(x, Sum).segments(offsets).run().expect("sums"), d.reduce(x, order).segments(offsets).run().expect("sums")]
}

/// Neighbours' lengths differ by orders of magnitude; some segments are empty.
fn offsets(n: u32, mean: u32) -> Vec<u32> {
    let mut bits = super::Bits(u64::from(n ^ mean));
    let mut all = vec![n / 100];
    while all[all.len() - 1] < n {
        let r = bits.next();
        let length = if r & 3 == 0 { 0 } else { (r >> 40) as u32 % (mean << (r & 3)) };
        all.push((all[all.len() - 1] + length).min(n));
    }
    all
}

fn check(gpu: &Wgpu, sizes: &[u32]) {
    for &n in sizes {
        let (cx, gx) = both(gpu, &f32::samples(n as usize, 7));
        for mean in [1, 20, 700, 9000] {
            let (co, go) = both(gpu, &offsets(n, mean));
            for (c, g) in sums(&Cpu::new(), &cx, &co).iter().zip(&sums(gpu, &gx, &go)) {
                same_bits(&format!("segments of {n} around {mean}"), c, g);
            }
        }
    }
}

#[test]
fn segments_of_every_length_are_reduced_as_slices() {
    check(device(), &[1, 1025, 70_001]);
}

#[test]
fn small_windows_do_not_show() {
    let gpu = own_device(&Options::default());
    // Every window of elements meets every window of results.
    for (bytes, sizes) in [(4096, [900, 6000]), (65_536 + 100, [20_000, 70_001])] {
        gpu.limit_windows(bytes);
        check(&gpu, &sizes);
    }
}

/// Sorts of every kind.
fn check_sorts(gpu: &Wgpu, n: u32, offsets: &[u32]) {
    let (cx, gx) = both(gpu, &u32::samples(n as usize, 11));
    let (cv, gv) = both(gpu, &i32::samples(n as usize, 12));
    let (cw, gw) = both(gpu, &f32::samples(n as usize, 13).iter().map(|&v| half::f16::from_f32(v)).collect::<Vec<_>>());
    let (co, go) = both(gpu, offsets);
    let order = SortOrder::Descending;
    let cpu = Cpu::new();
    same_bits(
        "keys",
        &cpu.sort(&cx).segments(&co).order(order).run().expect("cpu"),
        &gpu.sort(&gx).segments(&go).order(order).run().expect("gpu"),
    );
    let (ck, cp) = cpu.sort(&cw).with_values(&cv).segments(&co).order(order).run().expect("cpu");
    let (gk, gp) = gpu.sort(&gw).with_values(&gv).segments(&go).order(order).run().expect("gpu");
    same_bits("narrow keys", &ck, &gk);
    same_bits("what travels", &cp, &gp);
    same_bits(
        "indices",
        &cpu.argsort(&cx).segments(&co).order(order).run().expect("cpu"),
        &gpu.argsort(&gx).segments(&go).order(order).run().expect("gpu"),
    );
}

#[test]
fn small_windows_do_not_show_in_sorts_of_segments() {
    let gpu = own_device(&Options::default());
    let long = [300u32, 7980, 7980, 7981, 30_000, 33_840, 69_000];
    for bytes in [1 << 20, 100_000, 40_000] {
        gpu.limit_windows(bytes);
        check_sorts(&gpu, 70_001, &long);
        // The first has more segments than the smallest window holds bounds.
        for mean in [1, 20, 400, 1500] {
            check_sorts(&gpu, 30_001, &offsets(30_001, mean));
        }
    }
}

/// Bounds after these lengths, again and again, up to `n` keys.
fn offsets_of(n: u32, lengths: &[u32]) -> Vec<u32> {
    let mut at = 3;
    let first = std::iter::once(at);
    first.chain(lengths.iter().cycle().map_while(|l| (at < n).then(|| (at += l, at.min(n)).1))).collect()
}

#[test]
fn lengths_at_every_edge_are_sorted_as_slices() {
    check_edges(device());
}

#[test]
fn runs_sorted_in_registers_or_in_loops_are_alike() {
    let gpu = own_device(&Options::default());
    gpu.patterns().written_out.store(true, Ordering::Relaxed);
    check_edges(&gpu);
}

/// Parts of lengths at which what is done with them changes.
fn check_edges(gpu: &Wgpu) {
    let mut all =
        vec![vec![1], vec![2], vec![3, 2, 0, 1, 1], vec![15, 16, 17, 31, 32, 33, 0, 1, 2, 8, 9], vec![17], vec![16], vec![64, 63, 65]];
    for (key_bytes, travels) in [(4, false), (4, true), (8, true)] {
        let short = Short { key_bytes, travels, all_bits: true };
        let (room, span) = (short.room() as u32, short.span() as u32);
        all.push(vec![room - 1, room, room + 1]);
        all.push(vec![5, room + 1, 7, room, 1, 1, room]);
        // Parts that end where windows do, and where the room behind them does.
        all.push(vec![span - 3, span, span / 2, span / 2, 1, span - 1]);
        all.push(vec![span - 4, room - span + 1, span - 1]);
        all.push(vec![span - 4, room - span + 2, 2 * span, 20]);
    }
    let mut sparse = vec![0; 5000];
    sparse.extend([40, 1, 5000]);
    all.push(sparse);
    for lengths in &all {
        check_sorts(gpu, 20_011, &offsets_of(20_011, lengths));
    }
    let (cpu, n) = (Cpu::new(), 20_011);
    for lengths in &all[3..] {
        let (co, go) = both(gpu, &offsets_of(n, lengths));
        // Many equal keys; wide keys, and some of their bits.
        let (cx, gx) = both(gpu, &u64::samples(n as usize, 21));
        let (cf, gf) = both(gpu, &u32::samples(n as usize, 22).iter().map(|x| x % 3).collect::<Vec<_>>());
        let (cv, gv) = both(gpu, &u32::samples(n as usize, 23));
        for order in [SortOrder::Ascending.bits(0..64), SortOrder::Descending.bits(7..41)] {
            let sorted = (
                cpu.sort(&cx).segments(&co).order(order.clone()).run().expect("cpu"),
                gpu.sort(&gx).segments(&go).order(order.clone()).run().expect("gpu"),
            );
            same_bits("wide keys", &sorted.0, &sorted.1);
            let (ck, cp) = cpu.sort(&cx).with_values(&cv).segments(&co).order(order.clone()).run().expect("cpu");
            let (gk, gp) = gpu.sort(&gx).with_values(&gv).segments(&go).order(order).run().expect("gpu");
            same_bits("wide keys of pairs", &ck, &gk);
            same_bits("what travels with wide keys", &cp, &gp);
        }
        let (ck, cp) = cpu.sort(&cf).with_values(&cv).segments(&co).run().expect("cpu");
        let (gk, gp) = gpu.sort(&gf).with_values(&gv).segments(&go).run().expect("gpu");
        same_bits("equal keys", &ck, &gk);
        same_bits("what travels with equal keys", &cp, &gp);
        let bits = SortOrder::Ascending.bits(3..11);
        same_bits(
            "some bits",
            &cpu.sort(&cv).segments(&co).order(bits.clone()).run().expect("cpu"),
            &gpu.sort(&gv).segments(&go).order(bits).run().expect("gpu"),
        );
    }
}

#[test]
fn sorts_by_offsets_that_fall_do_no_harm_elsewhere() {
    let gpu = device();
    let offsets: Vec<u32> = (0..15u32).map(|k| if k % 2 == 0 { k.wrapping_mul(2_654_435_761) } else { 70_001 - k }).collect();
    let (x, offsets) = (gpu.upload(&u32::samples(70_001, 5)).expect("upload"), gpu.upload(&offsets).expect("upload"));
    let out = gpu.upload(&vec![7u32; 70_005]).expect("upload");
    gpu.sort(&x).segments(&offsets).write_to(&out.slice(2..70_003).expect("inside")).expect("enqueued");
    let found = out.read_blocking().expect("read");
    assert_eq!((&found[..2], &found[70_003..]), (&[7; 2][..], &[7; 2][..]), "what lies beside the results stays");
}

#[test]
fn heavy_operators_take_fewer_rows_and_the_same_tree() {
    let gpu = device();
    let (cx, gx) = both(gpu, &u32::samples(30_001, 3));
    let (co, go) = both(gpu, &offsets(30_001, 200));
    let heavy = || super::scan::heavy(48);
    let expected = Cpu::new().reduce(&cx, heavy()).segments(&co).run().expect("cpu");
    same_bits("heavy", &expected, &gpu.reduce(&gx, heavy()).segments(&go).run().expect("gpu"));
}

#[test]
fn offsets_that_fall_do_no_harm_elsewhere() {
    let gpu = device();
    let bad: Vec<u32> = (0..3000u32).map(|k| if k % 2 == 0 { k.wrapping_mul(2_654_435_761) } else { 70_001 - k }).collect();
    let (offsets, x) = (gpu.upload(&bad).expect("upload"), gpu.upload(&f32::samples(70_001, 5)).expect("upload"));
    let out = gpu.upload(&vec![7.0f32; 3003]).expect("upload");
    gpu.reduce(&x, Max).segments(&offsets).write_to(&out.slice(2..3001).expect("inside")).expect("enqueued");
    let found = out.read_blocking().expect("read");
    assert_eq!((&found[..2], &found[3001..]), (&[7.0; 2][..], &[7.0; 2][..]), "what lies beside the results stays");
}

#[test]
fn a_loop_allocates_nothing() {
    fn into<T: Element>(d: &Wgpu, n: usize) -> Buffer<Wgpu, T> {
        d.upload(&vec![T::zeroed(); n]).expect("upload")
    }
    let gpu = own_device(&Options::default());
    let n = 300_001;
    let (_, x) = both(&gpu, &f32::samples(n, 17));
    let (_, offsets) = both(&gpu, &offsets(n as u32, 3000));
    let (keys, out, out_keys, count) = (into::<u32>(&gpu, n), into::<f32>(&gpu, n), into::<u32>(&gpu, n), into::<u32>(&gpu, 1));
    let round = || {
        gpu.reduce(&x, Sum).segments(&offsets).write_to(&out).expect("reduce");
        gpu.reduce(&x, Sum).by_key(&keys).write_to(((&out_keys, &out), &count)).expect("by key");
        gpu.sort(&x).segments(&offsets).write_to(&out).expect("sort");
    };
    round();
    round();
    let before = gpu.usage().settled();
    (0..10).for_each(|_| round());
    assert_eq!(gpu.usage().settled(), before);
}
