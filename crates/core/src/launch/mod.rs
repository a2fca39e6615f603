//! Launches as data: what a plan of a pattern asks of a device, and every device that has the kernels answers in one place.
//!
//! A pattern whose launches are the same on all GPUs has one plan, which builds a [`KernelSpec`] for each launch. A [`Launcher`] finds the kernel, fills
//! its holes with the operators, binds the operands, cuts what a binding cannot hold into windows, folds grids that are too long, and enqueues. It knows no
//! pattern; a plan knows no device. What a device would rather have otherwise is in its [`Tuning`].
//!
//! Any crate runs kernels of its own in the same way: a [`Kernel`] says what it is called, what it takes and what its code is, and a device finds all of that
//! there. A device runs code of its kind: WGSL, PTX, or on the processor Rust.

mod arguments;
mod host;
pub mod kernels;
pub mod params;
mod row;

pub use host::{HostArray, HostKernel, HostLaunch};
pub use row::{Access, Binding, CudaCode, CudaEntry, Def, Face, Image, Items, Kernel, Reach, Shader, Template, WgslCode};

use crate::backend::{Backend, Leaf, Out};
use crate::buffer::Buffer;
use crate::caps::{Capability, Numerics};
use crate::element::{Element, Ty};
use crate::error::{Error, Result};
use crate::ir::{Func, Param};
use crate::patterns::product::Packing;
use core::fmt;
use params::{Params, Words};

/// Kinds of code that devices run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Code {
    /// WGSL, through wgpu.
    Wgsl,
    /// PTX, through CUDA.
    Ptx,
    /// Rust, on the processor.
    Rust,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wgsl => "WGSL",
            Self::Ptx => "PTX",
            Self::Rust => "Rust",
        })
    }
}

/// A number that a kernel's text depends on, by name: a hole of the WGSL template, and a part of the name of the CUDA entry.
pub type Choice = (&'static str, u32);

/// Operators of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Operators<'a> {
    /// Raw bits alone.
    Nothing,
    /// One operator from leaves to outputs.
    Body(&'a Func),
    /// Words of elements, from the leaves.
    Words(&'a Func),
    /// Functions that a WGSL template calls by these names; those of a CUDA kernel are its own.
    Functions(&'a [(&'static str, &'a Func)]),
    /// A tree of combinations.
    Tree {
        /// From the leaves to an accumulator.
        load: &'a Func,
        /// Of two accumulators.
        combine: &'a Func,
        /// From an accumulator to the outputs.
        finish: &'a Func,
        /// Elements that the leaves have.
        elements: u64,
        /// Whether accumulators come from the array `partials` instead of the leaves.
        from_partials: bool,
        /// Whether accumulators go to the array `results` instead of the outputs.
        to_results: bool,
        /// First prefix of an exclusive scan: the bits of each part.
        first: Option<&'a [u64]>,
    },
    /// A product of two operands. All three look at their own among the leaves.
    Product {
        /// An element of the left operand.
        a: &'a Func,
        /// An element of the right operand.
        b: &'a Func,
        /// From the leaves and a sum to the outputs.
        finish: &'a Func,
        /// Indices that the operands and the outputs have.
        extents: [u64; 3],
        /// Factors that the kernel packs or multiplies packed.
        packing: Option<Packing>,
    },
}

impl Operators<'_> {
    /// The parameters of the operator that takes the leaves.
    #[must_use]
    pub fn params(&self) -> &[Param] {
        match self {
            Self::Nothing | Self::Functions(_) => &[],
            Self::Body(f) | Self::Words(f) | Self::Tree { load: f, .. } | Self::Product { a: f, .. } => &f.params,
        }
    }
}

/// Raw bits that a kernel reaches itself, beside the operands of its operators: those of one [`Face`].
#[derive(Debug)]
pub struct Array<'a, R> {
    /// The memory; `None` where this launch has no such array.
    pub raw: Option<&'a R>,
    /// First element.
    pub offset: u64,
    /// Bytes of an element.
    pub size: u64,
    /// Elements.
    pub len: u64,
    /// Index of the element that is element 0 to the kernel, which may reach those before it.
    pub origin: u64,
}

impl<R> Clone for Array<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R> Copy for Array<'_, R> {}

impl<'a, R> Array<'a, R> {
    /// An array that this launch does not have.
    pub const NONE: Self = Self { raw: None, offset: 0, size: 1, len: 0, origin: 0 };

    /// Elements of `size` bytes from a first one on.
    pub const fn of((raw, offset): (&'a R, u64), size: u64, len: u64) -> Self {
        Self { raw: Some(raw), offset, size, len, origin: 0 }
    }

    /// A buffer of this device.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], which calls it `what`.
    pub fn buffer<B: Backend<Raw = R>, T: Element>(device: &B, buffer: &'a Buffer<B, T>, what: &'static str) -> Result<Self> {
        buffer.check_device(device, what)?;
        Ok(Self::of((buffer.raw(), buffer.offset()), T::DTYPE.size_bytes(), buffer.len()))
    }

    /// An output.
    pub const fn out(out: &'a Out<R>, len: u64) -> Self {
        Self { raw: Some(&out.raw), offset: out.offset, size: out.dtype.size_bytes(), len, origin: 0 }
    }

    /// Memory of the plan's own.
    pub const fn piece(piece: &'a Piece<R>) -> Self {
        Self { raw: Some(&piece.raw), offset: piece.offset, size: 1, len: piece.bytes, origin: 0 }
    }

    /// The same with an element other than the first as the kernel's element 0.
    #[must_use]
    pub const fn from_element(self, origin: u64) -> Self {
        Self { origin, ..self }
    }
}

/// Memory of a plan's own, in bytes.
#[derive(Clone, Debug)]
pub struct Piece<R> {
    /// The memory.
    pub raw: R,
    /// Its first byte.
    pub offset: u64,
    /// Number of them.
    pub bytes: u64,
}

/// A launch but for how much it works on.
#[derive(Debug)]
pub struct KernelSpec<'a, R> {
    /// The kernel.
    pub kernel: &'static Def,
    /// Its parameters.
    pub params: Words,
    /// Choices that its text depends on.
    pub choices: &'a [Choice],
    /// Operators.
    pub operators: Operators<'a>,
    /// Strict or fast.
    pub numerics: Numerics,
    /// Operands that the operators read.
    pub leaves: &'a [Leaf<R>],
    /// Outputs that they write.
    pub outs: &'a [Out<R>],
    /// Whether invocations that write one element each write the outputs, so that narrow elements of a word have several writers.
    pub writes_single: bool,
    /// Arrays that the kernel reaches itself, in the order of its row.
    pub arrays: &'a [Array<'a, R>],
    /// Elements from one index of an axis to the next, in the source and in the destination: `from0` and `to0`, `from1` and `to1`, ...
    pub steps: &'a [(i64, i64)],
}

impl<'a, R> KernelSpec<'a, R> {
    /// A launch of a kernel with these parameters, of raw bits alone.
    pub fn new<P: Params>(kernel: &'static Kernel<P>, params: &P, choices: &'a [Choice], arrays: &'a [Array<'a, R>]) -> Self {
        Self {
            kernel: kernel.def(),
            params: params.words(),
            choices,
            operators: Operators::Nothing,
            numerics: Numerics::Strict,
            leaves: &[],
            outs: &[],
            writes_single: false,
            arrays,
            steps: &[],
        }
    }

    /// The same with operators, and what these read and write.
    #[must_use]
    pub fn with(self, operators: Operators<'a>, numerics: Numerics, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Self {
        Self { operators, numerics, leaves, outs, ..self }
    }

    /// The same where every invocation that writes an element may do so alone.
    #[must_use]
    pub fn writing_single(self, writes_single: bool) -> Self {
        Self { writes_single, ..self }
    }

    /// The same over axes with these steps.
    #[must_use]
    pub fn stepping(self, steps: &'a [(i64, i64)]) -> Self {
        Self { steps, ..self }
    }

    /// The number that a choice has, 0 where the kernel does not make it.
    #[must_use]
    pub fn choice(&self, name: &str) -> u32 {
        self.choices.iter().find(|(of, _)| *of == name).map_or(0, |&(_, number)| number)
    }
}

/// Number of groups of threads of a launch.
#[derive(Clone, Copy)]
pub enum Groups<'a> {
    /// As many as the kernel's groups take elements; each takes so many that go together as often as they fit.
    Elements(u64),
    /// The same, but not more than a device has use for: groups take several parts.
    Strided,
    /// So many for a window of `n` elements.
    Of(&'a dyn Fn(u64) -> u64),
}

/// Amount of work of a launch.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Elements.
    pub n: u64,
    /// Multiple at which windows begin on a device that cannot see all of them at once; `None`: all are seen at once.
    pub step: Option<u64>,
    /// Groups of threads of each window.
    pub groups: Groups<'a>,
    /// Outputs beyond its elements that a window writes, where there are any.
    pub overhang: u64,
    /// Elements of the outputs, where these are not at the same indices as those of the work.
    pub results: Option<u64>,
    /// Bytes of shared memory that the host gives, where a language asks for it at the launch.
    pub shared_bytes: u64,
}

impl<'a> Work<'a> {
    /// Elements, each for itself, where windows begin at multiples of `step`.
    #[must_use]
    pub const fn elements(n: u64, step: u64) -> Self {
        Self { n, step: Some(step), groups: Groups::Elements(1), overhang: 0, results: None, shared_bytes: 0 }
    }

    /// All elements at once, in as many groups of threads as `groups` says.
    #[must_use]
    pub const fn whole(n: u64, groups: &'a dyn Fn(u64) -> u64) -> Self {
        Self { n, step: None, groups: Groups::Of(groups), overhang: 0, results: None, shared_bytes: 0 }
    }

    /// The same work by other groups of threads.
    #[must_use]
    pub const fn by(self, groups: Groups<'a>) -> Self {
        Self { groups, ..self }
    }
}

/// Matrix instructions of a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MatrixInstructions {
    /// There are none.
    None,
    /// A warp's, whose operands are in registers.
    Warp,
    /// A warpgroup's too, whose operands are in shared memory.
    Warpgroup,
}

/// Factors of a subgroup's matrix instructions, and sums.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum MatrixFactors {
    /// `f16` to `f32`.
    Half,
    /// `i8` to `i32`.
    Signed,
    /// `u8` to `u32`.
    Unsigned,
}

/// Shape of a subgroup's matrix instructions: `m` by `k` times `k` by `n`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MatrixShape {
    /// Rows of the product.
    pub m: u32,
    /// Columns of the product.
    pub n: u32,
    /// Terms.
    pub k: u32,
    /// Lanes of a subgroup.
    pub lanes: u32,
}

/// Tuning: answers of a device to plans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// Bytes of an array that a kernel sees at once.
    pub window_bytes: u64,
    /// Elements of an array that kernels number.
    pub numbered: u64,
    /// Whether there are atomic minima and maxima of 64 bits.
    pub wide_extremes: bool,
    /// Whether threads store elements of 8 and 16 bits wherever they like.
    pub stores_narrow: bool,
    /// Keys that the search of a top-k looks at first.
    pub top_k_samples: u64,
    /// Bytes of shared memory of a group of threads.
    pub shared_bytes: u64,
    /// Matrix instructions for packed factors of every kind.
    pub matrix_instructions: MatrixInstructions,
    /// Rows and columns of a product that a thread takes, of sums of 32 bits and of 64; 16 by 16 threads go together.
    pub product: [[u32; 2]; 2],
}

impl Tuning {
    /// The most elements of this size that a kernel surely sees at once.
    #[must_use]
    pub const fn most(&self, size: u64) -> u64 {
        let most = self.window_bytes / size;
        if most == 0 { 1 } else { most }
    }

    /// Rows and columns of a product that a thread takes.
    #[must_use]
    pub const fn product(&self, ty: Ty) -> [u32; 2] {
        self.product[ty.words() - 1]
    }

    /// Fails where kernels do not number so many elements.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub const fn check_numbered(&self, what: &'static str, n: u64) -> Result<()> {
        if n > self.numbered { Err(Error::TooLarge { what, requested: n, limit: self.numbered }) } else { Ok(()) }
    }
}

/// A device that launches kernels: those of any crate, and on GPUs those of [`kernels`].
pub trait Launcher: Backend {
    /// The code that it runs.
    fn code(&self) -> Code;

    /// Fails where a kernel has no code for this device.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    fn check_kernel(&self, kernel: &Def) -> Result<()> {
        if kernel.has(self.code()) {
            return Ok(());
        }
        let capability = Capability::Kernel { name: kernel.name, code: self.code() };
        Err(Error::Unsupported { pattern: kernel.pattern, capability, device: self.caps().device.clone() })
    }

    /// Enqueues a launch, or as many as its windows take. A kernel that is part of the one before it on this device is no launch.
    ///
    /// A launch trusts its plan: arrays are as long as the work, and are no others that the launch writes.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a kernel without code for this device, and on the processor for one with operators; the device's.
    fn launch(&self, spec: &KernelSpec<'_, Self::Raw>, work: Work<'_>) -> Result<()>;

    /// Memory of a plan's own, a piece to each of these lengths in bytes: contents are undefined, and the next call may return the same, that of another thread
    /// too, unless the plan is [`uninterrupted`](Backend::uninterrupted).
    ///
    /// # Errors
    /// The device's.
    fn scratch(&self, bytes: &[u64]) -> Result<Vec<Piece<Self::Raw>>>;

    /// Bytes between a place in memory and what comes before it that all accesses are aligned to, below 16.
    ///
    /// # Errors
    /// The device's.
    fn phase(&self, raw: &Self::Raw, offset_bytes: u64) -> Result<u64>;

    /// Elements that a group of a kernel's threads takes, where their number is no choice.
    fn elements_of_group(&self, kernel: &Def) -> u64;

    /// Bytes from one accumulator of these parts to the next in memory.
    fn accumulator_bytes(&self, parts: &[Ty]) -> u64 {
        4 * parts.iter().map(|ty| ty.words() as u64).sum::<u64>()
    }

    /// Tuning of the device.
    fn tuning(&self) -> Tuning;

    /// Shape of matrix instructions for such factors in WGSL, where the device has some that compute as defined.
    fn matrix_shape(&self, _: MatrixFactors) -> Option<MatrixShape> {
        None
    }
}

/// A task with a plan for every device that has the kernels.
pub trait Planned<B: Launcher> {
    /// Enqueues it, as [`Run::run`](crate::backend::Run::run).
    ///
    /// # Errors
    /// The device's, and [`Error::InvalidArgument`] for operands that are not the task's.
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()>;
}

/// Makes a device run every task that has a plan.
#[macro_export]
macro_rules! run_planned {
    ($device:ty) => {
        $crate::run_planned! { $device:
            $crate::patterns::MapTask,
            $crate::patterns::BallotTask,
            $crate::patterns::PeersTask,
            $crate::patterns::ExactSumTask,
            $crate::patterns::ProductTask,
            $crate::patterns::ConvolutionTask,
            $crate::patterns::FftTask,
            $crate::patterns::SolveTask,
            $crate::patterns::GatherTask,
            $crate::patterns::ScatterTask,
            $crate::patterns::ScatterFromTask,
            $crate::patterns::TopKTask,
            $crate::patterns::LayoutTask,
            $crate::patterns::TransposeTask,
            $crate::patterns::TileTransposeTask,
        }
    };
    ($device:ty: $($task:ty,)*) => {$(
        impl $crate::backend::Run<$task> for $device {
            fn run(
                &self,
                task: &$task,
                leaves: &[$crate::backend::Leaf<Self::Raw>],
                outs: &[$crate::backend::Out<Self::Raw>],
            ) -> $crate::error::Result<()> {
                $crate::backend::Backend::uninterrupted(self, || $crate::launch::Planned::drive(task, self, leaves, outs))
            }
        }
    )*};
}
