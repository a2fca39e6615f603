//! Random numbers: every distribution over sizes from nothing to several workgroups, at places of a stream in and between blocks, stored and fused.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::element::{DType, Element, Scalar};
use isowarp::ir::Expr;
use isowarp::prelude::*;
use isowarp::random::{Discrete, Generator, Halton, Mrg32k3a, PoissonTable, Sobol, Uniform, Xorwow};

/// Nothing, one, a block and its neighbours, edges of workgroups and tiles, several of them.
const SIZES: [u64; 9] = [0, 1, 3, 4, 5, 1023, 1024, 4097, 70_003];

/// A generator with all words of its state, at a place of the stream.
fn at(position: u64) -> Random {
    Random { stream: 0x0123_4567_89ab_cdef, position, ..Random::new(0xfedc_ba98_7654_3210) }
}

/// Starts of blocks, places inside of one, and where the low word of a block's number, and of a place, carries.
const PLACES: [u64; 7] = [0, 1, 2, 3, 4, (1 << 34) - 5, (1 << 32) - 2];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("random/bits/n={n}"), move |d| d.map(Random::new(0).uniform::<u32>(n), |x| x));
        c.add(format!("random/normal/n={n}"), move |d| d.map(at(5).normal(n, 1.0, 2.0), |x| x));
        c.add(format!("random/integers/n={n}"), move |d| d.map(at(5).integers(n, -7i32..90), |x| x));
    }
    for place in PLACES {
        c.add(format!("random/places/{place}"), move |d| {
            let threefry = at(place).by(Generator::Threefry);
            let bits = d.map((at(place).uniform::<u32>(1001), threefry.uniform::<u32>(1001)), |(x, y)| (x, y))?;
            Ok((bits.0, bits.1, d.map(at(place).normal(1001, 0.0, 1.0), |x| x)?, d.map(at(place).integers(1001, 0u32..1_000_003), |x| x)?))
        });
    }
    for (name, n) in [("few", 5), ("many", 20_011)] {
        c.add(format!("random/floats/{name}"), move |d| {
            let (r, exponential) = (at(2), at(3).exponential(n, 0.7));
            let open = d.map((r.uniform::<f32>(n), r.uniform_open::<f32>(n)), |(x, y)| (x, y))?;
            let quantile = d.map(r.normal_by_quantile(n, -1.0, 0.5), |x| x)?;
            Ok((open.0, open.1, quantile, d.map(exponential, |x| x)?))
        });
        c.add(format!("random/log_normal/{name}"), move |d| d.map(at(9).log_normal(n, 0.5, 1.5), |x| x));
        c.add(format!("random/circle/{name}"), move |d| d.map(at(9).circle(n), |x| x));
        c.add(format!("random/sphere/{name}"), move |d| d.map(at(9).sphere(n), |x| x));
        c.add(format!("random/discrete/{name}"), move |d| {
            let weights: Vec<f64> = (0..101).map(|k| f64::from(k * k % 17)).collect();
            let table = Discrete::new(d, &weights)?;
            d.map(at(1).discrete(n, &table), |x| x)
        });
        rejected(c, name, n);
        c.add(format!("random/permutation/{name}"), move |d| Ok((d.permutation(at(1), n)?, d.sample(at(2), n, n / 2)?)));
        wide::<B, u64>(c, name, n);
        wide::<B, f64>(c, name, n);
        c.add(format!("random/normal_f64/{name}"), move |d| {
            let threefry = at(6).by(Generator::Threefry);
            Ok((d.map(at(0).normal_f64(n, 0.0, 1.0), |x| x)?, d.map(threefry.normal_f64(n, -0.1, 3.0), |x| x)?))
        })
        .needs(&[DType::F64]);
        c.add(format!("random/quantile_f64/{name}"), move |d| d.map(at(5).normal_by_quantile_f64(n, 1.0, 0.1), |x| x)).needs(&[DType::F64]);
        c.add(format!("random/exponential_f64/{name}"), move |d| d.map(at(9).exponential_f64(n, 0.7), |x| x)).needs(&[DType::F64]);
        c.add(format!("random/open/f64/{name}"), move |d| d.map(at(7).uniform_open::<f64>(n), |x| x)).needs(&[DType::F64]);
    }
    for (dimensions, n) in [(1, 3001), (2, 0), (2, 1), (13, 1025), (1024, 17)] {
        c.add(format!("random/sobol/{dimensions}/n={n}"), move |d| {
            let (plain, shifted) = (Sobol::new(d, dimensions)?.from(7), Sobol::shifted(d, dimensions, at(3))?);
            let owen = Sobol::scrambled(d, dimensions, at(4))?;
            let words = d.map((plain.uniform::<u32>(n), owen.uniform::<u32>(n)), |x| x)?;
            Ok((words.0, words.1, d.map(shifted.uniform::<f32>(n), |x| x)?, d.map(owen.normal(n), |x| x)?))
        });
    }
    for (dimensions, n) in [(1, 3001), (2, 0), (2, 1), (13, 1025), (128, 17)] {
        c.add(format!("random/halton/{dimensions}/n={n}"), move |d| {
            let (plain, shifted) = (Halton::new(d, dimensions)?.from(1_000_003), Halton::shifted(d, dimensions, at(3))?.leaped(409));
            let words = d.map(plain.uniform::<u32>(n), |x| x)?;
            Ok((words, d.map(shifted.uniform::<f32>(n), |x| x)?, d.map(shifted.normal(n), |x| x)?))
        });
    }
    for n in SIZES {
        c.add(format!("random/mrg32k3a/n={n}"), move |d| {
            let r = Mrg32k3a::new(d, [1, 2, 3, 4, 5, 6])?.stream(3).substream(9).skip(1 << 40);
            Ok((d.map(r.uniform::<u32>(n), |x| x)?, d.map(r.uniform::<f32>(n), |x| x)?))
        });
    }
    for n in SIZES {
        c.add(format!("random/xorwow/n={n}"), move |d| {
            let r = Xorwow::new(d, 0xfedc_ba98_7654_3210)?.subsequence(3).skip(1 << 40);
            let (words, floats) = (d.map(r.uniform::<u32>(n)?, |x| x)?, d.map(r.uniform::<f32>(n)?, |x| x)?);
            Ok((words, floats, d.map(Xorwow::rocrand(d, 7)?.uniform_above_zero(n)?, |x| x)?))
        });
    }
    for n in [5, 70_003, 1 << 18] {
        c.add(format!("random/xorwow_interleaved/n={n}"), move |d| {
            let r = Xorwow::new(d, 9)?.skip(33).interleaved();
            Ok((d.map(r.uniform::<u32>(n)?, |x| x)?, d.map(r.uniform::<f32>(n)?, |x| x)?))
        });
    }
    // States in four steps: the host's, and three launches.
    c.add("random/xorwow/fused", |d| {
        let r = Xorwow::from_state(d, [1, 2, 3, 4, 5], 6)?;
        let sum = d.reduce(r.uniform::<u32>((1 << 21) + 77)?, Sum).run()?;
        Ok((sum, d.reduce(r.skip(5).uniform::<f32>(301 * 77)?, Sum).axis(&[301, 77], 1).run()?))
    });
    c.add("random/fused/reduce", |d| {
        let sum = d.reduce(at(0).uniform::<f32>(300_007), Sum).run()?;
        let rows = d.reduce(at(3).normal(301 * 77, 0.0, 1.0), Sum).axis(&[301, 77], 1).run()?;
        let columns = d.reduce(at(0).uniform::<f32>(301 * 77), Max).axis(&[301, 77], 0).run()?;
        let inside =
            (at(0).uniform::<f32>(100_003), at(0).stream(1).uniform::<f32>(100_003)).map(|(x, y)| (x * x + y * y).lt(1.0).cast::<u32>());
        Ok((sum, rows, columns, d.reduce(inside, Sum).run()?))
    });
    c.add("random/fused/scan", |d| {
        let walk = d.scan(at(1).normal(50_021, 0.0, 1.0), Sum).run()?;
        Ok((walk, d.scan(at(0).integers(9 * 1009, -1i32..2), Sum).axis(&[9, 1009], 1).exclusive().run()?))
    });
    c.add("random/fused/select", |d| {
        let kept = d.select(at(0).uniform::<f32>(40_009), |x| x.lt(0.25)).run()?;
        let parts = d.partition(at(2).normal(5003, 0.0, 1.0), |x| x.gt(1.0)).run()?;
        Ok((kept.values.slice(..kept.len_blocking()?)?, parts.values, parts.count))
    });
    c.add("random/fused/sort", |d| {
        let (keys, order) = d.sort(at(2).normal(30_011, 0.0, 1.0)).with_indices().run()?;
        Ok((keys, order, d.argsort(at(0).uniform::<u32>(5003)).descending().run()?))
    });
    c.add("random/fused/histogram", |d| d.histogram(even_bins(at(0).normal(60_013, 0.0, 1.0), -4.0, 4.0, 64)).run());
    c.add("random/fused/gather", |d| {
        let at_random = input::<B, u32>(d, Fill::Plain, 3001, "x")?;
        d.gather(at(6).normal(10_007, 0.0, 1.0), at_random.map(|i| i % 10_007)).run()
    });
    c.add("random/fused/with_arrays", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Wide, 9001, "x")?, input::<B, f32>(d, Fill::Wide, 9001, "y")?);
        let noisy = (at(0).normal(9001, 0.0, 1.0), &x, &y, scalar(0.25f32));
        d.map(noisy, |(z, x, y, k)| (z * k + x, y - z))
    });
    c.add("random/streams", |d| {
        let r = at(3);
        let apart = (r.stream(7).uniform::<u32>(2003), r.split(0).uniform::<u32>(2003), r.split(1).uniform::<u32>(2003));
        // Three states at once are more numbers than some devices take in a kernel.
        Ok((d.map(apart.0, |x| x)?, d.map(apart.1, |x| x)?, d.map(apart.2, |x| x)?))
    });
    // Long enough for tables of their means.
    for mean in [4.0, 12.5] {
        c.add(format!("random/poisson/long/{mean}"), move |d| d.map(at(1).poisson(1_700_011, mean), |x| x)).bytes(1 << 23).full();
    }
    c.add("random/large", |d| d.map(at(0).uniform::<f32>(1 << 24), |x| x)).bytes(1 << 26).full();
}

/// Draws with a loop, of which a few are quick.
fn rejected<B: Target>(c: &mut Cases<B>, name: &str, n: u64) {
    for (mean, of) in [(0.0, "none"), (0.7, "few"), (9.5, "inverted"), (10.0, "rejected"), (3000.0, "many")] {
        let case = c.add(format!("random/poisson/{of}/{name}"), move |d| d.map(at(1).poisson(n, mean), |x| x));
        if (of, name) != ("rejected", "few") {
            case.full();
        }
    }
    for mean in [0.0, 0.7, 100.0, 65_536.0] {
        c.add(format!("random/poisson_table/{mean}/{name}"), move |d| {
            let table = PoissonTable::new(d, mean)?;
            Ok((d.map(at(4).poisson_table(n, &table), |x| x)?, d.map(at(7).poisson_table(n, &table), |x| x)?))
        });
    }
    c.add(format!("random/poisson_of/{name}"), move |d| {
        let means = input::<B, f32>(d, Fill::Plain, n, "means")?;
        d.map(at(1).poisson_of(n, (&means).map(|x| x * 40.0)), |x| x)
    })
    .full();
    for (trials, probability) in [(9, 0.3), (1000, 0.004), (1000, 0.9), (1 << 24, 0.25)] {
        c.add(format!("random/binomial/{trials}/{probability}/{name}"), move |d| d.map(at(2).binomial(n, trials, probability), |x| x))
            .full();
    }
    for shape in [0.2, 1.0, 7.5, 1e5] {
        let threefry = at(2).by(Generator::Threefry);
        c.add(format!("random/gamma/{shape}/{name}"), move |d| d.map(threefry.gamma(n, shape, 1.5), |x| x)).full();
    }
}

fn wide<B: Target, T: Uniform + Element<Reg = T> + Scalar>(c: &mut Cases<B>, name: &str, n: u64) {
    c.add(format!("random/uniform/{}/{name}", T::DTYPE), move |d| {
        Ok((d.map(at(0).uniform::<T>(n), |x: Expr<T>| x)?, d.map(at(7).uniform::<T>(n), |x: Expr<T>| x)?))
    })
    .needs(&[T::DTYPE]);
}
