//! Facilities that the tests share: the devices of this machine, and running a test on each.

use isowarp::backend::Backend as _;
use isowarp::buffer::Buffer;
use isowarp::element::DType;
use isowarp::{Device, Selector};
use isowarp_conformance::{Again, present};
use std::process::Command;
use std::sync::OnceLock;

/// Names the backends that a machine has, as `cpu` or `wgpu,cuda`, where it has other than the tests expect.
pub(crate) const DEVICES: &str = "ISOWARP_TEST_DEVICES";

/// The name of OpenGL there: its adapters are opened by name only, so that it is no backend of its own.
const OPENGL: &str = "gl";

/// Says that there is no OpenGL adapter to test, and fails unless the environment names devices without it.
pub(crate) fn without_opengl() {
    let named = std::env::var(DEVICES).ok();
    let expected = named.is_none_or(|names| names.split(',').any(|name| name.trim() == OPENGL));
    assert!(!expected, "no OpenGL adapter; Debian's packages libegl1 and libegl-mesa0 bring one, {DEVICES}=cpu,wgpu does without");
    println!("no OpenGL here, so nothing was tested");
}

/// Multiples of 2^-23 in [-1, 1), as the scripts of the fixtures make them.
pub(crate) fn uniform(n: impl TryInto<u64, Error: std::fmt::Debug>, mut seed: u32) -> Vec<f32> {
    let next = |_| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..n.try_into().unwrap()).map(next).collect()
}

/// The elements' bits.
pub(crate) fn bits(x: &Buffer<Device, f32>) -> Vec<u32> {
    x.read_blocking().unwrap().into_iter().map(f32::to_bits).collect()
}

/// Every device of this machine, the CPU first; opened once for all tests of a process.
///
/// A test never passes because a device is missing: without a wgpu adapter it fails, unless the environment says which devices there are.
pub(crate) fn devices() -> Vec<Device> {
    static OPEN: OnceLock<Vec<Device>> = OnceLock::new();
    OPEN.get_or_init(open).clone()
}

fn open() -> Vec<Device> {
    let named = std::env::var(DEVICES).ok();
    let backends: Vec<String> = match &named {
        Some(names) => names.split(',').map(|n| n.trim().to_owned()).filter(|n| !matches!(&n[..], "" | "cpu" | OPENGL)).collect(),
        None => Vec::new(),
    };
    let mut all = vec![cpu()];
    if named.is_none() || !backends.is_empty() {
        let (found, absent) = present(&backends, Again::Never).unwrap_or_else(|e| panic!("{DEVICES} names what is not here: {e}"));
        let expected = cfg!(not(feature = "wgpu")) || named.is_some() || found.iter().any(|p| p.backend == "wgpu");
        assert!(expected, "no wgpu adapter ({absent:?}); `cargo xtask test` installs one, {DEVICES}=cpu does without");
        all.extend(found.into_iter().map(|p| p.device));
    }
    all
}

/// The devices besides the CPU.
pub(crate) fn gpus() -> Vec<Device> {
    devices().split_off(1)
}

/// The CPU.
pub(crate) fn cpu() -> Device {
    Device::open(Selector::Cpu).expect("the CPU is always there")
}

/// Runs a test on every device, naming it.
pub(crate) fn each(test: impl Fn(&Device)) {
    for device in devices() {
        println!("on {}: {}", device.caps().backend, device.caps().device);
        test(&device);
    }
}

/// The same on devices that have these element types; of others it says that they lack them. The CPU has all.
pub(crate) fn each_with(needs: &[DType], test: impl Fn(&Device)) {
    each(|d| match needs.iter().find(|t| !d.caps().supports(**t)) {
        Some(lacking) => println!("it has no {lacking}"),
        None => test(d),
    });
}

/// The same on devices that nobody else uses meanwhile.
pub(crate) fn each_alone(test: impl Fn(&Device)) {
    open().iter().for_each(test);
}

/// Runs one test of this program in a process of its own, with other surroundings, and returns what it printed.
pub(crate) fn elsewhere(test: &str, surroundings: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env("ISOWARP_ELSEWHERE", "1").envs(surroundings.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}

/// Whether this is that process.
pub(crate) fn is_elsewhere() -> bool {
    std::env::var_os("ISOWARP_ELSEWHERE").is_some()
}

/// The Mersenne Twister MT19937 of Matsumoto and Nishimura (1998), first `n` numbers.
pub(crate) fn mt19937(seed: u32, n: usize) -> Vec<u32> {
    let mut state = [0u32; 624];
    state[0] = seed;
    for i in 1..624 {
        state[i] = 1_812_433_253u32.wrapping_mul(state[i - 1] ^ (state[i - 1] >> 30)).wrapping_add(i as u32);
    }
    let mut at = 624;
    (0..n)
        .map(|_| {
            if at == 624 {
                for i in 0..624 {
                    let y = (state[i] & 0x8000_0000) | (state[(i + 1) % 624] & 0x7FFF_FFFF);
                    state[i] = state[(i + 397) % 624] ^ (y >> 1) ^ if y & 1 == 1 { 0x9908_B0DF } else { 0 };
                }
                at = 0;
            }
            let mut y = state[at];
            at += 1;
            y ^= y >> 11;
            y ^= (y << 7) & 0x9D2C_5680;
            y ^= (y << 15) & 0xEFC6_0000;
            y ^ (y >> 18)
        })
        .collect()
}
