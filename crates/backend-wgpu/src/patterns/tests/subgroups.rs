//! The subgroup forms, at every width: in the adapter's own subgroups, and in others that shared memory stands in for.

use super::{Sample, both, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use crate::patterns::tests::{reduce, scan};
use isowarp_core::ops::{Op, Sum};
use isowarp_core::patterns::Scan as _;
use isowarp_cpu::Cpu;
use std::sync::atomic::Ordering;

/// Puts shared memory in the place of shuffles, with barriers around it, so that a kernel runs in subgroups of `width` lanes, as the
/// adapter's own lie. Everything that a lane could misjudge about its subgroup shows, and so does a shuffle that not all invocations reach.
pub(in crate::patterns) fn emulate(wgsl: &str, width: u32) -> String {
    let Some((head, body)) = wgsl.split_once(", @builtin(subgroup_size) size: u32) {") else { return wgsl.to_owned() };
    let mut text = format!("{head}) {{\n    emulated_lane = lane;\n    let size = {width}u;{body}");
    for (builtin, from) in [("subgroupShuffleXor", "emulated_lane ^ lane"), ("subgroupShuffle", "emulated_lane / WIDTH * WIDTH + lane")] {
        text = text.replace(&format!("{builtin}("), &format!("{builtin}_("));
        text.push_str(&format!(
            "\nfn {builtin}_(v: u32, lane: u32) -> u32 {{
    workgroupBarrier();
    emulated[emulated_lane] = v;
    workgroupBarrier();
    return emulated[{from}];
}}
"
        ));
    }
    for (builtin, ty, start, step) in [
        ("subgroupBallot", "vec4<u32>", "vec4<u32>()", "if (there) { value[k / 32u] |= 1u << (k % 32u); }"),
        ("subgroupExclusiveAdd", "u32", "0u", "if (k < emulated_lane % WIDTH) { value += emulated[first + k]; }"),
    ] {
        text = text.replace(&format!("{builtin}("), &format!("{builtin}_("));
        let (parameter, word) = if ty == "u32" { ("v: u32", "v") } else { ("v: bool", "u32(v)") };
        text.push_str(&format!(
            "\nfn {builtin}_({parameter}) -> {ty} {{
    workgroupBarrier();
    emulated[emulated_lane] = {word};
    workgroupBarrier();
    let first = emulated_lane / WIDTH * WIDTH;
    var value = {start};
    for (var k = 0u; k < WIDTH; k++) {{
        let there = emulated[first + k] != 0u;
        {step}
    }}
    return value;
}}
"
        ));
    }
    format!("const WIDTH = {width}u;\nvar<private> emulated_lane: u32;\nvar<workgroup> emulated: array<u32, 256>;\n{text}")
}

fn device(width: u32) -> Wgpu {
    let gpu = own_device(&Options { subgroups: Some(true), ..Options::default() });
    assert!(gpu.tuning().reduces_in_subgroups(1) && gpu.tuning().scan_in_subgroups, "{:?}", gpu.report().subgroup);
    gpu.patterns().width.store(width, Ordering::Relaxed);
    gpu
}

/// Sizes around the parts that subgroups of any width take.
const SIZES: [usize; 12] = [1, 3, 17, 129, 257, 1023, 2049, 8192, 8193, 20_011, 66_000, 100_003];

/// Neither commutative nor associative: only the one tree gives these bits.
macro_rules! order {
    () => {
        Op::associative(0.0_f32, |a, b| a - b * 0.5)
    };
}

fn tiles(gpu: &Wgpu) {
    reduce::check::<f32>(gpu, &SIZES, order!());
    scan::check::<f32>(gpu, &SIZES, order!());
}

fn lines_and_parts(gpu: &Wgpu) {
    reduce::axes::<f32>(gpu, &[[300, 4, 33], [5, 2, 2100], [7, 1, 900], [2000, 1, 3]]);
    scan::axes(gpu, &[[300, 4, 33], [3, 2, 1023], [100, 1, 260], [3, 8195, 1]]);
    reduce::check::<f64>(gpu, &SIZES[5..], Sum);
    scan::check::<f64>(gpu, &SIZES[8..], Sum);
    reduce::parts(gpu, &[5, 20_011]);
    scan::segments(gpu, &[20_011]);
}

#[test]
fn the_adapters_own_width_gives_the_one_tree() {
    tiles(&device(0));
    lines_and_parts(&device(0));
}

#[test]
fn every_width_gives_the_one_tree() {
    for width in [4, 16, 32, 64, 128] {
        tiles(&device(width));
    }
}

#[test]
fn the_narrowest_and_a_usual_width_walk_lines_and_several_words() {
    for width in [4, 32] {
        lines_and_parts(&device(width));
    }
}

#[test]
fn a_missing_total_is_computed_in_subgroups_of_every_width() {
    for width in [0, 4, 64] {
        let gpu = device(width);
        gpu.patterns().patience.store(1, Ordering::Relaxed);
        let (cx, gx) = both(&gpu, &f32::samples(8192 * 70 + 5, 31));
        let expected = Cpu::new().scan(&cx, Sum).exclusive().run().expect("cpu");
        same_bits(&format!("width {width}"), &expected, &gpu.scan(&gx, Sum).exclusive().run().expect("gpu"));
    }
}

#[test]
fn three_launches_in_subgroups_give_the_one_tree() {
    for width in [0, 4, 32] {
        let gpu = device(width);
        gpu.patterns().patience.store(u32::MAX, Ordering::Relaxed);
        scan::check::<f32>(&gpu, &[20_011, 100_003], Sum);
        scan::check::<f64>(&gpu, &[20_011], Sum);
    }
}

#[test]
fn kernels_that_are_not_sealed_walk_in_subgroups_too() {
    let gpu = own_device(&Options { subgroups: Some(true), seal: false, ..Options::default() });
    assert!(gpu.tuning().reduces_in_subgroups(1) && !gpu.report().sealed);
    reduce::check::<u32>(&gpu, &[1000, 20_011], Sum);
    scan::check::<u32>(&gpu, &[1000, 20_011], Sum);
}

#[test]
fn a_device_without_subgroups_takes_the_other_form() {
    let gpu = own_device(&Options { subgroups: Some(false), ..Options::default() });
    assert!(!gpu.tuning().reduces_in_subgroups(1) && !gpu.tuning().scan_in_subgroups);
    tiles(&gpu);
    lines_and_parts(&gpu);
    let without = wgpu::Features::SUBGROUP | wgpu::Features::SUBGROUP_BARRIER;
    let gpu = own_device(&Options { subgroups: Some(true), without, ..Options::default() });
    assert!(!gpu.tuning().reduces_in_subgroups(1) && !gpu.tuning().scan_in_subgroups);
}
