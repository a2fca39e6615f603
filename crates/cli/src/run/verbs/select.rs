//! Plans of what asks for a condition: selections, and questions about elements.

use super::{Plan, Work, first, parse};
use crate::args::{Pattern, RunArgs};
use crate::failure::Result;
use crate::npy::Array;
use isowarp::element::Ty;
use isowarp::ir::Func;

/// A question about elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Question {
    Any,
    All,
    Count,
}

/// A condition over elements of the inputs and their index.
pub(super) fn condition(text: &str, inputs: &[Array]) -> Result<Func> {
    let index = if first(inputs)?.len() > 1 << 32 { Ty::U64 } else { Ty::U32 };
    parse(text, inputs, Some(index), Some(Ty::Bool))
}

/// What is kept of the first input, in one line.
pub(super) fn selected(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    let meant = condition(if args.flags { "y != 0" } else { args.op.as_deref().unwrap_or_default() }, inputs)?;
    let work = match (args.pattern, &args.then) {
        (Pattern::Partition, Some(then)) => Work::PartitionThree(meant, condition(then, inputs)?),
        (Pattern::Partition, None) => Work::Partition(meant),
        _ => Work::Select { keep: meant, indices: args.indices.is_some() },
    };
    Ok(Plan { name: args.pattern.name(), work, shape: vec![input.len()], boolean: input.boolean })
}

/// A question's answer, one element.
pub(super) fn asked(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let holds = condition(args.op.as_deref().unwrap_or("x != 0"), inputs)?;
    let work = match args.pattern {
        Pattern::Any => Work::Ask(Question::Any, holds),
        Pattern::All => Work::Ask(Question::All, holds),
        Pattern::Count => Work::Ask(Question::Count, holds),
        _ => Work::Find(holds),
    };
    Ok(Plan { name: args.pattern.name(), work, shape: vec![1], boolean: matches!(args.pattern, Pattern::Any | Pattern::All) })
}
