//! The devices of this machine, each in its default form and in others: wgpu's narrow, with and without subgroups, and CUDA's whose launches
//! soon start numbering themselves anew, and whose blocks do not wait for each other.

use crate::case::Case;
use isowarp::backend::Backend as _;
use isowarp::element::DType;
use isowarp::{Device, Error, Result};

/// A device that was opened for the run.
#[derive(Clone, Debug)]
pub struct Present {
    /// `cpu`, `wgpu` or `cuda`.
    pub backend: &'static str,
    /// Form in which it was opened: `default`, or what was left out.
    pub form: &'static str,
    /// The handle.
    pub device: Device,
    /// The patterns whose kernels are others than the default's; all if empty.
    pub patterns: &'static [&'static str],
    /// Cases that it runs.
    pub part: Part,
}

/// Part of a table that a device runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its patterns.
    Own,
    /// Of its patterns the cases that need 64-bit integers or f16: another form, which lacks them, runs the others with the same kernels.
    OwnWide,
    /// Its patterns, but for buffers above a binding, which the default's code cuts; and the quick part of the others, which run the default's
    /// kernels beside kernels of these patterns.
    OwnAndQuick,
}

/// Element types that narrow adapters lack.
const WIDE: [DType; 3] = [DType::I64, DType::U64, DType::F16];

/// Devices that are opened again, in other forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// None.
    Never,
    /// All adapters of wgpu, with those kernels in subgroups that the default has in shared memory, and the other way round; and without
    /// their optional features. All GPUs of CUDA, with launches that look back numbered from 0 to 2, and without cooperative launches.
    All,
}

/// Patterns whose kernels come in subgroups and in shared memory.
const IN_SUBGROUPS: &[&str] = &["reduce", "scan", "sort", "segmented_sort"];

/// Patterns of which adapters without optional features run other kernels.
const NARROW: &[&str] = &["elementary", "histogram", "map", "probe", "reduce", "scan", "select", "sort", "segmented_sort"];

/// Patterns whose kernels look back, and so tell launches apart by their numbers.
#[cfg(feature = "cuda")]
const LOOKING_BACK: &[&str] = &["scan", "select", "sort", "segmented_sort", "by_key"];

/// Patterns that take one cooperative launch for several others, or for few elements.
#[cfg(feature = "cuda")]
const TOGETHER: &[&str] = &["histogram", "select", "by_key", "segmented", "segmented_sort"];

impl Present {
    fn new(device: Device, form: &'static str) -> Self {
        Self { backend: device.caps().backend, form, device, patterns: &[], part: Part::Own }
    }

    /// Whether a case is worth running.
    #[must_use]
    pub fn runs<B>(&self, case: &Case<B>) -> bool {
        let own = self.patterns.is_empty() || self.patterns.contains(&case.pattern());
        match self.part {
            Part::Own => own,
            Part::OwnWide => own && case.needs.iter().any(|d| WIDE.contains(d)),
            Part::OwnAndQuick => case.quick || own && case.bytes <= self.device.caps().max_binding_bytes,
        }
    }

    /// Backend, device and form, short enough for a table.
    #[must_use]
    pub fn label(&self) -> String {
        let name = &self.device.caps().device;
        if self.form == "default" { format!("{}: {name}", self.backend) } else { format!("{}: {name} ({})", self.backend, self.form) }
    }
}

/// The devices besides the CPU, of the backends asked for (all if none is named), and why others could not be opened.
///
/// # Errors
/// [`Error::Unavailable`] if a backend that was asked for by name has no device here, [`Error::UnknownBackend`] if there is no such backend.
pub fn present(backends: &[String], again: Again) -> Result<(Vec<Present>, Vec<String>)> {
    for name in backends {
        name.parse::<isowarp::Selector>()?;
    }
    let wanted =
        |backend: &str| backends.is_empty() || backends.iter().any(|b| b == backend || b == "auto" || (b == "vulkan" && backend == "wgpu"));
    let (mut devices, mut absent) = (Vec::new(), Vec::new());
    for opened in Device::all() {
        match opened {
            Ok(device) if device.caps().backend != "cpu" && wanted(device.caps().backend) => devices.push(Present::new(device, "default")),
            Ok(_) => {}
            Err(e) => absent.push(e),
        }
    }
    if again == Again::All {
        push_forms_of_cuda(&mut devices)?;
        if wanted("wgpu") {
            push_forms(&mut devices)?;
        }
    }
    for name in backends {
        let asked = if name == "vulkan" { "wgpu" } else { name };
        if matches!(asked, "wgpu" | "cuda") && !devices.iter().any(|d| d.backend == asked) {
            let known = absent.iter().find(|e| matches!(e, Error::Unavailable { backend, .. } if *backend == asked));
            return Err(known.cloned().unwrap_or(Error::Unavailable {
                backend: if asked == "cuda" { "cuda" } else { "wgpu" },
                reason: "this machine has no such device, or the program was built without it".to_owned(),
            }));
        }
    }
    Ok((devices, absent.iter().map(ToString::to_string).collect()))
}

/// Opens every CUDA device that is there again, with launch numbers that start over at every third launch, and with no cooperative launches.
#[cfg(feature = "cuda")]
fn push_forms_of_cuda(devices: &mut Vec<Present>) -> Result<()> {
    let ordinals = devices.iter().filter_map(|d| if let Device::Cuda(cuda) = &d.device { Some(cuda.info().ordinal) } else { None });
    for ordinal in ordinals.collect::<Vec<_>>() {
        let cuda = isowarp::Cuda::new(ordinal)?;
        cuda.restart_launch_numbers_after(3);
        devices.push(Present { patterns: LOOKING_BACK, ..Present::new(Device::Cuda(cuda), "launch numbers start over") });
        let cuda = isowarp::Cuda::new(ordinal)?;
        cuda.launch_apart();
        devices.push(Present { patterns: TOGETHER, ..Present::new(Device::Cuda(cuda), "blocks apart") });
    }
    Ok(())
}

#[cfg(not(feature = "cuda"))]
#[expect(clippy::unnecessary_wraps, reason = "the other form can fail")]
fn push_forms_of_cuda(_devices: &mut Vec<Present>) -> Result<()> {
    Ok(())
}

/// Opens every adapter again, so that every form of each kernel runs: with the forms in subgroups and in shared memory where the default
/// has the other, and without the features that narrow adapters lack.
#[cfg(feature = "wgpu")]
fn push_forms(devices: &mut Vec<Present>) -> Result<()> {
    use isowarp::wgpu::Options;
    use wgpu::Features as F;
    let open = |adapter: &_, options: &Options| pollster::block_on(isowarp::Wgpu::from_adapter(adapter, options));
    let forced = |subgroups| Options { subgroups: Some(subgroups), ..Options::default() };
    let without = F::SUBGROUP
        | F::SUBGROUP_BARRIER
        | F::SHADER_INT64
        | F::SHADER_INT64_ATOMIC_MIN_MAX
        | F::SHADER_INT64_ATOMIC_ALL_OPS
        | F::SHADER_F16;
    for adapter in pollster::block_on(isowarp::wgpu::adapters(wgpu::Backends::all())) {
        let default = open(&adapter, &Options::default())?;
        for (form, options) in [("subgroups", forced(true)), ("shared memory", forced(false))] {
            let device = open(&adapter, &options)?;
            if device.patterns_in_subgroups() != default.patterns_in_subgroups() {
                // The narrow form has no subgroups.
                let part = if form == "shared memory" { Part::OwnWide } else { Part::Own };
                devices.push(Present { patterns: IN_SUBGROUPS, part, ..Present::new(Device::Wgpu(device), form) });
            }
        }
        let narrow = Options { without, ..Options::default() };
        let narrow = Device::Wgpu(open(&adapter, &narrow)?);
        devices.push(Present { patterns: NARROW, part: Part::OwnAndQuick, ..Present::new(narrow, "narrow") });
    }
    Ok(())
}

#[cfg(not(feature = "wgpu"))]
#[expect(clippy::unnecessary_wraps, reason = "the other form can fail")]
fn push_forms(_devices: &mut Vec<Present>) -> Result<()> {
    Ok(())
}
