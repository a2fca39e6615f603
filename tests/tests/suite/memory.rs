//! The memory of a process stays near what is live and what devices may keep, however many arrays of whatever length it makes.

use crate::common::{DEVICES, each, elsewhere, is_elsewhere};
use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::prelude::*;

/// Bytes in memory, of the file `status` of Linux's.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib: u64 = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

/// Limit of the memory that devices may keep here.
const LIMIT: u64 = 64 << 20;
/// Drivers hand out memory in blocks: two of the largest that wgpu takes, of which parts may be in use, and the code of kernels.
const SLACK: u64 = 256 << 20;

/// Makes arrays of many lengths and drops them: maps, uploads alone, and patterns with scratch of their own.
fn soak(d: &Device, rounds: u64) {
    let live = 2 * 4 * 5_000_000;
    let mut settled = None;
    for k in 0..rounds {
        let n = 3_000_000 + (k * 7919 % 41) * 50_000;
        let x = d.upload(&vec![1.0f32; n as usize]).unwrap();
        let y = d.map(&x, |x| x * 2.0 + 1.0).unwrap();
        assert_eq!(y.slice(n - 1..).unwrap().read_blocking().unwrap(), [3.0]);
        d.cumsum(&y).unwrap();
        // Uploads alone, which nothing after them submits but the wait.
        d.upload(&vec![k; n as usize / 2]).unwrap();
        d.synchronize().unwrap();
        drop((x, y));
        let Some(now) = resident() else { return };
        let start = *settled.get_or_insert(now);
        assert!(now <= start + live + LIMIT + SLACK, "round {k} on {}: {now} bytes, {start} after the first", d.caps().backend);
        let usage = d.memory_usage();
        assert!(usage.pool_bytes <= usage.pool_limit_bytes, "{usage:?}");
    }
}

#[test]
fn arrays_of_many_lengths_do_not_make_a_process_grow() {
    if !is_elsewhere() {
        // In a process of its own, whose memory is that of this test.
        let devices = std::env::var(DEVICES).unwrap_or_default();
        let surroundings: Vec<_> = [(DEVICES, devices.as_str())].into_iter().filter(|(_, devices)| !devices.is_empty()).collect();
        elsewhere("memory::arrays_of_many_lengths_do_not_make_a_process_grow", &surroundings);
        return;
    }
    each(|d| {
        d.set_pool_limit(LIMIT).unwrap();
        soak(d, if d.caps().backend == "cpu" { 8 } else { 40 });
    });
}

#[test]
fn work_without_a_wait_does_not_make_a_device_grow() {
    // Nothing here waits but new memory, where too much that was freed is still in use.
    crate::common::each_alone(|d| {
        d.set_pool_limit(LIMIT).unwrap();
        for k in 0..60 {
            let x = d.iota(1_000_000 + k * 10_000, 1.0f32, 1.0).unwrap();
            d.map(&x, |x| x + 1.0).unwrap();
            let usage = d.memory_usage();
            // Memory that was freed since the last new memory is of one round.
            assert!(usage.pool_bytes <= usage.pool_limit_bytes + (8 << 20), "round {k}: {usage:?}");
        }
        d.synchronize().unwrap();
        let usage = d.memory_usage();
        assert!(usage.pool_bytes <= usage.pool_limit_bytes, "{usage:?}");
    });
}

#[test]
fn a_device_keeps_nothing_where_it_is_told_so() {
    crate::common::each_alone(|d| {
        let before = d.memory_usage().live_bytes;
        let x = d.upload(&[1u32; 1 << 20]).unwrap();
        assert_eq!(d.sum(&x).unwrap().read_blocking().unwrap(), 1 << 20);
        assert!(d.caps().backend == "cpu" || d.memory_usage().live_bytes >= before + (4 << 20));
        drop(x);
        d.set_pool_limit(0).unwrap();
        d.synchronize().unwrap();
        let usage = d.memory_usage();
        assert_eq!((usage.pool_bytes, usage.pool_limit_bytes), (0, 0), "{usage:?}");
        assert_eq!(d.sum(&d.upload(&[2u32, 3]).unwrap()).unwrap().read_blocking().unwrap(), 5, "it works all the same");
    });
}

/// A process whose addresses are limited has less memory than its software adapters say.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_the_process_may_not_have_is_a_typed_error() {
    use isowarp::Error;
    let name = "memory::memory_that_the_process_may_not_have_is_a_typed_error";
    if !is_elsewhere() {
        let program = std::env::current_exe().unwrap();
        for mib in [300, 500, 900, 1100, 1300, 1350, 1400, 1500, 1700, 2000] {
            let limited = format!("ulimit -v {} && exec \"$0\" --exact {name} --nocapture --test-threads=1", mib << 10);
            let mut command = std::process::Command::new("sh");
            let output = command.args(["-c", &limited]).arg(&program).env("ISOWARP_ELSEWHERE", "1").output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{mib} MiB: {}\n{text}", output.status);
        }
        return;
    }
    let typed = |error: &Error| matches!(error, Error::OutOfMemory { .. } | Error::DeviceLost { .. } | Error::Unavailable { .. });
    for device in Device::all().into_iter().filter(|d| d.as_ref().map_or(true, |d| d.caps().backend != "cpu")) {
        let fill = |d: &Device| -> isowarp::Result<()> {
            let mut held = Vec::new();
            for _ in 0..64 {
                held.push(d.iota(16 << 20, 0u32, 1)?);
                d.cumsum(held.last().unwrap())?;
                d.synchronize()?;
            }
            Ok(())
        };
        match device.and_then(|d| fill(&d)) {
            Ok(()) => println!("4 GiB fit"),
            Err(e) => assert!(typed(&e), "{e:?}"),
        }
    }
}
