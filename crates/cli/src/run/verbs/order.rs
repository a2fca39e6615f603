//! Plans of what puts elements in order, or takes elements that are.

use super::{Plan, Work, axis, first, ty, variant};
use crate::args::{Pattern, RunArgs, Side};
use crate::failure::{Failure, Result};
use crate::npy::Array;
use isowarp::dynamic::{SetOp, of_elements};
use isowarp::element::{DType, Ty};
use isowarp::expression;
use isowarp::ir::{Func, OpError};
use isowarp::patterns::{MergeVariant, SearchKind, SortBy, SortOrder, SortVariant};

pub(super) fn order(args: &RunArgs) -> SortOrder {
    if args.descending { SortOrder::Descending } else { SortOrder::Ascending }
}

/// The order of values of an array, and the bits of them that are compared.
pub(super) fn by(args: &RunArgs, of: &Array) -> Result<SortBy> {
    let width = 8 * of.dtype.size_bytes() as u32;
    match args.bits.as_deref() {
        None => Ok(order(args).into()),
        Some(&[low, high]) if low <= high && high <= width => Ok(order(args).bits(low..high)),
        Some(bits) => {
            let text = bits.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            let message = format!("--bits {text} is no range of the {width} bits of {} elements", of.dtype);
            Err(Failure::usage(message, format!("name the lowest bit, and the one behind the highest, such as --bits 0,{width}")))
        }
    }
}

/// What the result is made of: the first input, or the values that travel with it.
pub(super) fn carried<'a>(args: &RunArgs, inputs: &'a [Array]) -> Result<&'a Array> {
    inputs.get(usize::from(args.by_key)).map_or_else(|| first(inputs), Ok)
}

/// Merges, searches and sets of sorted arrays.
pub(super) fn of_sorted(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let (a, order) = (first(inputs)?, order(args));
    // By key each array's values come behind it.
    let b = inputs.get(if args.by_key { 2 } else { 1 }).unwrap_or(a);
    if a.dtype != b.dtype {
        let message = format!("{} takes arrays of one type, not {} and {}", args.pattern.name(), a.dtype, b.dtype);
        return Err(Failure::usage(message, "convert one of them, for instance with `isowarp run map --op x --dtype`"));
    }
    let total = vec![a.len() + b.len()];
    let of = if ty(a) == ty(b) { ty(a) } else { a.dtype.ty() };
    let (work, shape) = match args.pattern {
        Pattern::CoRanks => (Work::CoRanks(order), inputs.get(2).unwrap_or(a).shape.clone()),
        Pattern::Search => {
            let kind = match args.side {
                Some(Side::Right) => SearchKind::Upper,
                Some(Side::Count) => SearchKind::Equal,
                Some(Side::Left) | None => SearchKind::Lower,
            };
            let work = match &args.op {
                Some(text) => Work::SearchBy(kind, own_order(text, of)?),
                None => Work::Search(kind, order),
            };
            (work, b.shape.clone())
        }
        Pattern::Union | Pattern::Intersection | Pattern::Difference | Pattern::SymmetricDifference => {
            let op = match args.pattern {
                Pattern::Union => SetOp::Union,
                Pattern::Intersection => SetOp::Intersection,
                Pattern::Difference => SetOp::Difference,
                _ => SetOp::SymmetricDifference,
            };
            let work = match &args.op {
                Some(text) => Work::SetsBy(op, own_order(text, of)?),
                None => Work::Sets(op, order),
            };
            (work, total)
        }
        _ if args.variant.is_some() => {
            if args.op.is_some() || args.by_key {
                return Err(Failure::usage("a variant of a merge is for the order of values", "leave --variant out, or --op and --by-key"));
            }
            let variant = variant(args, MergeVariant::MergePath, MergeVariant::named, &MergeVariant::ALL.map(MergeVariant::name))?;
            if !matches!(a.dtype, DType::U32 | DType::I32 | DType::F32) {
                let message = format!("a variant of a merge takes u32, i32 and f32, not {}", a.dtype);
                return Err(Failure::usage(message, "convert the arrays, or leave --variant out"));
            }
            (Work::MergeVariant { variant, order }, total)
        }
        _ => match &args.op {
            Some(text) if args.by_key => (Work::MergePairsBy(own_order(text, of)?), total),
            Some(text) => (Work::MergeBy(own_order(text, of)?), total),
            None if args.by_key => (Work::MergePairs(order), total),
            None => (Work::Merge(order), total),
        },
    };
    if let (true, [_, v, _, w]) = (args.by_key, inputs) {
        if v.dtype != w.dtype {
            let message = format!("merge --by-key takes values of one type, not {} and {}", v.dtype, w.dtype);
            return Err(Failure::usage(message, "convert one of them, for instance with `isowarp run map --op x --dtype`"));
        }
        return Ok(Plan { name: args.pattern.name(), work, shape, boolean: v.boolean && w.boolean });
    }
    let boolean = a.boolean && b.boolean && !matches!(args.pattern, Pattern::Search | Pattern::CoRanks);
    Ok(Plan { name: args.pattern.name(), work, shape, boolean })
}

pub(super) fn sort(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    let shape = input.shape.clone();
    let n = shape.last().copied().unwrap_or(1);
    let indices = args.pattern == Pattern::Argsort;
    let variant = variant(args, SortVariant::Radix, SortVariant::named, &SortVariant::ALL.map(SortVariant::name))?;
    let work = match &args.op {
        Some(_) if shape.len() > 1 => {
            return Err(Failure::usage(
                "rows cannot be sorted by an order of your own",
                "leave --op out, or name an array of one dimension",
            ));
        }
        _ if args.variant.is_some() && (args.op.is_some() || args.by_key || shape.len() > 1) => {
            return Err(Failure::usage(
                "a variant of a sort is for the order of values of one dimension",
                "leave --variant out, or --op and --by-key, or name an array of one dimension",
            ));
        }
        Some(text) => {
            let before = own_order(text, ty(input))?;
            match (indices, args.by_key) {
                (true, _) => Work::ArgsortBy(before),
                (_, true) => Work::SortPairsBy(before),
                _ => Work::SortBy(before),
            }
        }
        None if args.by_key => Work::SortPairs { n, by: by(args, input)? },
        None if indices => Work::Argsort { n, by: by(args, input)? },
        None if variant != SortVariant::Radix => Work::SortVariant { variant, by: by(args, input)? },
        None => Work::Sort { n, by: by(args, input)? },
    };
    Ok(Plan { name: args.pattern.name(), work, shape, boolean: carried(args, inputs)?.boolean && !indices })
}

/// More elements than there are can be refused before a device is opened.
pub(super) fn top_k(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    let k = args.k.unwrap_or(0);
    let rows = args.axis.map(|a| axis(a, &input.shape)).transpose()?;
    let (n, shape, of) = match rows {
        None => (input.len(), vec![k], "an array"),
        Some(a) if a + 1 < input.shape.len() => {
            return Err(Failure::usage(
                format!("topk takes rows, along the last axis, and not along axis {a}"),
                "use --axis -1, of what `isowarp run transpose` makes of the array",
            ));
        }
        Some(_) => {
            let mut shape = input.shape.clone();
            let n = shape.pop().unwrap_or(1);
            shape.push(k);
            (n, shape, "rows")
        }
    };
    if k > n {
        return Err(Failure::usage(format!("topk of {k} elements from {of} of {n}"), format!("ask for up to {n}")));
    }
    let work = if args.by_key { Work::TopKPairs { n, k, by: by(args, input)? } } else { Work::TopK { n, k, by: by(args, input)? } };
    Ok(Plan { name: "topk", work, shape, boolean: carried(args, inputs)?.boolean })
}

/// An order of the caller's: whether x comes before y.
pub(super) fn own_order(text: &str, of: Ty) -> Result<Func> {
    let before = expression::parse(text, &[of, of], None, Some(Ty::Bool))?;
    match before.result_types()[..] {
        [Ty::Bool] => Ok(of_elements(&before)?),
        ref found => {
            let found = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Err(OpError::Signature { what: "result of the order", expected: "bool".to_owned(), found }.into())
        }
    }
}
