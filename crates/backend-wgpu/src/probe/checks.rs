//! What the probe asks of 32-bit arithmetic: a WGSL expression beside the Rust that defines it.
//!
//! In WGSL, `a`, `b`, `c` are floats, `x`, `y`, `z` their bits, `i`, `j` the bits of the first two as signed
//! integers, and `zero` a zero. Everything
//! comes from a buffer, so nothing can be folded at compile time.

/// The bits that an expression has to give for the bits of three inputs; `None` where it is not defined.
pub(crate) type Expect = fn(u32, u32, u32) -> Option<u32>;

/// One line of the table.
pub(crate) struct Check {
    /// What it is called in a witness.
    pub(crate) name: &'static str,
    /// An expression of type u32.
    pub(crate) wgsl: &'static str,
    pub(crate) expect: Expect,
    /// Whether the contract stands on it, or it is only worth knowing.
    pub(crate) required: bool,
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
    ($($required:literal $name:literal, $wgsl:literal, |$x:pat_param, $y:pat_param, $z:pat_param| $expect:expr;)*) => {
        &[$(Check { name: $name, wgsl: $wgsl, expect: |$x, $y, $z| $expect, required: $required }),*]
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

/// The table (kernels build their own minimum and maximum, by comparison). `false` marks facts that choose an implementation rather than decide the verdict.
pub(crate) const TABLE: &[Check] = table! {
    false "fma(a, b, c)", "bitcast<u32>(fma(a, b, c))", |x, y, z| out(f(x).mul_add(f(y), f(z)));
    false "a * b + c", "bitcast<u32>(a * b + c)", |x, y, z| out(f(x) * f(y) + f(z));
    false "a * k + b * k", "bitcast<u32>(a * 0.1 + b * 0.1)", |x, y, _| out(f(x) * 0.1 + f(y) * 0.1);
    false "a / b", "bitcast<u32>(a / b)", |x, y, _| out(f(x) / f(y));
    false "sqrt(a)", "bitcast<u32>(sqrt(a))", |x, _, _| out(f(x).sqrt());
    true "a + b", "bitcast<u32>(a + b)", |x, y, _| out(f(x) + f(y));
    true "a - b", "bitcast<u32>(a - b)", |x, y, _| out(f(x) - f(y));
    true "a * b", "bitcast<u32>(a * b)", |x, y, _| out(f(x) * f(y));
    true "-a", "bitcast<u32>(-a)", |x, _, _| out(-f(x));
    true "(a + b) + c", "bitcast<u32>((a + b) + c)", |x, y, z| out((f(x) + f(y)) + f(z));
    true "a + (b + c)", "bitcast<u32>(a + (b + c))", |x, y, z| out(f(x) + (f(y) + f(z)));
    true "(a * b) * c", "bitcast<u32>((a * b) * c)", |x, y, z| out((f(x) * f(y)) * f(z));
    true "(a + b) - a", "bitcast<u32>((a + b) - a)", |x, y, _| out((f(x) + f(y)) - f(x));
    true "(a - b) + b", "bitcast<u32>((a - b) + b)", |x, y, _| out((f(x) - f(y)) + f(y));
    true "(a * 0.1) * 3", "bitcast<u32>((a * 0.1) * 3.0)", |x, _, _| out((f(x) * 0.1) * 3.0);
    true "(a + 0.1) + 3", "bitcast<u32>((a + 0.1) + 3.0)", |x, _, _| out((f(x) + 0.1) + 3.0);
    true "(a + 0.1) - 0.1", "bitcast<u32>((a + 0.1) - 0.1)", |x, _, _| out((f(x) + 0.1) - 0.1);
    true "(a * 3) * (1/3)", "bitcast<u32>((a * 3.0) * 0.33333334)", |x, _, _| out((f(x) * 3.0) * 0.333_333_34);
    false "a + 0", "bitcast<u32>(a + 0.0)", |x, _, _| out(f(x) + 0.0);
    false "0 - a", "bitcast<u32>(0.0 - a)", |x, _, _| out(0.0 - f(x));
    false "a * 0", "bitcast<u32>(a * 0.0)", |x, _, _| out(f(x) * 0.0);
    true "a + zero from memory", "bitcast<u32>(a + zero)", |x, _, _| out(f(x) + 0.0);
    true "zero from memory - a", "bitcast<u32>(zero - a)", |x, _, _| out(0.0 - f(x));
    true "a * zero from memory", "bitcast<u32>(a * zero)", |x, _, _| out(f(x) * 0.0);
    true "a * 1", "bitcast<u32>(a * 1.0)", |x, _, _| out(f(x));
    true "a - a", "bitcast<u32>(a - a)", |x, _, _| out(f(x) - f(x));
    true "a < b", "select(0u, 1u, a < b)", |x, y, _| truth(f(x) < f(y));
    true "a <= b", "select(0u, 1u, a <= b)", |x, y, _| truth(f(x) <= f(y));
    true "a == b", "select(0u, 1u, a == b)", |x, y, _| truth(f(x) == f(y));
    true "!(a >= b)", "select(0u, 1u, !(a >= b))", |x, y, _| truth(f(x).partial_cmp(&f(y)).is_none_or(std::cmp::Ordering::is_lt));
    true "!(a == a)", "select(0u, 1u, !(a == a))", |x, _, _| truth(f(x).is_nan());
    true "!(a == b)", "select(0u, 1u, !(a == b))", |x, y, _| truth(f(x) != f(y));
    false "a != a", "select(0u, 1u, a != a)", |x, _, _| truth(f(x).is_nan());
    false "a != b", "select(0u, 1u, a != b)", |x, y, _| truth(f(x) != f(y));
    true "select by <", "bitcast<u32>(select(b, a, a < b))", |x, y, _| out(if f(x) < f(y) { f(x) } else { f(y) });
    false "min(a, b)", "bitcast<u32>(min(a, b))", |x, y, _| ordered(x, y).then(|| canon(f(x).min(f(y))));
    false "max(a, b)", "bitcast<u32>(max(a, b))", |x, y, _| ordered(x, y).then(|| canon(f(x).max(f(y))));
    true "abs(a)", "bitcast<u32>(abs(a))", |x, _, _| out(f(x).abs());
    true "floor(a)", "bitcast<u32>(floor(a))", |x, _, _| out(f(x).floor());
    true "ceil(a)", "bitcast<u32>(ceil(a))", |x, _, _| out(f(x).ceil());
    true "trunc(a)", "bitcast<u32>(trunc(a))", |x, _, _| out(f(x).trunc());
    true "round(a)", "bitcast<u32>(round(a))", |x, _, _| out(f(x).round_ties_even());
    true "f32(u32)", "bitcast<u32>(f32(x))", |x, _, _| out(x as f32);
    true "f32(i32)", "bitcast<u32>(f32(i))", |x, _, _| out(x as i32 as f32);
    true "u32(f32)", "u32(a)", |x, _, _| (f(x) > -1.0 && f(x) < 4.0e9).then(|| f(x) as u32);
    true "i32(f32)", "bitcast<u32>(i32(a))", |x, _, _| (f(x).abs() < 2.0e9).then(|| f(x) as i32 as u32);
    true "x / y", "x / y", |x, y, _| Some(x.checked_div(y).unwrap_or(x));
    true "x % y", "x % y", |x, y, _| Some(x.checked_rem(y).unwrap_or(0));
    true "i / j", "bitcast<u32>(i / j)", |x, y, _| (y != 0).then(|| (x as i32).wrapping_div(y as i32) as u32);
    true "i % j", "bitcast<u32>(i % j)", |x, y, _| (y != 0).then(|| (x as i32).wrapping_rem(y as i32) as u32);
    true "x * y", "x * y", |x, y, _| Some(x.wrapping_mul(y));
    true "i * j", "bitcast<u32>(i * j)", |x, y, _| Some(x.wrapping_mul(y));
    true "x << y", "x << (y & 31u)", |x, y, _| Some(x << (y & 31));
    true "x >> y", "x >> (y & 31u)", |x, y, _| Some(x >> (y & 31));
    true "i >> y", "bitcast<u32>(i >> (y & 31u))", |x, y, _| Some(((x as i32) >> (y & 31)) as u32);
    true "min(i, j)", "bitcast<u32>(min(i, j))", |x, y, _| Some((x as i32).min(y as i32) as u32);
    true "countLeadingZeros", "countLeadingZeros(x)", |x, _, _| Some(x.leading_zeros());
    true "countTrailingZeros", "countTrailingZeros(x)", |x, _, _| Some(x.trailing_zeros());
    true "countOneBits", "countOneBits(x)", |x, _, _| Some(x.count_ones());
    true "reverseBits", "reverseBits(x)", |x, _, _| Some(x.reverse_bits());
};

/// The kernel that evaluates the table on every triple.
pub(crate) fn wgsl() -> String {
    use std::fmt::Write;
    let mut body = String::new();
    for (check, at) in TABLE.iter().zip(0..) {
        let _ = writeln!(body, "    results[base + {at}u] = {};", check.wgsl);
    }
    format!("{HEAD}    let i = bitcast<i32>(x);\n    let j = bitcast<i32>(y);\n    let base = id.x * {}u;\n{body}}}\n", TABLE.len())
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
