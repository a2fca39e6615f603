//! Modifiers of sorts in each other's company, against the standard library. On every device.

use crate::common::{each, mt19937};
use isowarp::{Error, prelude::*};

/// Keys of few values, which are often equal.
fn keys(n: usize) -> Vec<u32> {
    mt19937(5, n).into_iter().map(|x| x % 97).collect()
}

/// Indices of keys in order.
fn order(keys: &[u32], descending: bool) -> Vec<u32> {
    let mut at: Vec<u32> = (0..keys.len() as u32).collect();
    at.sort_by_key(|&i| if descending { u32::MAX - keys[i as usize] } else { keys[i as usize] });
    at
}

fn at<T: Copy>(x: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|&i| x[i as usize]).collect()
}

#[test]
fn modifiers_of_sorts_may_come_in_any_order() {
    let x = keys(5003);
    let expected = order(&x, true);
    let sorted = at(&x, &expected);
    each(|d| {
        let x = d.upload(&x).unwrap();
        let check = |(k, i): (Buffer<Device, u32>, Buffer<Device, u32>)| {
            assert!((k.read_blocking().unwrap(), i.read_blocking().unwrap()) == (sorted.clone(), expected.clone()));
        };
        check(d.sort(&x).descending().bits(0..7).with_indices().run().unwrap());
        check(d.sort(&x).with_indices().bits(0..7).descending().run().unwrap());
        check(d.sort(&x).with_values(index()).axis(&[1, 5003], 1).descending().run().unwrap());
        check(d.sort(&x).descending().axis(&[5003], 0).with_indices().run().unwrap());
        check(d.sort(&x).by(Expr::lt).descending().with_indices().run().unwrap());
        check(d.sort(&x).descending().with_values(counting(5003)).by(Expr::lt).run().unwrap());
        check(d.top_k(&x, 5003).with_indices().axis(&[1, 5003], 1).run().unwrap());
        check(d.top_k(&x, 5003).with_values(index()).run().unwrap());
    });
}

#[test]
fn fused_keys_and_values_are_sorted_over_every_domain() {
    let x = keys(5003);
    let squares: Vec<u32> = x.iter().map(|x| x * x).collect();
    let expected = order(&squares, false);
    let (sorted, halves): (Vec<u32>, Vec<u64>) = (at(&squares, &expected), expected.iter().map(|&i| u64::from(i) / 2).collect());
    each(|d| {
        let (x, n) = (d.upload(&x).unwrap(), d.upload_scalar(5003u32).unwrap());
        let halves_of = || index().map(|i| (i / 2).cast::<u64>());
        let stored = d.map(counting(5003), |i| (i / 2).cast::<u64>()).unwrap();
        let squares = || x.map(|x| x * x);
        let offsets = d.upload(&[0u32, 5003]).unwrap();
        let check = |(k, v): (Buffer<Device, u32>, Buffer<Device, u64>), what| {
            assert!((k.read_blocking().unwrap(), v.read_blocking().unwrap()) == (sorted.clone(), halves.clone()), "{what}");
        };
        check(d.sort(squares()).with_values(halves_of()).run().unwrap(), "both");
        check(d.sort(squares()).with_values(&stored).run().unwrap(), "keys");
        check(d.sort(&d.map(squares(), |x| x).unwrap()).with_values(halves_of()).run().unwrap(), "values");
        check(d.sort(squares()).segments(&offsets).checked().with_values(halves_of()).run().unwrap(), "segments");
        check(d.sort(squares()).segments(&offsets).with_values(&stored).run().unwrap(), "segments of keys");
        check(d.sort(squares()).with_values(halves_of()).length(&n).run().unwrap().values, "length");
        check(d.sort(squares()).with_values(halves_of()).by(Expr::lt).run().unwrap(), "comparator");
        check(d.top_k(squares(), 5003).smallest().with_values(halves_of()).run().unwrap(), "first keys");
        let lent = (d.buffer(5003).unwrap(), d.buffer(5003).unwrap());
        let in_scratch = d.sort(squares()).with_values(halves_of()).by(Expr::lt).scratch((&lent.0, &lent.1));
        check(in_scratch.run().unwrap(), "comparator in scratch");
    });
}

#[test]
fn arrays_beside_fused_inputs_keep_every_bit() {
    let nan = f32::from_bits(0xFFC1_2345);
    each(|d| {
        let (x, at) = (d.upload(&[2.0f32, nan, 1.0]).unwrap(), d.upload(&[2u32, 0, 1]).unwrap());
        let words = |x: Buffer<Device, f32>| x.read_blocking().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let (sorted, i) = d.sort(&x).with_values(at.map(|i| i + 1)).run().unwrap();
        assert_eq!((words(sorted), i.read_blocking().unwrap()), (vec![nan.to_bits(), 1.0f32.to_bits(), 2.0f32.to_bits()], vec![1, 2, 3]));
        let (_, carried) = d.sort(at.map(|i| i)).with_values(&x).run().unwrap();
        assert_eq!(words(carried), [nan.to_bits(), 1.0f32.to_bits(), 2.0f32.to_bits()]);
        let (_, carried) = d.sort(at.map(|i| i)).by(Expr::lt).with_values(&x).run().unwrap();
        assert_eq!(words(carried), [nan.to_bits(), 1.0f32.to_bits(), 2.0f32.to_bits()]);
    });
}

#[test]
fn rows_are_sorted_where_they_lie() {
    let x = keys(60);
    let mut expected = x.clone();
    expected.chunks_mut(12).for_each(<[u32]>::sort_unstable);
    each(|d| {
        let (keys, values) = (d.upload(&x).unwrap(), d.upload(&x).unwrap());
        d.sort(&keys).with_values(&values).axis(&[5, 12], 1).in_place().unwrap();
        assert_eq!(keys.read_blocking().unwrap(), expected);
        assert_eq!(values.read_blocking().unwrap(), expected);
    });
}

#[test]
fn modifiers_that_keys_do_not_have_are_refused() {
    each(|d| {
        let (x, out) = (d.upload(&[3u32, 1, 2, 0]).unwrap(), d.upload(&[7u32; 4]).unwrap());
        assert!(matches!(d.sort(&x).bits(0..4).by(Expr::lt).write_to(&out), Err(Error::InvalidArgument { what: "bits", .. })));
        assert!(matches!(d.is_sorted(&x).bits(0..4).by(Expr::lt).check(), Err(Error::InvalidArgument { what: "bits", .. })));
        assert!(matches!(d.sort(&x).axis(&[2, 2], 2).write_to(&out), Err(Error::InvalidArgument { what: "axis", .. })));
        assert!(matches!(d.argsort(&x).axis(&[2, 2], 2).write_to(&out), Err(Error::InvalidArgument { what: "axis", .. })));
        assert!(matches!(d.top_k(&x, 1).axis(&[2, 2], 2).write_to(&out), Err(Error::InvalidArgument { what: "axis", .. })));
        let short = x.slice(..3).unwrap();
        let mismatch = |found| matches!(found, Err(Error::LengthMismatch { what: "values", expected: 4, found: 3 }));
        assert!(mismatch(d.sort(&x).with_values(short.map(|v| v + 1)).write_to((&out, &out))));
        assert!(mismatch(d.sort(x.map(|x| x)).with_values(&short).write_to((&out, &out))));
        assert!(mismatch(d.sort(x.map(|x| x)).with_values(short.map(|v| v)).by(Expr::lt).write_to((&out, &out))));
        assert_eq!(out.read_blocking().unwrap(), [7; 4]);
        assert_eq!(x.read_blocking().unwrap(), [3, 1, 2, 0]);
    });
}
