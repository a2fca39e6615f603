//! Groups: both kernels are WGSL within WebGPU's default limits; windows of inputs begin with groups, and with words of bits.

use super::texts::{NUMERICS, SHARED, accept_planned, signature};
use super::{both, own_device, same_bits};
use crate::context::Options;
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::element::DType;
use isowarp_core::input::Source as _;
use isowarp_core::ir::{self, Expr, Func};
use isowarp_core::launch::Operators;
use isowarp_core::launch::kernels::{BALLOT, PEERS};
use isowarp_core::patterns::{Atomics, Peers, PeersTask, ScatterOp};
use isowarp_cpu::Cpu;
use std::sync::Arc;

fn one<A: ir::Traced, R: ir::Traced>(f: impl FnOnce(A) -> R) -> Arc<Func> {
    Arc::new(ir::trace(f).expect("operator"))
}

#[test]
fn groups_of_every_kind_fit_the_default_limits() {
    let conditions = [
        (one(|x: Expr<u32>| x & 1u32), DType::U32),
        (one(|x: Expr<u32>| x & 1u32), DType::U8),
        (one(|x: Expr<f32>| (x * 2.0 + 1.0).exp().gt(3.0).cast::<u32>()), DType::F32),
        (one(|x: Expr<u64>| x.gt(1 << 40).cast::<u32>()), DType::U64),
    ];
    for (func, dtype) in &conditions {
        for (rows, vector) in [(1, 0), (2, 1), (8, 1)] {
            let signature = signature(&[(*dtype, vector)], &[]);
            for numerics in NUMERICS {
                assert!(accept_planned(BALLOT.def(), (Operators::Words(func), numerics), &[("rows", rows)], &signature) <= SHARED);
            }
        }
    }
    for (func, dtype) in conditions.iter().chain(&[(one(|x: Expr<u64>| x * 3), DType::U64)]) {
        for peers in [Peers::Mask, Peers::First, Peers::Rank] {
            let signature = signature(&[(*dtype, 1)], &[]);
            for numerics in NUMERICS {
                let task = PeersTask { func: Arc::clone(func), n: 1, width: 32, peers, numerics };
                assert!(accept_planned(PEERS.def(), (Operators::Words(func), numerics), &task.choices(), &signature) <= SHARED);
            }
        }
    }
}

/// Results of groups of one width, and of what is scattered.
fn all<B: Atomics>(d: &B, x: &Buffer<B, u32>, width: u64) -> Vec<Buffer<B, u32>> {
    let odd = |x: Expr<u32>| (x & 1u32).ne(0);
    let few = |x: Expr<u32>| x >> 28;
    let (first, count) = d.group_match(x.map(few), width).run().expect("matches");
    let (rank, size) = d.group_partition((x, isowarp_core::input::index()).map(|(x, i)| few(x) ^ (i & 1u32)), width).run().expect("parts");
    let sums = d.upload(&vec![1.5f32; 20_003]).expect("upload");
    let values = isowarp_core::patterns::Map::map(d, x, |x: Expr<u32>| (x >> 20).cast::<f32>()).expect("values");
    let at = isowarp_core::patterns::Map::map(d, x, |x: Expr<u32>| x % 25_000).expect("indices");
    d.scatter(&values, &at).reduce(ScatterOp::Sum).write_to(&sums).expect("sums");
    d.scatter(&values, &at).reduce(ScatterOp::Max).write_to(&sums).expect("maxima");
    let bits = isowarp_core::patterns::Map::map(d, &sums, Expr::bitcast::<u32>).expect("bits");
    let ballot = d.group_ballot(x.map(odd), width).run().expect("bits");
    let ranks = d.group_rank(x.map(odd), width).run().expect("ranks");
    let counts = d.group_count(x.map(odd), width).run().expect("counts");
    vec![first, count, rank, size, ballot, ranks, counts, bits]
}

#[test]
fn windows_of_elements_and_of_bits_meet_without_a_seam() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(1 << 17);
    for (n, width) in [(33_001u32, 32), (100_003, 31), (100_003, 19), (70_001, 1000)] {
        let x: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) ^ (i >> 3)).collect();
        let (cx, gx) = both(&gpu, &x);
        for (k, (c, g)) in all(&Cpu::new(), &cx, width).iter().zip(&all(&gpu, &gx, width)).enumerate() {
            same_bits(&format!("output {k} of {n} elements in groups of {width}"), c, g);
        }
    }
}
