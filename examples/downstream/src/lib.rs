//! A library on top of isowarp that does not know which backend it runs on.

use isowarp::patterns::{Map, Reduce};
use isowarp::prelude::*;

/// Scales and shifts `x` so that it runs from 0 to 1. Everything stays on the device; `x` is read twice.
///
/// # Errors
/// What the patterns return; [`isowarp::Error::Empty`] for an empty `x`.
pub fn normalise<B: Map + Reduce>(device: &B, x: &Buffer<B, f32>) -> isowarp::Result<Buffer<B, f32>> {
    let (low, high) = device.minmax(x)?;
    device.map((x, &low, &high), |(x, low, high)| (x - low) / (high - low))
}

/// The entropy, in bits, of weights that need not sum to one.
///
/// # Errors
/// What the patterns return.
pub fn entropy<B: Map + Reduce>(device: &B, weights: &Buffer<B, f32>) -> isowarp::Result<DeviceScalar<B, f32>> {
    let total = device.sum(weights)?;
    device.reduce((weights, &total).map(|(w, total)| {
            let p = w / total;
            select(p.gt(0.0), -p * p.log2(), 0.0)
        }), Sum).run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised_values_run_from_zero_to_one() -> isowarp::Result<()> {
        // At compile time: no other backend is in the program.
        let cpu = isowarp::Cpu::new();
        let x = cpu.upload(&[3.0f32, -1.0, 1.0])?;
        assert_eq!(normalise(&cpu, &x)?.read_blocking()?, [1.0, 0.0, 0.5]);
        Ok(())
    }

    #[test]
    fn four_equal_weights_hold_two_bits() -> isowarp::Result<()> {
        let device = Device::auto()?;
        assert_eq!(entropy(&device, &device.upload(&[5.0f32; 4])?)?.read_blocking()?, 2.0);
        Ok(())
    }
}
