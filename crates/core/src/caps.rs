//! Capabilities of a device, found out once when it is opened.

use crate::element::DType;
use crate::ir::{Func, Operation};
use crate::launch::Code;
use core::fmt;
use std::sync::OnceLock;

/// Guarantee on the arithmetic of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Numerics {
    /// The same bits as the CPU definition, everywhere.
    #[default]
    Strict,
    /// The hardware's own division, square root and elementary functions, with the bound stated per function; the order of
    /// evaluation stays canonical.
    Fast,
}

/// Verdict on a device's arithmetic, by its start-up probe: of a wgpu adapter for every operation, of CUDA for the compositions that an assembler got wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NumericsVerdict {
    /// Everything that the contract needs.
    Strict,
    /// Everything but subnormal numbers, which the device flushes to zero.
    StrictNormal,
    /// Something else differs.
    Unproven {
        /// The first case that failed, in words.
        witness: String,
    },
}

impl fmt::Display for NumericsVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strict => f.write_str("strict"),
            Self::StrictNormal => f.write_str("strict for normal numbers (subnormals are flushed)"),
            Self::Unproven { witness } => write!(f, "unproven: {witness}"),
        }
    }
}

/// Way in which a device computes a fused multiply-add.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FmaKind {
    /// The device's `fma` is fused.
    Native,
    /// The device's `fma`, fused but flushing, with the cases that subnormals play a part in emulated in 32-bit integers.
    Guarded,
    /// An open product and sum that the device's compiler is left to fuse. Never chosen: compilers share open products with others
    /// and then do not fuse them.
    Contracted,
    /// Emulated through f64 with a round-to-odd correction.
    ViaF64,
    /// Emulated in 32-bit integers.
    ViaInteger,
}

/// The kind of processor behind a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU seen through a virtual machine.
    Virtual,
    /// A processor that runs kernels in software.
    Cpu,
}

/// Something that a device may lack.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// Elements of this type.
    DType(DType),
    /// Fetching device time.
    Timestamps,
    /// This many buffers in one kernel.
    StorageBuffers(u32),
    /// Atomic minimum and maximum of 64-bit integers.
    Atomics64,
    /// So many invocations in one workgroup.
    WorkgroupSize {
        /// Invocations that the kernel has.
        needed: u32,
        /// The most that the device runs.
        limit: u32,
    },
    /// So much workgroup memory.
    WorkgroupMemory {
        /// Bytes that the kernel has.
        needed: u32,
        /// The most that the device gives.
        limit: u32,
    },
    /// A kernel of so many instructions, all functions written out in each place.
    Instructions {
        /// Instructions that the kernel has.
        needed: u64,
        /// The most that the device's driver surely compiles.
        limit: u64,
    },
    /// A kernel of the caller's in the code that the device runs.
    Kernel {
        /// Its name.
        name: &'static str,
        /// The code that it lacks.
        code: Code,
    },
    /// So many turns of the loops of an operator.
    Turns {
        /// Turns that they may take together.
        needed: u64,
        /// The most that the device surely takes.
        limit: u64,
    },
}

impl Capability {
    /// Returns what the user can do about it.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::DType(DType::F64) => "use f32, or the CPU",
            Self::DType(DType::I64 | DType::U64) => "use a 32-bit integer, or the CPU",
            Self::DType(_) | Self::Timestamps => "use another backend",
            Self::StorageBuffers(_) => "use fewer inputs, or combine them in two steps",
            Self::Atomics64 => "use a 32-bit integer, or another backend",
            Self::WorkgroupSize { .. } | Self::WorkgroupMemory { .. } => {
                "open the device with all that its adapter offers (`Wgpu::wanted_limits`), or use another backend"
            }
            Self::Instructions { .. } => "take the operator apart into several calls, or use another backend",
            Self::Turns { .. } => "give the loop a lower bound, go on from its state in another call, or use another backend",
            Self::Kernel { .. } => "use a backend that the kernel has code for, or add it to the kernel's row",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DType(d) => write!(f, "{d} elements"),
            Self::Timestamps => f.write_str("timestamps"),
            Self::StorageBuffers(n) => write!(f, "room for {n} buffers in one kernel"),
            Self::Atomics64 => f.write_str("atomic minimum and maximum of 64 bits"),
            Self::WorkgroupSize { needed, limit } => write!(f, "room for {needed} invocations in one workgroup: its limit is {limit}"),
            Self::WorkgroupMemory { needed, limit } => write!(f, "{needed} bytes of workgroup memory: its limit is {limit}"),
            Self::Instructions { needed, limit } => write!(f, "room for a kernel of {needed} instructions: its limit is {limit}"),
            Self::Turns { needed, limit } => write!(f, "{needed} turns of the loops of an operator: its limit is {limit}"),
            Self::Kernel { name, code } => write!(f, "{code} of the kernel `{name}`"),
        }
    }
}

/// Everything isowarp knows about a device.
#[derive(Clone, Debug)]
pub struct Caps {
    /// The backend: `cpu`, `wgpu` or `cuda`.
    pub backend: &'static str,
    /// The device's name, as its driver gives it.
    pub device: String,
    /// Driver or API, with version.
    pub driver: String,
    /// The kind of processor.
    pub kind: DeviceKind,
    /// Element types that buffers and patterns can have.
    pub dtypes: Vec<DType>,
    /// Smallest and largest subgroup (warp) width; `(1, 1)` where there are none.
    pub subgroup: (u32, u32),
    /// Compute units (streaming multiprocessors), where the driver tells; else 0.
    pub compute_units: u32,
    /// L2 cache, where the driver tells; else 0.
    pub l2_bytes: u64,
    /// Device memory, where the driver tells; else 0.
    pub memory_bytes: u64,
    /// Largest single buffer.
    pub max_buffer_bytes: u64,
    /// Largest part of a buffer that one binding of a kernel may cover.
    pub max_binding_bytes: u64,
    /// Storage buffers that one kernel may bind.
    pub max_storage_buffers: u32,
    /// Shared memory per workgroup.
    pub workgroup_memory_bytes: u32,
    /// Invocations per workgroup.
    pub max_workgroup_size: u32,
    /// Workgroups per grid dimension.
    pub max_groups_per_dim: u32,
    /// The verdict on its arithmetic.
    pub numerics: NumericsVerdict,
    /// Operations that the device computes otherwise, each with a witness: operators made of them are refused in `Numerics::Strict`.
    pub unproven: Vec<(Operation, String)>,
    /// The most turns that the loops of a map's operator surely take together, where the device ends loops by itself. Operators whose bounds come to more are
    /// refused, in other patterns of a sixteenth, since an invocation has more elements there.
    pub loop_turns: Option<u64>,
    /// Instructions that a kernel may have, with all functions written out, where the driver fails in silence on longer ones. Calls whose kernels are longer
    /// are refused.
    pub kernel_instructions: Option<u64>,
    /// Way in which `fma` is computed.
    pub fma: FmaKind,
    /// Whether device time can be measured.
    pub timestamps: bool,
    /// Why it is this device and no other, where something chose it among those of the machine.
    pub chosen: OnceLock<String>,
}

impl Caps {
    /// Whether buffers and patterns can have elements of this type.
    #[must_use]
    pub fn supports(&self, dtype: DType) -> bool {
        self.dtypes.contains(&dtype)
    }

    /// Why the device cannot be trusted with an operator under the strict contract: a witness against one of its operations, if there is one.
    #[must_use]
    pub fn witness_against(&self, operator: &Func) -> Option<&str> {
        if self.unproven.is_empty() {
            return None;
        }
        let operations = operator.operations();
        self.unproven.iter().find(|(op, _)| operations.contains(*op)).map(|(_, witness)| witness.as_str())
    }
}
