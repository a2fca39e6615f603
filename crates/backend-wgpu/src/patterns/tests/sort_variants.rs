//! The textbooks' sorts of P07: their texts, and their bits.

use super::texts::{BITS, SHARED, accept_planned};
use super::{Sample, both, device, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use crate::patterns::operands::Signature;
use half::f16;
use isowarp_core::backend::{Backend as _, RawBuffer as _};
use isowarp_core::buffer::Memory as _;
use isowarp_core::error::Error;
use isowarp_core::patterns::{Ordered as _, Sort as _, SortOrder};
use isowarp_cpu::Cpu;
use isowarp_textbook::SortVariant;
use isowarp_textbook::kernels::{
    SORT_BOUNDS, SORT_EVERYWHERE, SORT_FLAGS, SORT_LOAD, SORT_LOCAL, SORT_RUNS, SORT_SAMPLES, SORT_SCATTER, SORT_SPLIT, SORT_STORE,
    SORT_WINDOWS,
};
use isowarp_textbook::sort::network::Network;
use isowarp_textbook::sort::plan::Form;

/// Around tiles, halves of them, and buckets.
const SIZES: [usize; 14] = [1, 2, 3, 255, 511, 513, 1023, 1024, 1025, 1537, 2049, 4097, 9001, 20_011];

#[test]
fn texts_of_every_launch_fit_webgpu() {
    let networks = [Network::Transposition, Network::Bitonic, Network::OddEvenMerge];
    let form = Form { items: 1, ..Form::default() };
    let steps = [&SORT_LOAD, &SORT_STORE, &SORT_SAMPLES, &SORT_BOUNDS, &SORT_SCATTER, &SORT_FLAGS, &SORT_SPLIT, &SORT_LOCAL, &SORT_RUNS];
    let steps = steps.map(|step| (step.def(), form)).into_iter().chain([(SORT_LOCAL.def(), Form { items: 4, ..form })]);
    let of = |network: Network| [&SORT_WINDOWS, &SORT_EVERYWHERE].map(|step| (step.def(), Form { network: network as u32, ..form }));
    let steps = steps.chain(networks.into_iter().flat_map(of));
    let signature = Signature::default();
    for (step, form) in steps {
        for key_bytes in [1, 2, 4, 8] {
            for forms in 0..16u32 {
                let [pairs, ranked, buckets, values] = [1, 2, 4, 8].map(|bit| forms & bit != 0);
                // Places travel; buckets are sorted by them; a sample sort's launches have them.
                let samples = ["sort_samples", "sort_bounds", "sort_scatter"].contains(&step.name);
                if ranked && !pairs && step.name != "sort_store" || (buckets || samples) && !ranked {
                    continue;
                }
                let form = Form { key_bytes, pairs, ranked, buckets, values, ..form };
                let shared = accept_planned(step, BITS, &form.choices(), &signature);
                assert!(shared <= SHARED, "{:?}: {shared} bytes of shared memory", step.name);
            }
        }
    }
}

fn check<K: Sample>(gpu: &Wgpu, sizes: &[usize]) {
    let cpu = Cpu::new();
    for &n in sizes {
        let ((a, b), (v, w)) = (both(gpu, &K::samples(n, 5)), both(gpu, &u32::samples(n, 6)));
        // A quadratic sort of more keys takes long.
        let quadratic = |v: &SortVariant| *v == SortVariant::OddEvenTransposition;
        for variant in SortVariant::ALL.into_iter().filter(|v| n < 5000 || !quadratic(v)) {
            for order in [SortOrder::Ascending, SortOrder::Descending] {
                let what = format!("{variant:?} {} {order:?} {n}", K::DTYPE);
                same_bits(
                    &what,
                    &cpu.sort(&a).order(order).variant(variant).run().expect("cpu"),
                    &gpu.sort(&b).order(order).variant(variant).run().expect("gpu"),
                );
                // Few bits: many keys are equal, and which of them comes first is the variant's.
                let cpu = cpu.sort(&a).with_values(&v).order(order.bits(2..6)).variant(variant).run().expect("cpu");
                let gpu = gpu.sort(&b).with_values(&w).order(order.bits(2..6)).variant(variant).run().expect("gpu");
                same_bits(&format!("keys of pairs, {what}"), &cpu.0, &gpu.0);
                same_bits(&format!("values of pairs, {what}"), &cpu.1, &gpu.1);
            }
        }
    }
}

#[test]
fn every_variant_sorts_every_type() {
    let gpu = device();
    check::<u32>(gpu, &SIZES);
    check::<u8>(gpu, &[5, 1025, 3001]);
    check::<f16>(gpu, &[5, 1025, 3001]);
    check::<f32>(gpu, &[1025, 9001]);
    check::<i32>(gpu, &[1025]);
    check::<u64>(gpu, &[1024, 1537]);
    check::<i64>(gpu, &[2049]);
    check::<f64>(gpu, &[1025, 9001]);
}

#[test]
fn skewed_keys_are_sorted_in_buckets_of_any_size() {
    let gpu = device();
    let n = 40_000u32;
    let keys: [Vec<u32>; 4] = [
        vec![7; n as usize],
        (0..n).rev().collect(),
        (0..n).map(|i| if i % 16 < 15 { 1 << 20 } else { i }).collect(),
        (0..n).map(|i| 1 << (i.wrapping_mul(2_654_435_761) >> 27)).collect(),
    ];
    for keys in keys {
        let (a, b) = both(gpu, &keys);
        let (v, w) = both(gpu, &(0..n).collect::<Vec<_>>());
        let expected = Cpu::new().sort(&a).with_values(&v).variant(SortVariant::Sample).run().expect("cpu");
        let found = gpu.sort(&b).with_values(&w).variant(SortVariant::Sample).run().expect("gpu");
        same_bits("keys", &expected.0, &found.0);
        same_bits("values", &expected.1, &found.1);
    }
}

#[test]
fn views_are_sorted_and_their_neighbours_stay() {
    let gpu = device();
    macro_rules! on {
        ($d:expr, $keys:expr, $variant:expr) => {{
            let (n, start) = (2500, 3);
            let out = $d.upload(&vec![f16::ONE; 3000]).expect("upload");
            let values = $d.upload(&(0..9000).collect::<Vec<u32>>()).expect("upload");
            let to = (out.slice(5..).expect("slice"), values.slice(5001..).expect("slice"));
            let from = ($keys.slice(start..start + n).expect("slice"), values.slice(1..1 + n).expect("slice"));
            $d.sort(&from.0).with_values(&from.1).descending().variant($variant).write_to((&to.0, &to.1)).expect("sort");
            (out, values)
        }};
    }
    let (a, b) = both(gpu, &f16::samples(3000, 8));
    for variant in SortVariant::ALL.into_iter().filter(|v| *v != SortVariant::Radix) {
        let (expected, found) = (on!(Cpu::new(), a, variant), on!(gpu, b, variant));
        same_bits(variant.name(), &expected.0, &found.0);
        same_bits(variant.name(), &expected.1, &found.1);
    }
}

#[test]
fn arrays_above_the_binding_limit_are_refused_and_nothing_is_written() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(40_000);
    let (_, keys) = both(&gpu, &u32::samples(20_000, 9));
    let (_, out) = both(&gpu, &vec![7u32; 20_000]);
    for variant in SortVariant::ALL.into_iter().filter(|v| *v != SortVariant::Radix) {
        let found = gpu.sort(&keys).variant(variant).write_to(&out);
        assert!(matches!(found, Err(Error::TooLarge { requested: 20_000, .. })), "{found:?}");
    }
    assert!(out.read_blocking().expect("read").iter().all(|&x| x == 7));
    assert_eq!(out.raw().size_bytes(), 80_000);
}

#[test]
fn a_loop_allocates_nothing() {
    let gpu = own_device(&Options::default());
    let (_, keys) = both(&gpu, &f32::samples(5000, 10));
    let (_, out) = both(&gpu, &vec![0.0_f32; 5000]);
    for variant in SortVariant::ALL {
        let sort = || gpu.sort(&keys).variant(variant).write_to(&out).expect("sort");
        (0..3).for_each(|_| sort());
        let before = gpu.usage().settled();
        (0..5).for_each(|_| sort());
        assert_eq!(gpu.usage().settled(), before, "{variant:?}");
        gpu.synchronize().expect("done");
    }
}
