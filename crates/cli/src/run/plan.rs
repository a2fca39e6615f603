//! From arguments to what is to be computed, checked as far as it can be without a device.

mod condition;
mod elements;
mod histogram;
mod order;

use crate::args::{LayoutArg, Ord, Pattern, RunArgs, Side};
use crate::failure::{Failure, Result};
use crate::npy::Array;
pub(crate) use condition::Question;
use condition::{asked, condition, selected};
use elements::{parse, stays_truth, ty};
pub(crate) use histogram::Counted;
use isowarp::dynamic::{Norm, Operator, SetOp};
use isowarp::element::{DType, Ty};
use isowarp::expression;
use isowarp::ir::Func;
use isowarp::patterns::{
    ImageLayout, MergeVariant, Overflow, ReduceVariant, ScanVariant, ScatterOp, SearchKind, SortBy, SortOrder, SortVariant,
};
use order::{by, carried, of_sorted, order, own_order, sort, top_k};

/// What is to be computed.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    /// The shape of the result.
    pub(crate) shape: Vec<u64>,
    /// Whether the result is written as truth values.
    pub(crate) boolean: bool,
}

/// The pattern with its operator.
#[derive(Debug)]
pub(crate) enum Work {
    /// Map, zip and generate.
    Map {
        func: Func,
        n: u64,
        dtype: DType,
    },
    Reduce {
        op: Operator,
        axis: Option<(Vec<u64>, usize)>,
        variant: ReduceVariant,
    },
    Scan {
        op: Operator,
        axis: Option<(Vec<u64>, usize)>,
        exclusive: bool,
        variant: ScanVariant,
    },
    /// Of the second input, over runs of equal neighbours of the first.
    ScanByKey {
        op: Operator,
        exclusive: bool,
    },
    /// Of all elements, or of each line along an axis of a shape.
    Argmin(Option<(Vec<u64>, usize)>),
    Argmax(Option<(Vec<u64>, usize)>),
    Dot,
    Norm(Norm),
    Mean,
    Gather,
    Scatter(ScatterOp),
    /// Floats as fixed-point numbers of so many digits.
    ScatterFixed(i32, Overflow),
    /// By an operator that is combined in the order of the sources.
    ScatterCombine(Operator),
    /// Of an array of this shape, its axes in this order.
    Transpose(Vec<u64>, Vec<usize>),
    /// Of an array of this shape, and back.
    ToMorton(Vec<u64>),
    FromMorton(Vec<u64>),
    Reverse,
    Rotate(i64),
    /// Rows of so many elements.
    Sort {
        n: u64,
        by: SortBy,
    },
    /// One row, by a certain algorithm.
    SortVariant {
        variant: SortVariant,
        by: SortBy,
    },
    Argsort {
        n: u64,
        by: SortBy,
    },
    /// The first of each row of so many elements, and where they were in it.
    TopK {
        n: u64,
        k: u64,
        by: SortBy,
    },
    /// The same of keys, and of the values that travel with them.
    SortPairs {
        n: u64,
        by: SortBy,
    },
    TopKPairs {
        n: u64,
        k: u64,
        by: SortBy,
    },
    /// By an order of the caller's, of x and y.
    SortBy(Func),
    ArgsortBy(Func),
    SortPairsBy(Func),
    Merge(SortOrder),
    /// By a certain algorithm.
    MergeVariant {
        variant: MergeVariant,
        order: SortOrder,
    },
    MergeBy(Func),
    /// Of keys, values, keys and values.
    MergePairs(SortOrder),
    MergePairsBy(Func),
    Search(SearchKind, SortOrder),
    SearchBy(SearchKind, Func),
    Sets(SetOp, SortOrder),
    SetsBy(SetOp, Func),
    CoRanks(SortOrder),
    IsSorted(SortBy),
    IsSortedBy(Func),
    /// Of the first input, by a condition over all of them.
    Select {
        keep: Func,
        indices: bool,
    },
    Partition(Func),
    PartitionThree(Func, Func),
    Ask(Question, Func),
    Find(Func),
    Unique,
    UniqueByKey,
    Runs,
    RunsBack,
    ReduceByKey(Operator),
    /// Of an array, bounded by offsets.
    SegmentedReduce(Operator),
    SegmentedArgmin,
    SegmentedArgmax,
    SegmentedScan {
        op: Operator,
        exclusive: bool,
    },
    SegmentedSort {
        order: SortOrder,
        indices: bool,
    },
    /// Of keys, values and offsets.
    SegmentedSortPairs(SortOrder),
    AdjacentDifference {
        right: bool,
    },
    Histogram(Counted),
    Ballot(Func, u64),
    Match(u64),
    Tickets,
}

impl Work {
    /// Whether how many elements there are is known at the end alone.
    pub(crate) fn counts(&self) -> bool {
        let selects = matches!(self, Self::Select { .. } | Self::Find(_) | Self::Unique | Self::UniqueByKey);
        let selects = selects || matches!(self, Self::Sets(..) | Self::SetsBy(..));
        let selects = selects || matches!(self, Self::Runs | Self::RunsBack | Self::SegmentedArgmin | Self::SegmentedArgmax);
        selects || matches!(self, Self::ReduceByKey(_) | Self::SegmentedReduce(_) | Self::Ballot(..))
    }
}

impl Plan {
    /// The work of `args` on `inputs`, which have one shape.
    pub(crate) fn new(args: &RunArgs, inputs: &[Array]) -> Result<Self> {
        let name = args.pattern.name();
        let one = |work| Ok(Self { name, work, shape: vec![1], boolean: false });
        // Of the input's elements, in one line; how many is not known yet.
        let some = |work| first(inputs).map(|x| Self { name, work, shape: vec![x.len()], boolean: x.boolean });
        // A number for each element.
        let each = |work| first(inputs).map(|x| Self { name, work, shape: x.shape.clone(), boolean: false });
        match args.pattern {
            Pattern::Map | Pattern::Zip | Pattern::Generate => map(args, inputs),
            Pattern::Reduce => reduce(args, inputs),
            Pattern::Scan => scan(args, inputs),
            Pattern::Gather | Pattern::Scatter | Pattern::Reverse | Pattern::Rotate => moved(args, inputs),
            Pattern::Transpose | Pattern::Layout | Pattern::ToMorton | Pattern::FromMorton => moved(args, inputs),
            Pattern::Sort | Pattern::Argsort => sort(args, inputs),
            Pattern::Topk => top_k(args, inputs),
            Pattern::Merge | Pattern::CoRanks | Pattern::Search => of_sorted(args, inputs),
            Pattern::Union | Pattern::Intersection | Pattern::Difference | Pattern::SymmetricDifference => of_sorted(args, inputs),
            Pattern::IsSorted => {
                let input = first(inputs)?;
                let work = match &args.op {
                    Some(text) => Work::IsSortedBy(own_order(text, ty(input))?),
                    None => Work::IsSorted(by(args, input)?),
                };
                Ok(Self { name, work, shape: vec![1], boolean: true })
            }
            Pattern::Select | Pattern::Partition => selected(args, inputs),
            Pattern::Count | Pattern::Any | Pattern::All | Pattern::Find => asked(args, inputs),
            Pattern::Unique if args.by_key => {
                some(Work::UniqueByKey).and_then(|p| Ok(Self { boolean: carried(args, inputs)?.boolean, ..p }))
            }
            Pattern::Unique => some(Work::Unique),
            Pattern::Rle => some(Work::Runs),
            Pattern::RleDecode => some(Work::RunsBack),
            Pattern::Ballot => one(Work::Ballot(condition(args.op.as_deref().unwrap_or_default(), inputs)?, args.width.unwrap_or(1))),
            Pattern::Match => each(Work::Match(args.width.unwrap_or(1))),
            Pattern::Tickets => each(Work::Tickets),
            Pattern::ReduceByKey => by_key(args, inputs),
            Pattern::SegmentedReduce | Pattern::SegmentedScan | Pattern::SegmentedSort | Pattern::SegmentedArgsort => {
                segments(args, inputs)
            }
            Pattern::SegmentedArgmin => some(Work::SegmentedArgmin).map(|p| Self { boolean: false, ..p }),
            Pattern::SegmentedArgmax => some(Work::SegmentedArgmax).map(|p| Self { boolean: false, ..p }),
            Pattern::AdjacentDifference => {
                let work = Work::AdjacentDifference { right: args.side == Some(Side::Right) };
                first(inputs).map(|x| Self { name, work, shape: vec![x.len()], boolean: x.boolean })
            }
            Pattern::Histogram => histogram::histogram(args, inputs),
            Pattern::Argmin => extreme(args, inputs, Work::Argmin),
            Pattern::Argmax => extreme(args, inputs, Work::Argmax),
            // As NumPy's: whether both hold somewhere.
            Pattern::Dot if inputs.len() == 2 && inputs.iter().all(|a| a.boolean) => {
                one(Work::Ask(Question::Any, condition("x && y", inputs)?)).map(|p| Self { boolean: true, ..p })
            }
            Pattern::Dot => one(Work::Dot),
            Pattern::Mean => one(Work::Mean),
            Pattern::Norm => one(Work::Norm(match args.ord {
                Some(Ord::One) => Norm::One,
                Some(Ord::Inf) => Norm::Inf,
                Some(Ord::Two) | None => Norm::Two,
            })),
        }
    }
}

fn map(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let shape = match (inputs.first(), &args.shape, args.n) {
        (Some(a), ..) => a.shape.clone(),
        (None, Some(shape), _) => shape.clone(),
        (None, None, n) => vec![n.unwrap_or(0)],
    };
    let too_many = || Failure::usage("the shape has more than 2^64 elements", "ask for fewer");
    let n = shape.iter().try_fold(1u64, |a, &b| a.checked_mul(b)).ok_or_else(too_many)?;
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
    Ok(Plan { name: args.pattern.name(), work: Work::Map { func, n, dtype }, shape, boolean })
}

fn moved(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    let (work, of) = match args.pattern {
        Pattern::Gather => (Work::Gather, inputs.get(1).unwrap_or(input)),
        Pattern::Scatter => (scatter(args, inputs)?, inputs.get(2).unwrap_or(input)),
        Pattern::Transpose => (Work::Transpose(input.shape.clone(), axes(args, &input.shape)?), input),
        Pattern::Layout => (Work::Transpose(input.shape.clone(), layout(args, &input.shape)?), input),
        Pattern::ToMorton => (Work::ToMorton(input.shape.clone()), input),
        Pattern::FromMorton => (Work::FromMorton(args.shape.clone().unwrap_or_default()), input),
        Pattern::Rotate => (Work::Rotate(args.by.unwrap_or(0)), input),
        _ => (Work::Reverse, input),
    };
    let shape = match &work {
        Work::Transpose(of, order) => order.iter().map(|&a| of[a]).collect(),
        Work::ToMorton(_) => vec![input.len()],
        Work::FromMorton(shape) => shape.clone(),
        _ => of.shape.clone(),
    };
    // Truth values stay what they are.
    let boolean = if args.pattern == Pattern::Scatter { of.boolean } else { input.boolean };
    Ok(Plan { name: args.pattern.name(), work, shape, boolean })
}

/// What sources of a scatter do to what is there: by a name, or an expression of x and y.
fn scatter(args: &RunArgs, inputs: &[Array]) -> Result<Work> {
    if let Some(digits) = args.digits {
        if args.op.as_deref().is_some_and(|op| op.trim() != ScatterOp::Sum.name()) {
            return Err(Failure::usage("--digits is for sums", "leave --op out, or name sum"));
        }
        return Ok(Work::ScatterFixed(digits, if args.saturate { Overflow::Saturate } else { Overflow::Wrap }));
    }
    let text = args.op.as_deref().unwrap_or("store").trim();
    let known = [ScatterOp::Store].into_iter().chain(ScatterOp::COMBINING);
    if let Some(op) = known.clone().find(|op| op.name() == text) {
        return Ok(Work::Scatter(op));
    }
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_') && !matches!(text, "x" | "y" | "product" | "prod");
    if is_name {
        let names: Vec<&str> = known.map(ScatterOp::name).chain(["product"]).collect();
        return Err(Failure::usage(
            format!("unknown operator `{text}` of scatter; known: {}", names.join(", ")),
            "use a known one or an expression of x and y, or leave --op out to store",
        ));
    }
    // Numbers among truth values make numbers of all.
    let combined = inputs.iter().step_by(2).find(|a| !a.boolean).map_or_else(|| first(inputs), Ok)?;
    checked(args, combined).map(Work::ScatterCombine)
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

/// The operator, checked against the input's type: before a device is opened.
fn checked(args: &RunArgs, input: &Array) -> Result<Operator> {
    let op = operator(args)?;
    let op = if input.boolean { op.of_truth() } else { op };
    let op = match &args.dtype {
        Some(name) => op.accumulate_in(dtype(name)?),
        None => op,
    };
    op.check(input.dtype)?;
    Ok(op)
}

fn reduce(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    let op = checked(args, input)?;
    let variant = variant(args, ReduceVariant::AlignedTree, ReduceVariant::named, &ReduceVariant::ALL.map(ReduceVariant::name))?;
    let boolean = args.dtype.is_none() && stays_truth(&op, input);
    let (axis, shape) = lines(args, input)?;
    Ok(Plan { name: "reduce", work: Work::Reduce { op, axis, variant }, shape, boolean })
}

/// The least or the greatest element's index.
fn extreme(args: &RunArgs, inputs: &[Array], work: fn(Option<(Vec<u64>, usize)>) -> Work) -> Result<Plan> {
    let (axis, shape) = lines(args, first(inputs)?)?;
    Ok(Plan { name: args.pattern.name(), work: work(axis), shape, boolean: false })
}

/// The lines that are reduced, where there is an axis, and the shape of the results.
#[allow(clippy::type_complexity, reason = "a shape and an axis, and a shape")]
fn lines(args: &RunArgs, input: &Array) -> Result<(Option<(Vec<u64>, usize)>, Vec<u64>)> {
    let axis = args.axis.map(|a| axis(a, &input.shape)).transpose()?;
    let shape = match axis {
        None => vec![1],
        Some(a) => input.shape.iter().enumerate().filter(|&(k, _)| k != a).map(|(_, &n)| n).collect(),
    };
    Ok((axis.map(|a| (input.shape.clone(), a)), shape))
}

fn scan(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = carried(args, inputs)?;
    let op = checked(args, input)?;
    if args.by_key {
        let (boolean, shape) = (args.dtype.is_none() && stays_truth(&op, input), vec![input.len()]);
        return Ok(Plan { name: "scan", work: Work::ScanByKey { op, exclusive: args.exclusive }, shape, boolean });
    }
    let variant = variant(args, ScanVariant::SinglePass, ScanVariant::named, &ScanVariant::ALL.map(ScanVariant::name))?;
    let boolean = args.dtype.is_none() && stays_truth(&op, input);
    let axis = args.axis.map(|a| axis(a, &input.shape)).transpose()?;
    // As NumPy's cumsum: without an axis the array is one line.
    let shape = if axis.is_some() { input.shape.clone() } else { vec![input.len()] };
    let axis = axis.map(|a| (input.shape.clone(), a));
    Ok(Plan { name: "scan", work: Work::Scan { op, axis, exclusive: args.exclusive, variant }, shape, boolean })
}

fn by_key(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let values = inputs.get(1).map_or_else(|| first(inputs), Ok)?;
    let op = checked(args, values)?;
    let boolean = args.dtype.is_none() && stays_truth(&op, values);
    Ok(Plan { name: args.pattern.name(), work: Work::ReduceByKey(op), shape: vec![values.len()], boolean })
}

/// What is done to segments of the first input.
fn segments(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    let mut boolean = input.boolean;
    let work = match args.pattern {
        Pattern::SegmentedReduce | Pattern::SegmentedScan => {
            let op = checked(args, input)?;
            boolean = args.dtype.is_none() && stays_truth(&op, input);
            if args.pattern == Pattern::SegmentedReduce {
                Work::SegmentedReduce(op)
            } else {
                Work::SegmentedScan { op, exclusive: args.exclusive }
            }
        }
        Pattern::SegmentedSort if args.by_key => {
            boolean = carried(args, inputs)?.boolean;
            Work::SegmentedSortPairs(order(args))
        }
        _ => {
            let indices = args.pattern == Pattern::SegmentedArgsort;
            boolean &= !indices;
            Work::SegmentedSort { order: order(args), indices }
        }
    };
    Ok(Plan { name: args.pattern.name(), work, shape: vec![input.len()], boolean })
}

/// The rung that was asked for by name, else the pattern itself.
fn variant<V>(args: &RunArgs, pattern: V, named: impl Fn(&str) -> Option<V>, known: &[&str]) -> Result<V> {
    let Some(name) = &args.variant else { return Ok(pattern) };
    named(name).ok_or_else(|| {
        let message = format!("unknown variant `{name}` of {}; known: {}", args.pattern.name(), known.join(", "));
        Failure::usage(message, "use a known one, or leave --variant out")
    })
}

fn first(inputs: &[Array]) -> Result<&Array> {
    inputs.first().ok_or_else(|| Failure::usage("an input (--in) is missing", "name a .npy file, or - for standard input"))
}

fn axis(axis: i64, shape: &[u64]) -> Result<usize> {
    let dimensions = shape.len() as i64;
    let index = if axis < 0 { axis + dimensions } else { axis };
    if (0..dimensions).contains(&index) {
        return Ok(index as usize);
    }
    let message = format!("there is no axis {axis} in an array of shape {}", crate::npy::shape_text(shape));
    Err(Failure::usage(message, "axes count from 0, and from -1 for the last"))
}

/// The axes in the order that they get: in reverse, unless it was said.
fn axes(args: &RunArgs, shape: &[u64]) -> Result<Vec<usize>> {
    let Some(named) = &args.axes else { return Ok((0..shape.len()).rev().collect()) };
    let order = named.iter().map(|&a| axis(a, shape)).collect::<Result<Vec<_>>>()?;
    if order.len() == shape.len() && (0..shape.len()).all(|a| order.contains(&a)) {
        return Ok(order);
    }
    let text = named.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let message = format!("--axes {text} does not name every axis of an array of shape {} once", crate::npy::shape_text(shape));
    Err(Failure::usage(message, "name all of them in the order that they get, such as --axes 1,0"))
}

/// The axes of images in the order that another layout has them.
fn layout(args: &RunArgs, shape: &[u64]) -> Result<Vec<usize>> {
    if shape.len() != 4 {
        let message =
            format!("layouts are of batches of images, with four axes, not of an array of shape {}", crate::npy::shape_text(shape));
        return Err(Failure::usage(message, "name an array of four axes, or use `isowarp run transpose --axes`"));
    }
    let axes = |layout: Option<LayoutArg>| match layout {
        Some(LayoutArg::Nhwc) => ImageLayout::Nhwc.axes(),
        Some(LayoutArg::Chwn) => ImageLayout::Chwn.axes(),
        Some(LayoutArg::Nchw) | None => ImageLayout::Nchw.axes(),
    };
    let from = axes(args.from);
    Ok(axes(args.to).iter().filter_map(|a| from.iter().position(|b| a == b)).collect())
}

/// An element type by Rust's or NumPy's name.
fn dtype(name: &str) -> Result<DType> {
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
