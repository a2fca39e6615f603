//! Launches on a device of any backend.

use crate::any::{AnyRaw, Device, Own, own_leaf, own_out};
use isowarp_core::element::Ty;
use isowarp_core::error::Result;
use isowarp_core::launch::{Array, Code, Def, KernelSpec, Launcher, Piece, Tuning, Work};

/// The same launch on a backend's own device.
fn launch<D: Own + Launcher>(device: &D, spec: &KernelSpec<'_, AnyRaw>, work: Work<'_>) -> Result<()> {
    let leaves = spec.leaves.iter().map(|leaf| own_leaf(device, leaf)).collect::<Result<Vec<_>>>()?;
    let outs = spec.outs.iter().map(|out| own_out(device, out)).collect::<Result<Vec<_>>>()?;
    let mut arrays = Vec::with_capacity(spec.arrays.len());
    for &Array { raw, offset, size, len, origin } in spec.arrays {
        arrays.push(Array { raw: raw.map(|raw| device.own(raw)).transpose()?, offset, size, len, origin });
    }
    let KernelSpec { kernel, choices, operators, numerics, writes_single, steps, .. } = *spec;
    let params = spec.params.clone();
    let own =
        KernelSpec { kernel, params, choices, operators, numerics, leaves: &leaves, outs: &outs, writes_single, arrays: &arrays, steps };
    device.launch(&own, work)
}

fn scratch<D: Launcher>(device: &D, bytes: &[u64], any: impl Fn(D::Raw) -> AnyRaw) -> Result<Vec<Piece<AnyRaw>>> {
    let pieces = device.scratch(bytes)?;
    Ok(pieces.into_iter().map(|Piece { raw, offset, bytes }| Piece { raw: any(raw), offset, bytes }).collect())
}

/// Writes the same `match` over the backends that are compiled in.
macro_rules! each {
    ($device:expr, $d:ident => $body:expr) => {
        match $device {
            #[cfg(feature = "cpu")]
            Device::Cpu($d) => $body,
            #[cfg(feature = "wgpu")]
            Device::Wgpu($d) => $body,
            #[cfg(feature = "cuda")]
            Device::Cuda($d) => $body,
        }
    };
}

impl Launcher for Device {
    fn code(&self) -> Code {
        each!(self, d => d.code())
    }

    fn launch(&self, spec: &KernelSpec<'_, AnyRaw>, work: Work<'_>) -> Result<()> {
        each!(self, d => launch(d, spec, work))
    }

    fn scratch(&self, bytes: &[u64]) -> Result<Vec<Piece<AnyRaw>>> {
        match self {
            #[cfg(feature = "cpu")]
            Self::Cpu(d) => scratch(d, bytes, AnyRaw::Cpu),
            #[cfg(feature = "wgpu")]
            Self::Wgpu(d) => scratch(d, bytes, AnyRaw::Wgpu),
            #[cfg(feature = "cuda")]
            Self::Cuda(d) => scratch(d, bytes, AnyRaw::Cuda),
        }
    }

    fn phase(&self, raw: &AnyRaw, offset_bytes: u64) -> Result<u64> {
        each!(self, d => d.phase(d.own(raw)?, offset_bytes))
    }

    fn elements_of_group(&self, kernel: &Def) -> u64 {
        each!(self, d => d.elements_of_group(kernel))
    }

    fn accumulator_bytes(&self, parts: &[Ty]) -> u64 {
        each!(self, d => d.accumulator_bytes(parts))
    }

    fn tuning(&self) -> Tuning {
        each!(self, d => Launcher::tuning(d))
    }
}
