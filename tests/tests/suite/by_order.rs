//! Searches, sets and lazy merges by an order of the caller's, against plain Rust. On every device.

use crate::common::{each, mt19937};
use isowarp::Error;
use isowarp::prelude::*;

fn sorted(seed: u32, n: usize) -> Vec<u32> {
    let mut x: Vec<u32> = mt19937(seed, n).iter().map(|x| x >> 20).collect();
    x.sort_by_key(|x| x / 10);
    x
}

fn by_tens(a: Expr<u32>, b: Expr<u32>) -> Expr<bool> {
    (a / 10).lt(b / 10)
}

const LENGTHS: [(usize, usize); 6] = [(0, 7), (7, 0), (1, 1), (300, 5), (1000, 1300), (7001, 20)];

#[test]
fn places_by_an_order_are_partition_points() {
    for (n, needles) in LENGTHS {
        let (x, wanted) = (sorted(1, n), mt19937(2, needles).iter().map(|x| x >> 20).collect::<Vec<_>>());
        let lower: Vec<u32> = wanted.iter().map(|k| x.partition_point(|x| x / 10 < k / 10) as u32).collect();
        let upper: Vec<u32> = wanted.iter().map(|k| x.partition_point(|x| x / 10 <= k / 10) as u32).collect();
        let equal: Vec<u32> = lower.iter().zip(&upper).map(|(a, b)| b - a).collect();
        each(|d| {
            let (x, needles) = (d.upload(&x).unwrap(), d.upload(&wanted).unwrap());
            assert_eq!(d.lower_bound(&x, &needles).by(by_tens).run().unwrap().read_blocking().unwrap(), lower);
            assert_eq!(d.upper_bound(&x, &needles).by(by_tens).run().unwrap().read_blocking().unwrap(), upper);

            let by_twenties = d.count_equal(x.map(|x| x * 2), needles.map(|k| k * 2)).by(|a, b| (a / 20).lt(b / 20)).run().unwrap();
            assert_eq!(by_twenties.read_blocking().unwrap(), equal);
        });
    }
}

#[test]
fn lazy_merges_by_an_order_are_stable_sorts_of_one_behind_the_other() {
    for (m, n) in LENGTHS {
        let (a, b) = (sorted(3, m), sorted(4, n));
        let mut all: Vec<(u32, u32)> = a.iter().copied().zip(0..).chain(b.iter().copied().zip(1_000_000..)).collect();
        all.sort_by_key(|(x, _)| x / 10);
        let (keys, places): (Vec<u32>, Vec<u32>) = all.into_iter().unzip();
        each(|d| {
            let (a, b) = (d.upload(&a).unwrap(), d.upload(&b).unwrap());
            let merged = d.merge(&a, &b).by(by_tens).with_values(index(), index().map(|i| i + 1_000_000)).run().unwrap();
            assert_eq!((merged.0.read_blocking().unwrap(), merged.1.read_blocking().unwrap()), (keys.clone(), places.clone()));
            // As the merge of arrays.
            assert_eq!(d.merge(&a, &b).by(by_tens).run().unwrap().read_blocking().unwrap(), keys);
        });
    }
}

#[test]
fn lazy_merges_that_are_checked_name_the_input_and_write_nothing() {
    for wrong in [1usize, 255, 256, 5000] {
        let a = sorted(3, 5001);
        let mut b = a.clone();
        // Below all others by tens, so nothing behind it is wrong.
        b[wrong] = b[wrong - 1].saturating_sub(10);
        b[wrong - 1] = b[wrong] + 10;
        let mut all: Vec<u32> = a.iter().chain(&a).copied().collect();
        all.sort_by_key(|x| x / 10);
        each(|d| {
            let (a, b) = (d.upload(&a).unwrap(), d.upload(&b).unwrap());
            let (out, beside) = (d.upload(&[7u32; 10_002]).unwrap(), d.upload(&[9u32; 10_002]).unwrap());
            let same = |x: Expr<u32>| x;
            let error = |what| Err(Error::NotSorted { pattern: "merge_by", what, index: wrong as u64 });
            assert_eq!(d.merge(a.map(same), b.map(same)).by(by_tens).checked().write_to(&out), error("the second input"));
            assert_eq!(d.merge(b.map(same), a.map(same)).by(by_tens).checked().run().map(drop), error("the first input"));
            let pairs = d.merge(&b, &a).by(by_tens).with_values(index(), index()).checked().write_to((&out, &beside));
            assert_eq!(pairs, error("the first input"));
            assert_eq!((out.read_blocking().unwrap(), beside.read_blocking().unwrap()), (vec![7; 10_002], vec![9; 10_002]));
            assert_eq!(d.merge(a.map(same), a.map(same)).by(by_tens).checked().run().unwrap().read_blocking().unwrap(), all);
        });
    }
}

/// Returns what `std::set_union` and its kin of C++ write, by walking along both.
fn of_cpp(a: &[u32], b: &[u32], keeps: [bool; 3]) -> Vec<u32> {
    let [only_a, only_b, shared] = keeps;
    let (mut out, mut i, mut j) = (Vec::new(), 0, 0);
    while i < a.len() || j < b.len() {
        let order = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => (x / 10).cmp(&(y / 10)),
            (Some(_), None) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        };
        if (order.is_eq() && shared) || (order.is_lt() && only_a) {
            out.push(a[i]);
        } else if order.is_gt() && only_b {
            out.push(b[j]);
        }
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    out
}

#[test]
fn sets_by_an_order_hold_what_cpp_says() {
    for (m, n) in LENGTHS {
        let (a, b) = (sorted(5, m), sorted(6, n));
        each(|d| {
            let (x, y) = (d.upload(&a).unwrap(), d.upload(&b).unwrap());
            let read =
                |found: isowarp::Result<Selected<isowarp::Device, Buffer<isowarp::Device, u32>>>| found.unwrap().read_blocking().unwrap();
            assert_eq!(read(d.union(&x, &y).by(by_tens).run()), of_cpp(&a, &b, [true, true, true]));
            assert_eq!(read(d.intersection(&x, &y).by(by_tens).run()), of_cpp(&a, &b, [false, false, true]));
            assert_eq!(read(d.difference(&x, &y).by(by_tens).run()), of_cpp(&a, &b, [true, false, false]));
            assert_eq!(read(d.symmetric_difference(&x, &y).by(by_tens).run()), of_cpp(&a, &b, [true, true, false]));
        });
    }
}

#[test]
fn outputs_that_do_not_fit_stay_as_they_were() {
    each(|d| {
        let (a, b) = (d.upload(&[1u32, 20]).unwrap(), d.upload(&[3u32, 30]).unwrap());
        let (out, count) = (d.upload(&[7u32; 3]).unwrap(), d.upload(&[9u32]).unwrap());
        let merge = d.merge(a.map(|x| x), b.map(|x| x)).by(by_tens).write_to(&out);
        assert!(matches!(merge, Err(Error::BufferTooSmall { required: 4, available: 3, .. })));
        let onto = d.merge(a.map(|x| x), b.slice(..0).unwrap().map(|x| x)).by(by_tens).write_to(&a);
        assert!(matches!(onto, Err(Error::Aliasing { .. })));
        assert!(matches!(d.union(&a, &b).by(by_tens).write_to((&out, &count)), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.difference(&a, &b).by(by_tens).write_to((&a, &count)), Err(Error::Aliasing { .. })));
        assert!(matches!(d.intersection(&a, &b).by(by_tens).write_to((&out, &out.slice(..1).unwrap())), Err(Error::Aliasing { .. })));
        assert!(matches!(d.lower_bound(&a, &b).by(by_tens).write_to(&b), Err(Error::Aliasing { .. })));
        let kept = (out.read_blocking().unwrap(), count.read_blocking().unwrap(), a.read_blocking().unwrap(), b.read_blocking().unwrap());
        assert_eq!(kept, (vec![7; 3], vec![9], vec![1, 20], vec![3, 30]));
    });
}
