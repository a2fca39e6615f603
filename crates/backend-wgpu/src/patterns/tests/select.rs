//! Selections whose look-backs wait in vain, are served, or see windows of the array.

use super::{both, device, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use isowarp_core::backend::{Backend as _, Run};
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::error::Error;
use isowarp_core::patterns::{MapTask, ReduceTask, RunLengths as _, Select as _, SelectTask};
use isowarp_cpu::Cpu;
use std::sync::atomic::Ordering;

type Words<B> = Vec<Buffer<B, u32>>;

/// Every kind of selection, into buffers that show what stays as it was.
fn every_kind<B: Run<SelectTask> + Run<ReduceTask> + Run<MapTask>>(d: &B, x: &Buffer<B, u32>) -> Words<B> {
    let made = |n: u64| d.upload(&vec![0xABAB_ABAB_u32; n as usize]).expect("upload");
    let (kept, kept_count) = (made(x.len()), made(1));
    d.select(x, |x| (x & 7u32).lt(3)).write_to((&kept, &kept_count)).expect("select");
    let (parts, parts_count) = (made(x.len()), made(1));
    d.partition(x, |x| (x >> 30).eq(1)).write_to((&parts, &parts_count)).expect("partition");
    let (three, three_counts) = d.partition(x, |x| (x & 3u32).eq(2)).three_way(|x| (x & 4u32).eq(0)).run().expect("three ways");
    let (values, lengths, runs) = (made(x.len()), made(x.len()), made(1));
    let bits = isowarp_core::patterns::Map::map(d, x, |x| x >> 30).expect("map");
    d.run_length_encode(&bits).write_to(((&values, &lengths), &runs)).expect("runs");
    vec![kept, kept_count, parts, parts_count, three, three_counts, values, lengths, runs]
}

fn check(gpu: &Wgpu, sizes: &[usize]) {
    for &n in sizes {
        let x: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) ^ (i >> 3)).collect();
        let (cx, gx) = both(gpu, &x);
        for (k, (c, g)) in every_kind(&Cpu::new(), &cx).iter().zip(&every_kind(gpu, &gx)).enumerate() {
            same_bits(&format!("output {k} of {n} elements"), c, g);
        }
    }
}

#[test]
fn impatient_workgroups_count_what_they_miss() {
    for without in [wgpu::Features::empty(), wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS] {
        let gpu = own_device(&Options { without, ..Options::default() });
        gpu.patterns().patience.store(1, Ordering::Relaxed);
        for _ in 0..3 {
            check(&gpu, &[40_961, 8192 * 70 + 17]);
        }
    }
}

#[test]
fn long_arrays_are_served() {
    check(device(), &[8192 * 257, 8192 * 300 + 17]);
}

#[test]
fn windows_hand_on_their_sums() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(1 << 17);
    check(&gpu, &[33_000, 70_001]);
}

#[test]
fn invocations_of_many_rows_select_alike() {
    let gpu = own_device(&Options::default());
    gpu.patterns().written_out.store(true, Ordering::Relaxed);
    check(&gpu, &[1, 3, 8191, 8193, 30_011, 8192 * 70 + 17]);
}

#[test]
fn windows_of_several_threads_keep_apart() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(1 << 15);
    let x: Vec<u32> = (0..20_011).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    let few = gpu.upload(&[1u32, 8, 2, 9]).expect("upload");
    let (cx, gx) = both(&gpu, &x);
    let expected = every_kind(&Cpu::new(), &cx);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            for _ in 0..200 {
                let found = gpu.select(&few, |x| x.lt(5)).run().expect("select");
                assert_eq!(found.count.read_blocking().expect("read"), 2);
            }
        });
        while !other.is_finished() {
            for (k, (c, g)) in expected.iter().zip(&every_kind(&gpu, &gx)).enumerate() {
                same_bits(&format!("output {k}"), c, g);
            }
        }
    });
}

#[test]
fn numbers_of_launches_start_over_between_arrays_and_not_between_windows() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(1 << 15);
    gpu.set_pool_limit(0).expect("a limit");
    for left in 0..12 {
        check(&gpu, &[1]);
        if let Some(single) = gpu.patterns().single.lock().as_mut() {
            single.epoch = 0xffff - left;
        }
        check(&gpu, &[20_011]);
    }
}

#[test]
fn what_launches_keep_is_made_anew_after_work_that_failed() {
    let gpu = own_device(&Options::default());
    check(&gpu, &[9000]);
    assert!(gpu.patterns().single.lock().is_some());
    let failed = Error::Compile { kernel: "k".to_owned(), log: "it is refused".to_owned() };
    gpu.context().faults.defer(failed.clone());
    let x = gpu.upload(&[1u32, 2]);
    assert_eq!(x.and_then(|x| gpu.select(&x, |x| x.lt(2)).run().map(drop)), Err(failed.clone()), "later results would be in doubt");
    assert_eq!((gpu.synchronize(), gpu.synchronize()), (Err(failed), Ok(())));
    assert!(gpu.patterns().single.lock().is_none());
    check(&gpu, &[9000]);
}
