//! Launches whose blocks wait for each other: what takes several launches otherwise takes one, and the host's time for one.

use super::scratch::Use;
use crate::backend::Cuda;
use crate::launch::{Args, Extra, Grid};
use crate::module::Kernel;
use isowarp_core::error::Result;
use std::sync::atomic::Ordering;

impl Cuda {
    /// Whether the blocks of a launch may wait for each other, if all of them run at the same time.
    pub(super) fn may_meet(&self) -> bool {
        self.device().meets.load(Ordering::Relaxed)
    }

    /// Where they do, for the kernel's arguments.
    pub(super) fn meeting(&self) -> Result<u64> {
        self.stream().scratch().get(self, Use::Meeting, 4)
    }

    /// Launches a grid that is resident, where [`Cuda::may_meet`] says that its blocks may wait.
    ///
    /// # Safety
    /// As [`Cuda::launch`].
    pub(super) unsafe fn launch_together(&self, kernel: &Kernel, grid: Grid, args: &Args) -> Result<()> {
        // SAFETY: the caller's promise; `Args` is the parameter of every kernel of the library.
        unsafe { self.launch_with(kernel, grid, Extra { cooperative: true, ..Extra::default() }, args) }
    }
}
