//! Modifiers of reductions against plain loops. On every device.

use crate::common::{each, mt19937};
use isowarp::{Error, prelude::*};
use isowarp_textbook::ReduceVariant;

const SHAPES: [[u64; 3]; 4] = [[1, 1, 1], [3, 700, 1], [2, 5, 300], [40, 33, 17]];

/// Index of the greatest element of each line along an axis: of equal ones the first.
fn greatest(x: &[f32], [outer, n, inner]: [u64; 3]) -> Vec<u32> {
    let line = |o: u64, i: u64| {
        let at = |k: u64| x[((o * n + k) * inner + i) as usize];
        (0..n).fold(0, |best, k| if at(k) > at(best) { k } else { best }) as u32
    };
    (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))).map(|(o, i)| line(o, i)).collect()
}

#[test]
fn indices_along_an_axis_are_those_in_the_line() {
    for shape in SHAPES {
        let n = shape.iter().product::<u64>() as usize;
        let x: Vec<f32> = mt19937(11, n).into_iter().map(|x| (x % 41) as f32 - 20.0).collect();
        let expected = greatest(&x, shape);
        let negated: Vec<f32> = x.iter().map(|x| -x).collect();
        each(|d| {
            let (x, negated) = (d.upload(&x).unwrap(), d.upload(&negated).unwrap());
            let at = d.reduce(&x, Max).axis(&shape, 1).index().run().unwrap().read_blocking().unwrap();
            assert_eq!(at, expected, "{shape:?}");
            let (least, at) = d.reduce(&negated, Min).with_index().axis(&shape, 1).run().unwrap();
            assert_eq!(at.read_blocking().unwrap(), expected, "{shape:?}");
            let greatest = d.reduce(&x, Max).axis(&shape, 1).finish(|v| -v).run().unwrap();
            assert_eq!(least.read_blocking().unwrap(), greatest.read_blocking().unwrap(), "{shape:?}");
        });
    }
}

#[test]
fn initial_values_stand_before_every_reduction() {
    let after = |f: u32, g: u32| f.wrapping_mul(31).wrapping_add(g);
    for n in [0usize, 1, 300, 9001] {
        let x = mt19937(6, n);
        let sum = x.iter().fold(77, |a: u32, &b| a.wrapping_add(b));
        each(|d| {
            let op = Op::associative(0u32, |a, b| a + b);
            let (x, offsets) = (d.upload(&x).unwrap(), d.upload(&[0, 0, n as u32, n as u32]).unwrap());
            assert_eq!(d.reduce(&x, op).initial(77).run().unwrap().read_blocking().unwrap(), sum, "{n}");
            let segments = d.reduce(&x, op).segments(&offsets).checked().initial(77).run().unwrap();
            assert_eq!(segments.read_blocking().unwrap(), [77, sum, 77], "{n}");
            let rows = d.reduce(&x, op).axis(&[1, n as u64], 1).initial(77).run().unwrap();
            assert_eq!(rows.read_blocking().unwrap(), [sum], "{n}");
            let counted = d.reduce(&x, op).length(&d.upload_scalar(n as u32).unwrap()).initial(77).run().unwrap();
            assert_eq!(counted.read_blocking().unwrap(), sum, "{n}");
            let greatest = d.reduce(&x, Max).initial(u32::MAX).run().unwrap();
            assert_eq!(greatest.read_blocking().unwrap(), u32::MAX, "{n}");
            let (least, at) = d.reduce(&x, Min).initial(0).with_index().run().unwrap();
            assert_eq!((least.read_blocking().unwrap(), at.read_blocking().unwrap()), (0, u32::MAX), "{n}");
            for variant in ReduceVariant::ALL {
                let found = d.reduce(&x, op).variant(variant).initial(77).run().unwrap();
                assert_eq!(found.read_blocking().unwrap(), sum, "{n}, {}", variant.name());
            }
            // The value is the left operand.
            let left = d.reduce_by(&x, |a, b| a * 31 + b).initial(5).axis(&[n as u64, 1], 1).run().unwrap();
            let host = x.read_blocking().unwrap();
            assert_eq!(left.read_blocking().unwrap(), host.into_iter().map(|x| after(5, x)).collect::<Vec<_>>(), "{n}");
        });
    }
}

#[test]
fn accumulators_of_several_parts_are_reduced_by_key() {
    let (x, keys) = (mt19937(2, 5000), mt19937(3, 5000).into_iter().map(|k| (k >> 30) as u8).collect::<Vec<_>>());
    let mut expected: Vec<(u8, u32, u32)> = Vec::new();
    for (&x, &k) in x.iter().zip(&keys) {
        match expected.last_mut() {
            Some(last) if last.0 == k => *last = (k, last.1.wrapping_add(x), last.2.max(x)),
            _ => expected.push((k, x, x)),
        }
    }
    each(|d| {
        let (x, keys) = (d.upload(&x).unwrap(), d.upload(&keys).unwrap());
        let both = || d.reduce_by(x.map(|x| (x, x)), |a, b| (a.0 + b.0, a.1.max(b.1))).identity((0, 0));
        let view = keys.strided(0, 5000, 1).unwrap();
        let found = [both().by_key(&keys).run().unwrap(), both().by_key(view).run().unwrap()];
        for found in found {
            let n = found.len_blocking().unwrap();
            let (keys, (sums, most)) = &found.values;
            let host = |b: &Buffer<_, u32>| b.slice(..n).unwrap().read_blocking().unwrap();
            let keys = keys.slice(..n).unwrap().read_blocking().unwrap();
            let found: Vec<_> = keys.into_iter().zip(host(sums)).zip(host(most)).map(|((k, a), b)| (k, a, b)).collect();
            assert_eq!(found, expected);
        }
    });
}

#[test]
fn nothing_has_the_identity_or_is_an_error() {
    each(|d| {
        let (none, out, offsets) = (d.buffer::<f32>(0).unwrap(), d.upload(&[7.0f32]).unwrap(), d.upload(&[0u32, 0]).unwrap());
        assert_eq!(d.sum(&none).unwrap().read_blocking().unwrap(), 0.0);
        assert!(matches!(d.max(&none), Err(Error::Empty { .. })));
        assert!(matches!(d.argmin(&none), Err(Error::Empty { .. })));
        let closure = d.reduce_by(&none, |a, b| a * b);
        assert!(matches!(closure.clone().write_to(&out), Err(Error::Empty { .. })));
        let segments = closure.clone().segments(&offsets).write_to(&out);
        assert!(matches!(segments, Err(Error::InvalidArgument { .. })), "an empty segment has no result: {segments:?}");
        assert_eq!(out.read_blocking().unwrap(), [7.0], "nothing was written");
        assert_eq!(closure.clone().identity(1.0).run().unwrap().read_blocking().unwrap(), 1.0);
        assert_eq!(closure.identity(1.0).segments(&offsets).finish(|x| x + 1.0).run().unwrap().read_blocking().unwrap(), [2.0]);
        let (greatest, at) = d.reduce(&none, Max).segments(&offsets).with_index().run().unwrap();
        assert_eq!((greatest.read_blocking().unwrap(), at.read_blocking().unwrap()), (vec![f32::NEG_INFINITY], vec![u32::MAX]));
        let roots = d.reduce(&none, Sum).initial(4.0).finish(|x| (x.sqrt(), x.cast::<u32>())).run().unwrap();
        assert_eq!((roots.0.read_blocking().unwrap(), roots.1.read_blocking().unwrap()), (2.0, 4));
    });
}
