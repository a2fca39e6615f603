//! What each pattern takes: its inputs and options, looked at before anything is read.

use super::chunks;
use crate::args::{Pattern, RunArgs, Side};
use crate::failure::{Failure, Result};

impl Pattern {
    /// As the command line says it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Zip => "zip",
            Self::Generate => "generate",
            Self::Reduce => "reduce",
            Self::Argmin => "argmin",
            Self::Argmax => "argmax",
            Self::Dot => "dot",
            Self::Any => "any",
            Self::All => "all",
            Self::Count => "count",
            Self::Find => "find",
            Self::IsSorted => "is-sorted",
            Self::Norm => "norm",
            Self::Mean => "mean",
            Self::Scan => "scan",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::Transpose => "transpose",
            Self::Layout => "layout",
            Self::ToMorton => "to-morton",
            Self::FromMorton => "from-morton",
            Self::Reverse => "reverse",
            Self::Rotate => "rotate",
            Self::Sort => "sort",
            Self::Argsort => "argsort",
            Self::Topk => "topk",
            Self::Merge => "merge",
            Self::CoRanks => "co-ranks",
            Self::Search => "search",
            Self::Union => "union",
            Self::Intersection => "intersection",
            Self::Difference => "difference",
            Self::SymmetricDifference => "symmetric-difference",
            Self::Select => "select",
            Self::Partition => "partition",
            Self::Unique => "unique",
            Self::Rle => "rle",
            Self::RleDecode => "rle-decode",
            Self::ReduceByKey => "reduce-by-key",
            Self::SegmentedReduce => "segmented-reduce",
            Self::SegmentedArgmin => "segmented-argmin",
            Self::SegmentedArgmax => "segmented-argmax",
            Self::SegmentedScan => "segmented-scan",
            Self::SegmentedSort => "segmented-sort",
            Self::SegmentedArgsort => "segmented-argsort",
            Self::AdjacentDifference => "adjacent-difference",
            Self::Histogram => "histogram",
            Self::Ballot => "ballot",
            Self::Match => "match",
            Self::Tickets => "tickets",
        }
    }

    /// The least and the greatest number of inputs.
    fn inputs(self, by_key: bool, channels: bool) -> (usize, usize) {
        match self {
            // Keys, and the values that travel with them.
            Self::Merge if by_key => (4, 4),
            Self::SegmentedSort if by_key => (3, 3),
            _ if by_key => (2, 2),
            Self::Generate => (0, 0),
            Self::Scatter | Self::CoRanks => (3, 3),
            Self::Dot | Self::Gather | Self::ReduceByKey | Self::RleDecode => (2, 2),
            p if p.takes_sorted() || p.takes_offsets() => (2, 2),
            // Each a dimension.
            Self::Histogram if !channels => (1, 3),
            Self::Zip => (2, 4),
            p if p.asks() || p.keeps() => (1, 4),
            _ => (1, 1),
        }
    }

    /// Whether its inputs may have shapes of their own.
    pub(crate) fn mixes_shapes(self) -> bool {
        matches!(self, Self::Gather | Self::Scatter | Self::Histogram) || self.takes_sorted() || self.takes_offsets()
    }

    /// Whether its second input bounds segments of the first.
    fn takes_offsets(self) -> bool {
        let extreme = matches!(self, Self::SegmentedArgmin | Self::SegmentedArgmax);
        extreme || matches!(self, Self::SegmentedReduce | Self::SegmentedScan | Self::SegmentedSort | Self::SegmentedArgsort)
    }

    /// Whether it combines elements by an associative operator.
    fn combines(self) -> bool {
        matches!(self, Self::Reduce | Self::Scan | Self::ReduceByKey | Self::SegmentedReduce | Self::SegmentedScan)
    }

    /// Whether it takes sorted arrays.
    fn takes_sorted(self) -> bool {
        let sets = matches!(self, Self::Union | Self::Intersection | Self::Difference | Self::SymmetricDifference);
        sets || matches!(self, Self::Merge | Self::Search | Self::CoRanks)
    }

    /// Whether it puts elements in order.
    fn sorts(self) -> bool {
        matches!(self, Self::Sort | Self::Argsort | Self::Topk | Self::SegmentedSort | Self::SegmentedArgsort)
    }

    /// Whether it may put elements in an order of the caller's.
    fn takes_order(self) -> bool {
        matches!(self, Self::Sort | Self::Argsort | Self::IsSorted) || (self.takes_sorted() && self != Self::CoRanks)
    }

    /// Whether values may travel with its elements, or be combined by them.
    fn takes_values(self) -> bool {
        matches!(self, Self::Sort | Self::SegmentedSort | Self::Topk | Self::Merge | Self::Unique | Self::Scan)
    }

    /// Whether it takes a condition.
    fn selects(self) -> bool {
        self.keeps() || self == Self::Ballot
    }

    /// Whether elements stay for which a condition holds.
    fn keeps(self) -> bool {
        matches!(self, Self::Select | Self::Partition)
    }

    /// Whether it answers a question about elements for which a condition holds.
    fn asks(self) -> bool {
        matches!(self, Self::Any | Self::All | Self::Count | Self::Find)
    }

    /// Whether it compares keys by their bits, which may be some of them.
    fn takes_bits(self) -> bool {
        matches!(self, Self::Sort | Self::Argsort | Self::Topk | Self::IsSorted)
    }

    /// Whether it says how many there are of what it finds.
    fn gives_lengths(self) -> bool {
        matches!(self, Self::Rle | Self::Match | Self::Tickets)
    }

    /// Whether it works on groups of neighbours.
    fn has_groups(self) -> bool {
        matches!(self, Self::Ballot | Self::Match)
    }

    fn is_map(self) -> bool {
        matches!(self, Self::Map | Self::Zip | Self::Generate)
    }
}

/// Refuses options that the pattern has no use for, and inputs of the wrong number.
pub(crate) fn check(args: &RunArgs) -> Result {
    let p = args.pattern;
    let name = p.name();
    let line = matches!(p, Pattern::Reduce | Pattern::Scan);
    let misplaced = [
        (
            args.op.is_some() && !p.is_map() && !p.combines() && !p.selects() && !p.asks() && !p.takes_order() && p != Pattern::Scatter,
            "--op",
            "map, zip, generate, reduce, scan, reduce-by-key, segmented-reduce, segmented-scan, select, partition, count, any, all, find, ballot, sort, argsort, is-sorted, merge, search, union, intersection, difference, symmetric-difference and scatter",
        ),
        (args.by.is_some() && p != Pattern::Rotate, "--by", "rotate"),
        (args.digits.is_some() && p != Pattern::Scatter, "--digits", "scatter"),
        (args.identity.is_some() && !p.combines(), "--identity", "reduce, scan, reduce-by-key, segmented-reduce and segmented-scan"),
        (
            args.axis.is_some() && !line && !matches!(p, Pattern::Topk | Pattern::Argmin | Pattern::Argmax),
            "--axis",
            "reduce, scan, argmin, argmax and topk",
        ),
        (args.lengths.is_some() && !p.gives_lengths(), "--lengths", "rle, match and tickets"),
        (args.width.is_some() && !p.has_groups(), "--width", "ballot and match"),
        (args.k.is_some() && p != Pattern::Topk, "-k", "topk"),
        (args.indices.is_some() && !matches!(p, Pattern::Topk | Pattern::Select), "--indices", "topk and select"),
        (args.flags && !p.keeps(), "--flags", "select and partition"),
        (args.then.is_some() && p != Pattern::Partition, "--then", "partition"),
        (args.count.is_some() && p != Pattern::Partition, "--count", "partition"),
        (args.axes.is_some() && p != Pattern::Transpose, "--axes", "transpose"),
        (args.bits.is_some() && !p.takes_bits(), "--bits", "sort, argsort, topk and is-sorted"),
        (args.by_key && !p.takes_values(), "--by-key", "sort, segmented-sort, topk, merge, unique and scan"),
        (
            args.keys_out.is_some() && p != Pattern::ReduceByKey && (p == Pattern::Scan || !p.takes_values()),
            "--keys-out",
            "reduce-by-key, sort, segmented-sort, topk, merge and unique",
        ),
        (
            (args.bins.is_some() || args.range.is_some() || !args.edges.is_empty() || args.weights.is_some()) && p != Pattern::Histogram,
            "--bins, --range, --edges and --weights",
            "histogram",
        ),
        (args.channels.is_some() && p != Pattern::Histogram, "--channels", "histogram"),
        ((args.from.is_some() || args.to.is_some()) && p != Pattern::Layout, "--from and --to", "layout"),
        (args.exclusive && !matches!(p, Pattern::Scan | Pattern::SegmentedScan), "--exclusive", "scan and segmented-scan"),
        (
            args.descending && !p.sorts() && !p.takes_sorted() && p != Pattern::IsSorted,
            "--descending",
            "sort, argsort, topk, is-sorted, segmented-sort, segmented-argsort, merge, search, co-ranks, union, intersection, difference and symmetric-difference",
        ),
        (args.side.is_some() && !matches!(p, Pattern::Search | Pattern::AdjacentDifference), "--side", "search and adjacent-difference"),
        (
            args.variant.is_some() && !line && !matches!(p, Pattern::Sort | Pattern::Merge | Pattern::Histogram),
            "--variant",
            "reduce, scan, sort, merge and histogram",
        ),
        (args.ord.is_some() && p != Pattern::Norm, "--ord", "norm"),
        (args.n.is_some() && p != Pattern::Generate, "--n", "generate"),
        (args.shape.is_some() && !matches!(p, Pattern::Generate | Pattern::FromMorton), "--shape", "generate and from-morton"),
        (
            args.dtype.is_some() && !p.is_map() && !p.combines(),
            "--dtype",
            "map, zip, generate, reduce, scan, reduce-by-key, segmented-reduce and segmented-scan",
        ),
        (args.chunk_size.is_some() && !chunks::may_take(p), "--chunk-size", "sort, argsort, histogram and scan"),
        (args.temp_dir.is_some() && (p == Pattern::Histogram || !chunks::may_take(p)), "--temp-dir", "sort, argsort and scan"),
    ];
    if let Some((_, option, patterns)) = misplaced.iter().find(|m| m.0) {
        return Err(Failure::usage(
            format!("{option} is for {patterns}, not for {name}"),
            format!("leave {option} out, or run another pattern"),
        ));
    }
    if p.takes_order() && args.op.is_some() && args.descending {
        return Err(Failure::usage(
            "--descending is for the order of values, not for one of your own",
            "leave it out, and swap x and y in --op",
        ));
    }
    if args.keys_out.is_some() && p.takes_values() && !args.by_key {
        return Err(Failure::usage(
            format!("--keys-out is for keys with which values travel, and {name} has none without --by-key"),
            "leave it out, or add --by-key and an input of values",
        ));
    }
    if args.by_key && p == Pattern::Scan && (args.axis.is_some() || args.variant.is_some()) {
        return Err(Failure::usage(
            "a scan by key takes its arrays as one line, in the pattern's own order of evaluation",
            "leave out --axis and --variant, or --by-key",
        ));
    }
    if p.takes_order() && args.op.is_some() && args.bits.is_some() {
        return Err(Failure::usage(
            "--bits is for the order of values, not for one of your own",
            "leave it out, or compare (x >> 4 & 15) in --op",
        ));
    }
    if args.side == Some(Side::Count) && p != Pattern::Search {
        return Err(Failure::usage(format!("--side count is for search, not for {name}"), "name left or right"));
    }
    if args.flags && args.op.is_some() {
        return Err(Failure::usage(
            "--flags and --op both say which elements are meant",
            "leave one of the two out; y in --op is the second input",
        ));
    }
    if let Some(text) = &args.chunk_size {
        crate::bench::size(text)?;
        if p == Pattern::Scan && (args.by_key || args.variant.is_some()) {
            return Err(Failure::usage("--chunk-size is for a scan without --by-key and --variant", "leave one of the two out"));
        }
    }
    if args.variant.is_some() && args.axis.is_some() {
        return Err(Failure::usage("--variant is for a whole array, not for lines along --axis", "leave one of the two out"));
    }
    let (least, most) = p.inputs(args.by_key, args.channels.is_some());
    let found = args.inputs.len();
    if found < least || found > most {
        let wanted = match (least, most) {
            (0, 0) => "no inputs".to_owned(),
            (1, 1) => "one input (--in)".to_owned(),
            _ if least == most => format!("{least} inputs (--in, {least} times)"),
            _ => format!("{least} to {most} inputs (--in, each time)"),
        };
        let help =
            format!("name {} with --in, in the order that `isowarp run --help` says", if found < least { "the others" } else { "fewer" });
        let name = if args.by_key { format!("{name} --by-key") } else { name.to_owned() };
        return Err(Failure::usage(format!("{name} takes {wanted}, not {found}"), help));
    }
    if p.is_map() && args.op.is_none() {
        return Err(Failure::usage(
            format!("{name} needs --op, an expression"),
            "add one, such as --op \"2*x + 1\"; `isowarp run --help` lists the functions",
        ));
    }
    if p == Pattern::Histogram {
        check_bins(args)?;
    }
    if p == Pattern::Layout && (args.from.is_none() || args.to.is_none()) {
        return Err(Failure::usage("layout needs --from and --to, two layouts", "add them, such as --from nchw --to nhwc"));
    }
    if p == Pattern::FromMorton && args.shape.is_none() {
        return Err(Failure::usage("from-morton needs --shape, that of the array", "add one, such as --shape 4,8"));
    }
    if p.has_groups() && args.width.is_none_or(|w| w == 0) {
        return Err(Failure::usage(format!("{name} needs --width, the elements of a group"), "add one above 0, such as --width 32"));
    }
    if p == Pattern::Topk && args.k.is_none() {
        return Err(Failure::usage("topk needs -k, how many elements", "add one, such as -k 10"));
    }
    if p == Pattern::Rotate && args.by.is_none() {
        return Err(Failure::usage("rotate needs --by, a number of places", "add one, such as --by 1 or --by -1"));
    }
    if args.flags && found != 2 {
        return Err(Failure::usage(
            format!("{name} --flags takes 2 inputs (--in, 2 times), not {found}"),
            "name the elements, and the flags behind them",
        ));
    }
    if p.asks() && found > 1 && args.op.is_none() {
        return Err(Failure::usage(format!("{name} of several inputs needs --op, a condition"), "add one, such as --op \"x == y\""));
    }
    if p.selects() && args.op.is_none() && !args.flags {
        return Err(Failure::usage(format!("{name} needs --op, a condition"), "add one, such as --op \"x > 0.25\""));
    }
    if p == Pattern::Generate && (args.n.is_some() == args.shape.is_some() || args.dtype.is_none()) {
        return Err(Failure::usage("generate needs either --n or --shape, and --dtype", "add them, such as --n 1000 --dtype f32"));
    }
    Ok(())
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
    // What is said once is said of all channels.
    let each = |n: usize| n <= 1 || n == named;
    if !range.is_multiple_of(2) || !each(bins) || !each(range / 2) || named > channels as usize {
        let message = format!("{bins} of --bins, {range} of --range and {edges} of --edges do not fit {channels} channels");
        return Err(Failure::usage(message, "say bins and bounds once for all channels, or for each of the first ones"));
    }
    Ok(())
}
