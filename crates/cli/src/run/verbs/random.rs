//! Random numbers.

use crate::args::{Dist, GeneratorArg};
use crate::failure::{Failure, Result};
use crate::npy::Array;
use crate::run::elements::{dtype, elements};
use crate::run::options::{self, RunArgs};
use crate::run::plan::Plan;
use crate::run::registry::{Inputs, Verb};
use isowarp::dynamic::{Call, Distribution};
use isowarp::element::DType;
use isowarp::random::{Generator, Random};

pub(super) const VERBS: &[Verb] = &[Verb {
    name: "random",
    about: "Random numbers, the same on every device: a function of seed, stream and place; needs --n or --shape",
    example: "--dist normal --seed 7 --n 1000 --out a.npy",
    inputs: Inputs::NONE,
    options: &[
        options::dist,
        options::dimensions,
        options::scramble,
        options::table,
        options::n,
        options::shape,
        options::dtype,
        options::seed,
        options::stream,
        options::position,
        options::generator,
        options::mean,
        options::deviation,
        options::trials,
        options::probability,
        options::alpha,
        options::scale,
        options::integers,
        options::probabilities,
    ],
    plan,
    bench: "random/uniform",
}];

fn plan(args: &RunArgs, _: &[Array]) -> Result<Plan> {
    let (shape, n) = elements(args)?;
    let (mean, deviation) = (args.mean.unwrap_or(0.0), args.deviation.unwrap_or(1.0));
    let dist = args.dist.unwrap_or(Dist::Uniform);
    let takes = |given: bool, option: &str, by: &[Dist]| {
        if given && !by.contains(&dist) {
            return Err(Failure::usage(
                format!("--{option} is not for this distribution"),
                "leave it out, or see isowarp run random --help",
            ));
        }
        Ok(())
    };
    takes(args.mean.is_some(), "mean", &[Dist::Normal, Dist::Quantile, Dist::Lognormal, Dist::Exponential, Dist::Poisson])?;
    takes(args.deviation.is_some(), "deviation", &[Dist::Normal, Dist::Quantile, Dist::Lognormal])?;
    takes(args.trials.is_some(), "trials", &[Dist::Binomial])?;
    takes(args.probability.is_some(), "probability", &[Dist::Binomial])?;
    takes(args.alpha.is_some(), "alpha", &[Dist::Gamma])?;
    takes(args.scale.is_some(), "scale", &[Dist::Gamma])?;
    takes(args.range.is_some(), "range", &[Dist::Integers])?;
    takes(args.probabilities.is_some(), "probabilities", &[Dist::Discrete])?;
    takes(args.dimensions.is_some(), "dimensions", &[Dist::Sobol, Dist::Halton])?;
    takes(args.scramble, "scramble", &[Dist::Sobol, Dist::Halton])?;
    takes(args.table, "table", &[Dist::Poisson])?;
    let drawn = [(args.seed.is_some(), "seed"), (args.stream.is_some(), "stream"), (args.generator.is_some(), "generator")];
    if let Some((_, option)) = drawn.into_iter().find(|of| of.0)
        && matches!(dist, Dist::Sobol | Dist::Halton)
        && !args.scramble
    {
        return Err(Failure::usage(
            format!("--{option} is for points with --scramble"),
            format!("add --scramble, or leave --{option} out"),
        ));
    }
    let is_mrg = args.generator == Some(GeneratorArg::Mrg32k3a);
    let interleaved = args.generator == Some(GeneratorArg::XorwowInterleaved);
    let is_xorwow = interleaved || args.generator == Some(GeneratorArg::Xorwow);
    takes(is_mrg, "generator mrg32k3a", &[Dist::Bits, Dist::Uniform])?;
    let by_xorwow = [Dist::Bits, Dist::Uniform, Dist::Normal, Dist::Quantile, Dist::Lognormal, Dist::Exponential];
    takes(is_xorwow, if interleaved { "generator xorwow-interleaved" } else { "generator xorwow" }, &by_xorwow)?;
    let dimensions =
        || args.dimensions.ok_or_else(|| Failure::usage("--dist sobol and halton need --dimensions", "such as --dimensions 2"));
    let of = match dist {
        Dist::Bits | Dist::Uniform if is_mrg => {
            let seed = args.seed.unwrap_or(12_345);
            let too_great = |_| Failure::usage(format!("--seed {seed} is no word of a state"), "use one below 4294944443");
            Distribution::Mrg32k3a([u32::try_from(seed).map_err(too_great)?; 6])
        }
        Dist::Bits | Dist::Uniform => Distribution::Uniform,
        Dist::Open => Distribution::UniformOpen,
        Dist::Integers => {
            let (low, high) = range(args)?;
            Distribution::Integers(low, high)
        }
        Dist::Normal => Distribution::Normal(mean, deviation),
        Dist::Quantile => Distribution::NormalByQuantile(mean, deviation),
        Dist::Lognormal => Distribution::LogNormal(mean as f32, deviation as f32),
        Dist::Exponential => Distribution::Exponential(args.mean.unwrap_or(1.0)),
        Dist::Poisson if args.table => Distribution::PoissonTable(args.mean.unwrap_or(1.0)),
        Dist::Poisson => Distribution::Poisson(args.mean.unwrap_or(1.0) as f32),
        Dist::Binomial => Distribution::Binomial(args.trials.unwrap_or(1), args.probability.unwrap_or(0.5)),
        Dist::Gamma => Distribution::Gamma(args.alpha.unwrap_or(1.0), args.scale.unwrap_or(1.0)),
        Dist::Discrete => {
            let missing = || Failure::usage("--dist discrete needs --probabilities", "add them, such as --probabilities 1,0.5,2");
            Distribution::Discrete(args.probabilities.clone().ok_or_else(missing)?)
        }
        Dist::Permutation => Distribution::Permutation,
        Dist::Circle => Distribution::Circle,
        Dist::Sphere => Distribution::Sphere,
        Dist::Sobol => Distribution::Sobol(dimensions()?, args.scramble),
        Dist::Halton => Distribution::Halton(dimensions()?, args.scramble),
    };
    let of = if is_xorwow { Distribution::Xorwow { seed: args.seed.unwrap_or(0), interleaved, of: Box::new(of) } } else { of };
    let types: Vec<DType> = match dist {
        Dist::Bits if is_mrg || is_xorwow => vec![DType::U32],
        Dist::Bits => vec![DType::U32, DType::U64],
        Dist::Uniform => vec![DType::F32, DType::F64],
        _ => of.dtypes().to_vec(),
    };
    let dtype = args.dtype.as_deref().map_or(Ok(types[0]), dtype)?;
    if !types.contains(&dtype) {
        let names: Vec<String> = types.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(format!("the distribution has no {dtype}"), format!("use --dtype {}", names.join(" or "))));
    }
    let generator = match args.generator {
        Some(GeneratorArg::Threefry) => Generator::Threefry,
        _ => Generator::Philox,
    };
    let (seed, stream, position) = (args.seed.unwrap_or(0), args.stream.unwrap_or(0), args.position.unwrap_or(0));
    let from = Random { generator, seed, stream, position };
    let shape = shape.into_iter().chain(of.coordinates().map(u64::from)).collect();
    Ok(Plan::new(Call::Random { from, of, n, dtype }, shape))
}

/// The bounds of integers.
fn range(args: &RunArgs) -> Result<(i64, i64)> {
    let bound = |text: &String| text.trim().parse::<i64>().ok();
    match args.range.as_deref() {
        Some([low, high]) if bound(low).is_some() && bound(high).is_some() => {
            Ok((bound(low).unwrap_or_default(), bound(high).unwrap_or_default()))
        }
        _ => Err(Failure::usage("--dist integers needs --range with two integers", "such as --range 1,7")),
    }
}
