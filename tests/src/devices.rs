//! The devices of this machine, each in its default form and, for wgpu, in a narrow one.

use isowarp::backend::Backend as _;
use isowarp::{Device, Error, Result};

/// A device that was opened for the run.
#[derive(Clone, Debug)]
pub struct Present {
    /// `cpu`, `wgpu` or `cuda`.
    pub backend: &'static str,
    /// How it was opened: `default`, or what was left out.
    pub form: &'static str,
    /// The handle.
    pub device: Device,
}

impl Present {
    fn new(device: Device, form: &'static str) -> Self {
        Self { backend: device.caps().backend, form, device }
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
pub fn present(backends: &[String], narrow: bool) -> Result<(Vec<Present>, Vec<String>)> {
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
    if narrow && wanted("wgpu") {
        push_narrow(&mut devices)?;
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

/// Opens every adapter again without the features that narrow adapters lack, so that both forms of each kernel run.
#[cfg(feature = "wgpu")]
fn push_narrow(devices: &mut Vec<Present>) -> Result<()> {
    use wgpu::Features as F;
    let without = F::SUBGROUP
        | F::SUBGROUP_BARRIER
        | F::SHADER_INT64
        | F::SHADER_INT64_ATOMIC_MIN_MAX
        | F::SHADER_INT64_ATOMIC_ALL_OPS
        | F::SHADER_F16;
    let options = isowarp::wgpu::Options { without, ..isowarp::wgpu::Options::default() };
    for adapter in pollster::block_on(isowarp::wgpu::adapters(options.backends)) {
        let device = pollster::block_on(isowarp::Wgpu::from_adapter(&adapter, &options))?;
        devices.push(Present::new(Device::Wgpu(device), "narrow"));
    }
    Ok(())
}

#[cfg(not(feature = "wgpu"))]
#[expect(clippy::unnecessary_wraps, reason = "the other form can fail")]
fn push_narrow(_devices: &mut Vec<Present>) -> Result<()> {
    Ok(())
}
