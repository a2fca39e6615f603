//! Requirements of the contract on a device's arithmetic: the questions that the wgpu backend asks an adapter when it is opened, put to
//! every device as maps. A CUDA device is asked for other things at the start, since the PTX instruction set defines single instructions; here it is.

use crate::case::{Cases, Target};
use crate::data::{self, Fill};
use isowarp::prelude::*;
use isowarp::{Result, ir};

type F = Expr<f32>;
type Three<B> = [Buffer<B, f32>; 3];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    floats(c, "sums", |a, b, c| (a + b, a - b, (a + b) + c, a + (b + c)));
    floats(c, "products", |a, b, c| (a.mul_rn(b), a.mul_rn(b).mul_rn(c), a.mul_rn(b.mul_rn(c)), -a));
    floats(c, "fused", |a, b, c| (a * b + c, a.mul_add(b, -c), c - a * b, a * a + b * b));
    floats(c, "not_contracted", |a, b, c| (a.mul_rn(b) + c, a.mul_rn(b) - c, c - a.mul_rn(b), a.mul_rn(0.1) + b.mul_rn(0.1)));
    floats(c, "not_cancelled", |a, b, _| ((a + b) - a, (a - b) + b, a - a.bitcast::<u32>().bitcast::<f32>(), (a + 0.1) - 0.1));
    floats(c, "constants", |a, _, _| (a.mul_rn(0.1).mul_rn(3.0), (a + 0.1) + 3.0, a.mul_rn(3.0).mul_rn(0.333_333_34), a.mul_rn(1.0)));
    floats(c, "zeros", |a, _, _| (a + 0.0, ir::lit::<f32>(0.0) - a, a.mul_rn(0.0), a.mul_rn(-1.0)));
    floats(c, "quotients", |a, b, _| (a / b, b / a, a.sqrt(), a.recip()));
    floats(c, "extremes", |a, b, c| (a.min(b), a.max(b), a.abs(), a.clamp(b, c)));
    floats(c, "rounded", |a, _, _| (a.floor(), a.ceil(), a.trunc(), a.round_ties_even()));
    floats(c, "comparisons", |a, b, _| {
        let truths = [a.lt(b), a.le(b), a.eq(b), a.ne(b), a.gt(b), a.ge(b), a.ne(a), a.eq(a), a.is_nan(), !(a.ge(b)), !(a.eq(b))];
        let bits = truths.into_iter().zip(0u32..).map(|(t, k)| t.cast::<u32>() << k).reduce(|x, y| x | y);
        (bits.unwrap_or_else(|| ir::lit(0)), select(a.lt(b), a, b), select(a.ne(b), a, b), a.lt(b))
    });
    floats(c, "conversions", |a, b, _| {
        let (x, y) = (a.bitcast::<u32>(), b.bitcast::<i32>());
        (a.cast::<u32>(), a.cast::<i32>(), x.cast::<f32>(), y.cast::<f32>())
    });
    floats(c, "integer_quotients", |a, b, _| {
        let ((x, y), (i, j)) = ((a.bitcast::<u32>(), b.bitcast::<u32>()), (a.bitcast::<i32>(), b.bitcast::<i32>()));
        (x / y, x % y, i / j, i % j)
    });
    floats(c, "integers", |a, b, _| {
        let ((x, y), (i, j)) = ((a.bitcast::<u32>(), b.bitcast::<u32>()), (a.bitcast::<i32>(), b.bitcast::<i32>()));
        (x * y + 1, x.mul_hi(y), i * j - 1, i.min(j))
    });
    floats(c, "bits", |a, b, _| {
        let (x, y, i) = (a.bitcast::<u32>(), b.bitcast::<u32>(), a.bitcast::<i32>());
        (x << y, x >> y, i >> y, x.leading_zeros() | (x.count_ones() << 8) | (x.reverse_bits() << 16))
    });
}

/// A map of the three arrays of [`triples`].
fn floats<B: Target, R: isowarp::input::Outputs + 'static>(
    c: &mut Cases<B>,
    name: &str,
    f: impl Fn(F, F, F) -> R + Copy + Send + Sync + 'static,
) where
    R::Buffers<B>: crate::case::Outputs,
{
    c.add(format!("probe/{name}"), move |d| {
        let [a, b, c] = triples(d)?;
        d.map((&a, &b, &c), move |(a, b, c)| f(a, b, c))
    })
    .full();
}

/// Every special value with every other two; floats whose product and sum cancel, or round near a midpoint; any bits at all.
fn triples<B: Target>(d: &B) -> Result<Three<B>> {
    const SPECIAL: [u32; 26] = [
        0x0000_0000,
        0x8000_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xffc1_2345,
        0x7f80_0001,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x0080_0000,
        0x8080_0000,
        0x0000_0001,
        0x8000_0001,
        0x007f_ffff,
        0x0040_0000,
        0x3f80_0001,
        0x3f7f_ffff,
        0x4b80_0001,
        0x4b00_0001,
        0xc020_0000,
        0x3dcc_cccd,
        0x4f00_0000,
        0x4f80_0000,
        0x1a3d_1234,
    ];
    const K: usize = SPECIAL.len();
    let special = |k: usize| f32::from_bits(SPECIAL[k % K]);
    let mut all: [Vec<f32>; 3] = [K * K, K, 1].map(|each| (0..K * K * K).map(|i| special(i / each)).collect());
    let n = 1 << 16;
    let wide: Vec<f32> = data::data(Fill::Wide, 2 * n, data::seed("probe"));
    for (i, pair) in wide.chunks_exact(2).enumerate() {
        // Exponents near each other, so that products stay in range.
        let near = |v: f32| f32::from_bits(v.to_bits() & 0x8fff_ffff | 0x3000_0000);
        let (a, b) = (near(pair[0]), near(pair[1]));
        let product = a * b;
        let third = match i % 4 {
            0 => -product,
            1 => f32::from_bits((-product).to_bits() ^ (i as u32 >> 2 & 3)),
            2 => product * 33_554_432.0,
            _ => product * 2.980_232_2e-8,
        };
        for (list, v) in all.iter_mut().zip([a, b, third]) {
            list.push(v);
        }
    }
    for (list, name) in all.iter_mut().zip(["a", "b", "c"]) {
        list.extend(data::data::<f32>(Fill::Bits, n, data::seed(name)));
    }
    Ok([d.upload(&all[0])?, d.upload(&all[1])?, d.upload(&all[2])?])
}
