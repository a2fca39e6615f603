//! The conventions of `isowarp run`, against values worked out by hand, on the CPU and on wgpu.

mod common;

use common::arrays::{Files, IN_ORDER, bits, f32s, i32s, is, line_of, run};
use common::{backends, isowarp, lines_of_failure};

#[test]
fn a_literal_takes_the_type_of_what_it_meets() {
    let f = Files::new();
    let bytes = f.line("|u1", &[[250u8], [3]]);
    is(&run(&[&bytes], &["map", "--op", "x + 10"]), "'|u1'", &[2], &[[4u8], [13]]);
    let signed = f.line("<i2", &[32_760i16, -5].map(i16::to_le_bytes));
    is(&run(&[&signed], &["map", "--op", "x + 10"]), "'<i2'", &[2], &[-32_766i16, 5].map(i16::to_le_bytes));
    let whole = f.line("<i4", &i32s(&[7, -7]));
    is(&run(&[&whole], &["map", "--op", "x / 2"]), "'<i4'", &[2], &i32s(&[3, -3]));
    is(&run(&[&whole], &["map", "--op", "i - x"]), "'<i4'", &[2], &i32s(&[-7, 8]));
    // 0.1 in f32 is 0.100000001490116...: a product with it would show.
    let double = f.line("<f8", &[3.0f64.to_le_bytes()]);
    is(&run(&[&double], &["map", "--op", "x * 0.1"]), "'<f8'", &[1], &[(3.0f64 * 0.1).to_le_bytes()]);
    let long = f.line("<u8", &[(1u64 << 40).to_le_bytes()]);
    is(&run(&[&long], &["map", "--op", "x + 4294967296"]), "'<u8'", &[1], &[((1u64 << 40) + (1 << 32)).to_le_bytes()]);
    let single = f.line("<f4", &f32s(&[0.5]));
    is(&run(&[&single], &["map", "--op", "x + i + 1"]), "'<f4'", &[1], &f32s(&[1.5]));
}

#[test]
fn a_literal_that_its_type_cannot_hold_is_refused() {
    let f = Files::new();
    let whole = f.line("<i4", &i32s(&[1]));
    for op in ["x + 1.5", "x + 4294967296"] {
        let lines = lines_of_failure(&isowarp(&line_of(&[&whole], &["map", "--op", op], "cpu")));
        assert_eq!((lines.len(), lines[1].trim(), lines[2].trim()), (3, op, "^"), "{lines:?}");
    }
    let float = f.line("<f4", &f32s(&[1.0]));
    for (op, says) in [("x + 1e400", "1e400 does not fit f32"), ("x + 1e-60", "1e-60 is too small for f32")] {
        let lines = lines_of_failure(&isowarp(&line_of(&[&float], &["map", "--op", op], "cpu")));
        assert!(lines.len() == 3 && lines[0].contains(says) && lines[2].trim() == "^", "{lines:?}");
    }
}

/// Counts are those of `numpy.histogram(x, bins, (low, high))[0]`.
#[test]
fn even_bins_are_those_between_their_edges() {
    let f = Files::new();
    let counts = |all: &[u32]| all.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let of = |x: &std::path::PathBuf, bins: &str, range: &str, wanted: &[u32]| {
        let found = run(&[x], &["histogram", "--bins", bins, &format!("--range={range}")]);
        is(&found, "'<u4'", &[wanted.len() as u64], &counts(wanted));
    };
    let near = f.line("<f8", &[0.3f64, 0.6, 0.7, 1.2, 1.4].map(f64::to_le_bytes));
    of(&near, "20", "0,2", &[0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
    let greatest = f.line("<u4", &counts(&[0, 1 << 31, u32::MAX]));
    of(&greatest, "2", "0,4294967296", &[1, 2]);
    let bytes = f.line("<i1", &[-128i8, -1, 0, 127].map(i8::to_le_bytes));
    of(&bytes, "4", "-128.0,128", &[1, 1, 1, 1]);
    of(&bytes, "2", "-0.5,1e2", &[1, 0]);
    of(&bytes, "5", "-1000,1e3", &[0, 0, 4, 0, 0]);
}

/// With `--inclusive` counts are those of `numpy.histogram`, whose last bin has its upper bound.
#[test]
fn the_last_bin_has_its_upper_bound_where_it_is_inclusive() {
    let f = Files::new();
    let counts = |all: &[u32]| all.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let of = |x: &std::path::PathBuf, bins: &[&str], shape: &[u64], wanted: &[u32]| {
        let found = run(&[x], &[&["histogram", "--inclusive"], bins].concat());
        is(&found, "'<u4'", shape, &counts(wanted));
    };
    let floats = f.line("<f4", &f32s(&[0.0, 0.5, 1.0, 1.0, 1.5, f32::NAN]));
    let bytes = f.line("|u1", &[0u8, 63, 64, 127, 128, 191, 254, 255].map(u8::to_le_bytes));
    let long = f.line("<i8", &[i64::MIN, -1, 0, i64::MAX].map(i64::to_le_bytes));
    let edges = [f.line("<f4", &f32s(&[0.0, 0.5, 1.0])), f.line("|u1", &[0u8, 64, 255].map(u8::to_le_bytes))];
    let [halves, whole] = edges.each_ref().map(|path| path.to_str().expect("a name"));
    of(&floats, &["--bins", "2", "--range=0,1"], &[2], &[1, 3]);
    of(&floats, &["--edges", halves], &[2], &[1, 3]);
    of(&floats, &["--edges", halves, "--flow"], &[4], &[0, 1, 3, 2]);
    of(&bytes, &["--bins", "4", "--range=0,255"], &[4], &[2, 2, 2, 2]);
    of(&bytes, &["--bins", "3", "--range=-0.5,63.5"], &[3], &[1, 0, 1]);
    of(&bytes, &["--bins", "3", "--range=0,255", "--chunk-size", "1K"], &[3], &[3, 2, 3]);
    of(&bytes, &["--edges", whole], &[2], &[2, 6]);
    of(&bytes, &["--bins", "1", "--range=0,128", "--channels", "2"], &[2, 1], &[3, 2]);
    of(&bytes, &["--edges", whole, "--channels", "2"], &[2, 2], &[1, 3, 1, 3]);
    of(&long, &["--bins", "2", "--range=-9223372036854775808,9223372036854775807"], &[2], &[2, 2]);
}

#[test]
fn integers_wrap() {
    let f = Files::new();
    let extremes = f.line("<i4", &i32s(&[i32::MAX, i32::MIN, -1]));
    is(&run(&[&extremes], &["map", "--op", "x + 1"]), "'<i4'", &[3], &i32s(&[i32::MIN, i32::MIN + 1, 0]));
    is(&run(&[&extremes], &["map", "--op", "-x"]), "'<i4'", &[3], &i32s(&[-i32::MAX, i32::MIN, 1]));
    is(&run(&[&extremes], &["map", "--op", "x * 3"]), "'<i4'", &[3], &i32s(&[i32::MAX - 2, i32::MIN, -3]));
    // MAX + MIN - 1 = -2, also where a part of it would not fit.
    is(&run(&[&extremes], &["reduce", "--dtype", "i32"]), "'<i4'", &[1], &i32s(&[-2]));
    let twice = f.line("<i4", &i32s(&[i32::MAX, i32::MAX]));
    is(&run(&[&twice], &["reduce", "--dtype", "i32"]), "'<i4'", &[1], &i32s(&[-2]));
    is(&run(&[&twice], &["scan", "--dtype", "i32"]), "'<i4'", &[2], &i32s(&[i32::MAX, -2]));
    is(&run(&[&twice], &["scan", "--op", "x + y"]), "'<i4'", &[2], &i32s(&[i32::MAX, -2]));
    is(&run(&[&twice, &twice], &["dot"]), "'<i4'", &[1], &i32s(&[2]));
    let none = f.line("<u4", &[0u32.to_le_bytes()]);
    is(&run(&[&none], &["map", "--op", "x - 1"]), "'<u4'", &[1], &[u32::MAX.to_le_bytes()]);
    let long = f.line("<i8", &[i64::MIN.to_le_bytes()]);
    is(&run(&[&long], &["map", "--op", "x - 1"]), "'<i8'", &[1], &[i64::MAX.to_le_bytes()]);
    let byte = f.line("|u1", &[[200u8], [100]]);
    is(&run(&[&byte], &["reduce", "--dtype", "u8"]), "'|u1'", &[1], &[[44u8]]);
}

#[test]
fn division_by_zero_and_shifts_by_the_width_are_defined() {
    let f = Files::new();
    let whole = f.line("<i4", &i32s(&[7, i32::MIN]));
    is(&run(&[&whole], &["map", "--op", "x / (x - x)"]), "'<i4'", &[2], &i32s(&[7, i32::MIN]));
    is(&run(&[&whole], &["map", "--op", "x % (x - x)"]), "'<i4'", &[2], &i32s(&[0, 0]));
    is(&run(&[&whole], &["map", "--op", "x / (0 * x - 1)"]), "'<i4'", &[2], &i32s(&[-7, i32::MIN]));
    is(&run(&[&whole], &["map", "--op", "x << 33"]), "'<i4'", &[2], &i32s(&[14, 0]));
    let wide = f.line("<f4", &f32s(&[3e9, -3e9, f32::NAN, -1.9]));
    is(&run(&[&wide], &["map", "--op", "i32(x)"]), "'<i4'", &[4], &i32s(&[i32::MAX, i32::MIN, 0, -1]));
}

#[test]
fn nothing_has_the_identity_of_its_operator() {
    let f = Files::new();
    let (floats, whole) = (f.array("<f4", &[0], &[]), f.array("<i4", &[0], &[]));
    is(&run(&[&floats], &["reduce", "--op", "sum"]), "'<f4'", &[1], &f32s(&[0.0]));
    is(&run(&[&floats], &["reduce", "--op", "product"]), "'<f4'", &[1], &f32s(&[1.0]));
    for (op, identity) in [("sum", 0i64), ("product", 1)] {
        is(&run(&[&whole], &["reduce", "--op", op]), "'<i8'", &[1], &[identity.to_le_bytes()]);
    }
    for (op, identity) in [("and", -1), ("or", 0), ("xor", 0)] {
        is(&run(&[&whole], &["reduce", "--op", op]), "'<i4'", &[1], &i32s(&[identity]));
    }
    is(&run(&[&whole], &["reduce", "--op", "count"]), "'<u4'", &[1], &[[0u8; 4]]);
    is(&run(&[&whole], &["reduce", "--op", "any"]), "'|b1'", &[1], &[[0u8]]);
    is(&run(&[&whole], &["reduce", "--op", "all"]), "'|b1'", &[1], &[[1u8]]);
    is(&run(&[&floats, &floats], &["dot"]), "'<f4'", &[1], &f32s(&[0.0]));
    is(&run(&[&floats], &["norm"]), "'<f4'", &[1], &f32s(&[0.0]));
    // Along an axis of no elements, every line is nothing.
    let flat = f.array("<i4", &[2, 0], &[]);
    is(&run(&[&flat], &["reduce", "--axis", "1"]), "'<i8'", &[2], &[0i64.to_le_bytes(); 2]);
}

#[test]
fn a_minimum_of_nothing_is_an_error_and_writes_nothing() {
    let f = Files::new();
    let none = f.array("<f4", &[0], &[]);
    for args in [&["reduce", "--op", "min"][..], &["reduce", "--op", "max"], &["argmin"], &["argmax"], &["mean"]] {
        for backend in backends() {
            let out = isowarp(&line_of(&[&none], args, &backend));
            assert!(out.stdout.is_empty());
            let lines = lines_of_failure(&out);
            assert!(lines[0].contains("of an empty array has no value"), "{lines:?}");
        }
    }
}

#[test]
fn scans_of_nothing_are_empty_arrays() {
    let f = Files::new();
    let none = f.array("<f4", &[0], &[]);
    for args in
        [&["scan"][..], &["scan", "--exclusive"], &["scan", "--op", "max"], &["scan", "--op", "x * y", "--identity", "1", "--exclusive"]]
    {
        is(&run(&[&none], args), "'<f4'", &[0], &[[0u8; 4]; 0]);
    }
    let flat = f.array("<i4", &[3, 0], &[]);
    is(&run(&[&flat], &["scan", "--axis", "1"]), "'<i8'", &[3, 0], &[[0u8; 8]; 0]);
}

#[test]
fn exclusive_scans_start_with_the_identity() {
    let f = Files::new();
    let x = f.line("<i4", &i32s(&[5, -2, 9]));
    is(&run(&[&x], &["scan", "--exclusive"]), "'<i8'", &[3], &[0i64, 5, 3].map(i64::to_le_bytes));
    is(&run(&[&x], &["scan", "--exclusive", "--op", "product"]), "'<i8'", &[3], &[1i64, 5, -10].map(i64::to_le_bytes));
    is(&run(&[&x], &["scan", "--exclusive", "--op", "max"]), "'<i4'", &[3], &i32s(&[i32::MIN, 5, 5]));
    is(&run(&[&x], &["scan", "--exclusive", "--op", "x * y", "--identity", "1"]), "'<i4'", &[3], &i32s(&[1, 5, -10]));
}

#[test]
fn argmin_and_argmax_give_the_lowest_index_as_u32() {
    let f = Files::new();
    let one = |v: u32| [v.to_le_bytes()];
    for (x, low, high) in [(&[3, 1, 1, 9, 9][..], 1, 3), (&[4, 4, 4], 0, 0), (&[i32::MIN, 0, i32::MIN, i32::MAX], 0, 3)] {
        let x = f.line("<i4", &i32s(x));
        is(&run(&[&x], &["argmin"]), "'<u4'", &[1], &one(low));
        is(&run(&[&x], &["argmax"]), "'<u4'", &[1], &one(high));
    }
    // -0 is below +0, so it is no tie.
    let zeros = f.line("<f4", &f32s(&[0.0, -0.0, 0.0, -0.0]));
    is(&run(&[&zeros], &["argmin"]), "'<u4'", &[1], &one(1));
    is(&run(&[&zeros], &["argmax"]), "'<u4'", &[1], &one(0));
}

#[test]
fn a_reduction_writes_one_element_of_the_inputs_type() {
    let f = Files::new();
    let cases: [(&str, Vec<u8>, Vec<u8>); 11] = [
        ("<f4", f32s(&[1.5, 2.0]).concat(), 2f32.to_le_bytes().to_vec()),
        ("<f8", [1.5f64, 2.0].map(f64::to_le_bytes).concat(), 2f64.to_le_bytes().to_vec()),
        ("<f2", vec![0x00, 0x3E, 0x00, 0x40], vec![0x00, 0x40]),
        ("<i4", i32s(&[-5, 2]).concat(), 2i32.to_le_bytes().to_vec()),
        ("<u4", [5u32, 2].map(u32::to_le_bytes).concat(), 5u32.to_le_bytes().to_vec()),
        ("<i8", [-5i64, 2].map(i64::to_le_bytes).concat(), 2i64.to_le_bytes().to_vec()),
        ("<u8", [5u64, 2].map(u64::to_le_bytes).concat(), 5u64.to_le_bytes().to_vec()),
        ("|u1", vec![5, 2], vec![5]),
        ("|i1", vec![0x80, 1], vec![1]),
        ("<i2", [-300i16, 2].map(i16::to_le_bytes).concat(), 2i16.to_le_bytes().to_vec()),
        ("<u2", [65_535u16, 2].map(u16::to_le_bytes).concat(), 65_535u16.to_le_bytes().to_vec()),
    ];
    for (descr, input, greatest) in cases {
        let shaped = f.array(descr, &[2, 1], &input);
        let found = run(&[&shaped], &["reduce", "--op", "max"]);
        assert_eq!((found.descr, found.shape, found.bytes), (format!("'{descr}'"), vec![1], greatest));
    }
}

/// As NumPy's `sum`, `prod` and `cumsum`.
#[test]
fn sums_and_products_of_integers_are_of_64_bits() {
    let f = Files::new();
    let cases: [(&str, Vec<u8>, &str, i64); 8] = [
        ("|u1", vec![255, 255], "'<u8'", 510),
        ("|i1", vec![0x80, 0x80], "'<i8'", -256),
        ("<u2", [65_535u16; 2].map(u16::to_le_bytes).concat(), "'<u8'", 131_070),
        ("<i2", [i16::MIN; 2].map(i16::to_le_bytes).concat(), "'<i8'", -65_536),
        ("<u4", [u32::MAX; 2].map(u32::to_le_bytes).concat(), "'<u8'", 0x1_FFFF_FFFE),
        ("<i4", i32s(&[i32::MIN; 2]).concat(), "'<i8'", -(1 << 32)),
        ("<u8", [u64::MAX, 2].map(u64::to_le_bytes).concat(), "'<u8'", 1),
        ("<i8", [i64::MIN, 1].map(i64::to_le_bytes).concat(), "'<i8'", i64::MIN + 1),
    ];
    for (descr, input, wide, sum) in cases {
        let x = f.array(descr, &[2], &input);
        is(&run(&[&x], &["reduce"]), wide, &[1], &[sum.to_le_bytes()]);
        let sums = run(&[&x], &["scan"]);
        assert_eq!((sums.descr.as_str(), &sums.bytes[8..]), (wide, &sum.to_le_bytes()[..]));
        is(&run(&[&x], &["scan", "--exclusive"]), wide, &[2], &[0i64.to_le_bytes(), sums.bytes[..8].try_into().unwrap()]);
        is(&run(&[&x], &["window", "--width", "2"]), wide, &[1], &[sum.to_le_bytes()]);
        let whole = f.line("<u4", &[0u32, 2].map(u32::to_le_bytes));
        is(&run(&[&x, &whole], &["segmented-reduce"]), wide, &[1], &[sum.to_le_bytes()]);
        let key = f.line("|u1", &[[7u8]; 2]);
        is(&run(&[&key, &x], &["reduce-by-key", "--keys-out", &f.beside("keys.npy")]), wide, &[1], &[sum.to_le_bytes()]);
    }
    let x = f.line("|u1", &[[200u8], [100]]);
    is(&run(&[&x], &["reduce", "--op", "product"]), "'<u8'", &[1], &[20_000u64.to_le_bytes()]);
    is(&run(&[&x], &["reduce", "--dtype", "u8"]), "'|u1'", &[1], &[[44u8]]);
}

#[test]
fn minima_propagate_nan_and_order_zeros() {
    let f = Files::new();
    let x = f.line("<f4", &f32s(&[1.0, -f32::NAN, -3.0]));
    is(&run(&[&x], &["reduce", "--op", "min"]), "'<f4'", &[1], &[0x7FC0_0000u32.to_le_bytes()]);
    let zeros = f.line("<f4", &f32s(&[0.0, -0.0]));
    is(&run(&[&zeros], &["reduce", "--op", "min"]), "'<f4'", &[1], &f32s(&[-0.0]));
    is(&run(&[&zeros], &["reduce", "--op", "max"]), "'<f4'", &[1], &f32s(&[0.0]));
}

#[test]
fn moves_keep_every_bit_and_the_last_of_several_stays() {
    let f = Files::new();
    let (x, at) = (f.line("<f4", &bits(&IN_ORDER)), f.line("<u4", &bits(&[8, 0, 7, 7])));
    let [first, .., signalling, last] = IN_ORDER;
    is(&run(&[&x, &at], &["gather"]), "'<f4'", &[4], &bits(&[last, first, signalling, signalling]));
    let mut backwards = IN_ORDER;
    backwards.reverse();
    is(&run(&[&x], &["reverse"]), "'<f4'", &[9], &bits(&backwards));
    backwards.reverse();
    backwards.rotate_right(2);
    is(&run(&[&x], &["rotate", "--by", "2"]), "'<f4'", &[9], &bits(&backwards));
    let square = f.array("<f4", &[3, 3], &bits(&IN_ORDER).concat());
    let turned = [0, 3, 6, 1, 4, 7, 2, 5, 8].map(|k: usize| IN_ORDER[k]);
    is(&run(&[&square], &["transpose"]), "'<f4'", &[3, 3], &bits(&turned));
    let (values, to, target) = (f.line("<i4", &i32s(&[1, 2, 3])), f.line("<i4", &i32s(&[1, 0, 1])), f.line("<i4", &i32s(&[9, 9, 9])));
    is(&run(&[&values, &to, &target], &["scatter"]), "'<i4'", &[3], &i32s(&[2, 3, 9]));
    is(&run(&[&values, &to, &target], &["scatter", "--op", "sum"]), "'<i4'", &[3], &i32s(&[11, 13, 9]));
}

#[test]
fn selections_keep_every_bit_and_a_condition_holds_where_it_is_not_zero() {
    let f = Files::new();
    let x = f.line("<f4", &bits(&IN_ORDER));
    is(&run(&[&x], &["select", "--op", "x != x"]), "'<f4'", &[3], &bits(&[IN_ORDER[0], IN_ORDER[7], IN_ORDER[8]]));
    let parted = [1, 2, 3, 4, 5, 6, 0, 7, 8].map(|k: usize| IN_ORDER[k]);
    is(&run(&[&x], &["partition", "--op", "x == x"]), "'<f4'", &[9], &bits(&parted));
    let whole = f.array("<i4", &[2, 3], &i32s(&[3, 0, -1, 0, 0, 7]).concat());
    is(&run(&[&whole], &["select", "--op", "x"]), "'<i4'", &[3], &i32s(&[3, -1, 7]));
    is(&run(&[&whole], &["select", "--op", "i % 2"]), "'<i4'", &[3], &i32s(&[0, 0, 7]));
}

#[test]
fn runs_are_of_values_so_nan_is_a_run_of_its_own_and_zeros_are_equal() {
    let f = Files::new();
    let x = f.line("<f4", &f32s(&[1.0, 1.0, f32::NAN, f32::NAN, -0.0, 0.0, 0.0]));
    let heads = f32s(&[1.0, f32::NAN, f32::NAN, -0.0]);
    is(&run(&[&x], &["unique"]), "'<f4'", &[4], &heads);
    is(&run(&[&x], &["rle"]), "'<f4'", &[4], &heads);
}

#[test]
fn empty_segments_give_what_the_operator_starts_with() {
    let f = Files::new();
    let (x, offsets) = (f.line("<f4", &f32s(&[9.0, 2.0, 1.0, 8.0])), f.line("<i8", &[1i64, 3, 3].map(i64::to_le_bytes)));
    is(&run(&[&x, &offsets], &["segmented-reduce"]), "'<f4'", &[2], &f32s(&[3.0, 0.0]));
    is(&run(&[&x, &offsets], &["segmented-reduce", "--op", "max"]), "'<f4'", &[2], &f32s(&[2.0, f32::NEG_INFINITY]));
    is(&run(&[&x, &offsets], &["segmented-sort"]), "'<f4'", &[4], &f32s(&[9.0, 1.0, 2.0, 8.0]));
    is(&run(&[&x, &offsets], &["segmented-argsort"]), "'<u4'", &[4], &[0u32, 2, 1, 3].map(u32::to_le_bytes));
}

#[test]
fn a_product_next_to_a_sum_is_fused_on_every_backend_and_mul_rn_is_not() {
    let f = Files::new();
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: rounding the product loses the last term.
    let x = f.line("<f4", &f32s(&[1.0 + 1.0 / 4096.0]));
    let term = f32::from_bits((127 - 24) << 23);
    is(&run(&[&x], &["map", "--op", "x*x - (1 + 0.00048828125)"]), "'<f4'", &[1], &f32s(&[term]));
    is(&run(&[&x], &["map", "--op", "mul_rn(x, x) - (1 + 0.00048828125)"]), "'<f4'", &[1], &f32s(&[0.0]));
}

#[test]
fn a_difference_of_equal_products_is_zero() {
    let f = Files::new();
    // Of which fused multiply-adds would leave the rounding error of one product, whose root is NaN where it is negative.
    let x = f.line("<f4", &f32s(&[1.0 + 1.0 / 4096.0, 0.1, 3.3, -0.7]));
    let zeros = f32s(&[0.0; 4]);
    for op in ["sqrt(x*x - y*y)", "x*y - y*x", "x*y + -(y*x)", "-x*y + x*y"] {
        is(&run(&[&x, &x], &["zip", "--op", op]), "'<f4'", &[4], &zeros);
    }
    is(&run(&[&x], &["map", "--op", "x*x - x*x"]), "'<f4'", &[4], &zeros);
    // NumPy's, which rounds both.
    let (a, b) = (f.line("<f4", &f32s(&[1.1, 1e20, 3.3])), f.line("<f4", &f32s(&[0.7, 3e19, 3.3])));
    is(
        &run(&[&a, &b], &["zip", "--op", "x*x + y*y"]),
        "'<f4'",
        &[3],
        &f32s(&[1.1f32 * 1.1 + 0.7 * 0.7, f32::INFINITY, 3.3f32 * 3.3 * 2.0]),
    );
}

#[test]
fn sums_and_counts_are_combined_in_the_type_that_is_asked_for() {
    let f = Files::new();
    let ones = f.line("|u1", &vec![[1u8]; 300]);
    is(&run(&[&ones], &["reduce", "--dtype", "u32"]), "'<u4'", &[1], &[300u32.to_le_bytes()]);
    is(&run(&[&ones], &["reduce", "--dtype", "float64", "--op", "count"]), "'<f8'", &[1], &[300f64.to_le_bytes()]);
    let x = f.array("|i1", &[2, 3], &[100, 100, 156, 127, 127, 127]);
    let rows = [[100i64, 200, 100], [127, 254, 381]].concat().into_iter().map(i64::to_le_bytes).collect::<Vec<_>>();
    is(&run(&[&x], &["scan", "--axis", "-1", "--dtype", "i64"]), "'<i8'", &[2, 3], &rows);
    is(&run(&[&x], &["reduce", "--axis", "0", "--dtype", "i16"]), "'<i2'", &[3], &[227i16, 227, 27].map(i16::to_le_bytes));
    // Elements become numbers of a narrow type before they are combined, as NumPy's `astype` makes them; floats are rounded once.
    let wide = f.line("<i8", &[300i64, -130, 50, 127, -129].map(i64::to_le_bytes));
    is(&run(&[&wide], &["reduce", "--op", "min", "--dtype", "i8"]), "'|i1'", &[1], &[[44u8]]);
    is(&run(&[&wide], &["reduce", "--op", "max", "--dtype", "u16"]), "'<u2'", &[1], &[65_407u16.to_le_bytes()]);
    is(&run(&[&wide], &["scan", "--op", "max", "--dtype", "u8"]), "'|u1'", &[5], &[[44u8], [126], [126], [127], [127]]);
    let above = f.line("<f8", &[(1.0 + 2f64.powi(-11) + 2f64.powi(-40)).to_le_bytes()]);
    for pattern in ["reduce", "scan"] {
        is(&run(&[&above], &[pattern, "--dtype", "f16"]), "'<f2'", &[1], &[0x3C01u16.to_le_bytes()]);
    }
    let near_one = f.line("<f4", &[1.0004f32.to_le_bytes(); 1000]);
    is(&run(&[&near_one], &["reduce", "--dtype", "f16"]), "'<f2'", &[1], &[0x63D0u16.to_le_bytes()]);
    let least = [100i64, 100, -100, -100, -100, -100].map(i64::to_le_bytes);
    is(&run(&[&x], &["scan", "--op", "min", "--dtype", "i64"]), "'<i8'", &[6], &least);
    let before = [i64::MAX, 100, 100, -100, -100, -100].map(i64::to_le_bytes);
    is(&run(&[&x], &["scan", "--op", "min", "--exclusive", "--dtype", "i64"]), "'<i8'", &[6], &before);
    let offsets = f.line("<u4", &[0u32, 2, 2, 6].map(u32::to_le_bytes));
    is(&run(&[&x, &offsets], &["segmented-reduce", "--dtype", "i32"]), "'<i4'", &[3], &i32s(&[200, 0, 281]));
    is(&run(&[&x, &offsets], &["segmented-scan", "--dtype", "i32"]), "'<i4'", &[6], &i32s(&[100, 200, -100, 27, 154, 281]));
    let keys = f.line("|u1", &[[1u8], [1], [1], [2], [2], [2]]);
    let line = f.line("|i1", &[[100u8], [100], [156], [127], [127], [127]]);
    is(&run(&[&keys, &line], &["reduce-by-key", "--dtype", "f32"]), "'<f4'", &[2], &f32s(&[100.0, 381.0]));
    let mask = f.line("|b1", &[[1u8], [0], [1]]);
    is(&run(&[&mask], &["scan", "--dtype", "u8"]), "'|u1'", &[3], &[[1u8], [1], [2]]);
    is(&run(&[&mask], &["reduce", "--op", "max", "--dtype", "i32"]), "'<i4'", &[1], &i32s(&[1]));
    let bad = isowarp(&line_of(&[&ones], &["sort", "--dtype", "u32"], "cpu"));
    assert!(lines_of_failure(&bad)[0].contains("unexpected argument '--dtype' found"), "{bad:?}");
}

#[test]
fn scans_in_chunks_are_combined_in_the_type_that_is_asked_for() {
    let f = Files::new();
    let x = f.line("|u1", &(0..40_000u32).map(|i| [(i * 7 % 251) as u8]).collect::<Vec<_>>());
    let mut sum = 0;
    let sums: Vec<_> = (0..40_000u64)
        .map(|i| {
            sum += i * 7 % 251;
            sum.to_le_bytes()
        })
        .collect();
    is(&run(&[&x], &["scan", "--dtype", "u64"]), "'<u8'", &[40_000], &sums);
    is(&run(&[&x], &["scan", "--dtype", "u64", "--chunk-size", "400000"]), "'<u8'", &[40_000], &sums);
}

#[test]
fn indices_along_an_axis_are_those_in_the_line() {
    let f = Files::new();
    let x = f.array("<f4", &[2, 3], &f32s(&[3.0, -1.0, 5.0, 5.0, 0.0, -1.0]).concat());
    let words = |v: &[u32]| v.iter().map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    is(&run(&[&x], &["argmin", "--axis", "1"]), "'<u4'", &[2], &words(&[1, 2]));
    is(&run(&[&x], &["argmax", "--axis", "0"]), "'<u4'", &[3], &words(&[1, 1, 0]));
    is(&run(&[&x], &["argmax"]), "'<u4'", &[1], &words(&[2]));
    let bytes = f.array("|i1", &[2, 2], &[255, 128, 1, 2]);
    is(&run(&[&bytes], &["argmin", "--axis", "-1"]), "'<u4'", &[2], &words(&[1, 0]));
}
