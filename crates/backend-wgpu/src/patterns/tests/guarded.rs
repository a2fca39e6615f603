//! Kernels for adapters whose `fma` flushes subnormal numbers: on one that is made to, elementary functions have the bits of the
//! definition, and those that need no guard have none.

use super::texts::NATIVE;
use super::{Bits, device};
use crate::binds::Binding;
use crate::fma_prelude;
use crate::patterns::Dialect;
use crate::patterns::dialect::NATIVE_FMA;
use crate::pipeline::KernelSource;
use crate::probe::{Seed, Seeds};
use isowarp_core::backend::Backend as _;
use isowarp_core::caps::FmaKind;
use isowarp_core::element::Ty;
use isowarp_core::ir::{Operation, UnOp};
use isowarp_core::numerics::Func;
use std::collections::BTreeSet;

const GUARDED: Dialect = Dialect { fma: FmaKind::Guarded, ..NATIVE };

/// `fma` as the adapter's own would be.
const FLUSHING: &str = "fn flush(v: f32) -> f32 {
    let u = bitcast<u32>(v);
    return bitcast<f32>(select(u, u & 0x80000000u, (u & 0x7f800000u) == 0u));
}
fn flushing(a: f32, b: f32, c: f32) -> f32 {
    return flush(exact(flush(a), flush(b), flush(c)));
}
";

/// `fma` of four.
const OF_4: &str = "fn NAME_4(x: vec4<f32>, y: vec4<f32>, z: vec4<f32>) -> vec4<f32> {
    return vec4(NAME(x.x, y.x, z.x), NAME(x.y, y.y, z.y), NAME(x.z, y.z, z.z), NAME(x.w, y.w, z.w));
}
";

/// A kernel's text over that `fma` instead of the adapter's.
pub(super) fn over_flushing_fma(text: &str) -> String {
    over(text, "flushing", FLUSHING)
}

/// A kernel's text over an exact `fma` instead of the adapter's.
pub(super) fn over_exact_fma(text: &str) -> String {
    over(text, "exact", "")
}

fn over(text: &str, name: &str, definition: &str) -> String {
    let exact = fma_prelude(FmaKind::ViaF64).replace("fn iw_fma(", "fn exact(");
    let over = text.replace(" fma(a, b, c)", &format!(" {name}(a, b, c)")).replace(" fma(x, y, z)", &format!(" {name}_4(x, y, z)"));
    if over == text { over } else { format!("{over}\n{exact}\n{definition}\n{}", OF_4.replace("NAME", name)) }
}

/// A kernel's text over the `fma` that an adapter of this dialect has.
pub(in crate::patterns) fn over_emulated_fma(dialect: Dialect, text: &str) -> String {
    match dialect.fma {
        FmaKind::Guarded => over_flushing_fma(text),
        FmaKind::Native => over_exact_fma(text),
        _ => text.to_owned(),
    }
}

fn prelude(calls: &str) -> String {
    prelude_of(GUARDED, &[calls])
}

fn prelude_of(dialect: Dialect, calls: &[&str]) -> String {
    let calls: BTreeSet<String> = calls.iter().map(|&c| c.to_owned()).collect();
    isowarp_shaders::prelude(&calls, &mut |name| dialect.resolve(name)).expect("a prelude")
}

#[test]
fn functions_guard_no_more_than_they_have_to() {
    for func in Func::ALL {
        let free = func.keeps_bits_under_flushing_fma() || func.returns_subnormals();
        for end in ["", "_4"] {
            let text = prelude(&format!("iw_{}{end}", func.name()));
            let calls = |name: &str| text.contains(&format!("{name}(")) || text.contains(&format!("{name}_4("));
            assert_eq!(!calls("iw_fma"), free, "{}", func.name());
            assert!(!free || calls(NATIVE_FMA), "{}", func.name());
        }
    }
    for name in ["iw_div", "iw_sqrt", "iw_div_4", "iw_sqrt_4"] {
        assert!(!prelude(name).contains("iw_fma(") && !prelude(name).contains("iw_fma_4("), "{name}");
    }
}

const COUNT: usize = 1 << 14;

/// Half of the numbers below or around the least normal one.
fn inputs() -> Vec<[u32; 3]> {
    let mut bits = Bits(11);
    let mut one = || {
        let b = bits.next();
        match b >> 62 {
            0 => b as u32 & 0x80ff_ffff,
            1 => (b as u32 & 0x80ff_ffff) >> (b >> 40 & 15),
            2 => b as u32 & 0xbfff_ffff,
            _ => b as u32,
        }
    };
    (0..COUNT).map(|_| [one(), one(), one()]).collect()
}

/// One element to an invocation in the single form, then four in the joint form, whose neighbours are of all kinds.
fn check(dialect: Dialect, name: &str, arity: usize, expected: impl Fn([f32; 3]) -> f32) {
    let device = device();
    let functions = over_emulated_fma(dialect, &prelude_of(dialect, &[name, &format!("{name}_4")]));
    let (one, four) = (["x", "x, y", "x, y, z"][arity - 1], ["a", "a, b", "a, b, c"][arity - 1]);
    let wgsl = format!(
        "struct Args {{ base_high: u32 }}
        var<immediate> args: Args;
        @group(0) @binding(0) var<storage, read> input: array<f32>;
        @group(0) @binding(1) var<storage, read_write> output: array<f32>;
        {functions}
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            let x = input[id.x * 3u];
            let y = input[id.x * 3u + 1u];
            let z = input[id.x * 3u + 2u];
            output[id.x + args.base_high] = {name}({one});
            if (id.x % 4u == 0u) {{
                let i = id.x * 3u;
                let a = vec4(input[i], input[i + 3u], input[i + 6u], input[i + 9u]);
                let b = vec4(input[i + 1u], input[i + 4u], input[i + 7u], input[i + 10u]);
                let c = vec4(input[i + 2u], input[i + 5u], input[i + 8u], input[i + 11u]);
                let r = {name}_4({four});
                for (var k = 0u; k < 4u; k++) {{
                    output[{COUNT}u + id.x + k] = r[k];
                }}
            }}
        }}"
    );
    let kernel = device.kernel(&KernelSource { name, wgsl: &wgsl, entry: "main" }).expect("the kernel compiles");
    let inputs = inputs();
    let bytes = inputs.len() as u64 * 4;
    let x = device.allocate_bytes(bytes * 3).expect("memory");
    let y = device.allocate_bytes(bytes * 2).expect("memory");
    device.write_bytes(&x, 0, bytemuck::cast_slice(&inputs)).expect("upload");
    let bindings =
        [Binding { buffer: &x, offset_bytes: 0, size_bytes: bytes * 3 }, Binding { buffer: &y, offset_bytes: 0, size_bytes: bytes * 2 }];
    device.dispatch(&kernel, &bindings, &[0; 4], [inputs.len() as u32 / 64, 1, 1]).expect("dispatch");
    let got: Vec<u32> = bytemuck::pod_collect_to_vec(&device.read_bytes_blocking(&y, 0, bytes * 2).expect("read"));
    for (form, got) in ["single", "joint"].iter().zip(got.chunks_exact(inputs.len())) {
        for (&bits, got) in inputs.iter().zip(got) {
            let args = bits.map(f32::from_bits);
            let expected = expected(args);
            let same = *got == expected.to_bits() || (f32::from_bits(*got).is_nan() && expected.is_nan());
            assert!(same, "{form} {name} of {args:?}: {got:#010x}, expected {:#010x}", expected.to_bits());
        }
    }
}

fn check_all(dialect: Dialect) {
    assert!(device().features().contains(wgpu::Features::SHADER_F64), "this test needs an adapter with f64");
    for &func in Func::ALL {
        let one = func.arity() == 1;
        check(dialect, &format!("iw_{}", func.name()), func.arity(), |[a, b, _]| if one { func.eval1(a) } else { func.eval2(a, b) });
    }
    check(dialect, "iw_div", 2, |[a, b, _]| a / b);
    check(dialect, "iw_sqrt", 1, |[a, ..]| a.sqrt());
    check(dialect, "iw_fma", 3, |[a, b, c]| a.mul_add(b, c));
    check(dialect, "iw_min", 2, |[a, b, _]| if a.is_nan() || b.is_nan() { f32::NAN } else { minimum(a, b) });
    check(dialect, "iw_max", 2, |[a, b, _]| if a.is_nan() || b.is_nan() { f32::NAN } else { -minimum(-a, -b) });
    check(dialect, "iw_canonical", 1, |[a, ..]| a);
}

/// The smaller number, -0 below +0.
fn minimum(a: f32, b: f32) -> f32 {
    if a.total_cmp(&b).is_le() { a } else { b }
}

#[test]
fn functions_over_a_flushing_fma_keep_the_definitions_bits() {
    for seeds in [Seeds::NONE, Seeds { reciprocal: Some(Seed::Close), root: true, byte_root: true }] {
        check_all(Dialect { seeds, ..GUARDED });
    }
}

#[test]
fn functions_over_an_exact_fma_keep_the_definitions_bits() {
    check_all(Dialect { seeds: Seeds { reciprocal: Some(Seed::Coarse), root: true, byte_root: true }, ..NATIVE });
}

#[test]
fn functions_with_polynomials_in_loops_keep_the_definitions_bits() {
    // An operation that has an exact form brings the loops.
    let repairs = [Operation::Un(UnOp::Neg, Ty::F32)].into_iter().collect();
    let dialect = Dialect { fma: FmaKind::ViaF64, repairs, ..Dialect::PLAIN };
    assert!(prelude_of(dialect, &["iw_exp"]).contains("array<f32, 6>"));
    check_all(dialect);
}
