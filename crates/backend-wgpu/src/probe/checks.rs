//! Facts about 32-bit arithmetic that choose an implementation: a WGSL expression beside the Rust that defines it. What the contract stands on is asked
//! by [`super::operations`].
//!
//! In WGSL, `a`, `b`, `c` are floats, and `zero` a zero. Everything comes from a buffer, so nothing can be folded at compile time.

/// The bits that an expression has to give for the bits of three inputs; `None` where it is not defined.
pub(crate) type Expect = fn(u32, u32, u32) -> Option<u32>;

/// One line of the table.
pub(crate) struct Check {
    /// Name of the check in a witness.
    pub(crate) name: &'static str,
    /// An expression of type u32.
    pub(crate) wgsl: &'static str,
    pub(crate) expect: Expect,
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// Bits of a float result; NaN payloads are not promised by hardware.
pub(crate) fn canon(v: f32) -> u32 {
    if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() }
}

/// Bits of a float result as the device gave them, with NaN made canonical where the check is about a float.
pub(crate) fn same(expected: u32, got: u32) -> bool {
    expected == got || (expected == 0x7fc0_0000 && f(got).is_nan())
}

pub(crate) const FMA: &str = "fma(a, b, c)";
pub(crate) const NAN_TEST: &str = "a != a";
pub(crate) const ZEROS: [&str; 3] = ["a + 0", "0 - a", "a * 0"];
pub(crate) const CONTRACTED: &str = "a * b + c";

macro_rules! table {
    ($($name:literal, $wgsl:literal, |$x:pat_param, $y:pat_param, $z:pat_param| $expect:expr;)*) => {
        &[$(Check { name: $name, wgsl: $wgsl, expect: |$x, $y, $z| $expect }),*]
    };
}

fn out(v: f32) -> Option<u32> {
    Some(canon(v))
}

fn truth(v: bool) -> Option<u32> {
    Some(u32::from(v))
}

/// Two ordinary operands: where WGSL's own `min` and `max` are defined.
fn ordered(x: u32, y: u32) -> bool {
    !(f(x).is_nan() || f(y).is_nan() || (f(x) == 0.0 && f(y) == 0.0))
}

/// The table (kernels build their own minimum and maximum, by comparison).
pub(crate) const TABLE: &[Check] = table! {
    "fma(a, b, c)", "bitcast<u32>(fma(a, b, c))", |x, y, z| out(f(x).mul_add(f(y), f(z)));
    "a * b + c", "bitcast<u32>(a * b + c)", |x, y, z| out(f(x) * f(y) + f(z));
    "a * k + b * k", "bitcast<u32>(a * 0.1 + b * 0.1)", |x, y, _| out(f(x) * 0.1 + f(y) * 0.1);
    "a / b", "bitcast<u32>(a / b)", |x, y, _| out(f(x) / f(y));
    "sqrt(a)", "bitcast<u32>(sqrt(a))", |x, _, _| out(f(x).sqrt());
    "a + 0", "bitcast<u32>(a + 0.0)", |x, _, _| out(f(x) + 0.0);
    "0 - a", "bitcast<u32>(0.0 - a)", |x, _, _| out(0.0 - f(x));
    "a * 0", "bitcast<u32>(a * 0.0)", |x, _, _| out(f(x) * 0.0);
    "a != a", "select(0u, 1u, a != a)", |x, _, _| truth(f(x).is_nan());
    "a != b", "select(0u, 1u, a != b)", |x, y, _| truth(f(x) != f(y));
    "min(a, b)", "bitcast<u32>(min(a, b))", |x, y, _| ordered(x, y).then(|| canon(f(x).min(f(y))));
    "max(a, b)", "bitcast<u32>(max(a, b))", |x, y, _| ordered(x, y).then(|| canon(f(x).max(f(y))));
};

/// The kernel that evaluates the table on every triple.
pub(crate) fn wgsl() -> String {
    use std::fmt::Write;
    let mut body = String::new();
    for (check, at) in TABLE.iter().zip(0..) {
        let _ = writeln!(body, "    results[base + {at}u] = {};", check.wgsl);
    }
    format!("{HEAD}    let base = id.x * {}u;\n{body}}}\n", TABLE.len())
}

/// The kernel that evaluates an emulated fma on every triple.
pub(crate) fn fma_wgsl(prelude: &str) -> String {
    format!("{prelude}\n{HEAD}    results[id.x] = bitcast<u32>(iw_fma(a, b, c));\n}}\n")
}

pub(crate) const HEAD: &str = "@group(0) @binding(0) var<storage, read> triples: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = triples[id.x].x;
    let y = triples[id.x].y;
    let z = triples[id.x].z;
    let a = bitcast<f32>(x);
    let b = bitcast<f32>(y);
    let c = bitcast<f32>(z);
    let zero = bitcast<f32>(triples[id.x].w);
";

/// Inputs of a probe: the first `normal` triples neither hold nor lead to subnormal numbers.
pub(crate) struct Triples {
    pub(crate) words: Vec<[u32; 4]>,
    pub(crate) normal: usize,
}

/// A small fixed generator (xorshift), so that every start measures the same.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u32
    }

    /// A float of either sign with an exponent in `low..=high`.
    pub(crate) fn float(&mut self, low: i32, high: i32) -> f32 {
        let exponent = low + (self.next() % (high - low + 1) as u32) as i32;
        let r = self.next();
        f32::from_bits((r & 0x807f_ffff) | (((exponent + 127) as u32) << 23))
    }

    /// A triple whose fma is hard: the sum cancels, or rounds near a midpoint.
    pub(crate) fn hard(&mut self, low: i32, high: i32) -> [f32; 3] {
        let (a, b) = (self.float(low, high), self.float(low, high));
        let product = a * b;
        let c = match self.next() % 4 {
            0 => -product,
            1 => f32::from_bits(product.to_bits() ^ 0x8000_0000).mul_add(1.0, f32::from_bits(product.to_bits() & 0x7f80_0000)),
            2 => self.float(24, 26) * product,
            _ => self.float(-26, -23) * product,
        };
        [a, b, c]
    }
}

/// The probe's inputs, a multiple of 64.
pub(crate) fn triples() -> Triples {
    let mut random = Random(0x1505_2d1f_77aa_9e37);
    let ordinary = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        3.0,
        -2.5,
        0.5,
        1.5,
        1.0 + f32::EPSILON,
        1.0 - f32::EPSILON / 2.0,
        16_777_217.0,
        8_388_608.5,
        -7.0,
        1.0e9,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let mut out = Vec::new();
    for (n, &a) in ordinary.iter().enumerate() {
        for (m, &b) in ordinary.iter().enumerate() {
            out.push([a, b, ordinary[(n * 5 + m * 7) % ordinary.len()]]);
        }
    }
    for _ in 0..250 {
        out.push([random.float(-30, 30), random.float(-30, 30), random.float(-30, 30)]);
        out.push(random.hard(-17, 17));
    }
    // Halfway between f32 after the product, with the third operand deciding.
    while out.len() < 1024 {
        out.push([1.0 + f32::EPSILON * (random.next() % 4096) as f32, 1.0 + f32::EPSILON * 2048.0, random.float(-60, -40)]);
    }
    let normal = out.len();
    let edge = [f32::MIN_POSITIVE, 1.0e-40, f32::from_bits(1), -f32::from_bits(0x0040_0001), f32::MAX, 2.0, -0.5, 1.0e-38, 3.0e-20];
    for &a in &edge {
        for &b in &edge {
            for &c in &edge {
                out.push([a, b, c]);
            }
        }
    }
    while out.len() < 2048 {
        out.push([random.float(-126, -60), random.float(-80, -20), f32::from_bits(random.next() & 0x80ff_ffff)]);
    }
    let words = out.iter().map(|t| [t[0].to_bits(), t[1].to_bits(), t[2].to_bits(), 0]).collect();
    Triples { words, normal }
}
