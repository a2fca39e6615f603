//! Plans of histograms: of one array, of several together, and of channels.

use crate::failure::{Failure, Result};
use crate::npy::{Array, shape_text};
use crate::run::options::{self, RunArgs};
use crate::run::plan::Plan;
use crate::run::registry::{Inputs, Verb};
use clap::Arg;
use isowarp::dynamic::{Call, Histogram};
use isowarp_textbook::{HistogramVariant, Textbook};

pub(super) const VERBS: &[Verb] = &[Verb {
    name: "histogram",
    about: "How many elements fall into each of --bins even bins of --range, or between --edges; u32, or the sums of --weights. Of two or three \
            arrays together, an axis for each; or of each of --channels",
    example: "--bins 256 --range=-1,1 --in a.npy --out counts.npy",
    inputs: Inputs { own_shapes: true, ..Inputs::between(1, 3) },
    options: &[
        options::bins,
        options::range,
        options::edges,
        options::inclusive,
        options::flow,
        options::channels,
        options::weights,
        histogram_variant,
        options::chunk_size,
    ],
    plan: histogram,
    bench: "histogram/even",
}];

fn histogram_variant() -> Arg {
    options::variant(HistogramVariant::ALL.map(HistogramVariant::name))
}

fn histogram(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let arrays = args.inputs.len();
    let (samples, rest) = inputs.split_at(arrays.min(inputs.len()));
    let edges = rest.get(usize::from(args.weights.is_some())..).unwrap_or_default();
    if let Some((x, of)) = samples.iter().cycle().zip(edges).find(|(x, of)| x.dtype != of.dtype) {
        let message = format!("the samples are {}, and the edges {}", x.type_name(), of.type_name());
        return Err(Failure::usage(message, "edges are of the samples' type"));
    }
    if let Some(other) = samples.iter().find(|x| x.shape != samples[0].shape) {
        let message = format!("the inputs' shapes differ: {} and {}", samples[0].shape_text(), other.shape_text());
        return Err(Failure::failed(message, "a histogram of several arrays takes an element of each"));
    }
    let (bins, range) = (args.bins.as_deref().unwrap_or_default(), args.range.as_deref().unwrap_or_default());
    let pairs: Vec<&[String]> = range.chunks(2).collect();
    let named = bins.len().max(pairs.len()).max(edges.len());
    let active = match args.channels {
        Some(channels) if named == 1 => channels as usize,
        _ => named,
    };
    if let (Some(channels), Some(x)) = (args.channels, samples.first()) {
        check_channels(x, channels)?;
    }
    let even = (0..bins.len().max(pairs.len())).filter_map(|k| {
        let ([lower, upper], bins) = (pairs.get(k).or(pairs.first())?, bins.get(k).or(bins.first())?) else { return None };
        Some((lower.clone(), upper.clone(), *bins))
    });
    let even: Vec<_> = even.collect();
    if args.channels.is_some() && args.weights.is_some() && (even.is_empty() || even.iter().any(|of| *of != even[0])) {
        let message = "the weights of channels are added to even bins, the same of each channel";
        return Err(Failure::usage(message, "say --bins and --range once, or the same for each channel; or leave --weights out"));
    }
    let counts = even.iter().map(|e| e.2.into()).chain(edges.iter().map(|e| e.len().saturating_sub(1)));
    let counts: Vec<u64> = counts.map(|bins| if args.flow { bins + 2 } else { bins }).collect();
    let shape = match (&counts[..], args.channels) {
        (&[all], Some(_)) => vec![active as u64, all],
        ([first, others @ ..], Some(_)) if others.iter().all(|c| c == first) => vec![active as u64, *first],
        // Channels with numbers of bins of their own are one line.
        (_, Some(_)) => vec![counts.iter().sum()],
        _ => counts,
    };
    let channels = args.channels.map(|channels| (channels, active));
    let variant = args.variant.as_deref().and_then(HistogramVariant::named).map(Textbook::Histogram);
    if variant.is_some() && (args.weights.is_some() || args.channels.is_some() || args.chunk_size.is_some()) {
        return Err(Failure::usage(
            "a variant of a histogram counts arrays at once",
            "leave --variant out, or --weights, --channels and --chunk-size",
        ));
    }
    let of = Histogram { arrays, even, weighted: args.weights.is_some(), channels, flow: args.flow, inclusive: args.inclusive };
    Ok(Plan::new(Call::Histogram(of), shape).by(variant))
}

/// Channels are an array's last axis, or follow each other in one line.
fn check_channels(x: &Array, channels: u32) -> Result<()> {
    match x.shape[..] {
        [] | [_] => Ok(()),
        [.., last] if last == u64::from(channels) => Ok(()),
        _ => Err(Failure::usage(
            format!("the last axis of an array of shape {} is not of {channels} channels", shape_text(&x.shape)),
            "name as many --channels as it has, or move them there with `isowarp run transpose --axes` or `isowarp run layout`",
        )),
    }
}
