//! Shapes of code around `fma` that a compiler might get wrong: fusing the wrong product with a sum, sharing a product between a fused
//! and a separate use, or simplifying around constants.

use super::checks::{self, Random};
use isowarp_core::caps::FmaKind;
use isowarp_core::numerics::fma_exact as fma;

/// One expression with `iw_fma` over floats `a`, `b`, `c`, and the Rust that defines it.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) exact: fn(f32, f32, f32) -> f32,
}

macro_rules! shapes {
    ($($wgsl:literal, |$a:pat_param, $b:pat_param, $c:pat_param| $exact:expr;)*) => {
        &[$(Shape { name: $wgsl, exact: |$a, $b, $c| $exact }),*]
    };
}

/// All products and sums outside of `iw_fma` are rounded by themselves. `zero` is a zero that no compiler knows.
pub(crate) const SHAPES: &[Shape] = shapes! {
    "iw_fma(a, b, c)", |a, b, c| fma(a, b, c);
    "iw_fma(iw_fma(iw_fma(a, b, c), b, a), b, c)", |a, b, c| fma(fma(fma(a, b, c), b, a), b, c);
    "iw_fma(a, b, c * a)", |a, b, c| fma(a, b, c * a);
    "iw_fma(a, b, -(b * c))", |a, b, c| fma(a, b, -(b * c));
    "iw_fma(a, b, -(a * b))", |a, b, _| fma(a, b, -(a * b));
    "iw_fma(a * b, c, a)", |a, b, c| fma(a * b, c, a);
    "iw_fma(a * b, a, c)", |a, b, c| fma(a * b, a, c);
    "a * b", |a, b, _| a * b;
    "a * b + c", |a, b, c| a * b + c;
    "iw_fma(a, b, c) - a * b", |a, b, c| fma(a, b, c) - a * b;
    "iw_fma(a, b, c) + b * c", |a, b, c| fma(a, b, c) + b * c;
    "iw_fma(a, 2.0, c)", |a, _, c| fma(a, 2.0, c);
    "iw_fma(0.5, a, c)", |a, _, c| fma(a, 0.5, c);
    "iw_fma(a, 1.0, c)", |a, _, c| fma(a, 1.0, c);
    "iw_fma(a, -1.0, c)", |a, _, c| fma(a, -1.0, c);
    "iw_fma(a * b, 1.0, c)", |a, b, c| fma(a * b, 1.0, c);
    "iw_fma(-1.0, a * b, c)", |a, b, c| fma(-1.0, a * b, c);
    "iw_fma(a, 3.0, a)", |a, _, _| fma(a, 3.0, a);
    "iw_fma(a, b, 1.0)", |a, b, _| fma(a, b, 1.0);
    "iw_fma(a, 0.1, -0.3)", |a, _, _| fma(a, 0.1, -0.3);
    "iw_fma(a, b, -c)", |a, b, c| fma(a, b, -c);
    "iw_fma(-a, b, c)", |a, b, c| fma(-a, b, c);
    "iw_fma(a, -b, -c)", |a, b, c| fma(a, -b, -c);
    "-iw_fma(a, b, c)", |a, b, c| -fma(a, b, c);
    "iw_fma(a, b, zero)", |a, b, _| fma(a, b, 0.0);
    "iw_fma(a, b, -zero)", |a, b, _| fma(a, b, -0.0);
    "iw_fma(a, zero, b)", |a, b, _| fma(a, 0.0, b);
    "iw_fma(a, b, iw_fma(b, c, zero))", |a, b, c| fma(a, b, fma(b, c, 0.0));
    "iw_fma(a, a, a)", |a, _, _| fma(a, a, a);
    "iw_fma(a, b, a + c)", |a, b, c| fma(a, b, a + c);
    "iw_fma(a + b, c, b)", |a, b, c| fma(a + b, c, b);
    "iw_fma(a, b, iw_fma(b, c, a))", |a, b, c| fma(a, b, fma(b, c, a));
    "iw_fma(a, 0.1, iw_fma(b, 0.1, c))", |a, b, c| fma(a, 0.1, fma(b, 0.1, c));
    "iw_fma(a, b, c) - iw_fma(a, b, -c)", |a, b, c| fma(a, b, c) - fma(a, b, -c);
    "iw_fma(a, b, c) * iw_fma(a, b, c)", |a, b, c| fma(a, b, c) * fma(a, b, c);
    "iw_fma(iw_fma(-b, c, 1.0), c, c)", |_, b, c| fma(fma(-b, c, 1.0), c, c);
    "looped(a, b, c, 4u + bitcast<u32>(zero))", |a, b, c| (0..4).fold(c, |s, _| fma(s, a, b));
    "of_four(a, b, c, zero, 0u)", |a, b, c| fma(a, b, c);
    "of_four(a, b, c, zero, 1u)", |a, b, c| fma(b, c, a);
    "of_four(a, b, c, zero, 2u)", |a, b, c| fma(c, a, -b);
    "of_four(a, b, c, zero, 3u)", |a, b, c| fma(-a, c, b);
    "branched(a, b, c)", |a, b, c| if a < b { fma(a, b, c) } else { fma(b, c, a) - b * c };
};

const OWN_FOUR: &str = "fn fused_four(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return fma(a, b, c);
}
";
const FOUR: &str = "fn fused_four(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(iw_fma(a.x, b.x, c.x), iw_fma(a.y, b.y, c.y), iw_fma(a.z, b.z, c.z), iw_fma(a.w, b.w, c.w));
}
";

const FUNCTIONS: &str = "
fn looped(a: f32, b: f32, c: f32, n: u32) -> f32 {
    var s = c;
    for (var i = 0u; i < n; i++) {
        s = iw_fma(s, a, b);
    }
    return s;
}
fn of_four(a: f32, b: f32, c: f32, zero: f32, k: u32) -> f32 {
    let four = fused_four(vec4<f32>(a, b, c, -a), vec4<f32>(b, c, a, c), vec4<f32>(c, a, -b, b));
    return four[k + bitcast<u32>(zero)];
}
fn branched(a: f32, b: f32, c: f32) -> f32 {
    if (a < b) {
        return iw_fma(a, b, c);
    }
    return iw_fma(b, c, a) - b * c;
}
";

/// The kernel that evaluates every shape on every triple, with `prelude` for `iw_fma`.
pub(crate) fn wgsl(prelude: &str) -> String {
    use std::fmt::Write;
    let mut body = String::new();
    for (shape, at) in SHAPES.iter().zip(0..) {
        let _ = writeln!(body, "    results[base + {at}u] = bitcast<u32>({});", shape.name);
    }
    // The adapter's own takes four at once as well.
    let four = if prelude == super::fma_prelude(FmaKind::Native) { OWN_FOUR } else { FOUR };
    format!("{prelude}\n{four}{FUNCTIONS}{}    let base = id.x * {}u;\n{body}}}\n", checks::HEAD, SHAPES.len())
}

/// The triples that a shape computes wrongly: how many, and the first.
pub(crate) fn wrong(shape: usize, triples: &[[u32; 4]], results: &[u32]) -> (usize, Option<String>) {
    let mut count = 0;
    let mut first = None;
    for (at, &[x, y, z, _]) in triples.iter().enumerate() {
        let (a, b, c) = (f32::from_bits(x), f32::from_bits(y), f32::from_bits(z));
        let expected = checks::canon((SHAPES[shape].exact)(a, b, c));
        let got = results.get(at * SHAPES.len() + shape).copied().unwrap_or(!expected);
        if !checks::same(expected, got) {
            count += 1;
            first.get_or_insert_with(|| super::describe(SHAPES[shape].name, triples[at], expected, got));
        }
    }
    (count, first)
}

/// Many hard triples, in two halves: with moderate exponents, where nothing in any shape overflows or becomes subnormal (but for a
/// few specials), and with all exponents.
pub(crate) fn hard_triples(n: usize) -> Vec<[u32; 4]> {
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
    let mut random = Random(0x0123_4567_89ab_cdef);
    let mut out: Vec<[f32; 3]> = Vec::with_capacity(n);
    while out.len() < n / 2 {
        let triple = match random.next() % 4 {
            0 => [random.float(-9, 9), random.float(-9, 9), random.float(-9, 9)],
            1 => [1.0 + f32::EPSILON * (random.next() % 4096) as f32, 1.0 + f32::EPSILON * 2048.0, random.float(-30, -20)],
            _ => random.hard(-6, 6),
        };
        out.push(triple);
    }
    for a in special {
        for b in special {
            out.extend(special.iter().map(|&c| [a, b, c]));
        }
    }
    while out.len() < n {
        let (a, b) = (random.float(-62, 62), random.float(-62, 62));
        let product = f64::from(a) * f64::from(b);
        let nudge = random.next() % 5;
        out.push(match random.next() % 10 {
            0 => [a, b, f32::from_bits((-(product as f32)).to_bits().wrapping_add(nudge))],
            1 => [a, b, (product * 16_777_216.0) as f32],
            2 => [a, b, (product * 33_554_432.0) as f32],
            3 => [a, b, (product / 16_777_216.0) as f32],
            // Results around the smallest normal and below.
            4 => [random.float(-100, -40), random.float(-90, -30), f32::from_bits(random.next() & 0x80ff_ffff)],
            5 => [f32::from_bits(random.next() & 0x807f_ffff), random.float(-10, 30), f32::from_bits(random.next() & 0x81ff_ffff)],
            6 => [f32::from_bits(random.next() & 0x80ff_ffff), random.float(-2, 2), f32::from_bits(random.next() & 0x80ff_ffff)],
            // Overflow of the product, or of twice the first, that the third operand takes back.
            7 => [random.float(62, 65), random.float(61, 64), random.float(100, 127)],
            8 => [random.float(126, 127), random.float(0, 1), random.float(125, 127)],
            _ => [f32::from_bits(random.next()), f32::from_bits(random.next()), f32::from_bits(random.next())],
        });
    }
    out.truncate(n);
    out.iter().map(|t| [t[0].to_bits(), t[1].to_bits(), t[2].to_bits(), 0]).collect()
}
