//! Launching: one by-value argument block, no allocation, no look-up.

use crate::driver::check;
use crate::module::Kernel;
use crate::stream::Stream;
use bytemuck::{Pod, Zeroable};
use cudarc::driver::sys::{self, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig, CUstream};
use isowarp_core::error::{Error, Result};
use std::mem::{offset_of, size_of};
use std::ptr;
use std::sync::Arc;

/// Input leaves that a kernel takes.
pub const MAX_INPUTS: usize = 8;
/// Outputs that a kernel takes.
pub const MAX_OUTPUTS: usize = 4;
/// Scratch regions that a kernel takes.
pub const MAX_SCRATCH: usize = 4;
/// Words of its own that a pattern passes.
pub const MAX_WORDS: usize = isowarp_core::launch::params::CUDA_WORDS;

/// One input leaf: `in` of `kernels-cu/src/iw.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
pub struct In {
    /// Device address of logical element 0, or the bits of a value that the host gave.
    pub ptr: u64,
    /// Bytes from one logical element to the next; 0 broadcasts.
    pub stride: i64,
}

/// The argument block of every kernel: `Args` of `kernels-cu/src/iw.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
pub struct Args {
    /// Input leaves.
    pub inputs: [In; MAX_INPUTS],
    /// Addresses of the outputs' first elements.
    pub out: [u64; MAX_OUTPUTS],
    /// Logical elements.
    pub n: u64,
    /// Addresses of scratch regions.
    pub scratch: [u64; MAX_SCRATCH],
    /// Words whose meaning the pattern's kernel defines.
    pub u: [u32; MAX_WORDS],
    /// Zero at every launch, which no assembler can know: operators are joined with it where `ptxas` goes wrong (`isowarp_core::ir::Ptx`).
    pub zero: u64,
}

const _: () = {
    assert!(offset_of!(Args, out) == 128);
    assert!(offset_of!(Args, n) == 160);
    assert!(offset_of!(Args, scratch) == 168);
    assert!(offset_of!(Args, u) == 200);
    assert!(offset_of!(Args, zero) == 264);
    assert!(size_of::<Args>() == 272);
};

/// Blocks and threads that run a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Blocks in x, y and z. A launch of no blocks does nothing.
    pub blocks: [u32; 3],
    /// Threads of a block in x, y and z.
    pub threads: [u32; 3],
    /// Dynamic shared memory per block.
    pub shared_bytes: u32,
}

impl Grid {
    /// A one-dimensional grid without dynamic shared memory.
    #[must_use]
    pub const fn linear(blocks: u32, threads: u32) -> Self {
        Self { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared_bytes: 0 }
    }

    /// The same grid with dynamic shared memory.
    #[must_use]
    pub const fn shared(self, bytes: u32) -> Self {
        Self { shared_bytes: bytes, ..self }
    }
}

/// Launch options that newer devices offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extra {
    /// Blocks of a cluster in x, y and z (compute capability 9.0).
    pub cluster: Option<[u32; 3]>,
    /// All blocks run at the same time, and may wait for each other.
    pub cooperative: bool,
    /// The kernel may start before the one ahead of it in the stream has ended (compute capability 9.0); it waits inside.
    pub overlap: bool,
}

/// Enqueues `kernel` with `args` as its one by-value parameter.
#[inline]
pub(crate) fn launch<P: Pod>(stream: &Stream, kernel: &Kernel, grid: Grid, args: &P) -> Result<()> {
    if stream.waits_for(kernel) {
        return launch_with(stream, kernel, grid, Extra::default(), args);
    }
    if !prepare(stream, kernel, grid)? {
        return Ok(());
    }
    kernel.wait()?;
    check_block(kernel, grid)?;
    let mut parameters = [ptr::from_ref(args).cast_mut().cast()];
    let [bx, by, bz] = grid.blocks;
    let [tx, ty, tz] = grid.threads;
    // SAFETY: kernel and stream are live in the current context; the driver copies the parameter before it returns. That the
    // kernel stays inside the memory that `args` names is its pattern's contract.
    let status = unsafe {
        sys::cuLaunchKernel(
            kernel.raw(),
            bx,
            by,
            bz,
            tx,
            ty,
            tz,
            grid.shared_bytes,
            stream.raw_as_it_is(),
            parameters.as_mut_ptr(),
            ptr::null_mut(),
        )
    };
    check("cuLaunchKernel", status)
}

/// As [`launch`], with attributes.
pub(crate) fn launch_with<P: Pod>(stream: &Stream, kernel: &Kernel, grid: Grid, extra: Extra, args: &P) -> Result<()> {
    if !prepare(stream, kernel, grid)? {
        return Ok(());
    }
    if !stream.waits_for(kernel) {
        return launch_on(stream.raw_as_it_is(), kernel, grid, extra, bytemuck::bytes_of(args));
    }
    // In words, for the alignment of what kernels take.
    let mut words = vec![0u64; size_of::<P>().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..size_of::<P>()].copy_from_slice(bytemuck::bytes_of(args));
    let later = kernel.clone();
    stream.enqueue_launch(kernel, move |raw| {
        later.context().bind()?;
        launch_on(raw, &later, grid, extra, bytemuck::cast_slice(&words))
    })
}

/// Puts a launch on a stream of the current context. The argument block is as long as the kernel's, at least.
fn launch_on(stream: CUstream, kernel: &Kernel, grid: Grid, extra: Extra, args: &[u8]) -> Result<()> {
    kernel.wait()?;
    check_block(kernel, grid)?;
    let mut parameters = [args.as_ptr().cast_mut().cast()];
    let (mut attributes, count) = attributes(extra);
    let config = CUlaunchConfig {
        gridDimX: grid.blocks[0],
        gridDimY: grid.blocks[1],
        gridDimZ: grid.blocks[2],
        blockDimX: grid.threads[0],
        blockDimY: grid.threads[1],
        blockDimZ: grid.threads[2],
        sharedMemBytes: grid.shared_bytes,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: count,
    };
    // SAFETY: as in `launch`; `config` and its attributes outlive the call.
    let status = unsafe { sys::cuLaunchKernelEx(&raw const config, kernel.raw(), parameters.as_mut_ptr(), ptr::null_mut()) };
    check("cuLaunchKernelEx", status)
}

/// Checks a launch and makes its context current. `false` when there is nothing to launch.
#[inline]
fn prepare(stream: &Stream, kernel: &Kernel, grid: Grid) -> Result<bool> {
    if grid.blocks.contains(&0) {
        return Ok(false);
    }
    if !Arc::ptr_eq(kernel.context(), &stream.device().context) {
        return Err(Error::WrongDevice { what: "kernel" });
    }
    stream.device().bind()?;
    Ok(true)
}

/// Checks that the kernel can have such a block.
#[inline]
fn check_block(kernel: &Kernel, grid: Grid) -> Result<()> {
    let threads = grid.threads.iter().map(|&count| u64::from(count)).product::<u64>();
    check_limit("threads of a block", threads, kernel.max_threads())?;
    check_limit("dynamic shared memory", u64::from(grid.shared_bytes), kernel.max_dynamic_shared_bytes())
}

#[inline]
fn check_limit(what: &'static str, requested: u64, limit: u32) -> Result<()> {
    if requested > u64::from(limit) {
        return Err(Error::TooLarge { what, requested, limit: u64::from(limit) });
    }
    Ok(())
}

fn attributes(extra: Extra) -> ([CUlaunchAttribute; 3], u32) {
    let unused = CUlaunchAttribute {
        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_IGNORE,
        pad: [0; 4],
        value: CUlaunchAttributeValue { pad: [0; 64] },
    };
    let mut all = [unused; 3];
    let mut count = 0;
    let mut put = |id, value| {
        all[count] = CUlaunchAttribute { id, pad: [0; 4], value };
        count += 1;
    };
    if let Some([x, y, z]) = extra.cluster {
        let mut value = CUlaunchAttributeValue { pad: [0; 64] };
        value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
        put(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value);
    }
    if extra.cooperative {
        put(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CUlaunchAttributeValue { cooperative: 1 });
    }
    if extra.overlap {
        put(
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        );
    }
    (all, count as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_attributes_that_were_asked_for_are_passed() {
        assert_eq!(attributes(Extra::default()).1, 0);
        let (all, count) = attributes(Extra { cluster: Some([2, 1, 1]), cooperative: false, overlap: true });
        assert_eq!(count, 2);
        assert_eq!(all[0].id, CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
        assert_eq!(all[1].id, CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
    }
}
