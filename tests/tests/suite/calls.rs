//! Calls of moves, histograms and groups: a buffer and what is computed of it give the same, with each modifier.

use crate::common::{each, mt19937};
use isowarp::Error;
use isowarp::prelude::*;

#[test]
fn moves_of_buffers_are_those_of_computed_inputs() {
    each(|d| {
        let values = mt19937(5489, 5003);
        let x = d.upload(&values).unwrap();
        let at = d.upload(&mt19937(71, 5003).iter().map(|v| v % 700).collect::<Vec<_>>()).unwrap();
        let (far, sum) = (d.upload(&[700u32]).unwrap(), |d: &isowarp::Device| d.iota(700, 5u32, 3).unwrap());
        let read = |b: &Buffer<isowarp::Device, u32>| b.read_blocking().unwrap();

        let expected = read(&d.gather(&x, &at).run().unwrap());
        assert_eq!(read(&d.gather(x.map(|x| x), &at).checked().run().unwrap()), expected);
        assert_eq!(read(&d.gather(&x, at.map(|i| i)).checked().run().unwrap()), expected);
        let (first, second) = d.gather((&x, x.map(|x| x)), &at).run().unwrap();
        assert_eq!((read(&first), read(&second)), (expected.clone(), expected));

        // Indices by themselves, together with the values, or as they lie.
        let scattered = |how: &dyn Fn(&Buffer<isowarp::Device, u32>) -> isowarp::Result<()>| {
            let out = sum(d);
            how(&out).unwrap();
            read(&out)
        };
        let expected = scattered(&|out| d.scatter(&x, &at).write_to(out));
        assert_eq!(scattered(&|out| d.scatter(x.map(|x| x), &at).checked().write_to(out)), expected);
        assert_eq!(scattered(&|out| d.scatter_pairs((&at, &x).map(|pair| pair)).write_to(out)), expected);
        let expected = scattered(&|out| d.scatter(&x, &at).reduce(ScatterOp::Xor).write_to(out));
        assert_eq!(scattered(&|out| d.scatter(&x, at.map(|i| i)).reduce(ScatterOp::Xor).write_to(out)), expected);
        let expected = scattered(&|out| d.scatter(&x, &at).combine(Sum).checked().write_to(out));
        assert_eq!(scattered(&|out| d.scatter(x.map(|x| x), &at).combine(Sum).checked().write_to(out)), expected);
        assert_eq!(scattered(&|out| d.scatter(&x, &at).reduce(ScatterOp::Sum).write_to(out)), expected);
        let whole = read(&d.scatter(&x, &at).combine(Max).run(700).unwrap());
        assert_eq!(read(&d.scatter_pairs((&at, &x).map(|pair| pair)).combine(Max).run(700).unwrap()), whole);

        // A refused call changes nothing.
        let out = sum(d);
        let wrong = d.scatter(counting(1).map(|i| i), far.map(|i| i)).combine(Sum).checked().write_to(&out);
        assert!(matches!(wrong, Err(Error::IndexOutOfRange { position: 0, index: 700, limit: 700, .. })));
        let wrong = d.scatter(&x, index().map(|_| lit(1u32))).unique().checked().write_to(&out);
        assert!(matches!(wrong, Err(Error::DuplicateIndex { position: 1, index: 1, .. })));
        assert_eq!(read(&out), read(&sum(d)));
    });
}

#[test]
fn permutations_of_buffers_are_those_of_computed_inputs() {
    each(|d| {
        let n = 1009u32;
        let x = d.iota(n.into(), 7u32, 3).unwrap();
        let order = d.map(counting(n.into()), |i| i * 5 % n).unwrap();
        let read = |b: Buffer<isowarp::Device, u32>| b.read_blocking().unwrap();
        let (there, back) = (read(d.permute(&x, &order).run().unwrap()), read(d.permute(&x, &order).inverse().run().unwrap()));
        assert_eq!(read(d.permute(x.map(|x| x), &order).checked().run().unwrap()), there);
        assert_eq!(read(d.permute(x.map(|x| x), &order).inverse().checked().run().unwrap()), back);
        let numbered = (counting(n.into()), index()).map(|(i, _)| i * 3 + 7);
        assert_eq!(read(d.permute(numbered, order.map(|i| i)).run().unwrap()), there);
        let twice = d.permute(&x, counting(n.into()).map(|i| i / 2)).inverse().checked().run();
        assert!(matches!(twice, Err(Error::DuplicateIndex { position: 1, index: 0, .. })));
        let short = d.permute(&x, counting(7)).run();
        assert!(matches!(short, Err(Error::LengthMismatch { what: "indices", expected: 1009, found: 7 })));
    });
}

#[test]
fn weights_of_pixels_are_added_by_the_bins_of_each_channel() {
    each(|d| {
        let bytes: Vec<u8> = mt19937(9, 3 * 4001).into_iter().map(|v| (v >> 24) as u8).collect();
        let (x, w) = (d.upload(&bytes).unwrap(), d.iota(4001, 1i32, 7).unwrap());
        let mut expected = vec![0i32; 8 + 4];
        for (pixel, weight) in bytes.chunks(3).zip((0..).map(|i| 1 + 7 * i)) {
            expected[usize::from(pixel[0] / 32)] += weight;
            expected[8 + usize::from(pixel[1] / 64)] += weight;
        }
        let even = d.histogram(channels_even(&x, 3, &[(0, 256, 8), (0, 256, 4)])).weighted(&w).run().unwrap();
        assert_eq!(even.read_blocking().unwrap(), expected);
        let edges = [8u32, 4].map(|n| Edges::new(d, &(0..=n).map(|k| (k * 256 / n).min(255) as u8).collect::<Vec<_>>()).unwrap());
        let between = d.histogram(channels_between(&x, 3, &[&edges[0], &edges[1]])).weighted(&w).run().unwrap();
        // The last edges are 255, which is in no bin.
        for (pixel, weight) in bytes.chunks(3).zip((0..).map(|i| 1 + 7 * i)) {
            expected[7] -= if pixel[0] == 255 { weight } else { 0 };
            expected[11] -= if pixel[1] == 255 { weight } else { 0 };
        }
        assert_eq!(between.read_blocking().unwrap(), expected);
    });
}
