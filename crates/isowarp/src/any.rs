//! A device of any backend, chosen at run time.

use arrayvec::ArrayVec;
use isowarp_core::backend::{Backend, Leaf, MemoryUsage, Out, RawBuffer, ReadFuture, Run};
use isowarp_core::caps::{Caps, Numerics};
use isowarp_core::error::{Error, Result};

#[cfg(not(any(feature = "cpu", feature = "wgpu", feature = "cuda")))]
compile_error!("isowarp needs at least one of the features `cpu`, `wgpu` and `cuda`");

/// Leaves or outputs that a task may have: a kernel never binds more.
const SLOTS: usize = 16;

/// Writes the same `match` over the backends that are compiled in.
macro_rules! each {
    ($enum:ident, $on:expr, $name:ident => $body:expr) => {
        match $on {
            #[cfg(feature = "cpu")]
            $enum::Cpu($name) => $body,
            #[cfg(feature = "wgpu")]
            $enum::Wgpu($name) => $body,
            #[cfg(feature = "cuda")]
            $enum::Cuda($name) => $body,
        }
    };
}

/// The same over a device and something of its own; a mismatch is [`Error::WrongDevice`].
macro_rules! both {
    ($device:expr, $enum:ident, $other:expr, $what:literal, ($d:ident, $o:ident) => $body:expr) => {
        match ($device, $other) {
            #[cfg(feature = "cpu")]
            (Device::Cpu($d), $enum::Cpu($o)) => $body,
            #[cfg(feature = "wgpu")]
            (Device::Wgpu($d), $enum::Wgpu($o)) => $body,
            #[cfg(feature = "cuda")]
            (Device::Cuda($d), $enum::Cuda($o)) => $body,
            #[allow(unreachable_patterns, reason = "with one backend there is no mismatch")]
            _ => Err(Error::WrongDevice { what: $what }),
        }
    };
}

/// A device of one of the backends that are compiled in. All patterns run on it; see [`Device::auto`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Device {
    /// The processor.
    #[cfg(feature = "cpu")]
    Cpu(isowarp_cpu::Cpu),
    /// An adapter of wgpu.
    #[cfg(feature = "wgpu")]
    Wgpu(isowarp_wgpu::Wgpu),
    /// An NVIDIA GPU through CUDA.
    #[cfg(feature = "cuda")]
    Cuda(isowarp_cuda::Cuda),
}

/// Memory of a [`Device`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyRaw {
    /// Host memory.
    #[cfg(feature = "cpu")]
    Cpu(<isowarp_cpu::Cpu as Backend>::Raw),
    /// A wgpu buffer.
    #[cfg(feature = "wgpu")]
    Wgpu(<isowarp_wgpu::Wgpu as Backend>::Raw),
    /// CUDA device memory.
    #[cfg(feature = "cuda")]
    Cuda(<isowarp_cuda::Cuda as Backend>::Raw),
}

/// A mark on a stream of a [`Device`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyEvent {
    /// The CPU's, which is always reached.
    #[cfg(feature = "cpu")]
    Cpu(<isowarp_cpu::Cpu as Backend>::Event),
    /// wgpu's.
    #[cfg(feature = "wgpu")]
    Wgpu(<isowarp_wgpu::Wgpu as Backend>::Event),
    /// CUDA's.
    #[cfg(feature = "cuda")]
    Cuda(<isowarp_cuda::Cuda as Backend>::Event),
}

impl RawBuffer for AnyRaw {
    fn size_bytes(&self) -> u64 {
        each!(Self, self, r => r.size_bytes())
    }

    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            #[cfg(feature = "cpu")]
            (Self::Cpu(a), Self::Cpu(b)) => a.same(b),
            #[cfg(feature = "wgpu")]
            (Self::Wgpu(a), Self::Wgpu(b)) => a.same(b),
            #[cfg(feature = "cuda")]
            (Self::Cuda(a), Self::Cuda(b)) => a.same(b),
            #[allow(unreachable_patterns, reason = "with one backend there is no mismatch")]
            _ => false,
        }
    }
}

impl Backend for Device {
    type Raw = AnyRaw;
    type Event = AnyEvent;

    fn caps(&self) -> &Caps {
        each!(Self, self, d => d.caps())
    }

    fn numerics(&self) -> Numerics {
        each!(Self, self, d => d.numerics())
    }

    fn with_numerics(&self, numerics: Numerics) -> Self {
        match self {
            #[cfg(feature = "cpu")]
            Self::Cpu(d) => Self::Cpu(d.with_numerics(numerics)),
            #[cfg(feature = "wgpu")]
            Self::Wgpu(d) => Self::Wgpu(d.with_numerics(numerics)),
            #[cfg(feature = "cuda")]
            Self::Cuda(d) => Self::Cuda(d.with_numerics(numerics)),
        }
    }

    fn same_device(&self, other: &Self) -> bool {
        match (self, other) {
            #[cfg(feature = "cpu")]
            (Self::Cpu(a), Self::Cpu(b)) => a.same_device(b),
            #[cfg(feature = "wgpu")]
            (Self::Wgpu(a), Self::Wgpu(b)) => a.same_device(b),
            #[cfg(feature = "cuda")]
            (Self::Cuda(a), Self::Cuda(b)) => a.same_device(b),
            #[allow(unreachable_patterns, reason = "with one backend there is no mismatch")]
            _ => false,
        }
    }

    fn memory_usage(&self) -> MemoryUsage {
        each!(Self, self, d => d.memory_usage())
    }

    fn set_pool_limit(&self, bytes: u64) -> Result<()> {
        each!(Self, self, d => d.set_pool_limit(bytes))
    }

    fn allocate_bytes(&self, bytes: u64) -> Result<AnyRaw> {
        match self {
            #[cfg(feature = "cpu")]
            Self::Cpu(d) => d.allocate_bytes(bytes).map(AnyRaw::Cpu),
            #[cfg(feature = "wgpu")]
            Self::Wgpu(d) => d.allocate_bytes(bytes).map(AnyRaw::Wgpu),
            #[cfg(feature = "cuda")]
            Self::Cuda(d) => d.allocate_bytes(bytes).map(AnyRaw::Cuda),
        }
    }

    fn write_bytes(&self, dst: &AnyRaw, offset_bytes: u64, data: &[u8]) -> Result<()> {
        both!(self, AnyRaw, dst, "the destination", (d, r) => d.write_bytes(r, offset_bytes, data))
    }

    fn read_bytes(&self, src: &AnyRaw, offset_bytes: u64, len_bytes: u64) -> ReadFuture {
        let started = both!(self, AnyRaw, src, "the source", (d, r) => Ok(d.read_bytes(r, offset_bytes, len_bytes)));
        match started {
            Ok(future) => future,
            Err(e) => Box::pin(async move { Err(e) }),
        }
    }

    fn read_bytes_blocking(&self, src: &AnyRaw, offset_bytes: u64, len_bytes: u64) -> Result<Vec<u8>> {
        both!(self, AnyRaw, src, "the source", (d, r) => d.read_bytes_blocking(r, offset_bytes, len_bytes))
    }

    fn copy_bytes(&self, src: &AnyRaw, src_offset_bytes: u64, dst: &AnyRaw, dst_offset_bytes: u64, len_bytes: u64) -> Result<()> {
        both!(self, AnyRaw, src, "the source", (d, s) => {
            let t = d.own(dst)?;
            d.copy_bytes(s, src_offset_bytes, t, dst_offset_bytes, len_bytes)
        })
    }

    fn uninterrupted<R>(&self, work: impl FnOnce() -> R) -> R {
        each!(Self, self, d => d.uninterrupted(work))
    }

    fn synchronize(&self) -> Result<()> {
        each!(Self, self, d => d.synchronize())
    }

    fn new_stream(&self) -> Result<Self> {
        match self {
            #[cfg(feature = "cpu")]
            Self::Cpu(d) => d.new_stream().map(Self::Cpu),
            #[cfg(feature = "wgpu")]
            Self::Wgpu(d) => d.new_stream().map(Self::Wgpu),
            #[cfg(feature = "cuda")]
            Self::Cuda(d) => d.new_stream().map(Self::Cuda),
        }
    }

    fn record(&self) -> Result<AnyEvent> {
        match self {
            #[cfg(feature = "cpu")]
            Self::Cpu(d) => d.record().map(AnyEvent::Cpu),
            #[cfg(feature = "wgpu")]
            Self::Wgpu(d) => d.record().map(AnyEvent::Wgpu),
            #[cfg(feature = "cuda")]
            Self::Cuda(d) => d.record().map(AnyEvent::Cuda),
        }
    }

    fn wait(&self, event: &AnyEvent) -> Result<()> {
        both!(self, AnyEvent, event, "the event", (d, e) => d.wait(e))
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<f64>> {
        each!(Self, self, d => d.time(work))
    }
}

/// The memory of a backend inside an [`AnyRaw`].
pub(crate) trait Own: Backend {
    fn own<'r>(&self, raw: &'r AnyRaw) -> Result<&'r Self::Raw>;
}

macro_rules! own {
    ($feature:literal, $variant:ident, $ty:ty) => {
        #[cfg(feature = $feature)]
        impl Own for $ty {
            fn own<'r>(&self, raw: &'r AnyRaw) -> Result<&'r Self::Raw> {
                match raw {
                    AnyRaw::$variant(r) => Ok(r),
                    #[allow(unreachable_patterns, reason = "with one backend there is no mismatch")]
                    _ => Err(Error::WrongDevice { what: "a buffer" }),
                }
            }
        }
    };
}
own!("cpu", Cpu, isowarp_cpu::Cpu);
own!("wgpu", Wgpu, isowarp_wgpu::Wgpu);
own!("cuda", Cuda, isowarp_cuda::Cuda);

fn forward<D: Own + Run<Task>, Task>(device: &D, task: &Task, leaves: &[Leaf<AnyRaw>], outs: &[Out<AnyRaw>]) -> Result<()> {
    let too_many =
        || Error::TooLarge { what: "buffers of one pattern", requested: (leaves.len() + outs.len()) as u64, limit: SLOTS as u64 };
    let mut own_leaves = ArrayVec::<Leaf<D::Raw>, SLOTS>::new();
    for l in leaves {
        own_leaves.try_push(own_leaf(device, l)?).map_err(|_| too_many())?;
    }
    let mut own_outs = ArrayVec::<Out<D::Raw>, SLOTS>::new();
    for o in outs {
        own_outs.try_push(own_out(device, o)?).map_err(|_| too_many())?;
    }
    device.run(task, &own_leaves, &own_outs)
}

pub(crate) fn own_out<D: Own>(device: &D, out: &Out<AnyRaw>) -> Result<Out<D::Raw>> {
    Ok(Out { raw: device.own(&out.raw)?.clone(), dtype: out.dtype, offset: out.offset })
}

pub(crate) fn own_leaf<D: Own>(device: &D, leaf: &Leaf<AnyRaw>) -> Result<Leaf<D::Raw>> {
    Ok(match leaf {
        Leaf::Elements { raw, dtype, offset, stride } => {
            Leaf::Elements { raw: device.own(raw)?.clone(), dtype: *dtype, offset: *offset, stride: *stride }
        }
        Leaf::Array { raw, dtype, offset, len } => Leaf::Array { raw: device.own(raw)?.clone(), dtype: *dtype, offset: *offset, len: *len },
        Leaf::Value { bits } => Leaf::Value { bits: *bits },
    })
}

macro_rules! run {
    ($($task:ty),*) => {$(
        impl Run<$task> for Device {
            fn run(&self, task: &$task, leaves: &[Leaf<AnyRaw>], outs: &[Out<AnyRaw>]) -> Result<()> {
                each!(Self, self, d => forward(d, task, leaves, outs))
            }
        }
    )*};
}
isowarp_core::every_task!(run);
