//! Choosing a device on machines that have OpenGL and no Vulkan, and how much memory it may keep.

use crate::common::{elsewhere, is_elsewhere, without_opengl};
use isowarp::backend::Backend as _;
use isowarp::prelude::*;
use isowarp::wgpu::Options;
use isowarp::{Device, Error, Selector, Wgpu};

/// Loaders of Vulkan that find no driver, and no GPU for CUDA.
const NO_VULKAN: [(&str, &str); 3] =
    [("VK_DRIVER_FILES", "/nonexistent/none.json"), ("VK_ICD_FILENAMES", "/nonexistent/none.json"), ("CUDA_VISIBLE_DEVICES", "-1")];

#[test]
fn opengl_alone_leaves_the_work_to_the_cpu() {
    if !is_elsewhere() {
        elsewhere("opening::opengl_alone_leaves_the_work_to_the_cpu", &NO_VULKAN);
        return;
    }
    let auto = Device::auto().unwrap();
    assert_eq!(auto.caps().backend, "cpu", "{}", auto.describe());
    assert!(auto.describe().contains("OpenGL adapters are opened by name only"), "{}", auto.describe());
    let y = auto.map(&auto.upload(&[3.0f32, 1.0, 2.0]).unwrap(), |x| x * 2.0 + 1.0).unwrap();
    assert_eq!(auto.sum(&y).unwrap().read_blocking().unwrap(), 15.0);
    assert!(Device::all().iter().flatten().all(|d| d.caps().backend == "cpu"));
    assert!(matches!(Device::open(Selector::Wgpu), Err(Error::Unavailable { backend: "wgpu", .. })));
    // The suite's program, which opens devices in several threads, compares what there is.
    let ran = isowarp_conformance::present(&[], isowarp_conformance::Again::All).unwrap();
    assert!(ran.0.is_empty(), "{:?}", ran.0);
    // All of that holds on machines without OpenGL too.
    if pollster::block_on(isowarp::wgpu::adapters(wgpu::Backends::GL)).is_empty() {
        without_opengl();
    }
}

#[test]
fn an_opengl_adapter_that_is_named_serves_threads_with_devices_of_their_own() {
    if !is_elsewhere() {
        elsewhere("opening::an_opengl_adapter_that_is_named_serves_threads_with_devices_of_their_own", &NO_VULKAN);
        return;
    }
    let found = pollster::block_on(isowarp::wgpu::adapters(wgpu::Backends::GL));
    let Some(first) = found.first() else {
        without_opengl();
        return;
    };
    let options = Options { adapter: Some(first.info.name.clone()), ..Options::default() };
    let open = || pollster::block_on(Wgpu::with_options(&options)).unwrap();
    let work = |d: &Wgpu| {
        let x = d.upload(&[5u32, 4, 9]).unwrap();
        for _ in 0..10 {
            match d.sort(&x).run().and_then(|sorted| sorted.read_blocking()) {
                Ok(sorted) => assert_eq!(sorted, [4, 5, 9]),
                // A driver may be too weak for a pattern, or fail: what it may not do is end the process.
                Err(e) => println!("{e}"),
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| work(&open()))).collect();
        for thread in threads {
            assert!(thread.join().is_ok(), "a panic left a call");
        }
    });
    // One device, used and let go by another thread than the one that opened it.
    let device = open();
    work(&device);
    let x = device.upload(&[1u32; 1000]).unwrap();
    std::thread::spawn(move || drop((x, device))).join().expect("dropped");
}

#[test]
fn the_environment_says_how_much_memory_a_device_keeps() {
    let name = "opening::the_environment_says_how_much_memory_a_device_keeps";
    if !is_elsewhere() {
        elsewhere(name, &[("ISOWARP_POOL_MIB", "3"), ("ISOWARP_EXPECTED", "3")]);
        elsewhere(name, &[("ISOWARP_POOL_MIB", "much"), ("ISOWARP_EXPECTED", "error")]);
        return;
    }
    let expected = std::env::var("ISOWARP_EXPECTED").unwrap();
    for device in Device::all() {
        match device {
            Ok(device) if device.caps().backend == "cpu" => {}
            Ok(device) => assert_eq!(device.memory_usage().pool_limit_bytes.to_string(), (3 << 20).to_string()),
            Err(Error::InvalidArgument { what: "ISOWARP_POOL_MIB", reason }) => {
                assert!(expected == "error" && reason.contains("`much`"), "{reason}");
            }
            Err(e) => assert!(matches!(e, Error::Unavailable { .. }), "{e}"),
        }
    }
}
