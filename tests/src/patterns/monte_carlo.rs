//! Estimates, integrals, prices and walks.

use super::input;
use crate::case::{Cases, Output, Target};
use crate::data::Fill;
use isowarp::element::DType;
use isowarp::monte_carlo::{Average, Barrier, Contract, Estimate, Kind, MonteCarlo as _, Right, gaussian_walk, lattice_walk};
use isowarp::prelude::*;
use isowarp::random::Generator;

fn at(position: u64) -> Random {
    Random { stream: 0x0123_4567_89ab_cdef, position, ..Random::new(0xfedc_ba98_7654_3210) }
}

/// Mean and error, which the host makes of the device's sums.
fn of(found: Estimate) -> Output {
    Output { dtype: DType::F64, bytes: [found.mean, found.standard_error].map(f64::to_le_bytes).concat() }
}

fn contract(kind: Kind) -> Contract {
    Contract { kind, right: Right::Put, spot: 100.0, strike: 105.0, rate: 0.03, volatility: 0.25, years: 1.5 }
}

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (fill, name) in [(Fill::Plain, "plain"), (Fill::Wide, "wide"), (Fill::Bits, "bits"), (Fill::Cancel, "cancel")] {
        for n in [1, 2, 1023, 70_003] {
            let case = c.add(format!("estimate/{name}/n={n}"), move |d| Ok(of(d.estimate(&input::<B, f32>(d, fill, n, "x")?)?)));
            if (name, n) != ("plain", 70_003) {
                case.full();
            }
        }
    }
    c.add("estimate/nothing", |d| d.estimate(&d.buffer::<f32>(0)?).map(of)).full();
    for (dimensions, n) in [(1, 20_003), (5, 1), (7, 4097)] {
        c.add(format!("estimate/integral/{dimensions}/n={n}"), move |d| {
            let (bounds, f) = (vec![(-0.5, 2.0); dimensions], |x: &[Expr<f32>]| x.iter().skip(1).fold(x[0], |all, &x| all * x + x).sin());
            Ok((of(d.integrate(&bounds, n, at(3), f)?), of(d.integrate_sobol(&bounds, n.min(3000), 2, at(4), f)?)))
        })
        .full();
    }
    c.add("price/european", |d| d.price(&contract(Kind::European), 30_011, at(1)).map(of));
    let averaged = [("arithmetic", Kind::Asian(Average::Arithmetic, 10)), ("geometric", Kind::Asian(Average::Geometric, 12))];
    let ended = [
        ("down_and_out", Kind::Barrier(Barrier::DownAndOut, 90.0, 13)),
        ("down_and_in", Kind::Barrier(Barrier::DownAndIn, 90.0, 16)),
        ("up_and_out", Kind::Barrier(Barrier::UpAndOut, 120.0, 9)),
        ("up_and_in", Kind::Barrier(Barrier::UpAndIn, 120.0, 1)),
    ];
    for (name, kind) in averaged.into_iter().chain(ended) {
        c.add(format!("price/{name}"), move |d| {
            let of = contract(kind);
            let paid = isowarp::dynamic::Simulation::Payments { of, paths: 3001, from: at((1 << 34) - 99).by(Generator::Threefry) };
            isowarp::dynamic::Call::Simulate(paid).run(d, &[])?.one().typed::<f32>()
        })
        .full();
    }
    for (dimensions, steps) in [(1, 0), (2, 5), (3, 64)] {
        let case = c.add(format!("walk/{dimensions}/{steps}"), move |d| {
            let lattice = d.map(lattice_walk(at(7), 5003, steps, dimensions), |place| place)?;
            Ok((lattice, d.map(gaussian_walk(at(8), 1001, steps, dimensions), |place| place)?))
        });
        if dimensions != 2 {
            case.full();
        }
    }
}
