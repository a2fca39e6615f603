//! Results of NumPy and SciPy, bit for bit, on every device: on inputs for which those are exact. `data/make.py` wrote them.

use crate::common::each;
use isowarp::buffer::Buffer;
use isowarp::element::Element;
use isowarp::prelude::*;
use isowarp::{Device, Result};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../../data/fixtures.json")).expect("the fixtures are JSON")
}

fn ints(v: &Value) -> Vec<i32> {
    v.as_array().expect("a list").iter().map(|x| x.as_i64().expect("an integer") as i32).collect()
}

fn floats(v: &Value) -> Vec<f32> {
    v.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number") as f32).collect()
}

fn sha<T: Element>(x: &Buffer<Device, T>) -> String {
    let bytes = x.read_blocking().expect("the device computes it");
    Sha256::digest(bytemuck::cast_slice(&bytes)).iter().map(|b| format!("{b:02x}")).collect()
}

/// Kirk, Hwu and El Hajj, figures 13.2 to 13.4: sixteen keys of four bits, and where the first pass, by the lowest bit, puts each of them.
#[test]
fn the_textbooks_sixteen_keys_go_where_it_says() -> Result<()> {
    let keys = [12u32, 3, 6, 9, 15, 8, 5, 10, 9, 6, 11, 13, 4, 10, 7, 0];
    let places = [0u32, 8, 1, 9, 10, 2, 11, 3, 12, 4, 13, 14, 5, 6, 15, 7];
    each(|d| {
        let x = d.upload(&keys).unwrap();
        let order = d.argsort(&x).bits(0..1).run().unwrap();
        // Where a key went is the inverse of where the places' keys came from.
        assert_eq!(d.argsort(&order).run().unwrap().read_blocking().unwrap(), places);
        let mut sorted = keys;
        sorted.sort_unstable();
        assert_eq!(d.sort(&x).bits(0..4).run().unwrap().read_blocking().unwrap(), sorted);
        sorted.reverse();
        assert_eq!(d.sort(&x).descending().run().unwrap().read_blocking().unwrap(), sorted);
    });
    Ok(())
}

/// One pass of a textbook's radix sort by `bits` bits from `low` on, over blocks of four keys: how many keys of each digit a block has, in the order of
/// digits and within it of blocks, where those of each begin, and the keys where that puts them.
fn radix_pass(d: &Device, keys: &Buffer<Device, u32>, (low, bits): (u32, u32)) -> (Vec<u32>, Vec<u32>, Vec<u32>, Buffer<Device, u32>) {
    let digit = move |k: Expr<u32>| (k >> low) & ((1 << bits) - 1u32);
    let cell = move |(k, i): (Expr<u32>, Expr<u32>)| digit(k) * 4 + i / 4;
    let table = d.histogram(binned((keys, index()), 4 << bits, cell)).run().unwrap();
    let starts = d.scan(&table, Sum).exclusive().run().unwrap();
    // A key's place among those of its block that have its digit.
    let equal = d.group_match_mask(keys.map(digit), 4).run().unwrap();
    let target = |(k, i, equal, starts): (Expr<u32>, Expr<u32>, Expr<u32>, isowarp::ir::ArrayExpr<u32>)| {
        starts.at(cell((k, i))) + (equal & ((lit(1u32) << (i % 4)) - 1u32)).count_ones()
    };
    let targets = d.map((keys, index(), &equal, array(&starts)), target).unwrap();
    let out = d.buffer(keys.len()).unwrap();
    d.scatter(keys, &targets).unique().checked().write_to(&out).unwrap();
    (table.read_blocking().unwrap(), starts.read_blocking().unwrap(), targets.read_blocking().unwrap(), out)
}

/// Kirk, Hwu and El Hajj, figures 13.2 to 13.8: the sixteen keys in four blocks of four, by one bit and by two, with the tables of what each block has
/// of each digit, their scans, where keys go, and what lies there after each pass.
#[test]
fn the_textbooks_radix_tables_are_histograms_and_their_scans() {
    let keys = [12u32, 3, 6, 9, 15, 8, 5, 10, 9, 6, 11, 13, 4, 10, 7, 0];
    let sorted = [0u32, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 10, 11, 12, 13, 15];
    let by_one = [
        [12u32, 6, 8, 10, 6, 4, 10, 0, 3, 9, 15, 5, 9, 11, 13, 7],
        [12, 8, 4, 0, 9, 5, 9, 13, 6, 10, 6, 10, 3, 15, 11, 7],
        [8, 0, 9, 9, 10, 10, 3, 11, 12, 4, 5, 13, 6, 6, 15, 7],
        sorted,
    ];
    each(|d| {
        let x = d.upload(&keys).unwrap();
        let ones_before = d.scan(x.map(|k| k & 1u32), Sum).exclusive().run().unwrap();
        assert_eq!(ones_before.read_blocking().unwrap(), [0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 5, 6, 7, 7, 7, 8]);
        let (table, starts, targets, _) = radix_pass(d, &x, (0, 1));
        assert_eq!(table, [2, 2, 1, 3, 2, 2, 3, 1]);
        assert_eq!(starts, [0, 2, 4, 5, 8, 10, 12, 15]);
        assert_eq!(targets, [0, 8, 1, 9, 10, 2, 11, 3, 12, 4, 13, 14, 5, 6, 15, 7]);
        let mut pass = x.clone();
        for (low, expected) in (0..).zip(&by_one) {
            pass = radix_pass(d, &pass, (low, 1)).3;
            assert_eq!(pass.read_blocking().unwrap(), expected, "bit {low}");
        }
        let (table, starts, _, first) = radix_pass(d, &x, (0, 2));
        assert_eq!(table, [1, 1, 0, 2, 1, 1, 2, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(starts, [0, 1, 2, 2, 4, 5, 6, 8, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(first.read_blocking().unwrap(), by_one[1]);
        assert_eq!(radix_pass(d, &first, (2, 2)).3.read_blocking().unwrap(), sorted);
    });
}

/// Kirk, Hwu and El Hajj, section 13.1: people of an age and an income, by income from the greatest; and by income, within it by age.
#[test]
fn the_textbooks_people_are_sorted_by_one_column_and_by_two() -> Result<()> {
    let (ages, incomes) = ([30u32, 32, 22, 29], [150u32, 80, 45, 80]);
    each(|d| {
        let (age, income) = (d.upload(&ages).unwrap(), d.upload(&incomes).unwrap());
        let (by_income, its_ages) = d.sort(&income).with_values(&age).descending().run().unwrap();
        assert_eq!(by_income.read_blocking().unwrap(), [150, 80, 80, 45]);
        assert_eq!(its_ages.read_blocking().unwrap(), [30, 32, 29, 22]);
        // The second column first, then stably the first one.
        let order = d.argsort(&age).run().unwrap();
        let income_by_age = d.permute(&income, &order).run().unwrap();
        let (_, order) = d.sort(&income_by_age).with_values(&order).run().unwrap();
        assert_eq!(order.read_blocking().unwrap(), [2, 3, 1, 0]);
        let list = d.upload(&[5u32, 2, 7, 1, 3, 2, 8]).unwrap();
        assert_eq!(d.sort(&list).run().unwrap().read_blocking().unwrap(), [1, 2, 2, 3, 5, 7, 8]);
    });
    Ok(())
}

#[test]
fn integer_sums_and_prefixes_equal_numpys() -> Result<()> {
    let f = fixtures();
    let x = ints(&f["ints"]);
    each(|d| {
        let x = d.upload(&x).unwrap();
        assert_eq!(sha(&d.cumsum(&x).unwrap()), f["ints cumsum"]);
        assert_eq!(sha(&d.scan(&x, Max).run().unwrap()), f["ints running max"]);
        assert_eq!(d.sum(&x).unwrap().read_blocking().unwrap(), f["ints sum"].as_i64().unwrap() as i32);
        assert_eq!(d.reduce(&x, Xor).run().unwrap().read_blocking().unwrap(), f["ints xor"].as_i64().unwrap() as i32);
    });
    Ok(())
}

/// The first keys of NumPy's stable sort. `data/make.py` makes the same keys: a hash of the index.
#[test]
fn the_first_keys_are_those_of_numpys_sort() -> Result<()> {
    let f = fixtures();
    each(|d| {
        let hashed = d.generate(300_007, index(), |i| (i * 2_654_435_761) >> 14).unwrap();
        let floats = d.map(&hashed, |x| (x.cast::<f32>() - 131_072.0) * 0.125).unwrap();
        let bytes = d.generate(300_007, &hashed, |x| (x >> 10).store_as::<u8>()).unwrap();
        for (order, name) in [(SortOrder::Ascending, "up"), (SortOrder::Descending, "down")] {
            for (at, k) in [1, 1000, 30_000].into_iter().enumerate() {
                let wanted = |dtype: &str| f["first of many"][format!("{dtype} {name}")][at].clone();
                let (first, places) = d.top_k(&hashed, k).order(order).with_indices().run().unwrap();
                assert_eq!(serde_json::json!([sha(&first), sha(&places)]), wanted("u32"), "{name} {k}");
                let (first, places) = d.top_k(&floats, k).order(order).with_indices().run().unwrap();
                assert_eq!(serde_json::json!([sha(&first), sha(&places)]), wanted("f32"), "{name} {k}");
                let (first, places) = d.top_k(&bytes, k).order(order).with_indices().run().unwrap();
                assert_eq!(serde_json::json!([sha(&first), sha(&places)]), wanted("u8"), "{name} {k}");
            }
        }
    });
    Ok(())
}

/// The first keys of every row of NumPy's stable sort along the last axis, of the same keys.
#[test]
fn the_first_keys_of_rows_are_those_of_numpys_sort() -> Result<()> {
    fn of<K: isowarp::element::Element>(d: &Device, keys: &Buffer<Device, K>, order: SortOrder, wanted: &serde_json::Value) {
        for (at, n) in [250, 3000, 100_000].into_iter().enumerate() {
            let (first, places) = d.top_k(keys, 7).order(order).axis(&[keys.len() / n, n], 1).with_indices().run().unwrap();
            assert_eq!(serde_json::json!([sha(&first), sha(&places)]), wanted[at], "{n}");
            assert_eq!(
                serde_json::json!(sha(&d.top_k(keys, 7).order(order).axis(&[keys.len() / n, n], 1).run().unwrap())),
                wanted[at][0],
                "{n}"
            );
        }
    }
    let f = fixtures();
    each(|d| {
        let hashed = d.generate(300_000, index(), |i| (i * 2_654_435_761) >> 14).unwrap();
        let floats = d.map(&hashed, |x| (x.cast::<f32>() - 131_072.0) * 0.125).unwrap();
        let bytes = d.generate(300_000, &hashed, |x| (x >> 10).store_as::<u8>()).unwrap();
        for (order, name) in [(SortOrder::Ascending, "up"), (SortOrder::Descending, "down")] {
            let wanted = |dtype: &str| f["first of rows"][format!("{dtype} {name}")].clone();
            of(d, &hashed, order, &wanted("u32"));
            of(d, &floats, order, &wanted("f32"));
            of(d, &bytes, order, &wanted("u8"));
        }
    });
    Ok(())
}

#[test]
fn ties_are_broken_as_numpy_breaks_them() {
    let f = fixtures();
    each(|d| {
        for name in ["small", "floats"] {
            let (low, high) = if name == "small" {
                let x = d.upload(&ints(&f[name])).unwrap();
                (d.argmin(&x).unwrap(), d.argmax(&x).unwrap())
            } else {
                let x = d.upload(&floats(&f[name])).unwrap();
                (d.argmin(&x).unwrap(), d.argmax(&x).unwrap())
            };
            assert_eq!(u64::from(low.read_blocking().unwrap()), f[format!("{name} argmin")].as_u64().unwrap());
            assert_eq!(u64::from(high.read_blocking().unwrap()), f[format!("{name} argmax")].as_u64().unwrap());
        }
    });
}

#[test]
fn sums_and_prefixes_along_axes_equal_numpys() {
    let f = fixtures();
    let x = ints(&f["small"]);
    each(|d| {
        let x = d.upload(&x).unwrap();
        for axis in 0..3 {
            let sums = d.reduce(&x, Sum).axis(&[10, 25, 20], axis).run().unwrap().read_blocking().unwrap();
            assert_eq!(sums, ints(&f["small axis sums"][axis]));
            let prefixes = d.scan(&x, Sum).axis(&[10, 25, 20], axis).run().unwrap();
            assert_eq!(sha(&prefixes), f["small axis cumsums"][axis]);
        }
    });
}

#[test]
fn exact_float_sums_and_square_roots_equal_numpys() {
    let f = fixtures();
    let x = floats(&f["floats"]);
    each(|d| {
        let x = d.upload(&x).unwrap();
        assert_eq!(f64::from(d.sum(&x).unwrap().read_blocking().unwrap()), f["floats sum"].as_f64().unwrap());
        assert_eq!(sha(&d.cumsum(&x).unwrap()), f["floats cumsum"]);
        assert_eq!(sha(&d.map(&x, Expr::sqrt).unwrap()), f["floats square roots"]);
    });
}

#[test]
fn a_filtered_photograph_equals_scipys() {
    let f = fixtures();
    let picture = image::load_from_memory(include_bytes!("../../data/camera.png")).expect("the photograph is a PNG").into_luma8();
    let (width, height) = picture.dimensions();
    let bytes = picture.into_raw();
    let kinds = [
        ("median3", FilterKind::Median3),
        ("laplacian", FilterKind::laplacian()),
        ("highpass", FilterKind::highpass()),
        ("gaussian3", FilterKind::gaussian3()),
        ("sobel", FilterKind::Sobel),
    ];
    each(|d| {
        let grey = d.upload(&bytes).unwrap();
        assert_eq!(sha(&grey), f["camera"]);
        let narrow = Image::new(grey.clone(), width, height, 1).unwrap();
        let wide = Image::new(d.cast::<_, f32>(&grey).unwrap(), width, height, 1).unwrap();
        let mut compared = 0;
        for border in Border::ALL {
            let expected = &f["images"][format!("{border:?}")];
            for (name, kind) in &kinds {
                if let Some(digest) = expected.get(format!("{name} u8")) {
                    assert_eq!(sha(d.filter(&narrow, kind.clone(), border).unwrap().buffer()), *digest, "{name} u8 {border:?}");
                    compared += 1;
                }
                if let Some(digest) = expected.get(format!("{name} f32")) {
                    assert_eq!(sha(d.filter(&wide, kind.clone(), border).unwrap().buffer()), *digest, "{name} f32 {border:?}");
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, 3 * 8);
    });
}
