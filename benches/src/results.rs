//! Results as data: what `isowarp-bench` writes and the renderer reads.

use isowarp::backend::Backend as _;
use isowarp::{Device, Selector};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// One pattern, element type and size on one device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// `wgpu` or `cuda`.
    pub backend: String,
    /// `pattern/variant`.
    pub name: String,
    /// Element type.
    pub dtype: String,
    /// Elements (pixels of an image).
    pub n: u64,
    /// Median device time of one call in seconds, over `samples` measurements of `batch` calls each; wall time where the device has no clock.
    pub device_s: f64,
    /// Fastest and slowest of the measurements, per call; of criterion's the confidence interval of the median.
    pub device_range_s: (f64, f64),
    /// Whether `device_s` was taken by the device's clock.
    pub device_clock: bool,
    /// Calls per measurement: enough for a clock of about a microsecond not to matter. 0 where criterion chose.
    pub batch: u64,
    /// Measurements. 0 where criterion chose.
    pub samples: usize,
    /// Inputs used in turn.
    pub copies: u64,
    /// Median wall time of one call and waiting for it, in seconds; of criterion's of one of many calls that are waited for together.
    pub end_to_end_s: f64,
    /// Wall time of one call without waiting, in seconds: what the host spends. Criterion does not measure it.
    pub host_s: Option<f64>,
    /// Wall time of the pattern's first call in the process, with tracing, compilation and waiting, in seconds; only where this was the
    /// first. Kernels that made the inputs have run before on the device: [`FirstCall`] is of a device without.
    #[serde(alias = "first_call_s")]
    pub first_after_inputs_s: Option<f64>,
    /// Bytes that the call moves at least, by the device time.
    pub bytes_per_s: f64,
    /// Rate divided by that of the copy of as many elements, same backend, same run.
    pub of_copy: Option<f64>,
    /// Backends that the output was compared with: `cpu`, `wgpu`, ..., and whether it was equal.
    pub checked: Vec<(String, bool)>,
}

/// The first call of a pattern on a device that was opened for it, from host memory to a result on the device, waited for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FirstCall {
    /// `wgpu` or `cuda`.
    pub backend: String,
    /// `pattern/variant`.
    pub name: String,
    /// Element type.
    pub dtype: String,
    /// Elements.
    pub n: u64,
    /// Time to open the device, in seconds: the driver's and ours.
    pub open_s: f64,
    /// Our part of it, with the start-up probe.
    pub own_open_s: f64,
    /// The first call, in seconds: upload, tracing, compilation, allocation, the pattern.
    pub first_s: f64,
    /// The same once more.
    pub again_s: f64,
}

/// A device that was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// `wgpu` or `cuda`.
    pub backend: String,
    /// The device's name.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// The start-up probe's verdict.
    pub numerics: String,
    /// Time to open the device, in seconds: the driver's and ours.
    pub open_s: f64,
    /// Our part of it, with the start-up probe; results of old have no such figure.
    #[serde(default)]
    pub own_open_s: Option<f64>,
}

/// A device that was opened to be measured.
pub struct Opened {
    /// The device.
    pub device: Device,
    /// Description of the device and its driver.
    pub machine: Machine,
}

/// Opens a device, by the clock.
///
/// # Errors
/// Error of a backend that has no such device.
pub fn open(selector: Selector) -> isowarp::Result<Opened> {
    let start = Instant::now();
    let device = Device::open(selector)?;
    let open_s = start.elapsed().as_secs_f64();
    let c = device.caps();
    let machine = Machine {
        backend: c.backend.to_owned(),
        device: c.device.clone(),
        driver: c.driver.clone(),
        numerics: c.numerics.to_string(),
        open_s,
        own_open_s: Some(device.setup_time().as_secs_f64()),
    };
    Ok(Opened { device, machine })
}

/// A run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Results {
    /// isowarp's version.
    pub version: String,
    /// Seed of the inputs.
    pub seed: u32,
    /// Devices.
    pub machines: Vec<Machine>,
    /// Figures.
    pub measured: Vec<Measured>,
    /// First calls, each on a device of its own.
    #[serde(default)]
    pub first_calls: Vec<FirstCall>,
}

impl Results {
    /// Fills in every rate's ratio to the copy of the same backend and size; images are compared with the copy nearest in bytes.
    pub fn relate_to_copy(&mut self) {
        let copies: Vec<(String, u64, f64)> =
            self.measured.iter().filter(|m| m.name == "copy").map(|m| (m.backend.clone(), m.n * 4, m.bytes_per_s)).collect();
        for m in &mut self.measured {
            let size = if m.dtype == "u8" { 1 } else { 4 };
            let bytes = (m.n * size) as f64;
            let distance = |at: u64| (at as f64 / bytes).ln().abs();
            let nearest = copies.iter().filter(|c| c.0 == m.backend).min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
            m.of_copy = nearest.map(|c| m.bytes_per_s / c.2);
        }
    }

    /// Whether every output that was compared was equal.
    #[must_use]
    pub fn all_equal(&self) -> bool {
        self.measured.iter().all(|m| m.checked.iter().all(|c| c.1))
    }
}
