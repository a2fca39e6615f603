//! Memory held by devices after every pattern that is measured, over arrays of several lengths.

use isowarp::backend::Backend as _;
use isowarp::{Device, Selector};
use isowarp_benches::works::{Shape, works};

/// Memory that devices may keep for reuse here: less than most of the patterns take.
const LIMIT: u64 = 2 << 20;
/// Memory that a device keeps beside: the state of single-launch scans, and wgpu's own buffers.
const FIXED: u64 = 12 << 20;
/// Lengths that share no size class.
const LENGTHS: [u64; 3] = [200_000, 330_000, 270_000];

/// The devices that the environment names, or that are here.
fn devices() -> Vec<Device> {
    let named = std::env::var("ISOWARP_TEST_DEVICES").ok();
    let wanted = |backend: &str| named.as_deref().map(|names| names.split(',').any(|name| name.trim() == backend));
    let open = |(backend, selector, must)| match (wanted(backend), Device::open(selector)) {
        (Some(false), _) => None,
        (Some(true), opened) => Some(opened.unwrap_or_else(|e| panic!("ISOWARP_TEST_DEVICES names what is not here: {e}"))),
        (None, Err(e)) if must => panic!("{e}; `cargo xtask test` installs an adapter, ISOWARP_TEST_DEVICES=cpu does without"),
        (None, opened) => opened.ok(),
    };
    let all = [("cpu", Selector::Cpu, true), ("wgpu", Selector::Wgpu, cfg!(feature = "wgpu")), ("cuda", Selector::Cuda, false)];
    all.into_iter().filter_map(open).collect()
}

/// Bytes that the driver has given, where wgpu counts them.
fn allocated(device: &Device) -> Option<u64> {
    match device {
        #[cfg(feature = "wgpu")]
        Device::Wgpu(d) => d.device().generate_allocator_report().map(|report| report.total_allocated_bytes),
        _ => None,
    }
}

#[test]
fn no_pattern_holds_more_than_live_memory_and_the_pools_limit() {
    for device in devices() {
        device.set_pool_limit(LIMIT).expect("a limit");
        let before = device.memory_usage().live_bytes;
        for work in works().into_iter().filter(|work| !work.is_rung()) {
            for (turn, &n) in LENGTHS.iter().enumerate() {
                let n = if work.is_image() { (n as f64).sqrt().floor().powi(2) as u64 } else { n };
                let Ok(ready) = work.ready(&device, &Shape { n, copies: 1, seed: turn as u32 }) else { continue };
                ready.enqueue(0).unwrap_or_else(|e| panic!("{}: {e}", work.name));
                ready.enqueue(0).unwrap_or_else(|e| panic!("{}: {e}", work.name));
            }
            device.synchronize().expect("the device works");
            let usage = device.memory_usage();
            let name = format!("{} {} on {}: {usage:?}", work.name, work.dtype, device.caps().backend);
            assert!(usage.live_bytes <= before + FIXED, "{name} after all buffers were dropped, {before} bytes before");
            assert!(usage.pool_bytes <= usage.pool_limit_bytes, "{name}");
            if let Some(allocated) = allocated(&device) {
                assert!(allocated <= before + usage.pool_limit_bytes + FIXED, "{name}: the driver has given {allocated} bytes");
            }
        }
    }
}
