//! Monte Carlo.

use super::{Ready, Shape, Work, results, swept, work};
use isowarp::element::DType;
use isowarp::monte_carlo::{Average, Contract, Estimate, Kind, MonteCarlo as _, Right};
use isowarp::prelude::*;
use isowarp::{Device, Result};

/// A site, a point and a path have a byte, so that bytes a nanosecond are spins, points and paths a nanosecond.
pub(super) fn works() -> Vec<Work> {
    vec![
        work("ising/3d", DType::U32, 1, |d, s| swept(d, s, cube, 0.221_654_63)),
        work("ising/2d", DType::U32, 1, |d, s| swept(d, s, square, 0.440_686_79)),
        work("estimate/pi", DType::F32, 1, |d, s| {
            estimated(d, s, |d, n| {
                let inside = |p: &[Expr<f32>]| (p[0] * p[0] + p[1] * p[1]).lt(1.0).select(1.0, 0.0);
                d.integrate(&[(-1.0, 1.0); 2], n, Random::new(1), inside)
            })
        }),
        work("price/european", DType::F32, 1, |d, s| estimated(d, s, |d, n| d.price(&contract(Kind::European), n, Random::new(1)))),
        work("price/asian_64", DType::F32, 1, |d, s| {
            estimated(d, s, |d, n| d.price(&contract(Kind::Asian(Average::Arithmetic, 64)), n, Random::new(1)))
        }),
    ]
}

/// Sides of so many sites, or fewer, of which the last is the longest.
fn cube(n: u64) -> Vec<u32> {
    let side = 1u32 << (n.max(8).ilog2() / 3);
    vec![side, side, rest(n, u64::from(side) * u64::from(side))]
}

fn square(n: u64) -> Vec<u32> {
    let side = 1u32 << (n.max(4).ilog2() / 2);
    vec![side, rest(n, side.into())]
}

fn rest(n: u64, of: u64) -> u32 {
    ((n / of / 2).max(1) * 2) as u32
}

/// An estimate of as many samples as there are elements, which is waited for.
fn estimated(d: &Device, shape: &Shape, f: fn(&Device, u64) -> Result<Estimate>) -> Result<Ready> {
    results::<f32>(d, shape, 1, move |d, x, out| out.write(&[(f(d, x.len())?.mean as f32).to_bits()]))
}

fn contract(kind: Kind) -> Contract {
    Contract { kind, right: Right::Call, spot: 100.0, strike: 105.0, rate: 0.03, volatility: 0.2, years: 1.0 }
}
