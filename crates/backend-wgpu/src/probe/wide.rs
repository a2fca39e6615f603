//! Facts about f64 that choose an implementation. What the contract stands on is asked by [`super::operations`].

/// Pairs of 64-bit inputs per probe.
pub(crate) const PAIRS: usize = 256;

/// One expression over `a`, `b` and the Rust that defines it, both on bits.
pub(crate) struct Wide {
    pub(crate) name: &'static str,
    pub(crate) wgsl: &'static str,
    pub(crate) expect: fn(u64, u64) -> u64,
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Bits of an f64 result with a canonical NaN.
pub(crate) fn canon(v: f64) -> u64 {
    if v.is_nan() { 0x7ff8_0000_0000_0000 } else { v.to_bits() }
}

/// The table. The results are f64 too.
pub(crate) const F64: &[Wide] = &[
    Wide { name: "fma(a, b, a)", wgsl: "fma(a, b, a)", expect: |a, b| canon(d(a).mul_add(d(b), d(a))) },
    Wide { name: "a / b", wgsl: "a / b", expect: |a, b| canon(d(a) / d(b)) },
    Wide { name: "sqrt(a)", wgsl: "sqrt(a)", expect: |a, _| canon(d(a).sqrt()) },
];

/// The kernel that evaluates the table.
pub(crate) fn wgsl() -> String {
    use std::fmt::Write;
    let mut body = String::new();
    for (check, at) in F64.iter().zip(0..) {
        let _ = writeln!(body, "    results[base + {at}u] = {};", check.wgsl);
    }
    format!(
        "@group(0) @binding(0) var<storage, read> pairs: array<f64>;
@group(0) @binding(1) var<storage, read_write> results: array<f64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let a = pairs[id.x * 2u];
    let b = pairs[id.x * 2u + 1u];
    let base = id.x * {}u;
{body}}}
",
        F64.len()
    )
}

/// Inputs as f64: ordinary numbers, far enough from the ends that nothing becomes subnormal.
pub(crate) fn pairs() -> Vec<u64> {
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
