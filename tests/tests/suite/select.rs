//! Selections against plain Rust and closed forms, and what bad input gets. On every device.

use crate::common::{each, mt19937};
use isowarp::Error;
use isowarp::prelude::*;

/// Lengths around tiles, and nothing.
const LENGTHS: [usize; 7] = [0, 1, 31, 257, 8193, 20_000, 70_001];

#[test]
fn selections_are_those_of_iterators() {
    for n in LENGTHS {
        let x = mt19937(5489, n);
        each(|d| {
            let device = d.upload(&x).unwrap();
            let kept = d.select(&device, |x| (x % 3).eq(0)).run().unwrap();
            assert_eq!(kept.read_blocking().unwrap(), x.iter().copied().filter(|x| x % 3 == 0).collect::<Vec<_>>());
            let flags = d.upload(&x.iter().map(|x| x >> 31).collect::<Vec<u32>>()).unwrap();
            let flagged = d.select_flagged(&device, &flags).run().unwrap();
            assert_eq!(flagged.read_blocking().unwrap(), x.iter().copied().filter(|x| x >> 31 != 0).collect::<Vec<_>>());

            let parted = d.partition(&device, |x| (x & 1u32).eq(0)).run().unwrap();
            let (even, odd): (Vec<u32>, Vec<u32>) = x.iter().partition(|x| *x & 1 == 0);
            assert_eq!(parted.len_blocking().unwrap(), even.len() as u64);
            assert_eq!(parted.values.read_blocking().unwrap(), [even, odd].concat());

            let (values, counts) = d.partition(&device, |x| x.lt(1 << 30)).three_way(|x| x.ge(3 << 30)).run().unwrap();
            let part = |x: &u32| if *x < 1 << 30 { 0 } else { 1 + usize::from(*x < 3 << 30) };
            let mut sorted = x.clone();
            sorted.sort_by_key(part);
            assert_eq!(values.read_blocking().unwrap(), sorted);
            let count = |k| x.iter().filter(|x| part(x) == k).count() as u32;
            assert_eq!(counts.read_blocking().unwrap(), [count(0), count(1)]);
        });
    }
}

#[test]
fn runs_are_chunks_of_equals_and_decode_to_what_they_were() {
    for n in LENGTHS {
        let mut value = 0;
        let x: Vec<u32> = mt19937(1, n).iter().map(|r| (value += u32::from(r % 4 == 0), value).1).collect();
        let mut expected = x.clone();
        expected.dedup();
        let lengths: Vec<u32> = x.chunk_by(|a, b| a == b).map(|c| c.len() as u32).collect();
        each(|d| {
            let device = d.upload(&x).unwrap();
            assert_eq!(d.unique(&device).run().unwrap().read_blocking().unwrap(), expected);
            let runs = d.run_length_encode(&device).run().unwrap();
            let m = runs.len_blocking().unwrap();
            assert_eq!(runs.values.0.slice(..m).unwrap().read_blocking().unwrap(), expected);
            assert_eq!(runs.values.1.slice(..m).unwrap().read_blocking().unwrap(), lengths);
            let back = d.run_length_decode(&runs.values.0, &runs.values.1, n as u64).length(&runs.count).run().unwrap();
            assert_eq!(back.read_blocking().unwrap(), x);
        });
    }
}

#[test]
fn moved_floats_keep_every_bit() {
    let bits = [0x7FC1_2345u32, 0xFFC0_0001, 0x7F80_0001, 0x8000_0000, 0x0000_0001, 0x3F80_0000, 0xFF80_0000];
    let x: Vec<f32> = (0..3000).map(|i| f32::from_bits(bits[i % bits.len()])).collect();
    let expected: Vec<u32> = x.iter().map(|x| x.to_bits()).collect();
    let to_bits = |x: Vec<f32>| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    each(|d| {
        let device = d.upload(&x).unwrap();
        let all = d.select((&device, index()), |(_, i)| i.ge(0)).finish(|(x, _)| x).run().unwrap();
        assert_eq!(to_bits(all.read_blocking().unwrap()), expected);
        let numbers = d.select(&device, |x| x.eq(x)).run().unwrap();
        let (nan, number): (Vec<u32>, Vec<u32>) = expected.iter().partition(|b| f32::from_bits(**b).is_nan());
        assert_eq!(to_bits(numbers.read_blocking().unwrap()), number);
        let parted = d.partition(&device, Expr::is_nan).run().unwrap();
        assert_eq!(to_bits(parted.values.read_blocking().unwrap()), [nan, number].concat());
    });
}

#[test]
fn searches_find_the_first_and_count_all() {
    each(|d| {
        let x = d.iota::<u32>(10_000, 0, 3).unwrap();
        let find = |at: u32| d.find_if(&x, |x| x.ge(at)).run().unwrap().read_blocking().unwrap();
        assert_eq!([find(0), find(1), find(29_997), find(29_998)], [0, 1, 9999, 10_000]);
        let none = d.buffer::<u32>(0).unwrap();
        assert_eq!(d.find_if(&none, |x| x.eq(0)).run().unwrap().read_blocking().unwrap(), 0);
        let said = |s: DeviceScalar<_, u32>| s.read_blocking().unwrap();
        assert_eq!([said(d.any(&none, |x| x.eq(0)).unwrap()), said(d.all(&none, |x| x.eq(0)).unwrap())], [0, 1]);
        assert_eq!([said(d.any(&x, |x| x.eq(3)).unwrap()), said(d.all(&x, |x| x.lt(29_997)).unwrap())], [1, 0]);
        assert_eq!([said(d.none(&x, |x| x.eq(2)).unwrap()), said(d.count(&x, |x| x.lt(300)).unwrap())], [1, 100]);
    });
}

#[test]
fn bad_outputs_are_refused_and_nothing_is_written() {
    each(|d| {
        let x = d.iota::<u32>(1000, 0, 1).unwrap();
        let sevens = |n: usize| d.upload(&vec![7u32; n]).unwrap();
        let (out, small, count) = (sevens(1000), sevens(999), sevens(1));
        let odd = |x: Expr<u32>| (x & 1u32).eq(1);
        assert!(matches!(d.select(&x, odd).write_to((&small, &count)), Err(Error::BufferTooSmall { required: 1000, available: 999, .. })));
        assert!(matches!(d.select(&x, odd).write_to((&out, &sevens(0))), Err(Error::BufferTooSmall { required: 1, available: 0, .. })));
        assert!(matches!(d.select(&x, odd).write_to((&x, &count)), Err(Error::Aliasing { .. })));
        assert!(matches!(d.select(&x, odd).write_to((&out, &out.slice(5..6).unwrap())), Err(Error::Aliasing { .. })));
        assert!(matches!(d.select_flagged(&x, &small).run(), Err(Error::LengthMismatch { expected: 1000, found: 999, .. })));
        assert!(matches!(d.unique(&small).by_key(&x).run(), Err(Error::LengthMismatch { .. })));
        let three = d.partition_three(&x, |x| x % 3).write_to((&out, &count));
        assert!(matches!(three, Err(Error::BufferTooSmall { required: 2, available: 1, .. })));
        assert!(matches!(d.run_length_encode(&x).write_to(((&out, &out), &count)), Err(Error::Aliasing { .. })));
        for untouched in [&out, &small, &count] {
            assert!(untouched.read_blocking().unwrap().iter().all(|&v| v == 7));
        }
    });
}
