//! Parts of plans: elements as operators see them, operators, orders and axes, checked as far as they can be without a device.

use super::options::RunArgs;
use crate::failure::{Failure, Result};
use crate::npy::{Array, shape_text};
use isowarp::dynamic::{Operator, Order, Over, of_elements};
use isowarp::element::{DType, Ty};
use isowarp::expression;
use isowarp::ir::{Func, OpError};
use isowarp::patterns::{SortBy, SortOrder};

pub(super) fn first(inputs: &[Array]) -> Result<&Array> {
    inputs.first().ok_or_else(|| Failure::usage("an input (--in) is missing", "name a .npy file, or - for standard input"))
}

/// Fails for an array of truth values where numbers are meant, which to the library are bytes.
pub(super) fn no_truth(array: Option<&Array>, what: &str, help: &str) -> Result {
    if array.is_some_and(|a| a.boolean) {
        return Err(Failure::usage(format!("{what}, not bool"), help));
    }
    Ok(())
}

/// Advice for elements of a type that is not taken.
const CONVERT: &str = "convert it first, such as `isowarp run map --op x --dtype f32 --in a.npy --out b.npy`";

/// Refuses inputs that are of none of these types, or are truth values: `verb` and what it is that it takes are for the message.
pub(super) fn of_types(verb: &str, inputs: &[Array], types: &[DType]) -> Result {
    let Some(other) = inputs.iter().find(|a| a.boolean || !types.contains(&a.dtype)) else { return Ok(()) };
    let (last, rest) = types.split_last().map_or(("", &[][..]), |(last, rest)| (last.name(), rest));
    let rest = rest.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
    let known = if rest.is_empty() { last.to_owned() } else { format!("{rest} or {last}") };
    Err(Failure::usage(format!("{verb} takes {known}, not {}", other.type_name()), CONVERT))
}

/// Refuses two inputs of different types; truth values are as good as bytes that are 0 or 1. `verb` and what it takes two of are for the message.
pub(super) fn alike(verb: &str, what: &str, a: &Array, b: &Array) -> Result {
    if a.dtype == b.dtype {
        return Ok(());
    }
    let message = format!("{verb} takes {what} of one type, not {} and {}", a.type_name(), b.type_name());
    Err(Failure::usage(message, format!("convert one of them, for instance with `isowarp run map --op x --dtype {}`", a.type_name())))
}

/// The types of floats.
pub(super) const FLOATS: [DType; 3] = [DType::F16, DType::F32, DType::F64];

/// Inputs that compute without being converted.
pub(super) const WIDE_FLOATS: [DType; 2] = [DType::F32, DType::F64];

/// The shape that --shape or --n asks for, and its elements.
pub(super) fn elements(args: &RunArgs) -> Result<(Vec<u64>, u64)> {
    let shape = args.shape.clone().unwrap_or_else(|| vec![args.n.unwrap_or(0)]);
    let too_many = || Failure::usage("the shape has more than 2^64 elements", "ask for fewer");
    let n = shape.iter().try_fold(1u64, |a, &b| a.checked_mul(b)).ok_or_else(too_many)?;
    Ok((shape, n))
}

/// Array that the result is made of: the first input, or the values that go with it.
pub(super) fn carried<'a>(args: &RunArgs, inputs: &'a [Array]) -> Result<&'a Array> {
    inputs.get(usize::from(args.by_key)).map_or_else(|| first(inputs), Ok)
}

/// Elements of an array as an expression sees them: those of a bool file are truth values.
pub(super) fn ty(of: &Array) -> Ty {
    if of.boolean { Ty::Bool } else { of.dtype.ty() }
}

/// An expression of the inputs' elements, as a device stores them.
pub(super) fn parse(text: &str, inputs: &[Array], index: Option<Ty>, result: Option<Ty>) -> Result<Func> {
    let types: Vec<Ty> = inputs.iter().map(ty).collect();
    Ok(of_elements(&expression::parse(text, &types, index, result)?)?)
}

/// A condition over elements of the inputs and their index.
pub(super) fn condition(text: &str, inputs: &[Array]) -> Result<Func> {
    let index = if first(inputs)?.len() > 1 << 32 { Ty::U64 } else { Ty::U32 };
    parse(text, inputs, Some(index), Some(Ty::Bool))
}

/// Whether what an operator makes of an array is truth values: sums, products and counts of them are numbers.
pub(super) fn stays_truth(op: &Operator, of: &Array) -> bool {
    match op.name() {
        "any" | "all" => true,
        "sum" | "product" | "count" => false,
        _ => of.boolean,
    }
}

fn operator(args: &RunArgs) -> Result<Operator> {
    let text = args.op.as_deref().unwrap_or("sum").trim();
    let known = Operator::named(if text == "prod" { "product" } else { text });
    match (known, &args.identity) {
        (Some(_), Some(_)) => Err(Failure::usage(format!("--identity is for an expression; `{text}` has its own"), "leave --identity out")),
        (Some(op), None) => Ok(op),
        (None, identity) => Ok(Operator::custom(&expression::applied(text, 2), identity.as_deref())),
    }
}

/// The operator in the input's own type, checked against it: before a device is opened.
pub(super) fn of_same_type(args: &RunArgs, input: &Array) -> Result<Operator> {
    let op = operator(args)?;
    let op = if input.boolean { op.of_truth() } else { op };
    op.check(input.dtype)?;
    Ok(op)
}

/// The operator in the type that is asked for, or in which sums and products are made.
pub(super) fn checked(args: &RunArgs, input: &Array) -> Result<Operator> {
    let op = of_same_type(args, input)?;
    let op = match (&args.dtype, wide(input)) {
        (Some(name), _) => op.accumulate_in(dtype(name)?),
        (None, Some(wide)) if matches!(op.name(), "sum" | "product") => op.accumulate_in(wide),
        _ => op,
    };
    op.check(input.dtype)?;
    Ok(op)
}

/// The type in which integers are summed up and multiplied, which soon exceed their own: NumPy's, of 64 bits. Sums of truth values are counts.
fn wide(of: &Array) -> Option<DType> {
    match of.dtype {
        DType::I8 | DType::I16 | DType::I32 => Some(DType::I64),
        DType::U8 | DType::U16 | DType::U32 if !of.boolean => Some(DType::U64),
        _ => None,
    }
}

pub(super) fn order(args: &RunArgs) -> SortOrder {
    if args.descending { SortOrder::Descending } else { SortOrder::Ascending }
}

/// The order of values of an array, and the bits of them that are compared.
pub(super) fn by(args: &RunArgs, of: &Array) -> Result<SortBy> {
    let width = 8 * of.dtype.size_bytes() as u32;
    match args.bits.as_deref() {
        None => Ok(SortBy { nan_last: args.nan_last && of.dtype.ty().is_float(), ..order(args).into() }),
        Some(_) if args.nan_last => Err(Failure::usage("--nan-last compares whole keys", "leave --bits or --nan-last out")),
        Some(&[low, high]) if low <= high && high <= width => Ok(order(args).bits(low..high)),
        Some(bits) => {
            let text = bits.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            let message = format!("--bits {text} is no range of the {width} bits of {} elements", of.type_name());
            Err(Failure::usage(message, format!("name the lowest bit, and the one after the highest, such as --bits 0,{width}")))
        }
    }
}

/// The order of values of an array, or one of the caller's over elements of a type: whether x comes before y.
pub(super) fn order_of(args: &RunArgs, input: &Array, ty: Ty) -> Result<Order> {
    let Some(text) = &args.op else { return by(args, input).map(Order::Values) };
    if args.nan_last {
        return Err(Failure::usage("--nan-last is for the order of values", "say in --op where NaN come, or leave --op out"));
    }
    let before = expression::parse(text, &[ty, ty], None, Some(Ty::Bool))?;
    match before.result_types()[..] {
        [Ty::Bool] => Ok(Order::Own(of_elements(&before)?)),
        ref found => {
            let found = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Err(OpError::Signature { what: "result of the order", expected: "bool".to_owned(), found }.into())
        }
    }
}

pub(super) fn axis(axis: i64, shape: &[u64]) -> Result<usize> {
    let dimensions = shape.len() as i64;
    let index = if axis < 0 { axis + dimensions } else { axis };
    if (0..dimensions).contains(&index) {
        return Ok(index as usize);
    }
    let message = format!("there is no axis {axis} in an array of shape {}", shape_text(shape));
    Err(Failure::usage(message, "axes count from 0, and from -1 for the last"))
}

/// The lines that are combined, and the shape of a result for each.
pub(super) fn lines(args: &RunArgs, input: &Array) -> Result<(Over, Vec<u64>)> {
    let Some(a) = args.axis.map(|a| axis(a, &input.shape)).transpose()? else { return Ok((Over::Whole, vec![1])) };
    let others = input.shape.iter().enumerate().filter(|&(k, _)| k != a).map(|(_, &n)| n);
    Ok((Over::Axis(input.shape.clone(), a), others.collect()))
}

/// An element type by Rust's or NumPy's name.
pub(super) fn dtype(name: &str) -> Result<DType> {
    let numpy = [
        ("float32", DType::F32),
        ("float64", DType::F64),
        ("float16", DType::F16),
        ("int8", DType::I8),
        ("int16", DType::I16),
        ("int32", DType::I32),
        ("int64", DType::I64),
        ("uint16", DType::U16),
        ("uint32", DType::U32),
        ("uint64", DType::U64),
        ("uint8", DType::U8),
    ];
    let rust = DType::ALL.into_iter().find(|d| d.name() == name);
    rust.or_else(|| numpy.into_iter().find(|(n, _)| *n == name).map(|(_, d)| d)).ok_or_else(|| {
        let known = DType::ALL.map(DType::name).join(", ");
        Failure::usage(format!("unknown element type `{name}`; known: {known}"), "use a known one")
    })
}
