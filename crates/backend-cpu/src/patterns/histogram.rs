//! P06 histogram: one sum for each bin, whole.

use crate::memory::HostBuffer;
use crate::operands::Operands;
use crate::{Cpu, threads};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::host;
use isowarp_core::ir::{BLOCK, Blocks, Lanes};
use isowarp_core::patterns::{ExactSumTask, HistogramSum, HistogramTask};

/// Elements that one thread takes at least.
const CHUNK: u64 = 32 * BLOCK as u64;

impl Run<HistogramTask> for Cpu {
    fn run(&self, task: &HistogramTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "histogram", reason: "it has one output".to_owned() });
        };
        let words = task.sum.words(out.dtype.size_bytes()) as usize;
        let bytes = task.bins * words as u64 * 4;
        let at = out.offset * out.dtype.size_bytes();
        let mut total: Vec<u32> = host::filled(bytes / 4, 0)?;
        if !task.clears {
            bytemuck::cast_slice_mut(&mut total).copy_from_slice(&out.raw.read(at, bytes)?);
        }
        {
            let operands = Operands::lock(leaves);
            // Sums of its own are worth it to a thread that has more elements than sums; so they take no more memory than a word an element.
            let worth = (task.n / total.len().max(1) as u64).max(1);
            let threads = (rayon::current_num_threads() as u64).min(worth);
            let share = task.n.div_ceil(threads).max(CHUNK).next_multiple_of(BLOCK as u64);
            host::room(task.n.div_ceil(share) * bytes)?;
            let parts = threads::map(task.n.div_ceil(share), &Blocks::new(&task.func), |blocks, c| {
                part(task, blocks, words, &operands, c * share..(c + 1) * share)
            });
            for sums in parts {
                for (to, sum) in total.chunks_exact_mut(words).zip(sums.chunks_exact(words)) {
                    add(task.sum, to, sum);
                }
            }
        }
        out.raw.write(at, bytemuck::cast_slice(&total))
    }
}

impl Run<ExactSumTask> for Cpu {
    fn run(&self, task: &ExactSumTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "exact sum", reason: "it has one output".to_owned() });
        };
        let words = task.sum.words(4) as usize;
        let bytes = task.rows * words as u64 * 4;
        let mut total: Vec<u32> = host::filled(bytes / 4, 0)?;
        bytemuck::cast_slice_mut(&mut total).copy_from_slice(&out.raw.read(out.offset * 4, bytes)?);
        {
            let operands = Operands::lock(leaves);
            let shares = task.n.div_ceil(CHUNK);
            let parts = threads::map(task.rows * shares, &Blocks::new(&task.func), |blocks, c| {
                let (first, mut sum) = (c / shares * task.n, vec![0; words]);
                let end = first + task.n.min((c % shares + 1) * CHUNK);
                for at in (first + c % shares * CHUNK..end).step_by(BLOCK) {
                    let lanes = BLOCK.min((end - at) as usize);
                    operands.eval(&task.func, blocks, at, 1, lanes);
                    (0..lanes).for_each(|l| add_exact(task.sum, &mut sum, blocks.result(0).get(l)));
                }
                sum
            });
            for (c, sum) in parts.into_iter().enumerate() {
                add(task.sum, &mut total[c / shares as usize * words..][..words], &sum);
            }
        }
        out.raw.write(out.offset * 4, bytemuck::cast_slice(&total))
    }
}

/// The sums over some of the elements.
fn part(task: &HistogramTask, blocks: &mut Blocks, words: usize, operands: &Operands<'_>, elements: std::ops::Range<u64>) -> Vec<u32> {
    let mut sums = vec![0u32; task.bins as usize * words];
    let end = elements.end.min(task.n);
    for at in (elements.start..end).step_by(BLOCK) {
        let lanes = BLOCK.min((end - at) as usize);
        operands.eval(&task.func, blocks, at, 1, lanes);
        let each = task.bins_of_each();
        for k in 0..each {
            match blocks.result(k) {
                Lanes::Narrow(bins) if task.sum == HistogramSum::Count && words == 1 => bins.iter().for_each(|&bin| {
                    if let Some(sum) = sums.get_mut(bin as usize) {
                        *sum = sum.wrapping_add(1);
                    }
                }),
                bins => {
                    add_each(
                        task,
                        words,
                        bins,
                        |l| if task.sum == HistogramSum::Count { 1 } else { blocks.result(each).get(l) },
                        &mut sums,
                    );
                }
            }
        }
    }
    sums
}

/// Adds the values of lanes to the sums of their bins.
fn add_each(task: &HistogramTask, words: usize, bins: Lanes<'_>, value: impl Fn(usize) -> u64, sums: &mut [u32]) {
    for l in 0..bins.len() {
        let (bin, value) = (bins.get(l), value(l));
        if bin >= task.bins {
            continue;
        }
        let to = &mut sums[bin as usize * words..][..words];
        match task.sum {
            HistogramSum::Exact | HistogramSum::ExactWide => add_exact(task.sum, to, value),
            _ => add(task.sum, to, &[value as u32, (value >> 32) as u32][..words]),
        }
    }
}

/// Adds a float, by its bits, to an exact sum.
fn add_exact(sum: HistogramSum, to: &mut [u32], bits: u64) {
    match sum {
        HistogramSum::ExactWide => add(sum, to, &exact::<68>(bits, Format { exponent: 11, fraction: 52 })),
        _ => add(sum, to, &exact::<11>(bits, Format { exponent: 8, fraction: 23 })),
    }
}

/// Adds whole numbers of several words, and of exact sums the flags.
fn add(sum: HistogramSum, to: &mut [u32], from: &[u32]) {
    let whole = if sum.is_exact() { to.len() - 1 } else { to.len() };
    let mut carry = false;
    for (a, &b) in to[..whole].iter_mut().zip(from) {
        let (s, over) = a.overflowing_add(b);
        let (s, again) = s.overflowing_add(carry.into());
        (*a, carry) = (s, over || again);
    }
    for (a, &b) in to[whole..].iter_mut().zip(&from[whole..]) {
        *a |= b;
    }
}

/// Bits of a float's fields.
#[derive(Clone, Copy)]
struct Format {
    exponent: u32,
    fraction: u32,
}

/// The bits of a float as a whole number of the least one of its type in two's complement, and, in the last of `N` words, flags.
fn exact<const N: usize>(bits: u64, format: Format) -> [u32; N] {
    let mut words = [0; N];
    let special = (1 << format.exponent) - 1;
    let (exponent, fraction) = (bits >> format.fraction & special, bits & ((1 << format.fraction) - 1));
    let negative = bits >> (format.exponent + format.fraction) & 1 != 0;
    if exponent == special {
        words[N - 1] = if fraction != 0 { 1 } else { 2 << u32::from(negative) };
        return words;
    }
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << format.fraction };
    let place = exponent.max(1) - 1;
    let wide = u128::from(mantissa) << (place % 32);
    for (k, word) in words[..N - 1].iter_mut().skip(place as usize / 32).take(3).enumerate() {
        *word = (wide >> (32 * k)) as u32;
    }
    if negative {
        let mut carry = true;
        for w in &mut words[..N - 1] {
            (*w, carry) = (!*w).overflowing_add(carry.into());
        }
    }
    words
}
