//! Conditions, selections, runs and groups.

use crate::failure::{Failure, Result};
use crate::npy::Array;
use crate::run::elements::{carried, condition, first, no_truth};
use crate::run::options::{self, RunArgs};
use crate::run::plan::{Part, Plan};
use crate::run::registry::{Inputs, Verb};
use isowarp::dynamic::{Call, Question};

pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "count",
        about: "For how many elements an expression of x (of more arrays y, z, w, and of the index i) holds, u32; by default x != 0",
        example: "--op \"x > 0.25\" --in a.npy --out count.npy",
        inputs: Inputs::OF_EXPRESSION,
        options: &[options::question],
        plan: |args, inputs| asked(args, inputs, Question::Count),
        bench: "select/count",
    },
    Verb {
        name: "any",
        about: "Whether the expression holds for some element",
        example: "--op \"x > 0.25\" --in a.npy --out answer.npy",
        inputs: Inputs::OF_EXPRESSION,
        options: &[options::question],
        plan: |args, inputs| asked(args, inputs, Question::Any),
        bench: "select/any",
    },
    Verb {
        name: "all",
        about: "Whether the expression holds for every element; of no elements it does",
        example: "--op \"x == y\" --in a.npy --in b.npy --out equal.npy",
        inputs: Inputs::OF_EXPRESSION,
        options: &[options::question],
        plan: |args, inputs| asked(args, inputs, Question::All),
        bench: "select/all_of",
    },
    Verb {
        name: "find",
        about: "The first index at which the expression holds, u32: one element, or none where it holds nowhere",
        example: "--op \"x > 0.99\" --in a.npy --out place.npy",
        inputs: Inputs::OF_EXPRESSION,
        options: &[options::question],
        plan: |args, inputs| asked(args, inputs, Question::First),
        bench: "select/find",
    },
    Verb {
        name: "select",
        about: "The elements for which an expression of x (of more arrays y, z, w, and of the index i) holds, in their order",
        example: "--op \"x > 0.25 && x < 0.75\" --in a.npy --out kept.npy",
        inputs: Inputs::OF_EXPRESSION,
        options: &[options::condition_or_flags, options::flags, options::indices, options::chunk_size, options::temp_dir],
        plan: |args, inputs| {
            let (keep, indices) = (meant(args, inputs)?, args.indices.is_some());
            let plan = Plan::counted(Call::Select { keep, indices }).boolean(first(inputs)?.boolean);
            Ok(plan.giving(if indices { &[Part::Result, Part::Indices] } else { &[Part::Result] }))
        },
        bench: "select/half",
    },
    Verb {
        name: "partition",
        about: "All elements, first those for which an expression of x (y, z, w, i) holds, then those of --then; all in their order",
        example: "--op \"x < 0\" --then \"x == 0\" --in a.npy --out parts.npy --count sizes.npy",
        inputs: Inputs::OF_EXPRESSION,
        options: &[options::condition_or_flags, options::then, options::flags, options::count, options::chunk_size, options::temp_dir],
        plan: |args, inputs| {
            let (x, then) = (first(inputs)?, args.then.as_deref().map(|then| condition(then, inputs)));
            let call = Call::Partition(meant(args, inputs)?, then.transpose()?);
            Ok(Plan::new(call, vec![x.len()]).boolean(x.boolean).giving(&[Part::Result, Part::Count]))
        },
        bench: "select/partition",
    },
    Verb {
        name: "unique",
        about: "The first of each run of equal neighbours; with --by-key its value",
        example: "--in a_sorted.npy --out values.npy",
        inputs: Inputs::ONE,
        options: &[options::by_key, options::keys_out, options::chunk_size, options::temp_dir],
        plan: |args, inputs| {
            let plan = Plan::counted(Call::Unique).boolean(carried(args, inputs)?.boolean);
            Ok(plan.giving(if args.by_key { &[Part::Keys, Part::Result] } else { &[Part::Result] }))
        },
        bench: "select/unique",
    },
    Verb {
        name: "rle",
        about: "The first of each run of equal neighbours, and to --lengths how many there are, u32",
        example: "--in a.npy --out runs.npy --lengths lengths.npy",
        inputs: Inputs::ONE,
        options: &[options::lengths, options::chunk_size, options::temp_dir],
        plan: |_, inputs| Ok(Plan::counted(Call::RunLengthEncode).boolean(first(inputs)?.boolean).giving(&[Part::Result, Part::Lengths])),
        bench: "select/runs",
    },
    Verb {
        name: "rle-decode",
        about: "Each element of the first array as often as the second one, of integers, says",
        example: "--in runs.npy --in lengths.npy --out a.npy",
        inputs: Inputs::TWO,
        options: &[],
        plan: |_, inputs| {
            no_truth(inputs.get(1), "lengths of runs are integers", "name the array of lengths second")?;
            Ok(Plan::counted(Call::RunLengthDecode).boolean(first(inputs)?.boolean))
        },
        bench: "select/decode",
    },
    Verb {
        name: "ballot",
        about: "The bits of whether an expression of x (and the index i) holds, for each group of --width elements, u32 words",
        example: "--op \"x > 0\" --width 32 --in a.npy --out bits.npy",
        inputs: Inputs::ONE,
        options: &[options::condition, options::width],
        plan: |args, inputs| {
            let holds = condition(args.op.as_deref().unwrap_or_default(), inputs)?;
            Ok(Plan::counted(Call::Ballot(holds, args.width.unwrap_or(1))))
        },
        bench: "groups/ballot",
    },
    Verb {
        name: "match",
        about: "For each element the lowest place in its group of --width with the same bits, u32, and to --lengths how many there are",
        example: "--width 32 --in a.npy --out first.npy --lengths peers.npy",
        inputs: Inputs::ONE,
        options: &[options::width, options::lengths],
        plan: |args, inputs| {
            let call = Call::Match(args.width.unwrap_or(1));
            Ok(Plan::new(call, first(inputs)?.shape.clone()).giving(&[Part::Result, Part::Lengths]))
        },
        bench: "groups/match",
    },
    Verb {
        name: "tickets",
        about: "For each element how many of the same bits come before it, u32, and to --lengths how many there are",
        example: "--in a.npy --out tickets.npy --lengths counts.npy",
        inputs: Inputs::ONE,
        options: &[options::lengths],
        plan: |_, inputs| Ok(Plan::new(Call::Tickets, first(inputs)?.shape.clone()).giving(&[Part::Result, Part::Lengths])),
        bench: "atomics/tickets",
    },
];

/// A question's answer, one element; or where it is found, one or none.
fn asked(args: &RunArgs, inputs: &[Array], question: Question) -> Result<Plan> {
    if inputs.len() > 1 && args.op.is_none() {
        return Err(Failure::usage(
            format!("{} of several inputs needs --op, a condition", args.verb.name),
            "add one, such as --op \"x == y\"",
        ));
    }
    let call = Call::Ask(question, condition(args.op.as_deref().unwrap_or("x != 0"), inputs)?);
    let plan = if question == Question::First { Plan::counted(call) } else { Plan::new(call, vec![1]) };
    Ok(plan.boolean(matches!(question, Question::Any | Question::All)))
}

/// The condition of a selection.
fn meant(args: &RunArgs, inputs: &[Array]) -> Result<isowarp::ir::Func> {
    condition(if args.flags { "y != 0" } else { args.op.as_deref().unwrap_or_default() }, inputs)
}
