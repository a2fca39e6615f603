//! Ising lattices: rows of part of a word, whole words and both, temperatures at which all, some and hardly any are decided by few bits.

use crate::case::{Cases, Target};
use isowarp::element::DType;
use isowarp::monte_carlo::{Acceptance, Ising, Start};
use isowarp::prelude::*;
use isowarp::random::Generator;

fn at(position: u64) -> Random {
    Random { stream: 0x0123_4567_89ab_cdef, position, ..Random::new(0xfedc_ba98_7654_3210) }
}

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for shape in [&[4u32, 4][..], &[2, 2], &[34, 130], &[256, 256], &[6, 4, 10], &[34, 6, 128], &[64, 64, 64]] {
        let name: Vec<String> = shape.iter().map(ToString::to_string).collect();
        let case = c.add(format!("ising/{}", name.join("x")), move |d| {
            let mut spins = Ising::new(d, shape, Start::Hot, at(5))?;
            let sums = [d.buffer::<u32>(3)?, d.buffer::<u32>(3)?];
            for (k, beta) in [0.22, 0.44, 1e-9].into_iter().enumerate() {
                spins.sweep(Acceptance::at_beta(beta)?, 3)?;
                let k = k as u64;
                spins.observe_into((&sums[0].slice(k..=k)?, &sums[1].slice(k..=k)?))?;
            }
            let [up, equal] = sums;
            Ok((spins.spins()?, up, equal))
        });
        case.needs(&[DType::I8]);
        if shape != [4, 4] && shape != [6, 4, 10] {
            case.full();
        }
    }
    // Thresholds whose first bits decide nothing, or that only all 32 decide.
    for (name, thresholds) in [("none", [0; 3]), ("all", [u32::MAX; 3]), ("mixed", [0xffff_ffff, 0x8000_0000, 1])] {
        c.add(format!("ising/thresholds/{name}"), move |d| {
            let mut spins = Ising::new(d, &[6, 16, 70], Start::Cold, at((1 << 34) - 5000).by(Generator::Threefry))?;
            spins.sweep(Acceptance(thresholds), 4)?;
            spins.spins()
        })
        .needs(&[DType::I8])
        .full();
    }
    c.add("ising/set", |d| {
        let mut spins = Ising::new(d, &[10, 74], Start::Cold, at(1))?;
        spins.set(&d.map(at(9).integers(740, -3i32..4), Expr::store_as::<i8>)?)?;
        spins.sweep(Acceptance::at_temperature(2.2)?, 2)?;
        spins.spins()
    })
    .needs(&[DType::I8])
    .full();
}
