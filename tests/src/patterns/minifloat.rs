//! Codecs of floats of at most 16 bits: every code, every rounding, over values of any bits, of `f32` and `f64`, and fused into other patterns.

use super::{FEW, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::element::DType;
use isowarp::minifloat::{BF16, E2M1, E2M3, E3M2, E3M4, E4M3, E4M3_IEEE, E5M2, F16, MiniFloat, Rounding, Specials};
use isowarp::prelude::*;

const NAMED: [MiniFloat; 9] = [E4M3, E4M3_IEEE, E5M2, E3M4, E3M2, E2M3, E2M1, BF16, F16];

const ROUNDINGS: [Rounding; 6] =
    [Rounding::NearestEven, Rounding::NearestAway, Rounding::TowardZero, Rounding::Up, Rounding::Down, Rounding::ToOdd];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for format in NAMED {
        // Bits above those of a code are ignored.
        c.add(format!("minifloat/decode/{format}"), move |d| d.map(counting(3 << 15), |code| format.decode(code)));
        c.add(format!("minifloat/encode/{format}"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, 20_011, "x")?;
            let near = input::<B, f32>(d, Fill::Plain, 20_011, "near")?;
            d.map((&x, &near), |(x, near)| (format.encode(x), format.saturating().encode(x), format.encode(near)))
        });
        let of_f64 = c.add(format!("minifloat/encode/f64/{format}"), move |d| {
            let x = input::<B, f64>(d, Fill::Bits, 9001, "x")?;
            let near = input::<B, f64>(d, Fill::Plain, 9001, "near")?;
            d.map((&x, &near), |(x, near)| (format.encode(x), format.encode(near)))
        });
        of_f64.needs(&[DType::F64]).full();
    }
    let others =
        [(1, 0, Specials::Finite), (1, 14, Specials::Ieee), (7, 0, Specials::OneNan), (7, 8, Specials::Ieee), (6, 1, Specials::Finite)];
    for (e, m, specials) in others {
        c.add(format!("minifloat/others/e{e}m{m}"), move |d| {
            let format = MiniFloat::new(e, m, specials)?;
            let x = input::<B, f32>(d, Fill::Bits, 5003, "x")?;
            let codes = d.map(&x, |x| format.encode(x))?;
            Ok((d.map(&codes, |code| format.decode(code))?, codes))
        })
        .full();
    }
    for rounding in ROUNDINGS {
        for format in [E4M3, E5M2, E2M1, BF16] {
            let case = c.add(format!("minifloat/rounding/{format}/{rounding:?}"), move |d| {
                let x = input::<B, f32>(d, Fill::Bits, 20_011, "x")?;
                let (plain, saturating) = (format.rounding(rounding), format.rounding(rounding).saturating());
                d.map(&x, |x| (plain.encode(x), saturating.encode(x)))
            });
            if format != E4M3 {
                case.full();
            }
        }
    }
    for n in FEW {
        c.add(format!("minifloat/stochastic/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, n, "x")?;
            let words = Random::new(3).uniform::<u32>(n);
            d.map((&x, words), |(x, word)| (E5M2.encode_stochastic(x, word), E2M3.encode_stochastic(x, word)))
        });
        c.add(format!("minifloat/stored/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Plain, n, "x")?, input::<B, f32>(d, Fill::Wide, n, "y")?);
            let (codes, words) = d.map((&x, &y), |(x, y)| (E4M3.encode(x).store_as::<u8>(), BF16.encode(y).store_as::<u16>()))?;
            d.map((&codes, &words), |(c, w)| (E4M3.decode(c), BF16.decode(w), E4M3.decode(c).store_as::<half::f16>()))
        });
    }
    c.add("minifloat/fused", |d| {
        let codes = input::<B, u8>(d, Fill::Plain, 60_013, "codes")?;
        let sum = d.reduce(codes.map(|c| E2M3.decode(c)), Sum).run()?;
        let rows = d.reduce(codes.slice(..59 * 1001)?.map(|c| E2M1.decode(c)), Max).axis(&[59, 1001], 1).run()?;
        let running = d.scan(codes.map(|c| E3M2.decode(c)), Sum).run()?;
        let errors = d.reduce(Random::new(1).normal(30_011, 0.0, 1.0).map(|x| (x - E4M3.decode(E4M3.encode(x))).abs()), Max).run()?;
        Ok((sum, rows, running, errors))
    });
}
