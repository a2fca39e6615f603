//! Tables of discrete distributions.

use crate::backend::Backend;
use crate::buffer::{Buffer, Memory as _};
use crate::error::{Error, Result};

/// Weights of the indices 0, 1, 2, ... as an alias table: two fetches a draw, however many there are.
///
/// Each of the table's columns is as likely as the others, and has a threshold of 32 binary digits below which its own index is drawn, and another index above.
/// The table is built on the host in operations of `f64` that have one rounding, so it is the same everywhere.
///
/// Source: Walker, *An efficient method for generating discrete random variables with general distributions* (1977), as Vose (1991) builds it.
#[derive(Clone, Debug)]
pub struct Discrete<B: Backend> {
    /// Thresholds and aliases in turn.
    columns: Buffer<B, u32>,
}

impl<B: Backend> Discrete<B> {
    /// The table of weights, which need not sum to 1. An index of no weight is never drawn.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where there are none, where one is negative, infinite or NaN, and where their sum is zero or infinite;
    /// [`Error::TooLarge`] above 2^31 of them.
    pub fn new(device: &B, weights: &[f64]) -> Result<Self> {
        Ok(Self { columns: device.upload(&columns(weights)?)? })
    }

    pub(super) fn columns(&self) -> &Buffer<B, u32> {
        &self.columns
    }

    /// Number of weights.
    pub(super) fn len(&self) -> u32 {
        (self.columns.len() / 2) as u32
    }
}

fn columns(weights: &[f64]) -> Result<Vec<u32>> {
    let refuse = |reason: String| Err(Error::InvalidArgument { what: "weights", reason });
    if let Some(k) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        return refuse(format!("weight {k} is {}", weights[k]));
    }
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 || !sum.is_finite() {
        return refuse(format!("their sum is {sum}"));
    }
    if weights.len() > 1 << 31 {
        return Err(Error::TooLarge { what: "weights", requested: weights.len() as u64, limit: 1 << 31 });
    }
    let n = weights.len() as f64;
    // Of columns of size 1 those that are less than full, and those that have something to give.
    let mut filled: Vec<f64> = weights.iter().map(|w| w / sum * n).collect();
    let mut table: Vec<u32> = (0..weights.len() as u32).flat_map(|k| [u32::MAX, k]).collect();
    let (mut low, mut high): (Vec<usize>, Vec<usize>) = (0..filled.len()).partition(|&k| filled[k] < 1.0);
    while let (Some(&giver), Some(taker)) = (high.last(), low.pop()) {
        table[2 * taker] = (filled[taker] * 4_294_967_296.0) as u32;
        table[2 * taker + 1] = giver as u32;
        filled[giver] = (filled[giver] + filled[taker]) - 1.0;
        if filled[giver] < 1.0 {
            high.pop();
            low.push(giver);
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of each index that a table gives.
    fn probabilities(table: &[u32]) -> Vec<f64> {
        let mut found = vec![0.0; table.len() / 2];
        for (k, column) in table.chunks(2).enumerate() {
            let own = f64::from(column[0]) / 4_294_967_296.0;
            found[k] += own;
            found[column[1] as usize] += 1.0 - own;
        }
        found.iter().map(|p| p / (table.len() / 2) as f64).collect()
    }

    #[test]
    fn tables_give_each_index_its_weight() {
        let even = vec![1.0; 7];
        let falling: Vec<f64> = (0..1000).map(|k| 1.0 / f64::from(k + 1)).collect();
        for weights in [&[5.0][..], &[0.0, 1.0], &[0.0, 0.0, 1e-300, 3e-300], &[1e300, 1.0], &even, &falling] {
            let sum: f64 = weights.iter().sum();
            let found = probabilities(&columns(weights).expect("a table"));
            for (k, (found, weight)) in found.iter().zip(weights).enumerate() {
                assert!((found - weight / sum).abs() < 1e-9, "{k} of {}: {found} for {}", weights.len(), weight / sum);
                assert!(*weight > 0.0 || *found == 0.0, "{k} has no weight");
            }
        }
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        for weights in [&[][..], &[0.0, 0.0], &[1.0, -1.0], &[1.0, f64::NAN], &[f64::INFINITY], &[f64::MAX, f64::MAX]] {
            assert!(matches!(columns(weights), Err(Error::InvalidArgument { what: "weights", .. })), "{weights:?}");
        }
    }
}
