//! The emulated fused multiply-adds are exact, bit for bit, on inputs chosen to break them.

use isowarp_core::Error;
use isowarp_core::backend::Backend;
use isowarp_core::buffer::Memory as _;
use isowarp_core::caps::{FmaKind, Numerics, NumericsVerdict};
use isowarp_core::patterns::Map as _;
use isowarp_wgpu::{Binding, KernelSource, Options, Wgpu, fma_prelude, fma64_prelude, fold};
use std::sync::OnceLock;

/// One device for all tests: drivers deadlock where many are closed by many threads at once.
fn device() -> Wgpu {
    static DEVICE: OnceLock<Wgpu> = OnceLock::new();
    DEVICE.get_or_init(|| Wgpu::new_blocking().expect("an adapter")).clone()
}

const TRIPLES: usize = 1 << 20;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u32
    }

    fn float(&mut self, low: i32, high: i32) -> f32 {
        let exponent = low + (self.next() % (high - low + 1) as u32) as i32;
        f32::from_bits((self.next() & 0x807f_ffff) | (((exponent + 127) as u32) << 23))
    }
}

/// Cancellations, midpoints, subnormal and overflowing results, zeros, infinities, NaN, and plain bits.
fn triples() -> Vec<[f32; 3]> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        -f32::MIN_POSITIVE,
        f32::from_bits(1),
        -f32::from_bits(1),
        f32::from_bits(0x007f_ffff),
        f32::from_bits(0x0040_0000),
        1.0 + f32::EPSILON,
        1.0 - f32::EPSILON / 2.0,
        2.0,
        0.5,
        4097.0,
        8_388_607.5,
        16_777_215.0,
        1.0e-23,
        1.3e22,
        -1.0e-38,
    ];
    let mut out = Vec::with_capacity(TRIPLES);
    for a in special {
        for b in special {
            out.extend(special.iter().map(|&c| [a, b, c]));
        }
    }
    let mut random = Random(0x0123_4567_89ab_cdef);
    while out.len() < TRIPLES {
        let (a, b) = (random.float(-62, 62), random.float(-62, 62));
        let product = f64::from(a) * f64::from(b);
        let nudge = random.next() % 5;
        out.push(match random.next() % 12 {
            0 => [a, b, -(product as f32)],
            1 => [a, b, f32::from_bits((-(product as f32)).to_bits().wrapping_add(nudge))],
            // The product half an ulp away from the sum's scale: rounds at a midpoint that the product's tail decides.
            2 => [a, b, (product * 16_777_216.0) as f32],
            3 => [a, b, (product * 33_554_432.0) as f32],
            4 => [a, b, (product / 16_777_216.0) as f32],
            5 => [a, b, (product / 281_474_976_710_656.0) as f32],
            // Exactly representable products of few bits, on midpoints with a far smaller third operand.
            6 => {
                let one = 1.0 + f32::EPSILON * (random.next() % 8192) as f32;
                [one, 1.0 + f32::EPSILON * 4096.0, random.float(-120, -20)]
            }
            // Results around the smallest normal and below.
            7 => [random.float(-100, -40), random.float(-90, -30), f32::from_bits(random.next() & 0x80ff_ffff)],
            8 => [f32::from_bits(random.next() & 0x807f_ffff), random.float(-10, 30), f32::from_bits(random.next() & 0x81ff_ffff)],
            // Results around the largest finite number.
            9 => [random.float(62, 65), random.float(61, 64), random.float(100, 127)],
            10 => [f32::MAX, 1.0, random.float(100, 104)],
            _ => [f32::from_bits(random.next()), f32::from_bits(random.next()), f32::from_bits(random.next())],
        });
    }
    out
}

fn canonical(v: f32) -> u32 {
    if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() }
}

fn check(device: &Wgpu, kind: FmaKind) {
    check_text(device, kind, fma_prelude(kind));
}

fn check_text(device: &Wgpu, kind: FmaKind, prelude: &str) {
    let wgsl = format!(
        "{prelude}
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            let i = id.x * 3u;
            y[id.x] = iw_fma(x[i], x[i + 1u], x[i + 2u]);
        }}"
    );
    let kernel = device.kernel(&KernelSource { name: "fma", wgsl: &wgsl, entry: "main" }).expect("the kernel compiles");
    let triples = triples();
    let bytes = TRIPLES as u64 * 4;
    let x = device.allocate_bytes(bytes * 3).expect("memory");
    let y = device.allocate_bytes(bytes).expect("memory");
    device.write_bytes(&x, 0, bytemuck::cast_slice(&triples)).expect("upload");
    let bindings =
        [Binding { buffer: &x, offset_bytes: 0, size_bytes: bytes * 3 }, Binding { buffer: &y, offset_bytes: 0, size_bytes: bytes }];
    let grid = fold(TRIPLES as u64 / 64, 65_535).expect("fits");
    device.dispatch(&kernel, &bindings, &[], grid).expect("dispatch");
    let got = device.read_bytes_blocking(&y, 0, bytes).expect("read");
    let flushes = !matches!(kind, FmaKind::ViaInteger | FmaKind::Guarded) && device.caps().numerics == NumericsVerdict::StrictNormal;
    let mut wrong = 0;
    for (t, got) in triples.iter().zip(got.chunks_exact(4)) {
        let got = f32::from_le_bytes([got[0], got[1], got[2], got[3]]);
        let expected = t[0].mul_add(t[1], t[2]);
        // A device that says that it flushes subnormals is held to the rest.
        let subnormal = t.iter().any(|v| v.is_subnormal()) || expected.is_subnormal() || expected.abs() == f32::MIN_POSITIVE;
        if canonical(got) != canonical(expected) && !(flushes && subnormal) {
            wrong += 1;
            if wrong <= 10 {
                eprintln!("{kind:?} {:08x?}: got {got:e} expected {expected:e}", t.map(f32::to_bits));
            }
        }
    }
    assert_eq!(wrong, 0, "{kind:?}: {wrong} of {TRIPLES} differ");
}

#[test]
fn fma_through_f64_is_exact_on_a_million_adversarial_triples() {
    let device = device();
    assert!(device.features().contains(wgpu::Features::SHADER_F64), "this test needs an adapter with f64");
    check(&device, FmaKind::ViaF64);
}

#[test]
fn fma_in_integers_is_exact_on_a_million_adversarial_triples() {
    check(&device(), FmaKind::ViaInteger);
}

#[test]
fn the_chosen_fma_is_exact_on_a_million_adversarial_triples() {
    let device = device();
    check(&device, device.caps().fma);
}

#[test]
fn the_guard_makes_up_for_an_fma_that_flushes() {
    let device = device();
    assert!(device.features().contains(wgpu::Features::SHADER_F64), "this test needs an adapter with f64");
    // An `fma` like NVIDIA's, fused and flushing on both ends, made of an exact one.
    let exact = fma_prelude(FmaKind::ViaF64).replace("fn iw_fma(", "fn exact(");
    let guarded = fma_prelude(FmaKind::Guarded).replace("let r = fma(a, b, c);", "let r = flush(exact(flush(a), flush(b), flush(c)));");
    assert!(guarded.contains("flush(a)"), "the guard's text has changed");
    let flush = "fn flush(v: f32) -> f32 {
        let u = bitcast<u32>(v);
        return bitcast<f32>(select(u, u & 0x80000000u, (u & 0x7f800000u) == 0u));
    }";
    check_text(&device, FmaKind::Guarded, &format!("{exact}{flush}\n{guarded}"));
}

#[test]
fn the_chosen_fma_is_exact_in_every_shape_of_code() {
    let device = device();
    let strict = device.caps().numerics == NumericsVerdict::Strict;
    for s in device.survey_fma(1 << 16).expect("survey") {
        assert!(s.wrong == 0 && (s.wrong_at_edges == 0 || !strict), "{s:?}");
    }
}

#[test]
fn a_forced_fma_that_is_not_exact_is_unproven() {
    let kind = FmaKind::Contracted;
    let forced = pollster::block_on(Wgpu::with_options(&Options { fma: Some(kind), ..Options::default() })).expect("an adapter");
    assert_eq!(forced.caps().fma, kind);
    let wrong = forced.survey_fma(1 << 14).expect("survey").iter().any(|s| s.wrong > 0);
    let x = forced.upload(&[1.5f32, 2.0]).expect("upload");
    let y = forced.map(&x, |x| x * x + 1.0);
    match &forced.caps().numerics {
        NumericsVerdict::Unproven { witness: found } => {
            assert!(wrong, "{found}");
            let Err(Error::NotStrict { device, witness }) = y else { panic!("strict work was not refused: {y:?}") };
            assert_eq!((&device, &witness), (&forced.caps().device, found));
            // Work that computes no floats, and work that asks for no more than a bound, goes on.
            let n = forced.map(&x, |x| x.bitcast::<u32>() >> 23).expect("integers").read_blocking().expect("read");
            assert_eq!(n, [127, 128]);
            let fast = forced.with_numerics(Numerics::Fast).map(&x, |x| x * x + 1.0).expect("fast").read_blocking().expect("read");
            assert_eq!(fast, [3.25, 5.0]);
        }
        _ => {
            assert!(!wrong);
            assert_eq!(y.expect("proven").read_blocking().expect("read"), [3.25, 5.0]);
        }
    }
}

fn triples64() -> Vec<[f64; 3]> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        -f64::from_bits(1),
        f64::from_bits(0x000f_ffff_ffff_ffff),
        1.0 + f64::EPSILON,
        1.0 - f64::EPSILON / 2.0,
        2.0,
        0.5,
        1.0e-162,
        1.0e154,
        -1.0e-308,
    ];
    let mut out = Vec::with_capacity(TRIPLES);
    for a in special {
        for b in special {
            out.extend(special.iter().map(|&c| [a, b, c]));
        }
    }
    let mut random = Random(0xfeed_beef_0bad_cafe);
    let mut bits = move || (u64::from(random.next()) << 32) | u64::from(random.next());
    let ranged = |bits: u64, low: i64, high: i64| {
        let exponent = low + ((bits >> 53) % (high - low + 1) as u64) as i64;
        f64::from_bits((bits & 0x800f_ffff_ffff_ffff) | (((exponent + 1023) as u64) << 52))
    };
    while out.len() < TRIPLES {
        let (a, b) = (ranged(bits(), -500, 500), ranged(bits(), -500, 500));
        out.push(match bits() % 8 {
            0 => [a, b, -(a * b)],
            1 => [a, b, f64::from_bits((-(a * b)).to_bits().wrapping_add(bits() % 5))],
            2 => [a, b, a * b * 9_007_199_254_740_992.0],
            3 => [a, b, a * b / 9_007_199_254_740_992.0],
            4 => {
                let one = 1.0 + f64::EPSILON * (bits() % 8192) as f64;
                [one, 1.0 + f64::EPSILON * 67_108_864.0, ranged(bits(), -1000, -40)]
            }
            5 => [ranged(bits(), -600, -500), ranged(bits(), -560, -460), f64::from_bits(bits() & 0x801f_ffff_ffff_ffff)],
            6 => [ranged(bits(), 505, 515), ranged(bits(), 505, 515), ranged(bits(), 1000, 1023)],
            _ => [f64::from_bits(bits()), f64::from_bits(bits()), f64::from_bits(bits())],
        });
    }
    out
}

#[test]
fn fma_of_f64_is_exact_on_a_million_adversarial_triples() {
    let device = device();
    assert!(device.features().contains(wgpu::Features::SHADER_F64 | wgpu::Features::SHADER_INT64), "this test needs f64 and u64");
    let report = device.report().f64.clone().expect("probed");
    let triples = triples64();
    let bytes = TRIPLES as u64 * 8;
    let x = device.allocate_bytes(bytes * 3).expect("memory");
    let y = device.allocate_bytes(bytes).expect("memory");
    device.write_bytes(&x, 0, bytemuck::cast_slice(&triples)).expect("upload");
    for fused in [false, report.fma_is_fused] {
        let wgsl = format!(
            "{}
            @group(0) @binding(0) var<storage, read> x: array<f64>;
            @group(0) @binding(1) var<storage, read_write> y: array<f64>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                let i = id.x * 3u;
                y[id.x] = iw_fma64(x[i], x[i + 1u], x[i + 2u]);
            }}",
            fma64_prelude(fused)
        );
        let kernel = device.kernel(&KernelSource { name: "fma64", wgsl: &wgsl, entry: "main" }).expect("the kernel compiles");
        let bindings =
            [Binding { buffer: &x, offset_bytes: 0, size_bytes: bytes * 3 }, Binding { buffer: &y, offset_bytes: 0, size_bytes: bytes }];
        device.dispatch(&kernel, &bindings, &[], [TRIPLES as u32 / 64, 1, 1]).expect("dispatch");
        let got: Vec<f64> = bytemuck::pod_collect_to_vec(&device.read_bytes_blocking(&y, 0, bytes).expect("read"));
        for (t, got) in triples.iter().zip(got) {
            let expected = t[0].mul_add(t[1], t[2]);
            let same = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
            assert!(same, "fused {fused}: {:016x?} gave {got:e}, expected {expected:e}", t.map(f64::to_bits));
        }
    }
}

#[test]
fn zeros_from_run_time_bits_are_not_folded() {
    let device = device();
    let wgsl = "struct Params { nought: u32 }
        var<immediate> p: Params;
        fn iw_bits(u: u32) -> f32 { return bitcast<f32>(u | p.nought); }
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let a = x[id.x];
            y[id.x * 3u] = a + iw_bits(0u);
            y[id.x * 3u + 1u] = iw_bits(0u) - a;
            y[id.x * 3u + 2u] = a * iw_bits(0u);
        }";
    let kernel = device.kernel(&KernelSource { name: "zeros", wgsl, entry: "main" }).expect("the kernel compiles");
    let values = [0.0_f32, -0.0, 1.0, -1.0, f32::INFINITY];
    let x = device.allocate_bytes(20).expect("memory");
    let y = device.allocate_bytes(60).expect("memory");
    device.write_bytes(&x, 0, bytemuck::cast_slice(&values)).expect("upload");
    let bindings = [Binding { buffer: &x, offset_bytes: 0, size_bytes: 20 }, Binding { buffer: &y, offset_bytes: 0, size_bytes: 60 }];
    device.dispatch(&kernel, &bindings, &[0; 4], [5, 1, 1]).expect("dispatch");
    let got: Vec<f32> = bytemuck::pod_collect_to_vec(&device.read_bytes_blocking(&y, 0, 60).expect("read"));
    for (a, got) in values.iter().zip(got.chunks_exact(3)) {
        let expected = [a + 0.0, 0.0 - a, a * 0.0].map(canonical);
        assert_eq!([got[0], got[1], got[2]].map(canonical), expected, "{a}");
    }
}

#[test]
fn a_device_asked_to_keep_subnormals_has_an_fma_that_does() {
    let options = Options { keep_subnormals: true, ..Options::default() };
    let device = pollster::block_on(Wgpu::with_options(&options)).expect("an adapter");
    if device.report().sums_keep_subnormals {
        assert_eq!(device.caps().numerics, NumericsVerdict::Strict);
    }
    check(&device, device.caps().fma);
}
