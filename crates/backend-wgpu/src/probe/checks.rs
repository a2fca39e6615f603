//! Facts about 32-bit arithmetic that choose an implementation: a WGSL expression beside the Rust that defines it. What the contract stands on is asked
//! by [`super::operations`], but for what the library's own kernels take from WGSL and operators do not: functions of bits, and vectors of four.
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
/// The first of those in the table that no kernel of the library could do without; all behind it are so too.
pub(crate) const OWN: &str = "countTrailingZeros(x)";

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
    "countTrailingZeros(x)", "countTrailingZeros(x)", |x, _, _| Some(x.trailing_zeros());
    "countTrailingZeros(x << y)", "countTrailingZeros(x << (y & 31u))", |x, y, _| Some((x << (y & 31)).trailing_zeros());
    "firstTrailingBit(x << y)", "firstTrailingBit(x << (y & 31u))", |x, y, _| Some(match x << (y & 31) {
        0 => u32::MAX,
        bits => bits.trailing_zeros(),
    });
    "extractBits(x, y, z)", "extractBits(x, y & 31u, min(z & 31u, 32u - (y & 31u)))", |x, y, z| {
        let kept = (z & 31).min(32 - (y & 31));
        Some(x >> (y & 31) & ((1 << kept) - 1))
    };
    "insertBits(x, y, z)", "insertBits(x, y, z & 15u, (z >> 4u) & 15u)", |x, y, z| {
        let kept = ((1 << (z >> 4 & 15)) - 1) << (z & 15);
        Some((x & !kept) | (y << (z & 15) & kept))
    };
    "clamp(x, y, z)", "bitcast<u32>(clamp(i32(x), min(i32(y), i32(z)), max(i32(y), i32(z))))", |x, y, z| {
        let [x, y, z] = [x, y, z].map(|word| word as i32);
        Some(x.clamp(y.min(z), y.max(z)) as u32)
    };
    "dot4I8Packed(x, y)", "bitcast<u32>(dot4I8Packed(x, y))", |x, y, _| {
        let products = x.to_le_bytes().into_iter().zip(y.to_le_bytes()).map(|(p, q)| i32::from(p as i8) * i32::from(q as i8));
        Some(products.sum::<i32>() as u32)
    };
    "min of fours", "mixed(min(vec4<u32>(x, y, z, x ^ y), vec4<u32>(y, z, x, z)))", |x, y, z| {
        Some(mixed([x.min(y), y.min(z), z.min(x), (x ^ y).min(z)]))
    };
    "max of fours", "mixed(max(vec4<u32>(x, y, z, x ^ y), vec4<u32>(y, z, x, z)))", |x, y, z| {
        Some(mixed([x.max(y), y.max(z), z.max(x), (x ^ y).max(z)]))
    };
    "x < y of fours", "mixed(select(vec4<u32>(x, y, z, 1u), vec4<u32>(y, z, x, 2u), vec4<u32>(x, y, z, x) < vec4<u32>(y, z, x, z)))",
        |x, y, z| Some(mixed([x.max(y), y.max(z), z.max(x), if x < z { 2 } else { 1 }]));
    "any of fours", "select(0u, 1u, any(vec4<u32>(x, y, z, x) < vec4<u32>(y, z, x, z)))", |x, y, z| truth(x < y || y < z || z < x || x < z);
    "all of fours", "select(0u, 1u, all(vec4<u32>(x, y, z, x) <= vec4<u32>(y, y, y, z)))", |x, y, z| truth(x <= y && z <= y && x <= z);
    "shifts of fours", "mixed((vec4<u32>(x, y, z, x ^ y) << vec4<u32>(1u)) - vec4<u32>(2u))", |x, y, z| {
        Some(mixed([x, y, z, x ^ y].map(|word| (word << 1).wrapping_sub(2))))
    };
};

/// Result of the function of this name in [`FUNCTIONS`].
fn mixed(words: [u32; 4]) -> u32 {
    words.iter().fold(0, |all, &word| (all.rotate_left(7)) ^ word)
}

const FUNCTIONS: &str = "fn mixed(v: vec4<u32>) -> u32 {
    var all = v.x;
    all = ((all << 7u) | (all >> 25u)) ^ v.y;
    all = ((all << 7u) | (all >> 25u)) ^ v.z;
    return ((all << 7u) | (all >> 25u)) ^ v.w;
}
";

/// The kernel that evaluates the table on every triple.
pub(crate) fn wgsl() -> String {
    use std::fmt::Write;
    let mut body = String::new();
    for (check, at) in TABLE.iter().zip(0..) {
        let _ = writeln!(body, "    results[base + {at}u] = {};", check.wgsl);
    }
    format!("{FUNCTIONS}{HEAD}    let base = id.x * {}u;\n{body}}}\n", TABLE.len())
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
