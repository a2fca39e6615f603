//! Powers of XORWOW's step, as matrices of bits.

use std::sync::OnceLock;

/// Words of the state that the step is linear in.
pub(super) const WORDS: u32 = 5;
const BITS: usize = 160;

/// Numbers between two states that are kept.
pub(super) const SPAN: u32 = 1 << LOG_SPAN;
pub(super) const LOG_SPAN: u32 = 5;
/// States that are computed from one by a launch.
pub(super) const RADIX: u32 = 1 << LOG_RADIX;
pub(super) const LOG_RADIX: u32 = 4;
/// Launches for the longest draw, of 2^32 numbers.
pub(super) const LEVELS: u32 = 5;
/// Bits of a state that one entry of a table is for.
pub(super) const NIBBLE: u32 = 4;
/// Entries for one part of a state.
pub(super) const ENTRIES: u32 = 1 << NIBBLE;
/// Parts of a word.
pub(super) const NIBBLES: u32 = u32::BITS / NIBBLE;
/// Words of the table of one matrix.
pub(super) const MATRIX: u32 = WORDS * NIBBLES * ENTRIES * WORDS;
/// Words of the matrices of one launch.
pub(super) const LEVEL: u32 = RADIX * MATRIX;

/// Steps from a subsequence to the next, as a power of two.
pub(super) const LOG_SUBSEQUENCE: usize = 67;

pub(super) type State = [u32; WORDS as usize];

/// The states that follow those of one bit each.
type Matrix = [State; BITS];

/// The word that follows the state's last one.
pub(super) fn next(oldest: u32, newest: u32) -> u32 {
    let t = oldest ^ (oldest >> 2);
    newest ^ (newest << 4) ^ t ^ (t << 1)
}

fn sum(a: State, b: State) -> State {
    core::array::from_fn(|k| a[k] ^ b[k])
}

fn applied(matrix: &Matrix, state: State) -> State {
    let bits = (0..BITS).filter(|bit| state[bit / 32] >> (bit % 32) & 1 == 1);
    bits.fold(State::default(), |all, bit| sum(all, matrix[bit]))
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    core::array::from_fn(|bit| applied(a, b[bit]))
}

fn bit(k: usize) -> State {
    core::array::from_fn(|word| if word == k / 32 { 1 << (k % 32) } else { 0 })
}

/// Jumps of 2^k steps.
fn doublings() -> &'static [Matrix] {
    static DOUBLINGS: OnceLock<Vec<Matrix>> = OnceLock::new();
    DOUBLINGS.get_or_init(|| {
        let step = core::array::from_fn(|k| {
            let [a, b, c, d, e] = bit(k);
            [b, c, d, e, next(a, e)]
        });
        let all = std::iter::successors(Some(step), |last: &Matrix| Some(product(last, last)));
        all.take(LOG_SUBSEQUENCE + u64::BITS as usize).collect()
    })
}

/// The state `times` 2^`doubling` steps on.
pub(super) fn jumped(state: State, doubling: usize, times: u64) -> State {
    let bits = (0..u64::BITS as usize).filter(|bit| times >> bit & 1 == 1);
    bits.fold(state, |state, bit| applied(&doublings()[doubling + bit], state))
}

/// States 2^`doubling` steps apart from this one on.
pub(super) fn states(first: State, doubling: usize) -> impl Iterator<Item = State> {
    let jump = &doublings()[doubling];
    std::iter::successors(Some(first), |state| Some(applied(jump, *state)))
}

/// Jumps of each level and each value of its digit: the image of every value of every four bits of a state.
pub(super) fn table() -> &'static [u32] {
    static TABLE: OnceLock<Vec<u32>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Vec::with_capacity((LEVELS * LEVEL) as usize);
        for level in 0..LEVELS {
            let base = &doublings()[(LOG_SPAN + LOG_RADIX * level) as usize];
            let mut matrix: Matrix = core::array::from_fn(bit);
            for _ in 0..RADIX {
                for part in matrix.chunks_exact(NIBBLE as usize) {
                    for value in 0..ENTRIES {
                        let bits = part.iter().enumerate().filter(|(k, _)| value >> k & 1 == 1);
                        table.extend(bits.fold(State::default(), |all, (_, image)| sum(all, *image)));
                    }
                }
                matrix = product(base, &matrix);
            }
        }
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_are_steps_one_after_the_other() {
        let first = [1, 2, 3, 4, 5];
        let mut state: State = first;
        for n in 0..1000u64 {
            assert_eq!(jumped(first, 0, n), state);
            state = [state[1], state[2], state[3], state[4], next(state[0], state[4])];
        }
        assert_eq!(jumped(jumped(first, 60, 1 << 7), 67, 3), jumped(first, 67, 4));
    }

    /// Marsaglia's period of the five words: 2^160 - 1.
    #[test]
    fn the_words_come_round_after_their_period() {
        let last = doublings().len() - 1;
        let all = (last..BITS).fold(doublings()[last], |jump, _| product(&jump, &jump));
        // 2^160 steps are one.
        assert_eq!(all, doublings()[0]);
    }
}
