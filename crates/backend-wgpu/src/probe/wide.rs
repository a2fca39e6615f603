//! What the probe asks of 64-bit arithmetic.

/// Pairs of 64-bit inputs per probe.
pub(crate) const PAIRS: usize = 256;

/// One expression over `a`, `b` and the Rust that defines it, both on bits.
pub(crate) struct Wide {
    pub(crate) name: &'static str,
    pub(crate) wgsl: &'static str,
    pub(crate) expect: fn(u64, u64) -> u64,
    pub(crate) required: bool,
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Bits of an f64 result with a canonical NaN.
pub(crate) fn canon(v: f64) -> u64 {
    if v.is_nan() { 0x7ff8_0000_0000_0000 } else { v.to_bits() }
}

macro_rules! table {
    ($($required:literal $name:literal, $wgsl:literal, |$a:pat_param, $b:pat_param| $expect:expr;)*) => {
        &[$(Wide { name: $name, wgsl: $wgsl, expect: |$a, $b| $expect, required: $required }),*]
    };
}

/// f64. The results are f64 too.
pub(crate) const F64: &[Wide] = table! {
    false "fma(a, b, a)", "fma(a, b, a)", |a, b| canon(d(a).mul_add(d(b), d(a)));
    false "a / b", "a / b", |a, b| canon(d(a) / d(b));
    false "sqrt(a)", "sqrt(a)", |a, _| canon(d(a).sqrt());
    true "a + b", "a + b", |a, b| canon(d(a) + d(b));
    true "a - b", "a - b", |a, b| canon(d(a) - d(b));
    true "a * b", "a * b", |a, b| canon(d(a) * d(b));
    true "(a + b) - a", "(a + b) - a", |a, b| canon((d(a) + d(b)) - d(a));
    true "(a * 0.1) * 3", "(a * 0.1lf) * 3.0lf", |a, _| canon((d(a) * 0.1) * 3.0);
    true "f64(f32(a))", "f64(f32(a))", |a, _| canon(f64::from(d(a) as f32));
    true "select by <", "select(b, a, a < b)", |a, b| canon(if d(a) < d(b) { d(a) } else { d(b) });
};

/// u64 and i64. The results are u64.
pub(crate) const INT: &[Wide] = table! {
    true "a + b", "a + b", |a, b| a.wrapping_add(b);
    true "a - b", "a - b", |a, b| a.wrapping_sub(b);
    true "a * b", "a * b", |a, b| a.wrapping_mul(b);
    true "a / b", "a / (b | 1lu)", |a, b| a / (b | 1);
    true "a % b", "a % (b | 1lu)", |a, b| a % (b | 1);
    true "i64 a / b", "bitcast<u64>(bitcast<i64>(a) / bitcast<i64>((b >> 1u) | 1lu))", |a, b| ((a as i64) / ((b >> 1) | 1) as i64) as u64;
    true "a << b", "a << (u32(b) & 63u)", |a, b| a << (b & 63);
    true "a >> b", "a >> (u32(b) & 63u)", |a, b| a >> (b & 63);
    true "i64 a >> b", "bitcast<u64>(bitcast<i64>(a) >> (u32(b) & 63u))", |a, b| ((a as i64) >> (b & 63)) as u64;
    true "i64 a < b", "select(0lu, 1lu, bitcast<i64>(a) < bitcast<i64>(b))", |a, b| u64::from((a as i64) < b as i64);
    true "min(a, b)", "min(a, b)", |a, b| a.min(b);
};

/// The kernel that evaluates a table on values of WGSL type `ty`.
pub(crate) fn wgsl(table: &[Wide], ty: &str) -> String {
    use std::fmt::Write;
    let mut body = String::new();
    for (check, at) in table.iter().zip(0..) {
        let _ = writeln!(body, "    results[base + {at}u] = {};", check.wgsl);
    }
    format!(
        "@group(0) @binding(0) var<storage, read> pairs: array<{ty}>;
@group(0) @binding(1) var<storage, read_write> results: array<{ty}>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let a = pairs[id.x * 2u];
    let b = pairs[id.x * 2u + 1u];
    let base = id.x * {}u;
{body}}}
",
        table.len()
    )
}

/// Inputs as f64: ordinary numbers, far enough from the ends that nothing becomes subnormal.
pub(crate) fn f64_pairs() -> Vec<u64> {
    let mut random = super::checks::Random(0x9e37_79b9_7f4a_7c15);
    let special = [0.0, -0.0, 1.0, -1.5, 0.1, 1.0 + f64::EPSILON, 9_007_199_254_740_993.0, f64::INFINITY, f64::NAN];
    let mut out: Vec<u64> = Vec::new();
    for a in special {
        for b in special {
            out.extend([a.to_bits(), b.to_bits()]);
        }
    }
    while out.len() < 2 * PAIRS {
        let exponent = u64::from(1023 - 20 + random.next() % 40);
        let mantissa = (u64::from(random.next()) << 32 | u64::from(random.next())) & 0x800f_ffff_ffff_ffff;
        out.push(mantissa | (exponent << 52));
    }
    out
}

/// Inputs as integers.
pub(crate) fn int_pairs() -> Vec<u64> {
    let mut random = super::checks::Random(0x2545_f491_4f6c_dd1d);
    let mut out = vec![0, 1, u64::MAX, 1, 1 << 63, u64::MAX, u64::MAX, u64::MAX, 1 << 32, u64::from(u32::MAX)];
    while out.len() < 2 * PAIRS {
        let wide = u64::from(random.next()) << 32 | u64::from(random.next());
        out.push(wide >> (random.next() % 64));
    }
    out
}
