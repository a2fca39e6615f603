//! Choosing a device.

use crate::Device;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use isowarp_core::backend::Backend as _;
use isowarp_core::caps::NumericsVerdict;
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};

/// Environment variable that overrides [`Device::auto`]: `cpu`, `wgpu`, `cuda` or `auto`.
const OVERRIDE: &str = "ISOWARP_BACKEND";

/// Environment variable that sets [`Backend::set_pool_limit`](isowarp_core::backend::Backend::set_pool_limit) of every device that is opened here, in MiB.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
const POOL: &str = "ISOWARP_POOL_MIB";

/// Backend to open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Selector {
    /// The first device that can do all work; see [`Device::auto`]. `ISOWARP_BACKEND` overrides.
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

impl Choice {
    fn new(device: Device, reasons: &[String]) -> Self {
        let why = if reasons.is_empty() { "the first choice".to_owned() } else { reasons.join("; ") };
        Self { device, why }
    }
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
    /// The best device of this machine: CUDA if there is a GPU for it, else the best wgpu adapter, else the CPU. A device that cannot do all that
    /// the CPU can comes after it: an adapter whose arithmetic is not proven or loses subnormal numbers, or that lacks element types (Metal has no f64). OpenGL adapters are not
    /// looked at. The environment variable `ISOWARP_BACKEND` (`cpu`, `wgpu`, `cuda`) overrides the choice, and so does [`Device::open`].
    /// [`Device::describe`] says what was chosen and why.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if nothing can be opened, or the override cannot; [`Error::UnknownBackend`] for another override;
    /// [`Error::InvalidArgument`] if `ISOWARP_POOL_MIB`, the memory that a device may keep for reuse, is no number.
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

    /// Every device of this machine: CUDA devices, wgpu adapters but for OpenGL's, the CPU; or why one could not be opened.
    #[must_use]
    pub fn all() -> Vec<Result<Self>> {
        let mut all = Vec::new();
        Self::push_cuda(&mut all);
        #[cfg(feature = "wgpu")]
        all.extend(Self::adapters());
        #[cfg(feature = "cpu")]
        all.push(Self::cpu());
        all
    }

    /// Says what the device is, and why it is this one, where [`Device::auto`] chose it: what asked for it, or what kept the better ones out.
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

    /// Returns isowarp's own part of the time to open the device, such as the start-up probe; the rest was the driver's.
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
        let gpus = std::iter::once_with(|| ("cuda", Self::cuda(0))).chain(Self::adapters().map(|opened| ("wgpu", opened)));
        Self::first_of(gpus.chain(std::iter::once_with(|| ("cpu", Self::cpu()))))
    }

    /// The first device that can do all that the CPU can, else the first one.
    fn first_of(candidates: impl Iterator<Item = (&'static str, Result<Self>)>) -> Result<Choice> {
        let (mut reasons, mut limited) = (Vec::new(), Vec::new());
        for (name, opened) in candidates {
            match opened {
                Ok(device) => match device.limitation() {
                    None => return Ok(Choice::new(device, &reasons)),
                    Some(limitation) => {
                        reasons.push(format!("{name}: {} {limitation}; {OVERRIDE}={name} asks for it", device.caps().device));
                        limited.push(device);
                    }
                },
                Err(e) => reasons.push(format!("{name}: {e}")),
            }
        }
        match limited.into_iter().next() {
            Some(device) => Ok(Choice::new(device, &reasons)),
            None => Err(Error::Unavailable { backend: "auto", reason: reasons.join("; ") }),
        }
    }

    /// Lists what the CPU can do and this device cannot, in words.
    fn limitation(&self) -> Option<String> {
        let caps = self.caps();
        if let NumericsVerdict::Unproven { witness } = &caps.numerics {
            return Some(format!("is not proven to give the same bits ({witness})"));
        }
        if caps.numerics == NumericsVerdict::StrictNormal {
            return Some("takes subnormal numbers for zeros".to_owned());
        }
        if let Some((operation, witness)) = caps.unproven.first() {
            let more = match caps.unproven.len() - 1 {
                0 => String::new(),
                n => format!(" and {n} other operations"),
            };
            return Some(format!("refuses {operation}{more}, which it computes otherwise ({witness})"));
        }
        let lacking: Vec<&str> = DType::ALL.iter().filter(|d| !caps.supports(**d)).map(|d| d.name()).collect();
        (!lacking.is_empty()).then(|| format!("has no {}", lacking.join(", ")))
    }

    /// The device, keeping as much memory as the environment says.
    #[cfg(any(feature = "wgpu", feature = "cuda"))]
    fn pooled(self) -> Result<Self> {
        if let Some(text) = std::env::var_os(POOL) {
            let text = text.to_string_lossy();
            let mib: Option<u64> = text.trim().parse().ok();
            let bytes = mib.and_then(|mib| mib.checked_mul(1 << 20));
            let reason = || Error::InvalidArgument { what: POOL, reason: format!("`{text}` is no number of MiB") };
            self.set_pool_limit(bytes.ok_or_else(reason)?)?;
        }
        Ok(self)
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
        isowarp_wgpu::Wgpu::new_blocking().map(Self::Wgpu)?.pooled()
    }

    #[cfg(not(feature = "wgpu"))]
    fn wgpu() -> Result<Self> {
        Err(not_compiled("wgpu"))
    }

    #[cfg(feature = "cuda")]
    fn cuda(ordinal: u32) -> Result<Self> {
        isowarp_cuda::Cuda::new(ordinal).map(Self::Cuda)?.pooled()
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

    /// The adapters of wgpu, best first, each opened when it is asked for; or why there is none.
    #[cfg(feature = "wgpu")]
    fn adapters() -> impl Iterator<Item = Result<Self>> {
        std::iter::once_with(|| {
            let options = isowarp_wgpu::Options::default();
            let adapters = pollster::block_on(isowarp_wgpu::adapters(options.backends));
            let none = adapters.is_empty().then(Self::wgpu);
            let open = move |adapter| pollster::block_on(isowarp_wgpu::Wgpu::from_adapter(&adapter, &options)).map(Self::Wgpu)?.pooled();
            adapters.into_iter().map(open).chain(none)
        })
        .flatten()
    }

    #[cfg(not(feature = "wgpu"))]
    fn adapters() -> impl Iterator<Item = Result<Self>> {
        std::iter::once(Err(not_compiled("wgpu")))
    }
}

#[cfg(not(all(feature = "cpu", feature = "wgpu", feature = "cuda")))]
fn not_compiled(backend: &'static str) -> Error {
    Error::Unavailable { backend, reason: format!("isowarp was built without the feature `{backend}`") }
}

#[cfg(all(test, feature = "cpu", feature = "wgpu"))]
mod tests {
    use super::*;
    use isowarp_wgpu::{Options, Wgpu};

    /// An adapter as it would be without 64-bit types; `None` where the environment says that there is no adapter.
    fn narrow() -> Option<Device> {
        let named = std::env::var("ISOWARP_TEST_DEVICES").ok();
        if named.is_some_and(|names| !names.split(',').any(|name| name.trim() == "wgpu")) {
            return None;
        }
        let options = Options { without: wgpu::Features::SHADER_INT64, ..Options::default() };
        Some(Device::Wgpu(pollster::block_on(Wgpu::with_options(&options)).expect("an adapter")))
    }

    #[test]
    fn a_device_that_lacks_types_comes_after_the_cpu_and_says_why() {
        let Some(narrow) = narrow() else { return };
        let unavailable = Err(Error::Unavailable { backend: "cuda", reason: "there is none".to_owned() });
        let choice = Device::first_of([("cuda", unavailable), ("wgpu", Ok(narrow.clone())), ("cpu", Device::cpu())].into_iter());
        let choice = choice.expect("the CPU does all");
        assert_eq!(choice.device.caps().backend, "cpu");
        for part in ["cuda: backend `cuda` is not available: there is none", "has no f64", "i64", "ISOWARP_BACKEND=wgpu asks for it"] {
            assert!(choice.why.contains(part), "{}", choice.why);
        }
        let alone = Device::first_of([("wgpu", Ok(narrow))].into_iter()).expect("better than none");
        assert!(alone.device.caps().backend == "wgpu" && alone.why.contains("has no f64"), "{}", alone.why);
    }

    #[test]
    fn candidates_behind_the_one_that_is_taken_are_not_opened() {
        let opened = std::cell::Cell::new(false);
        let behind = std::iter::once_with(|| {
            opened.set(true);
            ("cpu", Device::cpu())
        });
        let choice = Device::first_of(std::iter::once(("cpu", Device::cpu())).chain(behind)).expect("the CPU");
        assert_eq!(choice.why, "the first choice");
        assert!(!opened.get());
    }
}
