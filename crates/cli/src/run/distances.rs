//! Distances in units in the last place, as people read them.

use crate::failure::Result;
use crate::screen;
use isowarp::patterns::UlpDistances;

/// Prints them, beside standard output where that carries data.
pub(super) fn say(elements: u64, words: &[u8], beside: bool) -> Result {
    let words: Vec<u32> = words.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let text = text(&UlpDistances::from_words(elements, &words));
    if beside { screen::say_beside(text) } else { screen::say(text) }
}

fn text(found: &UlpDistances) -> String {
    let mut lines = vec![
        format!("max {} ulp at element {}, mean {:.6}", found.max, found.at, found.mean()),
        format!("{} of {} differ, {} have NaN on one side alone", found.differing(), found.elements, found.nan()),
    ];
    let last = found.counts.len() - 1;
    for (k, count) in found.counts[..last].iter().enumerate().filter(|(_, count)| **count > 0) {
        let (low, high) = if k == 0 { (0, 0) } else { (1u64 << (k - 1), u64::MAX >> (64 - k)) };
        let range = if low == high { low.to_string() } else { format!("{low} to {high}") };
        lines.push(format!("  {range} ulp: {count}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_powers_of_two_and_empty_ones_are_left_out() {
        let counts = [5, 1, 0, 2].into_iter().chain([0; 29]).chain([3]).collect();
        let found = UlpDistances { elements: 11, max: 7, at: 9, sum: 11, counts };
        let expected =
            "max 7 ulp at element 9, mean 1.000000\n3 of 11 differ, 3 have NaN on one side alone\n  0 ulp: 5\n  1 ulp: 1\n  4 to 7 ulp: 2";
        assert_eq!(text(&found), expected);
    }
}
