//! P27 FFT: levels of butterflies, a line at a time.

use crate::memory::HostBuffer;
use crate::{Cpu, outputs, threads};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::fft::plan::radices;
use isowarp_core::patterns::fft::transform;
use isowarp_core::patterns::{FftScalar, FftTask};

impl Run<FftTask> for Cpu {
    fn run(&self, task: &FftTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        if task.dtype == DType::F64 { lines::<f64>(task, leaves, outs) } else { lines::<f32>(task, leaves, outs) }
    }
}

fn lines<T: FftScalar>(task: &FftTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
    let ([Leaf::Elements { offset, .. }, Leaf::Elements { offset: entry, .. }], Some(radices)) = (leaves, radices(task.lines.n)) else {
        return Err(Error::InvalidArgument { what: "fft", reason: "it has points and a table of levels".to_owned() });
    };
    let (n, inner) = (task.lines.n as usize, task.lines.inner as usize);
    outputs::write(leaves, outs, 2 * task.lines.elements(), false, |operands, mut results| {
        let floats = |leaf: usize, from: u64| &bytemuck::cast_slice::<u64, T>(operands.words(leaf))[from as usize..];
        let (points, table) = (floats(0, *offset), &floats(1, *entry)[..2 * n]);
        let to: &mut [T] = bytemuck::cast_slice_mut(results.remove(0));
        let scale = if task.inverse { table[0] } else { T::rounded(1.0) };
        let parts = to.chunks_mut(2 * n * inner).collect();
        threads::each(parts, &(Vec::new(), Vec::new()), |(x, y): &mut (Vec<[T; 2]>, Vec<[T; 2]>), outer, to: &mut [T]| {
            let from = &points[2 * outer * n * inner..];
            y.resize(n, [scale; 2]);
            for column in 0..inner {
                x.clear();
                x.extend((0..n).map(|k| {
                    let at = 2 * (k * inner + column);
                    if task.inverse { [from[at + 1], from[at]] } else { [from[at], from[at + 1]] }
                }));
                transform(&radices, table, x, y);
                for (k, &[a, b]) in x.iter().enumerate() {
                    let at = 2 * (k * inner + column);
                    let pair = if task.inverse { [b * scale, a * scale] } else { [a, b] };
                    to[at..at + 2].copy_from_slice(&pair.map(canonical));
                }
            }
        });
    })
}

/// The number itself, or the NaN that is stored.
fn canonical<T: FftScalar>(x: T) -> T {
    // Only NaN is not in order with itself.
    if x.partial_cmp(&x).is_some() { x } else { T::rounded(f64::from_bits(0x7FF8_0000_0000_0000)) }
}
