//! P13 image filters: every pixel's window on its own.

use crate::Cpu;
use crate::memory::HostBuffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::{DType, Scalar as _};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::canonical_nan;
use isowarp_core::numerics::{Arith as _, Native};
use isowarp_core::patterns::{FilterKind, FilterTask};
use rayon::prelude::*;

impl Run<FilterTask> for Cpu {
    fn run(&self, task: &FilterTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let ([Leaf::Elements { raw, offset, .. }], [out]) = (leaves, outs) else {
            return Err(Error::InvalidArgument { what: "filter", reason: "it has one input and one output".to_owned() });
        };
        let size = task.dtype.size_bytes();
        let row = u64::from(task.width) * u64::from(task.channels) * size;
        let source = raw.read(offset * size, row * u64::from(task.height))?;
        let image = Source { task, bytes: &source };
        let mut result = isowarp_core::host::filled(source.len() as u64, 0)?;
        result.par_chunks_mut(row as usize).enumerate().for_each(|(y, row)| {
            for (i, bytes) in row.chunks_exact_mut(size as usize).enumerate() {
                let (x, c) = ((i as u32 / task.channels).into(), i as u32 % task.channels);
                let pixel = if c == 3 { image.at(x, y as i64, c) } else { image.window(x, y as i64, c) };
                image.store(pixel, bytes);
            }
        });
        out.raw.write(out.offset * size, &result)
    }
}

struct Source<'a> {
    task: &'a FilterTask,
    bytes: &'a [u8],
}

impl Source<'_> {
    /// The pixel at a place, by the border's rule.
    fn at(&self, x: i64, y: i64, c: u32) -> f32 {
        let t = self.task;
        let (Some(x), Some(y)) = (t.border.index(x, t.width.into()), t.border.index(y, t.height.into())) else { return 0.0 };
        let i = (y as usize * t.width as usize + x as usize) * t.channels as usize + c as usize;
        match t.dtype {
            DType::U8 => f32::from(self.bytes[i]),
            _ => f32::from_le_bytes([self.bytes[4 * i], self.bytes[4 * i + 1], self.bytes[4 * i + 2], self.bytes[4 * i + 3]]),
        }
    }

    fn window(&self, x: i64, y: i64, c: u32) -> f32 {
        let a = |dy: i64, dx: i64| self.at(x + dx, y + dy, c);
        match &self.task.kind {
            FilterKind::Weighted { size, weights } => {
                let r = i64::from(size / 2);
                let places = (-r..=r).flat_map(|dy| (-r..=r).map(move |dx| (dy, dx)));
                let mut terms = weights.iter().zip(places).map(|(&w, (dy, dx))| (w, a(dy, dx)));
                let first = terms.next().map_or(0.0, |(w, p)| w * p);
                terms.fold(first, |sum, (w, p)| Native::fma(w, p, sum))
            }
            FilterKind::Sobel => {
                let dx = Native::fma(2.0, a(0, 1) - a(0, -1), a(-1, 1) - a(-1, -1)) + (a(1, 1) - a(1, -1));
                let dy = Native::fma(2.0, a(-1, 0) - a(1, 0), a(-1, -1) - a(1, -1)) + (a(-1, 1) - a(1, 1));
                Native::fma(dx, dx, dy * dy).sqrt()
            }
            FilterKind::Median3 => {
                let mut nine: Vec<f32> = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dy, dx))).map(|(dy, dx)| a(dy, dx)).collect();
                nine.iter_mut().for_each(|v| *v = f32::from_bits64(canonical_nan(isowarp_core::element::Ty::F32, v.to_bits64())));
                nine.sort_by(f32::total_cmp);
                nine[4]
            }
        }
    }

    /// Rounds half up and saturates `u8`; a NaN pixel (which only weights that are not finite can give) becomes zero.
    fn store(&self, v: f32, bytes: &mut [u8]) {
        match self.task.dtype {
            DType::U8 => bytes[0] = (v + 0.5).floor() as u8,
            _ => bytes.copy_from_slice(&(canonical_nan(isowarp_core::element::Ty::F32, v.to_bits64()) as u32).to_le_bytes()),
        }
    }
}
