//! Kernels for adapters whose `fma` flushes subnormal numbers: on one that is made to, elementary functions have the bits of the
//! definition, and those that need no guard have none.

use super::texts::NATIVE;
use super::{Bits, device};
use crate::binds::Binding;
use crate::fma_prelude;
use crate::patterns::Dialect;
use crate::patterns::dialect::NATIVE_FMA;
use crate::pipeline::KernelSource;
use isowarp_core::backend::Backend as _;
use isowarp_core::caps::FmaKind;
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
        other => panic!("{other:?} needs no emulation"),
    }
}

fn prelude(calls: &str) -> String {
    isowarp_shaders::prelude(&BTreeSet::from([calls.to_owned()]), &mut |name| GUARDED.resolve(name)).expect("a prelude")
}

#[test]
fn functions_guard_no_more_than_they_have_to() {
    for func in Func::ALL {
        let free = func.keeps_bits_under_flushing_fma() || func.returns_subnormals();
        let text = prelude(&format!("iw_{}", func.name()));
        assert_eq!(!text.contains("iw_fma("), free, "{}", func.name());
        assert_eq!(text.contains(&format!("{NATIVE_FMA}(")), free, "{}", func.name());
    }
    for name in ["iw_div", "iw_sqrt"] {
        assert!(!prelude(name).contains("iw_fma("), "{name}");
    }
}

/// Half of the numbers below or around the least normal one.
fn inputs() -> Vec<[u32; 2]> {
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
    (0..1 << 14).map(|_| [one(), one()]).collect()
}

fn check(name: &str, args: &str, expected: impl Fn(f32, f32) -> f32) {
    let device = device();
    let functions = over_flushing_fma(&prelude(name));
    assert!(functions.contains("flushing("), "{name}");
    let wgsl = format!(
        "struct Args {{ base_high: u32 }}
        var<immediate> args: Args;
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        {functions}
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            let a = x[id.x * 2u];
            let b = x[id.x * 2u + 1u];
            y[id.x + args.base_high] = {name}({args});
        }}"
    );
    let kernel = device.kernel(&KernelSource { name, wgsl: &wgsl, entry: "main" }).expect("the kernel compiles");
    let inputs = inputs();
    let bytes = inputs.len() as u64 * 4;
    let x = device.allocate_bytes(bytes * 2).expect("memory");
    let y = device.allocate_bytes(bytes).expect("memory");
    device.write_bytes(&x, 0, bytemuck::cast_slice(&inputs)).expect("upload");
    let bindings =
        [Binding { buffer: &x, offset_bytes: 0, size_bytes: bytes * 2 }, Binding { buffer: &y, offset_bytes: 0, size_bytes: bytes }];
    device.dispatch(&kernel, &bindings, &[0; 4], [inputs.len() as u32 / 64, 1, 1]).expect("dispatch");
    let got: Vec<u32> = bytemuck::pod_collect_to_vec(&device.read_bytes_blocking(&y, 0, bytes).expect("read"));
    for (&[a, b], got) in inputs.iter().zip(got) {
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        let expected = expected(a, b);
        let same = got == expected.to_bits() || (f32::from_bits(got).is_nan() && expected.is_nan());
        assert!(same, "{name} of {a:e}, {b:e}: {got:#010x}, expected {:#010x}", expected.to_bits());
    }
}

#[test]
fn functions_over_a_flushing_fma_keep_the_definitions_bits() {
    assert!(device().features().contains(wgpu::Features::SHADER_F64), "this test needs an adapter with f64");
    for &func in Func::ALL {
        let args = if func.arity() == 1 { "a" } else { "a, b" };
        check(&format!("iw_{}", func.name()), args, |a, b| if func.arity() == 1 { func.eval1(a) } else { func.eval2(a, b) });
    }
    check("iw_div", "a, b", |a, b| a / b);
    check("iw_sqrt", "a", |a, _| a.sqrt());
}
