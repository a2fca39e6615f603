//! Orders of floats: NaN and zeros in sorts, merges and searches, against values worked out by hand, on the CPU and on wgpu.

mod common;

use common::arrays::{Files, IN_ORDER, bits, f32s, i32s, is, run};
use std::path::Path;

#[test]
fn sorts_in_total_order_keep_equal_keys_in_order() {
    let f = Files::new();
    let (mixed, places) = ([4, 8, 0, 6, 2, 7, 3, 1, 5].map(|k: usize| IN_ORDER[k]), [2u32, 7, 4, 6, 0, 8, 3, 5, 1]);
    let x = f.line("<f4", &bits(&mixed));
    is(&run(&[&x], &["sort", "--total-order"]), "'<f4'", &[9], &bits(&IN_ORDER));
    is(&run(&[&x], &["argsort", "--total-order"]), "'<u4'", &[9], &bits(&places));
    let mut falling = IN_ORDER;
    falling.reverse();
    is(&run(&[&x], &["sort", "--descending", "--total-order"]), "'<f4'", &[9], &bits(&falling));
    let equal = f.array("<i4", &[2, 3], &i32s(&[5, 1, 5, 2, 7, 2]).concat());
    is(&run(&[&equal], &["argsort"]), "'<u4'", &[2, 3], &bits(&[1, 0, 2, 0, 2, 1]));
    is(&run(&[&equal], &["argsort", "--descending"]), "'<u4'", &[2, 3], &bits(&[0, 2, 1, 1, 0, 2]));
}

#[test]
fn merges_in_total_order_take_equal_elements_of_the_first_array_first() {
    let f = Files::new();
    let (even, odd) = ([0, 2, 4, 6, 8].map(|k: usize| IN_ORDER[k]), [1, 3, 5, 7].map(|k: usize| IN_ORDER[k]));
    let (a, b) = (f.line("<f4", &bits(&even)), f.line("<f4", &bits(&odd)));
    let of = |inputs: &[&Path], rest: &[&str]| run(inputs, &[rest, &["--total-order"]].concat());
    is(&of(&[&a, &b], &["merge"]), "'<f4'", &[9], &bits(&IN_ORDER));
    is(&of(&[&a, &b], &["search"]), "'<u4'", &[4], &bits(&[1, 2, 3, 4]));
    is(&of(&[&a, &a], &["search", "--side", "right"]), "'<u4'", &[5], &bits(&[1, 2, 3, 4, 5]));
    is(&of(&[&a, &b], &["intersection"]), "'<f4'", &[0], &bits(&[]));
    is(&of(&[&a, &b], &["union"]), "'<f4'", &[9], &bits(&IN_ORDER));
    let falling = f.line("<i4", &i32s(&[7, 5, -2]));
    is(&run(&[&falling, &falling], &["merge", "--descending"]), "'<i4'", &[6], &i32s(&[7, 7, 5, 5, -2, -2]));
}

/// As NumPy has it, whatever the sign of a NaN is: x86 gives NaN with one.
#[test]
fn nan_come_after_all_numbers_in_every_verb() {
    let f = Files::new();
    let (nan, other, inf) = (0x7FC0_0000u32, 0xFFC0_0000, 0x7F80_0000);
    let x = f.line("<f4", &bits(&[3f32.to_bits(), other, 1f32.to_bits(), 0xFF80_0000, 0x7FC1_2345]));
    let rising = [0xFF80_0000, 1f32.to_bits(), 3f32.to_bits(), nan, nan];
    is(&run(&[&x], &["sort"]), "'<f4'", &[5], &bits(&rising));
    is(&run(&[&x], &["argsort"]), "'<u4'", &[5], &bits(&[3, 2, 0, 1, 4]));
    is(&run(&[&x], &["topk", "-k", "3"]), "'<f4'", &[3], &bits(&rising[..3]));
    is(&run(&[&x], &["topk", "-k", "1", "--descending"]), "'<f4'", &[1], &bits(&[nan]));
    is(
        &run(&[&x], &["sort", "--descending", "--nan-last"]),
        "'<f4'",
        &[5],
        &bits(&[3f32.to_bits(), 1f32.to_bits(), 0xFF80_0000, nan, nan]),
    );
    let sorted = f.line("<f4", &bits(&[1f32.to_bits(), inf, other, 0x7FC1_2345]));
    is(&run(&[&sorted], &["is-sorted"]), "'|b1'", &[1], &[[1u8]]);
    is(&run(&[&sorted], &["is-sorted", "--total-order"]), "'|b1'", &[1], &[[0u8]]);
    let (one, more) = (1f32.to_bits(), f.line("<f4", &bits(&[2f32.to_bits(), 0xFFC1_2345])));
    is(&run(&[&sorted, &more], &["merge"]), "'<f4'", &[6], &bits(&[one, 2f32.to_bits(), inf, nan, nan, nan]));
    is(&run(&[&sorted, &more], &["search"]), "'<u4'", &[2], &bits(&[1, 2]));
    is(&run(&[&sorted, &more], &["union"]), "'<f4'", &[5], &bits(&[one, 2f32.to_bits(), inf, nan, nan]));
    is(&run(&[&sorted, &more], &["intersection"]), "'<f4'", &[1], &bits(&[nan]));
    is(&run(&[&sorted, &more], &["difference"]), "'<f4'", &[3], &bits(&[one, inf, nan]));
    let ranks = f.line("<u4", &bits(&[0, 4, 6]));
    is(&run(&[&sorted, &more, &ranks], &["co-ranks"]), "'<u4'", &[3], &bits(&[0, 3, 4]));
    let offsets = f.line("<u4", &bits(&[0, 2, 5]));
    is(&run(&[&x, &offsets], &["segmented-sort"]), "'<f4'", &[5], &bits(&[3f32.to_bits(), nan, 0xFF80_0000, one, nan]));
    is(&run(&[&x, &offsets], &["segmented-argsort"]), "'<u4'", &[5], &bits(&[0, 1, 3, 2, 4]));
    // Values that travel keep their bits.
    let travelling = run(&[&x, &x], &["sort", "--by-key", "--keys-out", &f.beside("keys.npy")]);
    is(&travelling, "'<f4'", &[5], &bits(&[0xFF80_0000, one, 3f32.to_bits(), other, 0x7FC1_2345]));
    let half = f.line("<f2", &[[0x00u8, 0xFE], [0x00, 0x3C], [0x01, 0x7C]]);
    is(&run(&[&half], &["sort"]), "'<f2'", &[3], &[[0x00u8, 0x3C], [0x00, 0x7E], [0x00, 0x7E]]);
    let wide = f.line("<f8", &[0xFFF8_0000_0000_0000u64, 1f64.to_bits()].map(u64::to_le_bytes));
    is(&run(&[&wide], &["sort"]), "'<f8'", &[2], &[1f64.to_bits(), 0x7FF8_0000_0000_0000].map(u64::to_le_bytes));
}

#[test]
fn merges_by_an_order_of_your_own_take_equal_elements_of_the_first_array_first() {
    let f = Files::new();
    let (a, b) = (f.line("<i4", &i32s(&[20, 11, 1, 9])), f.line("<i4", &i32s(&[30, -8, 29])));
    let by_last_digit = ["merge", "--op", "abs(x) % 10 < abs(y) % 10"];
    is(&run(&[&a, &b], &by_last_digit), "'<i4'", &[7], &i32s(&[20, 30, 11, 1, -8, 9, 29]));
    is(&run(&[&b, &a], &by_last_digit), "'<i4'", &[7], &i32s(&[30, 20, 11, 1, -8, 29, 9]));
    let (nan, one) = (f.line("<f4", &bits(&[0xFFC0_0001, 0x7FC1_2345])), f.line("<f4", &f32s(&[1.0])));
    let nan_first = ["merge", "--op", "isnan(x) && !isnan(y) || x < y"];
    is(&run(&[&one, &nan], &nan_first), "'<f4'", &[3], &bits(&[0xFFC0_0001, 0x7FC1_2345, 0x3F80_0000]));
}

#[test]
fn nan_last_changes_nothing_of_integers_and_of_their_chunks() {
    let f = Files::new();
    let x = f.line("<i4", &i32s(&(0..100).map(|k| k * 37 % 100 - 50).collect::<Vec<_>>()));
    let falling = i32s(&(-50..50).rev().collect::<Vec<_>>());
    is(&run(&[&x], &["sort", "--descending", "--nan-last", "--chunk-size", "1K"]), "'<i4'", &[100], &falling);
}
