//! Convolutions of layers: images of channels, in batches and groups, by filters with strides and dilations, and their transposes.

use super::common::with_summed;
use super::dense::{Arithmetic, BLOCK, SUMMED, elements, inside};
use super::{choice, inexact, output, parts};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::rules;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::element::DType;
use isowarp::patterns::{Border, ProductOrder};
use isowarp::prelude::*;

/// Terms of all results of a trial: a software adapter and plain loops take a fraction of a second for them.
const TERMS: usize = 300_000;

/// An axis of images and filters.
#[derive(Clone, Copy, Default)]
struct Axis {
    n: usize,
    taps: usize,
    stride: usize,
    dilation: usize,
    /// Elements that windows reach before the first one and after the last one.
    padding: [usize; 2],
    /// Elements of a transpose's result after those that its windows need.
    more: usize,
}

/// Images and filters of a trial.
struct Layer {
    axes: Vec<Axis>,
    batch: usize,
    groups: usize,
    /// Channels of a group, of the images and of the results.
    channels: [usize; 2],
    border: Border,
    is_transposed: bool,
    is_same: bool,
    is_flipped: bool,
    order: ProductOrder,
}

/// Numbers of an axis, by name.
fn named(axis: Axis) -> [(&'static str, usize); 7] {
    let Axis { n, taps, stride, dilation, padding: [before, after], more } = axis;
    [("size", n), ("taps", taps), ("stride", stride), ("dilation", dilation), ("before", before), ("after", after), ("more", more)]
}

pub(super) fn trial(r: &mut Random) -> Trial {
    let dtype = if r.chance(10) { DType::F64 } else { r.pick(&SUMMED) };
    loop {
        let mut of = numbers(r);
        let number = |name: &str| of.number(name) as usize;
        let of_axes = |name: &str| (0..number("axes")).map(|k| number(&format!("{name}{k}"))).product::<usize>();
        let channels = number("groups") * number("inputs");
        let [a, b] = [number("batch") * channels * of_axes("size"), channels * number("outputs") * of_axes("taps")];
        of.n = a;
        let layer = layer(&of, [a, b]);
        if a.max(b) <= TERMS && layer.results() * layer.terms() <= TERMS {
            let fine = r.chance(60);
            let mut bits = |len: usize| if fine { inexact(dtype, len, r) } else { elements(dtype, len, r) };
            of.inputs = [a, b].map(|len| Array::plain(dtype, bits(len))).to_vec();
            return of;
        }
    }
}

/// The numbers of a layer, without its elements.
fn numbers(r: &mut Random) -> Trial {
    let (mut axes, mut groups, mut channels) = (vec![Axis::default(); 1 + r.below(3)], 1, [1, 1]);
    let mut batch = 1 + r.below(3);
    let kind = r.below(11);
    match kind {
        // Planes, which have a kernel of their own.
        0 | 1 => {
            axes = vec![Axis { n: 3 + r.below(12), ..axes[0] }, Axis { n: 60 + r.below(80), ..axes[0] }];
            axes.iter_mut().for_each(|axis| axis.taps = 1 + r.below(6));
            groups = 1 + r.below(3);
            // Or volumes, and several channels, by few filters.
            if r.chance(50) {
                axes.insert(0, Axis { n: 1 + r.below(4), taps: 1 + r.below(3), ..axes[0] });
                let most = r.pick(&[3, 3, 17]);
                channels = [1 + r.below(4), 1 + r.below(most)];
            }
        }
        // Planes by filters of more terms than a block has.
        2 => {
            axes = [4 + r.below(3), 64 + r.below(12)].map(|n| Axis { n, taps: 22 + r.below(13), ..axes[0] }).to_vec();
            batch = 1;
        }
        // Lines, and batches of such, which have it too.
        10 => {
            axes.truncate(1);
            let [most, taps] = [r.pick(&[300, 3000]), r.pick(&[12, 40, 400])];
            axes[0] = Axis { n: 60 + r.below(most), taps: 1 + r.below(taps), ..axes[0] };
            (batch, groups) = (1 + r.below(6), if r.chance(25) { 2 } else { 1 });
        }
        // Many terms.
        3 | 4 => {
            axes.truncate(2);
            axes.iter_mut().for_each(|axis| (axis.n, axis.taps) = (1 + r.below(6), 1 + r.below(3)));
            channels = [60 + r.below(400), 1 + r.below(6)];
        }
        // Many results of each window.
        5 => {
            axes = vec![Axis { n: 3 + r.below(10), taps: 1 + r.below(3), ..axes[0] }; 2];
            channels = [1 + r.below(6), 9 + r.below(24)];
        }
        _ => {
            let most = [100, 16, 7][axes.len() - 1];
            axes.iter_mut().for_each(|axis| (axis.n, axis.taps) = (1 + r.below(most), 1 + r.below(5)));
            groups = if r.chance(50) { 1 + r.below(3) } else { 1 };
            channels = [1 + r.below(4), 1 + r.below(5)];
        }
    }
    for axis in &mut axes {
        // Of transposed planes and lines, zeros between elements.
        let percent = match kind {
            2 => 0,
            3..10 => 35,
            _ => 15,
        };
        let step = |r: &mut Random| if r.chance(percent) { 1 + r.below(3) } else { 1 };
        (axis.stride, axis.dilation) = (step(r), step(r));
        axis.padding = if r.chance(50) { [r.below(4), r.below(4)] } else { [r.below(3); 2] };
        axis.more = r.below(3);
    }
    let [inputs, outputs] = channels;
    let mut flag = |percent: usize| usize::from(r.chance(percent));
    let flags = [("transposed", flag(30)), ("same", flag(if kind == 2 { 75 } else { 25 })), ("flipped", flag(30)), ("chain", flag(50))];
    let sizes = [("axes", axes.len()), ("batch", batch), ("groups", groups), ("inputs", inputs), ("outputs", outputs)];
    let mut numbers: Vec<(String, u64)> =
        sizes.into_iter().chain(flags).chain([("border", r.below(4))]).map(|(name, value)| (name.to_owned(), value as u64)).collect();
    for (k, axis) in axes.into_iter().enumerate() {
        numbers.extend(named(axis).map(|(name, value)| (format!("{name}{k}"), value as u64)));
    }
    Trial { verb: Verb::Layer, n: 0, numbers, inputs: Vec::new(), trees: Vec::new() }
}

/// A layer that so many elements of images and of filters are enough for, whatever numbers a trial has.
fn layer(trial: &Trial, [mut images, mut filters]: [usize; 2]) -> Layer {
    let number = |name: &str| trial.number(name) as usize;
    let flag = |name: &str| trial.number(name) % 2 == 1;
    let (is_transposed, is_same) = (flag("transposed"), flag("same"));
    let taken = |wanted: usize, left: &mut usize| {
        let n = wanted.clamp(1, *left);
        *left /= n;
        n
    };
    let mut axes = Vec::new();
    for k in 0..number("axes").clamp(1, 3) {
        let of = |name: &str| number(&format!("{name}{k}"));
        let (stride, dilation) = (of("stride").clamp(1, 8), of("dilation").clamp(1, 8));
        let n = taken(of("size"), &mut images);
        let [before, after] = if is_same { [0; 2] } else { ["before", "after"].map(|name| of(name) % 8) };
        let fitting = if is_transposed || is_same { filters } else { (n + before + after - 1) / dilation + 1 };
        let taps = taken(of("taps").min(fitting), &mut filters);
        let span = dilation * (taps - 1);
        // A transpose keeps an element at least.
        let most = if is_transposed { (n - 1) * stride + span } else { usize::MAX };
        let before = before.min(most);
        let padding = if is_same { [span / 2, span - span / 2] } else { [before, after.min(most - before)] };
        axes.push(Axis { n, taps, stride, dilation, padding, more: of("more") % stride });
    }
    let mut both = |name: &str| {
        let n = number(name).clamp(1, images.min(filters));
        (images, filters) = (images / n, filters / n);
        n
    };
    let (groups, inputs) = (both("groups"), both("inputs"));
    let (batch, outputs) = (taken(number("batch"), &mut images), taken(number("outputs"), &mut filters));
    Layer {
        axes,
        batch,
        groups,
        channels: [inputs, outputs],
        border: if is_transposed { Border::Zero } else { choice(trial, "border", &Border::ALL) },
        is_transposed,
        is_same,
        is_flipped: flag("flipped"),
        order: if flag("chain") { ProductOrder::Chain } else { ProductOrder::Blocks },
    }
}

impl Axis {
    fn span(&self) -> usize {
        self.dilation * (self.taps - 1)
    }

    /// Elements of a result.
    fn out(&self, is_transposed: bool) -> usize {
        let padding = self.padding[0] + self.padding[1];
        if is_transposed {
            (self.n - 1) * self.stride + self.span() + 1 + self.more - padding
        } else {
            (self.n + padding - self.span() - 1) / self.stride + 1
        }
    }

    /// The element that a tap of a window reads, if any.
    fn read(&self, of: &Layer, window: usize, tap: usize) -> Option<usize> {
        let [window, tap, dilation, before] = [window, tap, self.dilation, self.padding[0]].map(|x| x as i64);
        if !of.is_transposed {
            return inside(of.border, window * self.stride as i64 + tap * dilation - before, self.n as i64);
        }
        // Zeros between elements, and around them.
        let at = usize::try_from(window + tap * dilation - (self.span() as i64 - before)).ok()?;
        (at.is_multiple_of(self.stride) && at / self.stride < self.n).then_some(at / self.stride)
    }
}

impl Layer {
    fn all(&self, of: impl Fn(&Axis) -> usize) -> Vec<usize> {
        self.axes.iter().map(of).collect()
    }

    /// Terms of a result.
    fn terms(&self) -> usize {
        self.channels[0] * self.all(|axis| axis.taps).iter().product::<usize>()
    }

    /// Windows of an image.
    fn windows(&self) -> Vec<usize> {
        self.all(|axis| axis.out(self.is_transposed))
    }

    fn results(&self) -> usize {
        self.batch * self.groups * self.channels[1] * self.windows().iter().product::<usize>()
    }

    /// Filters, and channels of each.
    fn filters(&self) -> [usize; 2] {
        let [inputs, outputs] = self.channels;
        if self.is_transposed { [self.groups * inputs, outputs] } else { [self.groups * outputs, inputs] }
    }
}

/// The place of element `i` of a row-major array along each of its axes.
fn places(mut i: usize, shape: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = shape.iter().rev().map(|n| (i % n, i /= n).0).collect();
    all.reverse();
    all
}

fn layer_of(trial: &Trial) -> Layer {
    layer(trial, [0, 1].map(|k| trial.inputs[k].bits.len()))
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let of = layer_of(trial);
    let wide = |all: Vec<usize>| all.into_iter().map(|n| n as u64).collect::<Vec<u64>>();
    let numbers = |number: fn(&Axis) -> usize| wide(of.all(number));
    let (sizes, taps) = (numbers(|axis| axis.n), numbers(|axis| axis.taps));
    let [batch, groups, channels] = [of.batch, of.groups, of.groups * of.channels[0]].map(|n| n as u64);
    let [filters, looks] = of.filters().map(|n| n as u64);
    let lens = [sizes.iter().product::<u64>() * batch * channels, taps.iter().product::<u64>() * filters * looks];
    let input = |k: usize| upload(device, trial.inputs[k].dtype, &trial.inputs[k].bits[..lens[k] as usize]);
    let (a, b) = (input(0)?, input(1)?);
    with_summed!(a.dtype(), T => {
        let (a, b) = (a.typed::<T>()?, b.typed::<T>()?);
        let (image, filter) = (grid(&a, &sizes).channels(channels).batch(batch), grid(&b, &taps).channels(looks).batch(filters));
        let call = device.convolve(image, filter).groups(groups).border(of.border).order(of.order);
        let call = call.stride(&numbers(|axis| axis.stride)).dilation(&numbers(|axis| axis.dilation));
        let call =
            if of.is_same { call.same() } else { call.padding_by(&numbers(|axis| axis.padding[0]), &numbers(|axis| axis.padding[1])) };
        let call = if of.is_flipped { call.flipped() } else { call };
        let call = match of.all(|axis| axis.more).iter().any(|&more| more > 0) {
            true if of.is_transposed => call.transposed_to(&wide(of.windows())),
            _ if of.is_transposed => call.transposed(),
            _ => call,
        };
        parts(&[call.run()?.into()])
    })
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let [a, b] = [0, 1].map(|k| {
        let array = &trial.inputs[k];
        array.bits.iter().map(|&bits| rules::widen(array.dtype, bits)).collect::<Vec<u64>>()
    });
    let ty = trial.inputs[0].dtype.ty();
    let (of, arithmetic) = (layer_of(trial), Arithmetic(ty));
    let (sizes, taps, windows) = (of.all(|axis| axis.n), of.all(|axis| axis.taps), of.windows());
    let [points, of_channel, all] = [&sizes, &taps, &windows].map(|of| of.iter().product::<usize>());
    let read = |window: usize, tap: usize| {
        let places = places(window, &windows).into_iter().zip(places(tap, &taps));
        of.axes.iter().zip(places).try_fold(0, |at, (axis, (window, tap))| Some(at * axis.n + axis.read(&of, window, tap)?))
    };
    let reads: Vec<Option<usize>> = (0..all * of_channel).map(|i| read(i / of_channel, i % of_channel)).collect();
    let [inputs, outputs] = of.channels;
    let block = if of.order == ProductOrder::Chain { of.terms() } else { BLOCK };
    let element = |image: usize, group: usize, output: usize, window: usize| {
        let term = |term: usize| {
            let (channel, tap) = (term / of_channel, term % of_channel);
            let plane = (image * of.groups + group) * inputs + channel;
            let filter = if of.is_transposed {
                (group * inputs + channel) * outputs + output
            } else {
                (group * outputs + output) * inputs + channel
            };
            // A transpose has its filters the other way round.
            let weight = if of.is_flipped == of.is_transposed { tap } else { of_channel - 1 - tap };
            (b[filter * of_channel + weight], reads[window * of_channel + tap].map_or(0, |at| a[plane * points + at]))
        };
        arithmetic.sum(&(0..inputs * of_channel).map(term).collect::<Vec<_>>(), block)
    };
    let mut values = Vec::with_capacity(of.results());
    for row in 0..of.batch * of.groups * outputs {
        let (image, group, output) = (row / outputs / of.groups, row / outputs % of.groups, row % outputs);
        values.extend((0..all).map(|window| rules::narrow(ty.dtype(), ty, element(image, group, output, window))));
    }
    vec![output(ty.dtype(), values)]
}
