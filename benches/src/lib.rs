//! Works that are measured, the measurement, and the display of the results: shared by the criterion groups and the program `isowarp-bench`.
//!
//! Every figure comes with its conditions: inputs are fresh random numbers made on the device, several times the size of its L2 cache in sum and
//! used in turn; outputs are checked after the clock has stopped, small ones against the CPU definition and large ones across backends; rates
//! count every element read and written once; the copy rate is measured in the same run.

pub mod criterion;
pub mod first;
pub mod measure;
pub mod page;
pub mod render;
pub mod results;
mod segments;
pub mod works;

pub use measure::{Settings, measure};
pub use results::{Measured, Results};
pub use works::{Ready, Work, works};

/// A number of elements, in digits or as a power of two.
///
/// # Errors
/// A message that quotes a text of neither form.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let fail = || format!("`{text}` is neither a number nor 2^k with k up to 40");
    match text.strip_prefix("2^") {
        Some(k) => k.parse::<u32>().ok().filter(|k| *k <= 40).map(|k| 1 << k).ok_or_else(fail),
        None => text.parse().map_err(|_| fail()),
    }
}

/// Several of them, with commas between.
///
/// # Errors
/// The first that is none.
pub fn parse_sizes(text: &str) -> Result<Vec<u64>, String> {
    text.split(',').map(|size| parse_size(size.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::parse_sizes;

    #[test]
    fn sizes_are_numbers_or_powers_of_two() {
        assert_eq!(parse_sizes("2^20, 1000"), Ok(vec![1 << 20, 1000]));
        for wrong in ["", "2^41", "2^20,x", "-1"] {
            assert!(parse_sizes(wrong).is_err(), "{wrong}");
        }
    }
}
