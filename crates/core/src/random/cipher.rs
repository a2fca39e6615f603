//! The two counter-based generators: a block of four words is a keyed bijection of a counter of four words.
//!
//! Salmon, Moraes, Dror and Shaw, *Parallel random numbers: as easy as 1, 2, 3*, SC 2011. Constants and known answers are those of Random123.

use super::Generator;
use crate::numerics::Arith;

/// A block, and a counter.
pub(super) type Four<A> = [<A as Arith>::U; 4];

/// Rounds of the two as generators.
const PHILOX_ROUNDS: u32 = 10;
pub(super) const THREEFRY_ROUNDS: u32 = 20;

/// Block `number` of a stream of a seed.
pub(super) fn block<A: Arith>(generator: Generator, seed: [A::U; 2], stream: [A::U; 2], number: [A::U; 2]) -> Four<A> {
    let ([a, b], [c, d], [low, high]) = (seed, stream, number);
    match generator {
        Generator::Philox => philox::<A>(PHILOX_ROUNDS, [a, b], [low, high, c, d]),
        Generator::Threefry => threefry::<A>(THREEFRY_ROUNDS, [a, b, c, d], [low, high, A::u32(0), A::u32(0)]),
    }
}

/// Multipliers of Philox, and what its key grows by from round to round: the golden ratio and the square root of three.
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// Philox4x32 of so many rounds.
fn philox<A: Arith>(rounds: u32, mut key: [A::U; 2], counter: Four<A>) -> Four<A> {
    let [mut a, mut b, mut c, mut d] = counter;
    let [first, second] = MULTIPLIERS.map(A::u32);
    for round in 0..rounds {
        if round > 0 {
            key = [A::u_add(key[0], A::u32(WEYL[0])), A::u_add(key[1], A::u32(WEYL[1]))];
        }
        let (high, low) = (A::u_mul_hi(first, a), A::u_mul(first, a));
        let (high2, low2) = (A::u_mul_hi(second, c), A::u_mul(second, c));
        [a, b, c, d] = [A::u_xor(A::u_xor(high2, b), key[0]), low2, A::u_xor(A::u_xor(high, d), key[1]), low];
    }
    [a, b, c, d]
}

/// Rotations of the two mixes of each round, eight rounds in turn.
const ROTATIONS: [[u32; 2]; 8] = [[10, 26], [11, 21], [13, 27], [23, 5], [6, 20], [17, 11], [25, 10], [18, 20]];
/// Parity of Skein's key schedule for 32-bit words.
const PARITY: u32 = 0x1bd1_1bda;

/// Threefry4x32 of so many rounds.
pub(super) fn threefry<A: Arith>(rounds: u32, key: Four<A>, counter: Four<A>) -> Four<A> {
    let parity = key.iter().fold(A::u32(PARITY), |all, &word| A::u_xor(all, word));
    let schedule = [key[0], key[1], key[2], key[3], parity];
    let mut x = counter;
    let inject = |x: &mut Four<A>, turn: u32| {
        for (k, word) in x.iter_mut().enumerate() {
            *word = A::u_add(*word, schedule[(k + turn as usize) % 5]);
        }
        if turn > 0 {
            x[3] = A::u_add(x[3], A::u32(turn));
        }
    };
    inject(&mut x, 0);
    for round in 0..rounds {
        let [low, high] = ROTATIONS[round as usize % 8];
        // Even rounds mix (0, 1) and (2, 3), odd ones (0, 3) and (2, 1).
        let (second, fourth) = if round % 2 == 0 { (1, 3) } else { (3, 1) };
        for (to, from, by) in [(0, second, low), (2, fourth, high)] {
            x[to] = A::u_add(x[to], x[from]);
            x[from] = A::u_xor(rotated::<A>(x[from], by), x[to]);
        }
        if round % 4 == 3 {
            inject(&mut x, round / 4 + 1);
        }
    }
    x
}

fn rotated<A: Arith>(x: A::U, by: u32) -> A::U {
    A::u_or(A::u_shl(x, A::u32(by)), A::u_shr(x, A::u32(32 - by)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::Native;

    const DIGITS_OF_PI: [u32; 8] = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344, 0xa409_3822, 0x299f_31d0, 0x082e_fa98, 0xec4e_6c89];

    /// Counter and key: zeros, ones, digits of pi.
    fn inputs() -> [([u32; 4], [u32; 4]); 3] {
        let [a, b, c, d, e, f, g, h] = DIGITS_OF_PI;
        [([0; 4], [0; 4]), ([u32::MAX; 4], [u32::MAX; 4]), ([a, b, c, d], [e, f, g, h])]
    }

    fn check(block: impl Fn([u32; 4], [u32; 4]) -> [u32; 4], known: [[u32; 4]; 3]) {
        for ((counter, key), expected) in inputs().into_iter().zip(known) {
            assert_eq!(block(counter, key), expected, "{counter:08x?} {key:08x?}");
        }
    }

    /// `philox4x32` of Random123's `tests/kat_vectors`.
    #[test]
    fn philox_gives_the_known_answers_of_random123() {
        let rounds = |n: u32| move |counter, key: [u32; 4]| philox::<Native>(n, [key[0], key[1]], counter);
        check(
            rounds(7),
            [
                [0x5f6f_b709, 0x0d89_3f64, 0x4f12_1f81, 0x4f73_0a48],
                [0x5207_ddc2, 0x4516_5e59, 0x4d8e_e751, 0x8c52_f662],
                [0x4dfc_caba, 0x190a_87f0, 0xc473_62ba, 0xb6b5_242a],
            ],
        );
        check(
            rounds(10),
            [
                [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
                [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ],
        );
    }

    /// `threefry4x32` of the same file.
    #[test]
    fn threefry_gives_the_known_answers_of_random123() {
        let rounds = |n: u32| move |counter, key| threefry::<Native>(n, key, counter);
        check(
            rounds(13),
            [
                [0x531c_7e4f, 0x3949_1ee5, 0x2c85_5a92, 0x3d6a_bf9a],
                [0xc418_9358, 0x1c9c_c83a, 0xd588_1c67, 0x6a0a_89e0],
                [0x4aa7_1d8f, 0x7347_38c2, 0x431f_c6a8, 0xae6d_ebf1],
            ],
        );
        check(
            rounds(20),
            [
                [0x9c6c_a96a, 0xe17e_ae66, 0xfc10_ecd4, 0x5256_a7d8],
                [0x2a88_1696, 0x5701_2287, 0xf6c7_446e, 0xa16a_6732],
                [0x59cd_1dbb, 0xb887_9579, 0x86b5_d00c, 0xac8b_6d84],
            ],
        );
        check(
            rounds(72),
            [
                [0x9317_1da6, 0x9220_326d, 0xb392_b7b1, 0xff58_a002],
                [0x6074_3f3d, 0x9961_e684, 0xaab2_1c34, 0x8c65_fb7d],
                [0x0993_0adf, 0x7f27_bd55, 0x9ed6_8ce1, 0x97f8_03f6],
            ],
        );
    }
}
