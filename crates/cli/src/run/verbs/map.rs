//! Expressions, element by element.

use crate::failure::Result;
use crate::npy::Array;
use crate::run::elements::{dtype, elements, parse, ty};
use crate::run::options::{self, RunArgs};
use crate::run::plan::Plan;
use crate::run::registry::{Inputs, Verb};
use isowarp::dynamic::Call;
use isowarp::element::{DType, Ty};
use isowarp::expression;

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
];

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
    // What was read from a narrow type and is still of its register type goes back into it.
    let mut numbers = inputs.iter().filter(|a| !a.boolean).map(|a| a.dtype);
    let same = numbers.next().filter(|d| d.ty() == ty && numbers.all(|other| other == *d));
    let dtype = wanted.unwrap_or(if boolean { DType::U8 } else { same.unwrap_or(ty.dtype()) });
    Ok(Plan::new(Call::Map { func, n, dtype }, shape).boolean(boolean))
}
