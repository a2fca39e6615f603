//! Reductions by key: both kernels are WGSL that fits WebGPU's default limits; runs of every length around vectors, words of bits, tiles and blocks, across
//! many tiles, and as tiles sum up or scan what comes before them; windows, in which they take two steps.

use super::texts::{SHARED, accept, signature};
use super::trees::trees_both_ways;
use super::{Bits, Sample, both, device, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use crate::patterns::accumulator::Accumulator;
use crate::patterns::by_key::{Form, heads_program, holes, program, rows};
use crate::patterns::operands::{LeafKind, Slot, Unit};
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::element::{DType, Element, Scalar, Ty};
use isowarp_core::ops::{Combine, Max, Op, Sum};
use isowarp_core::patterns::{Reduce as _, ReduceByKeyTask, Segmented, SegmentedReduceTask};
use isowarp_cpu::Cpu;

#[test]
fn runs_of_every_type_operator_and_form() {
    fn check<K: Element>(access: usize) {
        for (tree, numerics) in trees_both_ways() {
            let words = Accumulator::new(tree.load.result_types()).words();
            if words > 2 {
                continue;
            }
            let values = SegmentedReduceTask {
                nothing: vec![0; tree.load.results.len()],
                load: tree.load,
                combine: tree.combine,
                finish: tree.finish,
                n: 1,
                segments: 1,
                counted: true,
                numerics,
            };
            let task = ReduceByKeyTask::new::<K>(values).expect("a plain operator traces");
            let key = task.runs.store.params[0].ty();
            let key = DType::ALL.into_iter().find(|d| d.ty() == key && d.size_bytes() == K::DTYPE.size_bytes()).unwrap_or(K::DTYPE);
            let outs = [(tree.dtype, 1), (key, 1), (DType::U32, 1)];
            let signature = signature(&[(tree.dtype, access), (key, access)], &outs);
            for (rows, lists, folded) in [(rows(words), true, true), (1, false, false), (rows(words), true, false)] {
                let holes = holes(false, Form { rows, head_rows: 8, lists, folded });
                let shared = accept(&program(&task, &signature, &holes));
                assert!(shared <= SHARED, "{words} words, {rows} rows: {shared} bytes of shared memory");
            }
        }
    }
    check::<u32>(0);
    check::<u32>(1);
}

#[test]
fn beginnings_of_every_key_and_access() {
    fn check<K: Element>() {
        let sum = super::trees::tree::<u32>(Sum);
        let values = SegmentedReduceTask {
            load: sum.load,
            combine: sum.combine,
            finish: sum.finish,
            nothing: vec![0],
            n: 1,
            segments: 1,
            counted: true,
            numerics: super::texts::NUMERICS[0],
        };
        let task = ReduceByKeyTask::new::<K>(values).expect("a plain operator traces");
        let word = match K::DTYPE {
            DType::F32 => DType::U32,
            DType::F64 => DType::U64,
            other => other,
        };
        for access in [0, 1] {
            for twin in [None, Some(0)] {
                let mut s = signature(&[(word, access)], &[]);
                s.leaves.push(LeafKind::Array { slot: 1, dtype: K::DTYPE, windows: 1, each: 0, twin });
                s.leaves.push(LeafKind::Index(Ty::U32));
                s.slots.push(Slot { unit: Unit::Word, writable: false });
                for (rows, head_rows) in [(2, 8), (1, 2)] {
                    let holes = holes(true, Form { rows, head_rows, lists: true, folded: true });
                    let shared = accept(&heads_program(&task, &s, &holes));
                    assert!(shared <= SHARED, "{shared} bytes of shared memory");
                }
            }
            for (lists, folded) in [(false, false), (true, true)] {
                let s = signature(&[(DType::U32, access), (word, access)], &[(DType::U32, 1), (word, 1), (DType::U32, 1)]);
                let holes = holes(false, Form { rows: 2, head_rows: 8, lists, folded });
                accept(&program(&task, &s, &holes));
            }
        }
    }
    check::<u8>();
    check::<half::f16>();
    check::<f32>();
    check::<i32>();
    check::<u64>();
    check::<f64>();
}

/// Runs of these lengths, one after the other and then from the first again: a key to each of `n` elements. Keys come back, but for neighbours.
fn keys(n: usize, lengths: &[usize]) -> Vec<u32> {
    let runs = lengths.iter().cycle().enumerate().flat_map(|(k, &length)| std::iter::repeat_n(k as u32 % 5, length));
    runs.take(n).collect()
}

/// Neighbours' lengths differ by orders of magnitude.
fn mixed(n: usize, mean: u64) -> Vec<u32> {
    let mut bits = Bits(n as u64 ^ mean);
    let lengths: Vec<usize> = (0..5000).map(|_| 1 + (bits.next() >> 40) as usize % (mean << (bits.next() & 3)) as usize).collect();
    keys(n, &lengths)
}

#[track_caller]
fn check<K: Element, T: Sample + Scalar + Element<Reg = T>>(gpu: &Wgpu, what: &str, keys: &[K], op: impl Combine<T> + Copy) {
    fn run<B: Segmented, K: Element, T: Scalar + Element<Reg = T>>(
        d: &B,
        (keys, x): (&Buffer<B, K>, &Buffer<B, T>),
        op: impl Combine<T>,
    ) -> (Buffer<B, K>, Buffer<B, T>, Buffer<B, u32>) {
        let n = x.len() as usize;
        // Elements that lie behind the last run stay.
        let out = (d.upload(&vec![K::zeroed(); n]).expect("upload"), d.upload(&vec![T::zeroed(); n]).expect("upload"));
        let count = d.upload(&[7u32]).expect("upload");
        d.reduce(x, op).by_key(keys).write_to(((&out.0, &out.1), &count)).expect("reduced");
        (out.0, out.1, count)
    }
    let (ck, gk) = both(gpu, keys);
    let (cx, gx) = both(gpu, &T::samples(keys.len(), 11));
    let (c, g) = (run(&Cpu::new(), (&ck, &cx), op), run(gpu, (&gk, &gx), op));
    let what = format!("{what}, {} elements", keys.len());
    same_bits(&format!("{what}: count"), &c.2, &g.2);
    same_bits(&format!("{what}: keys"), &c.0, &g.0);
    same_bits(&format!("{what}: results"), &c.1, &g.1);
}

/// Neither commutative nor associative: only the one tree gives these bits.
macro_rules! order {
    () => {
        Op::associative(0.0, |a, b| a - b * 0.5)
    };
}

#[test]
fn runs_around_every_edge_are_reduced_as_slices() {
    let gpu = device();
    // Lengths that an invocation, a part, a tile and a block take, and one less and more; then those that an invocation leaves to all, and these
    // to the list.
    for edge in [4, 8, 16, 32, 64, 1024, 2048, 4096, 8192] {
        for length in edge - 1..=edge + 1 {
            check::<_, f32>(gpu, &format!("runs of {length}"), &keys(20_011, &[length]), order!());
        }
    }
    // Runs that begin just before a tile, at it, and just behind it, and end so.
    for tile in [1024, 2048] {
        for (before, length) in [(1, 1), (1, 2), (2, 2), (3, 70), (1, 1025), (0, 1), (0, tile), (1, tile), (0, tile + 1), (5, 2 * tile + 9)]
        {
            let lengths = [tile - before, length, 3, 2 * tile, 1, 65, 64, 63];
            check::<_, f32>(gpu, &format!("{length} from {before} before {tile}"), &keys(6 * tile + 77, &lengths), order!());
        }
    }
}

#[test]
fn tiles_sum_up_or_scan_what_comes_before_them() {
    let gpu = device();
    for n in [1, 3, 1023, 1025, 2047, 2048, 2049, 8191, 8193, 70_001, 524_287, 524_289, 600_001] {
        for mean in [1, 2, 9, 300, 9000] {
            check::<_, f32>(gpu, &format!("around {mean}"), &mixed(n, mean), Sum);
        }
        check::<_, u32>(gpu, "all equal", &vec![3u32; n], Sum);
        check::<_, u32>(gpu, "all different", &(0..n as u32).collect::<Vec<_>>(), Sum);
    }
}

#[test]
fn accumulators_of_two_words_take_smaller_tiles() {
    let gpu = device();
    for n in [1025, 70_001, 262_145, 300_007] {
        for mean in [1, 9, 300, 9000] {
            check::<_, f64>(gpu, &format!("around {mean}"), &mixed(n, mean), Sum);
            check::<_, u64>(gpu, &format!("around {mean}"), &mixed(n, mean), Max);
        }
    }
}

#[test]
fn keys_of_every_width_keep_their_bits() {
    let gpu = device();
    let n = 30_011;
    let runs = mixed(n, 4);
    check::<_, u32>(gpu, "bytes", &runs.iter().map(|&k| k as u8 * 50).collect::<Vec<_>>(), Sum);
    check::<_, u32>(gpu, "halves", &runs.iter().map(|&k| half::f16::from_f32(k as f32)).collect::<Vec<_>>(), Sum);
    // NaN differs from everything, and keeps its payload.
    let nan = |k: u32| if k == 2 { f32::from_bits(0x7fc1_2345) } else { k as f32 - 1.0 };
    check::<_, u32>(gpu, "floats", &runs.iter().map(|&k| nan(k)).collect::<Vec<_>>(), Sum);
    check::<_, u32>(gpu, "words", &runs.iter().map(|&k| u64::from(k) << 40).collect::<Vec<_>>(), Sum);
}

#[test]
fn heavy_operators_take_smaller_tiles_and_the_same_tree() {
    let gpu = device();
    check::<_, u32>(gpu, "heavy", &mixed(30_001, 40), super::scan::heavy(48));
}

#[test]
fn kernels_that_are_not_sealed_reduce_runs_too() {
    let gpu = own_device(&Options { seal: false, ..Options::default() });
    for mean in [4, 900] {
        check::<_, u32>(&gpu, &format!("around {mean}"), &mixed(600_001, mean), Sum);
    }
}

/// Whether a kernel of this name has run on a device.
fn has_run(gpu: &Wgpu, name: &str) -> bool {
    gpu.patterns().ready.lock().values().any(|kernel| kernel.name() == name)
}

#[test]
fn runs_above_a_binding_take_two_steps_and_the_same_tree() {
    for (bytes, sizes) in [(0, [900, 20_000]), (16_384, [4100, 9000]), (65_536 + 100, [17_000, 40_000])] {
        let gpu = own_device(&Options::default());
        gpu.limit_windows(bytes);
        for n in sizes {
            for mean in [3, 40, 500] {
                check::<_, f32>(&gpu, &format!("windows of {bytes} bytes"), &mixed(n, mean), order!());
            }
        }
        assert_eq!((has_run(&gpu, "by_key"), has_run(&gpu, "select_tiles")), (bytes == 0, bytes != 0));
    }
}
