//! Choosing a device.

use crate::Device;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use isowarp_core::backend::Backend as _;
use isowarp_core::error::{Error, Result};

/// Environment variable that overrides [`Device::auto`]: `cpu`, `wgpu`, `cuda` or `auto`.
const OVERRIDE: &str = "ISOWARP_BACKEND";

/// Which backend to open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Selector {
    /// CUDA if there is a GPU for it, else the best wgpu adapter, else the CPU; `ISOWARP_BACKEND` overrides.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The best adapter of wgpu.
    Wgpu,
    /// The first CUDA device.
    Cuda,
}

/// A device that [`Device::choose`] chose.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The device.
    pub device: Device,
    /// Why it is this one: what asked for it, or what kept the better ones out.
    pub why: String,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.device.describe())
    }
}

impl FromStr for Selector {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        match s.trim().to_ascii_lowercase().as_str() {
            "" | "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "wgpu" | "vulkan" => Ok(Self::Wgpu),
            "cuda" => Ok(Self::Cuda),
            _ => Err(Error::UnknownBackend { name: s.to_owned() }),
        }
    }
}

impl Device {
    /// The best device of this machine: CUDA if there is a GPU for it, else the best wgpu adapter, else the CPU. The environment
    /// variable `ISOWARP_BACKEND` (`cpu`, `wgpu`, `cuda`) overrides the choice. [`Device::describe`] says what was chosen and why.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if nothing can be opened, or the override cannot; [`Error::UnknownBackend`] for another override.
    pub fn auto() -> Result<Self> {
        Ok(Self::choose()?.device)
    }

    /// As [`Device::auto`], with the reason apart.
    ///
    /// # Errors
    /// As [`Device::auto`].
    pub fn choose() -> Result<Choice> {
        let chosen = match std::env::var_os(OVERRIDE) {
            Some(name) => {
                let name = name.to_string_lossy();
                match name.parse()? {
                    Selector::Auto => Self::best()?,
                    selector => Choice { device: Self::open(selector)?, why: format!("{OVERRIDE}={name}") },
                }
            }
            None => Self::best()?,
        };
        // The device was opened just now, so nothing has chosen it before.
        let _ = chosen.device.caps().chosen.set(chosen.why.clone());
        log::info!("{chosen}");
        Ok(chosen)
    }

    /// A device of the backend asked for.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the reason.
    pub fn open(selector: Selector) -> Result<Self> {
        match selector {
            Selector::Auto => Self::auto(),
            Selector::Cpu => Self::cpu(),
            Selector::Wgpu => Self::wgpu(),
            Selector::Cuda => Self::cuda(0),
        }
    }

    /// Every device of this machine: CUDA devices, wgpu adapters, the CPU; or why one could not be opened.
    #[must_use]
    pub fn all() -> Vec<Result<Self>> {
        let mut all = Vec::new();
        Self::push_cuda(&mut all);
        Self::push_wgpu(&mut all);
        #[cfg(feature = "cpu")]
        all.push(Self::cpu());
        all
    }

    /// What the device is, and why it is this one, where [`Device::auto`] chose it: what asked for it, or what kept the better ones out.
    ///
    /// ```
    /// use isowarp::{Device, Selector};
    ///
    /// let dev = Device::open(Selector::Cpu)?;
    /// println!("{}", dev.describe()); // cpu: CPU (16 threads) (isowarp-cpu 0.1.0), numerics strict
    /// # assert!(dev.describe().starts_with("cpu: CPU (") && dev.describe().ends_with(", numerics strict"));
    /// let auto = Device::choose()?;
    /// assert!(auto.device.describe().ends_with(&format!(" ({})", auto.why)));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn describe(&self) -> String {
        let c = self.caps();
        let why = c.chosen.get().map(|why| format!(" ({why})")).unwrap_or_default();
        format!("{}: {} ({}), numerics {}{why}", c.backend, c.device, c.driver, c.numerics)
    }

    /// How much of the time to open the device was isowarp's own, such as the start-up probe; the rest was the driver's.
    #[must_use]
    pub fn setup_time(&self) -> Duration {
        match self {
            #[cfg(feature = "cpu")]
            Self::Cpu(_) => Duration::ZERO,
            #[cfg(feature = "wgpu")]
            Self::Wgpu(d) => d.setup_time(),
            #[cfg(feature = "cuda")]
            Self::Cuda(d) => d.setup_time(),
        }
    }

    fn best() -> Result<Choice> {
        let mut reasons = Vec::new();
        for (open, name) in [(Self::first_cuda as fn() -> Result<Self>, "cuda"), (Self::wgpu, "wgpu"), (Self::cpu, "cpu")] {
            match open() {
                Ok(device) => {
                    let why = if reasons.is_empty() { "the first choice".to_owned() } else { reasons.join("; ") };
                    return Ok(Choice { device, why });
                }
                Err(e) => reasons.push(format!("{name}: {e}")),
            }
        }
        Err(Error::Unavailable { backend: "auto", reason: reasons.join("; ") })
    }

    fn first_cuda() -> Result<Self> {
        Self::cuda(0)
    }

    #[cfg(feature = "cpu")]
    fn cpu() -> Result<Self> {
        Ok(Self::Cpu(isowarp_cpu::Cpu::new()))
    }

    #[cfg(not(feature = "cpu"))]
    fn cpu() -> Result<Self> {
        Err(not_compiled("cpu"))
    }

    #[cfg(feature = "wgpu")]
    fn wgpu() -> Result<Self> {
        isowarp_wgpu::Wgpu::new_blocking().map(Self::Wgpu)
    }

    #[cfg(not(feature = "wgpu"))]
    fn wgpu() -> Result<Self> {
        Err(not_compiled("wgpu"))
    }

    #[cfg(feature = "cuda")]
    fn cuda(ordinal: u32) -> Result<Self> {
        isowarp_cuda::Cuda::new(ordinal).map(Self::Cuda)
    }

    #[cfg(not(feature = "cuda"))]
    fn cuda(_ordinal: u32) -> Result<Self> {
        Err(not_compiled("cuda"))
    }

    #[cfg(feature = "cuda")]
    fn push_cuda(all: &mut Vec<Result<Self>>) {
        match isowarp_cuda::Cuda::devices() {
            Ok(devices) => all.extend((0..devices.len() as u32).map(Self::cuda)),
            Err(e) => all.push(Err(e)),
        }
    }

    #[cfg(not(feature = "cuda"))]
    fn push_cuda(_all: &mut Vec<Result<Self>>) {}

    #[cfg(feature = "wgpu")]
    fn push_wgpu(all: &mut Vec<Result<Self>>) {
        let options = isowarp_wgpu::Options::default();
        let adapters = pollster::block_on(isowarp_wgpu::adapters(options.backends));
        if adapters.is_empty() {
            all.push(Self::wgpu());
        }
        for adapter in &adapters {
            all.push(pollster::block_on(isowarp_wgpu::Wgpu::from_adapter(adapter, &options)).map(Self::Wgpu));
        }
    }

    #[cfg(not(feature = "wgpu"))]
    fn push_wgpu(_all: &mut Vec<Result<Self>>) {}
}

#[cfg(not(all(feature = "cpu", feature = "wgpu", feature = "cuda")))]
fn not_compiled(backend: &'static str) -> Error {
    Error::Unavailable { backend, reason: format!("isowarp was built without the feature `{backend}`") }
}
