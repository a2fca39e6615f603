//! Results as data: what `isowarp-bench` writes and the renderer reads.

use serde::{Deserialize, Serialize};

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
    /// Fastest and slowest of the measurements, per call.
    pub device_range_s: (f64, f64),
    /// Whether `device_s` was taken by the device's clock.
    pub device_clock: bool,
    /// Calls per measurement: enough for a clock of about a microsecond not to matter.
    pub batch: u64,
    /// Measurements.
    pub samples: usize,
    /// Inputs used in turn.
    pub copies: u64,
    /// Median wall time of one call and waiting for it, in seconds.
    pub end_to_end_s: f64,
    /// Wall time of one call without waiting, in seconds: what the host spends.
    pub host_s: f64,
    /// Wall time of the first call in the process, with tracing, compilation and waiting, in seconds; only where this was the first.
    pub first_call_s: Option<f64>,
    /// Bytes that the call moves at least, by the device time.
    pub bytes_per_s: f64,
    /// Rate divided by that of the copy of as many elements, same backend, same run.
    pub of_copy: Option<f64>,
    /// What the output was compared with: `cpu`, `wgpu`, ..., and whether it was equal.
    pub checked: Vec<(String, bool)>,
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
    /// Time to open the device, in seconds.
    pub open_s: f64,
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
