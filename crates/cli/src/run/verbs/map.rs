//! Expressions, element by element.

use crate::args::RoundingArg;
use crate::failure::{Failure, Result};
use crate::npy::Array;
use crate::run::elements::{dtype, elements, first, parse, ty};
use crate::run::options::{self, RunArgs};
use crate::run::plan::Plan;
use crate::run::registry::{Inputs, Verb};
use isowarp::dynamic::Call;
use isowarp::element::{DType, Ty};
use isowarp::expression;
use isowarp::minifloat::Rounding;
use isowarp::random::Random;

pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "map",
        about: "An expression of one array, element by element",
        example: "--op \"2*x + 1\" --in a.npy --out b.npy",
        inputs: Inputs::ONE,
        options: &[options::expression, options::dtype],
        plan: map,
        bench: "map/custom",
    },
    Verb {
        name: "zip",
        about: "An expression of two to four arrays of one shape, element by element",
        example: "--op \"exp(-x*x) + 0.5*y\" --in a.npy --in b.npy --out c.npy",
        inputs: Inputs::between(2, 4),
        options: &[options::expression, options::dtype],
        plan: map,
        bench: "map/zip",
    },
    Verb {
        name: "generate",
        about: "An expression of the index i; needs --n or --shape, and --dtype",
        example: "--n 1000 --dtype f32 --op \"sin(f32(i))\" --out a.npy",
        inputs: Inputs::NONE,
        options: &[options::expression, options::n, options::shape, options::needed_dtype],
        plan: map,
        bench: "map/generate",
    },
    Verb {
        name: "cast",
        about: "Codes of floats of at most 16 bits (--to), or their values (--from): e4m3, e5m2, e2m1, bf16 and any other",
        example: "--to e4m3 --saturate --in a.npy --out codes.npy",
        inputs: Inputs::ONE,
        options: &[options::to_float, options::from_float, options::rounding, options::saturating, options::seed, options::dtype],
        plan: cast,
        bench: "map/encode",
    },
];

fn cast(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    let of_seed = args.rounding == Some(RoundingArg::Stochastic);
    if args.seed.is_some() && !of_seed {
        return Err(Failure::usage("--seed is for --rounding stochastic", "leave it out, or round so"));
    }
    let call = match (args.to_float, args.from_float) {
        (Some(format), _) => {
            let format = if args.saturate { format.saturating() } else { format };
            let rounding = match args.rounding {
                None | Some(RoundingArg::NearestEven | RoundingArg::Stochastic) => Rounding::NearestEven,
                Some(RoundingArg::NearestAway) => Rounding::NearestAway,
                Some(RoundingArg::TowardZero) => Rounding::TowardZero,
                Some(RoundingArg::Up) => Rounding::Up,
                Some(RoundingArg::Down) => Rounding::Down,
                Some(RoundingArg::ToOdd) => Rounding::ToOdd,
            };
            if input.boolean || !input.dtype.ty().is_float() {
                return Err(Failure::usage(format!("--to is for floats, not {}", input.type_name()), "say --from for codes"));
            }
            Call::Encode(format.rounding(rounding), of_seed.then(|| Random::new(args.seed.unwrap_or(0))))
        }
        (None, Some(format)) => {
            if input.boolean || input.dtype.ty() != Ty::U32 {
                return Err(Failure::usage(
                    format!("--from is for codes in u8, u16 or u32, not {}", input.type_name()),
                    "say --to for floats",
                ));
            }
            Call::Decode(format, args.dtype.as_deref().map_or(Ok(DType::F32), dtype)?)
        }
        (None, None) => return Err(Failure::usage("cast needs --to or --from", "such as --to e4m3")),
    };
    Ok(Plan::new(call, input.shape.clone()))
}

fn map(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let (shape, n) = inputs.first().map_or_else(|| elements(args), |a| Ok((a.shape.clone(), a.len())))?;
    let wanted = args.dtype.as_deref().map(dtype).transpose()?;
    // A u32 numbers 2^32 elements.
    let index = if n > 1 << 32 { Ty::U64 } else { Ty::U32 };
    let text = expression::applied(args.op.as_deref().unwrap_or_default(), inputs.len());
    let result = wanted.map(DType::ty).or(inputs.first().map(ty));
    let func = parse(&text, inputs, Some(index), result)?;
    let ty = func.result_types().first().copied().unwrap_or(Ty::U32);
    let boolean = ty == Ty::Bool && wanted.is_none();
    // Values that were read from a narrow type and are still of its register type go back into it.
    let mut numbers = inputs.iter().filter(|a| !a.boolean).map(|a| a.dtype);
    let same = numbers.next().filter(|d| d.ty() == ty && numbers.all(|other| other == *d));
    let dtype = wanted.unwrap_or(if boolean { DType::U8 } else { same.unwrap_or(ty.dtype()) });
    Ok(Plan::new(Call::Map { func, n, dtype }, shape).boolean(boolean))
}
