//! P13 image filters.

use super::tuning::TUNING;
use super::{bind, blocks};
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::{DType, Ty};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Param;
use isowarp_core::patterns::{Border, FilterKind, FilterTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::filter::*;

const THREADS: u32 = 128;
const WARP: u64 = 32;

/// Kernels by format (f32 and u8, each with 1, 3, 4 channels) and by what they compute.
const TABLE: [[Kernel; 4]; 6] = [
    [FILTER3_F32_C1, FILTER5_F32_C1, SOBEL_F32_C1, MEDIAN3_F32_C1],
    [FILTER3_F32_C3, FILTER5_F32_C3, SOBEL_F32_C3, MEDIAN3_F32_C3],
    [FILTER3_F32_C4, FILTER5_F32_C4, SOBEL_F32_C4, MEDIAN3_F32_C4],
    [FILTER3_U8_C1, FILTER5_U8_C1, SOBEL_U8_C1, MEDIAN3_U8_C1],
    [FILTER3_U8_C3, FILTER5_U8_C3, SOBEL_U8_C3, MEDIAN3_U8_C3],
    [FILTER3_U8_C4, FILTER5_U8_C4, SOBEL_U8_C4, MEDIAN3_U8_C4],
];

impl Run<FilterTask> for Cuda {
    fn run(&self, task: &FilterTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let mut bound = bind(self, ("filter", 0), &[Param::Value(Ty::U32)], leaves, outs)?;
        let args = &mut bound.args;
        // Held until the launch is enqueued.
        let weights = match &task.kind {
            FilterKind::Weighted { weights, .. } => Some(self.stream().scratch().constant(self, bytemuck::cast_slice(weights))?),
            FilterKind::Sobel | FilterKind::Median3 => None,
        };
        if let Some(buffer) = &weights {
            args.inputs[1].ptr = self.address(buffer, "weights")?;
        }
        let (samples_of_thread, format) = match (task.dtype, task.channels) {
            (DType::F32, 1) => (4, 0),
            (DType::F32, _) => (8, 0),
            _ => (8, 3),
        };
        let channels = match task.channels {
            1 => 0,
            3 => 1,
            _ => 2,
        };
        let what = match &task.kind {
            FilterKind::Weighted { size: 3, .. } => 0,
            FilterKind::Weighted { .. } => 1,
            FilterKind::Sobel => 2,
            FilterKind::Median3 => 3,
        };
        let samples = u64::from(task.width) * u64::from(task.channels);
        // Bytes of a row are numbered by an i32, also those that the last threads leave out.
        let limit = i32::MAX as u64 / task.dtype.size_bytes() - 2 * WARP * samples_of_thread;
        if samples.max(task.height.into()) > limit {
            let requested = samples.max(task.height.into());
            return Err(Error::TooLarge { what: "samples of an image's row or column", requested, limit });
        }
        args.u[0] = task.width;
        args.u[1] = task.height;
        args.u[2] = 1;
        args.u[3] = match task.border {
            Border::Clamp => 0,
            Border::Zero => 1,
            Border::Mirror => 2,
            Border::Wrap => 3,
        };
        let kernel = self.kernel((TABLE[format + channels][what], 0), &[])?;
        let across = samples.div_ceil(WARP * samples_of_thread);
        let resident = self.info().multiprocessors * kernel.resident_blocks(THREADS, 0)? * (THREADS / WARP as u32);
        let strip = strip_rows(across, task.height, resident);
        args.u[4] = strip;
        let warps = across * u64::from(task.height.div_ceil(strip));
        let grid = Grid::linear(blocks((warps * WARP).div_ceil(THREADS.into()))?, THREADS);
        // SAFETY: the task's contract: image and result hold `height * width * channels` elements and do not overlap; weights are
        // as many as the kernel reads.
        unsafe { self.launch(&kernel, grid, args) }
    }
}

/// Rows of a strip, for an image `across` strips wide and a device that runs `resident` warps at once. Warps come in waves, the last of which
/// may leave most of the device idle: what counts is how many waves there are, and the rows of each.
fn strip_rows(across: u64, height: u32, resident: u32) -> u32 {
    let [least, most] = TUNING.strip_rows;
    let cost = |rows: u32| {
        let waves = (across * u64::from(height.div_ceil(rows))).div_ceil(resident.max(1).into());
        waves * u64::from(rows + TUNING.strip_start)
    };
    (least..=most).step_by(2).min_by_key(|&rows| cost(rows)).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_full() {
        // Measured on an H200 (132 multiprocessors), 8192^2 f32: with 7 blocks of a median 32, 36, 64, 72 and 128 rows took 155.5, 149.8,
        // 164.3, 148.5 and 192 us; with 8 of Sobel 32, 36, 64 and 72 took 149.8, 157.1, 148.0 and 153.9.
        assert_eq!(strip_rows(64, 8192, 132 * 28), 72);
        assert_eq!(strip_rows(64, 8192, 132 * 32), 64);
        // One wave of the shortest strips that fit.
        assert_eq!(strip_rows(8, 1024, 132 * 28), 8);
        assert_eq!(strip_rows(1, 0, 0), 8);
    }
}
