//! Inputs and options that do not go together, looked at before anything is read. That a verb has an option at all, clap sees to.

use super::options::RunArgs;
use crate::failure::{Failure, Result};

/// Refuses options that contradict each other, and inputs of the wrong number.
pub(crate) fn check(args: &RunArgs) -> Result {
    let (verb, name) = (args.verb, args.verb.name);
    let contradictions = [
        (
            args.op.is_some() && args.descending,
            "--descending is for the order of values, not for one of your own",
            "leave it out, and swap x and y in --op",
        ),
        (
            args.op.is_some() && args.bits.is_some(),
            "--bits is for the order of values, not for one of your own",
            "leave it out, or compare (x >> 4 & 15) in --op",
        ),
        (
            args.total_order && (args.op.is_some() || args.nan_last || args.bits.is_some()),
            "--total-order is an order of whole values, as --nan-last, --bits and one of your own say another",
            "leave it out, or the others",
        ),
        (
            args.flags && args.op.is_some(),
            "--flags and --op both say which elements are meant",
            "leave one of the two out; y in --op is the second input",
        ),
        (
            args.by_key && verb.takes("exclusive") && (args.axis.is_some() || args.variant.is_some()),
            "a scan by key takes its arrays as one line, in the pattern's own order of evaluation",
            "leave out --axis and --variant, or --by-key",
        ),
        (
            args.chunk_size.is_some() && (args.variant.is_some() && !verb.takes("bins") || args.by_key && verb.takes("exclusive")),
            "--chunk-size is for patterns without --variant, and scans without --by-key",
            "leave one of the two out",
        ),
        (
            args.variant.is_some() && args.axis.is_some(),
            "--variant is for a whole array, not for lines along --axis",
            "leave one of the two out",
        ),
    ];
    if let Some((_, message, help)) = contradictions.into_iter().find(|c| c.0) {
        return Err(Failure::usage(message, help));
    }
    if args.keys_out.is_some() && verb.takes("by-key") && !args.by_key {
        return Err(Failure::usage(
            format!("--keys-out is for keys with which values travel, and {name} has none without --by-key"),
            "leave it out, or add --by-key and an input of values",
        ));
    }
    if let Some(text) = &args.chunk_size {
        crate::bench::size(text)?;
    }
    let found = args.inputs.len();
    let (least, most) = match verb.inputs.keyed {
        keyed if args.by_key => (keyed, keyed),
        // Each a dimension, unless it is one of pixels.
        _ if args.channels.is_some() => (1, 1),
        _ => (verb.inputs.least, verb.inputs.most),
    };
    if found < least || found > most {
        let wanted = match (least, most) {
            (1, 1) => "one input (--in)".to_owned(),
            _ if least == most => format!("{least} inputs (--in, {least} times)"),
            _ => format!("{least} to {most} inputs (--in, each time)"),
        };
        let by_key = if args.by_key { " --by-key" } else { "" };
        return Err(Failure::usage(format!("{name}{by_key} takes {wanted}, not {found}"), format!("such as `{}`", verb.line())));
    }
    if args.flags && found != 2 {
        return Err(Failure::usage(
            format!("{name} --flags takes 2 inputs (--in, 2 times), not {found}"),
            "name the elements, and the flags after them",
        ));
    }
    if verb.takes("bins") { check_bins(args) } else { Ok(()) }
}

/// Bins of a histogram's arrays, or of its channels.
fn check_bins(args: &RunArgs) -> Result {
    let (bins, range) = (args.bins.as_ref().map_or(0, Vec::len), args.range.as_ref().map_or(0, Vec::len));
    let edges = args.edges.len();
    if edges == 0 && (bins == 0 || range == 0) {
        return Err(Failure::usage("histogram needs --bins and --range, or --edges", "add them, such as --bins 256 --range 0,256"));
    }
    let Some(channels) = args.channels else {
        let arrays = args.inputs.len();
        let fit = if edges == 0 { bins == arrays && range == 2 * arrays } else { edges == arrays };
        if fit {
            return Ok(());
        }
        let found = if edges == 0 { format!("{bins} of --bins and {range} of --range") } else { format!("{edges} of --edges") };
        let message =
            format!("histogram takes one of --bins and two of --range, or one of --edges, for each of {arrays} arrays, not {found}");
        return Err(Failure::usage(message, "say them in the order of --in, such as --bins 16,8 --range 0,1,-5,5"));
    };
    if args.chunk_size.is_some() {
        return Err(Failure::usage("--chunk-size is for a histogram without --channels", "leave one of the two out"));
    }
    let named = bins.max(range / 2).max(edges);
    // An option that is given once is meant for all channels.
    let each = |n: usize| n <= 1 || n == named;
    if !range.is_multiple_of(2) || !each(bins) || !each(range / 2) || named > channels as usize {
        let message = format!("{bins} of --bins, {range} of --range and {edges} of --edges do not fit {channels} channels");
        return Err(Failure::usage(message, "say bins and bounds once for all channels, or for each of the first ones"));
    }
    Ok(())
}
