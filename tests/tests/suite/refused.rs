//! Lengths, shapes and places that do not fit are refused with their numbers, and nothing is written. On every device.

use crate::common::each;
use isowarp::buffer::DeviceScalar;
use isowarp::prelude::*;
use isowarp::{Device, Error};

fn lengths(what: &'static str, expected: u64, found: u64) -> Error {
    Error::LengthMismatch { what, expected, found }
}

fn sevens(d: &Device, n: u64) -> Buffer<Device, u32> {
    d.iota(n, 7u32, 0).unwrap()
}

fn untouched(outs: &[&Buffer<Device, u32>]) {
    for out in outs {
        assert!(out.read_blocking().unwrap().iter().all(|&v| v == 7), "an output was changed by a call that failed");
    }
}

#[test]
fn values_that_are_not_as_many_as_their_keys_are_refused() {
    each(|d| {
        let (keys, values, offsets) = (d.iota(10, 0u32, 1).unwrap(), d.iota(9, 0u32, 1).unwrap(), d.upload(&[0u32, 4, 10]).unwrap());
        let (k, v, bytes) = (sevens(d, 10), sevens(d, 10), d.upload(&[7u8; 9]).unwrap());
        let wrong = lengths("values", 10, 9);
        assert_eq!(d.sort(&keys).with_values(&values).segments(&offsets).run().unwrap_err(), wrong);
        assert_eq!(d.sort(&keys).with_values(&bytes).segments(&offsets).run().unwrap_err(), wrong);
        assert_eq!(d.sort(&keys).with_values(&values).segments(&offsets).write_to((&k, &v)).unwrap_err(), wrong);
        let count = d.upload_scalar(5u32).unwrap();
        let pairs = Selected { values: (keys.clone(), values.clone()), count: count.clone() };
        assert_eq!(d.sort(&pairs.values.0).with_values(&pairs.values.1).length(&pairs.count).run().unwrap_err(), wrong);
        assert_eq!(d.sort(&keys).with_values(&values).length(&count).write_to((&k, &v)).unwrap_err(), wrong);
        assert_eq!(d.sort(&keys).with_values(&bytes).length(&count).write_to((&k, &d.upload(&[7u8; 10]).unwrap())).unwrap_err(), wrong);
        assert_eq!(d.unique(&values).by_key(&keys).run().unwrap_err(), wrong);
        assert_eq!(d.unique(&values).by_key(&keys).write_to(((&k, &v), &sevens(d, 1))).unwrap_err(), wrong);
        untouched(&[&k, &v]);
    });
}

#[test]
fn lengths_of_runs_that_are_not_as_many_as_their_values_are_refused() {
    each(|d| {
        let (values, shorter, count, out) = (sevens(d, 5), sevens(d, 4), d.upload_scalar(4u32).unwrap(), sevens(d, 20));
        let wrong = lengths("lengths", 5, 4);
        assert_eq!(d.run_length_decode(&values, &shorter, 20).length(&count).run().unwrap_err(), wrong);
        assert_eq!(d.run_length_decode(&values, &shorter, out.len()).length(&count).write_to(&out).unwrap_err(), wrong);
        // Inputs that are read before the output is written may not be there either.
        let (low, high) = (out.slice(..5).unwrap(), out.slice(5..10).unwrap());
        assert!(matches!(d.run_length_decode(&values, &low, low.len()).length(&count).write_to(&low), Err(Error::Aliasing { .. })));
        assert!(matches!(d.run_length_decode(&low, &values, low.len()).length(&count).write_to(&low), Err(Error::Aliasing { .. })));
        let inside = DeviceScalar::from_buffer(low.slice(4..).unwrap()).unwrap();
        assert!(matches!(d.run_length_decode(&values, &high, low.len()).length(&inside).write_to(&low), Err(Error::Aliasing { .. })));
        untouched(&[&out]);
        // The number of runs may lie in the output's buffer beside it, and so close that as many as there are values would overlap.
        let beside = DeviceScalar::from_buffer(out.slice(..1).unwrap()).unwrap();
        d.run_length_decode(&values, &values, 5).length(&beside).write_to(&out.slice(1..6).unwrap()).unwrap();
        untouched(&[&out]);
    });
}

#[test]
fn permutations_and_rotations_of_another_length_are_refused() {
    each(|d| {
        let (x, order, out) = (sevens(d, 6), d.iota(5, 0u32, 1).unwrap(), sevens(d, 7));
        let wrong = lengths("indices", 6, 5);
        assert_eq!(d.permute(&x, &order).run().unwrap_err(), wrong);
        assert_eq!(d.permute(&x, &order).write_to(&out).unwrap_err(), wrong);
        assert_eq!(d.permute(&x, &order).inverse().run().unwrap_err(), wrong);
        assert_eq!(d.permute(&x, &order).inverse().write_to(&out).unwrap_err(), lengths("indices", 6, 5));
        for to in [&out, &out.slice(..5).unwrap()] {
            assert_eq!(d.rotate(&x, 2).write_to(to).unwrap_err(), lengths("the output", 6, to.len()));
        }
        assert!(matches!(d.rotate(&out.slice(..4).unwrap(), 1).write_to(&out.slice(3..).unwrap()), Err(Error::Aliasing { .. })));
        untouched(&[&x, &out]);
    });
}

#[test]
fn shapes_of_another_size_are_refused() {
    each(|d| {
        let (x, out) = (sevens(d, 24), sevens(d, 24));
        let wrong = |expected| lengths("elements of the shape", expected, 24);
        assert_eq!(d.transpose(&x, 3, 5).batch(2).run().unwrap_err(), wrong(30));
        assert_eq!(d.transpose(&x, 3, 5).batch(2).write_to(&out).unwrap_err(), wrong(30));
        let (from, to) = (ImageLayout::Nchw, ImageLayout::Nhwc);
        assert_eq!(d.convert_layout(&x, [1, 3, 4, 4], from, to).run().unwrap_err(), wrong(48));
        assert_eq!(d.convert_layout(&x, [1, 3, 4, 4], from, to).write_to(&out).unwrap_err(), wrong(48));
        // A size that no number holds is no length either.
        assert_eq!(d.transpose(&x, 2, 2).batch(u64::MAX).run().unwrap_err(), wrong(u64::MAX));
        assert_eq!(d.to_morton(&x, &[4, 8]).run().unwrap_err(), wrong(32));
        assert_eq!(d.to_morton(&x, &[4, 8]).write_to(&out).unwrap_err(), wrong(32));
        assert_eq!(d.from_morton(&x, &[16]).run().unwrap_err(), wrong(16));
        assert_eq!(d.from_morton(&x, &[16]).write_to(&out).unwrap_err(), wrong(16));
        let axes = |found: Error| match &found {
            Error::InvalidArgument { what: "shape", reason } => assert!(reason.contains("one to three"), "{reason}"),
            other => panic!("{other}"),
        };
        let square = x.slice(..16).unwrap();
        axes(d.to_morton(&square, &[2, 2, 2, 2]).run().unwrap_err());
        axes(d.to_morton(&square, &[2, 2, 2, 2]).write_to(&out).unwrap_err());
        axes(d.from_morton(&square, &[2, 2, 2, 2]).run().unwrap_err());
        axes(d.to_morton(&square, &[]).run().unwrap_err());
        untouched(&[&x, &out]);
    });
}

#[test]
fn copies_that_leave_a_buffer_are_refused_with_the_range() {
    each(|d| {
        let (x, out) = (sevens(d, 12), sevens(d, 12));
        let range = |what, start, end| Error::OutOfRange { what, start, end, len: 12 };
        let (input, output) = ("elements of the input", "elements of the output");
        // The last element of the block: 1 * 6 + 1 * 3 + 3.
        assert_eq!(d.copy_3d_into((&x, [6, 3]), (&out, [6, 4]), [2, 2, 4]).unwrap_err(), range(input, 0, 13));
        assert_eq!(d.copy_3d_into((&x, [3, 1]), (&out, [8, 4]), [2, 2, 2]).unwrap_err(), range(output, 0, 14));
        let far = d.copy_3d_into((&x, [u64::MAX, 3]), (&out, [4, 2]), [2, 2, 2]).unwrap_err();
        assert!(matches!(far, Error::TooLarge { what: "pitch", requested: u64::MAX, .. }));
        let axis = |n, from, to| [Axis { n, from, to }];
        assert_eq!(d.copy_strided_into(&axis(4, 3, 1), (&x, 3), (&out, 0)).unwrap_err(), range(input, 3, 13));
        // Backwards beyond the first one: what lies there has no number, so the range starts at zero.
        assert_eq!(d.copy_strided_into(&axis(4, -3, 1), (&x, 8), (&out, 0)).unwrap_err(), range(input, 0, 9));
        assert_eq!(d.copy_strided_into(&axis(4, 1, 3), (&x, 0), (&out, 3)).unwrap_err(), range(output, 3, 13));
        assert_eq!(d.copy_strided_into(&axis(1, 0, 0), (&x, 12), (&out, 0)).unwrap_err(), range(input, 12, 13));
        assert!(matches!(d.copy_strided_into(&axis(4, 1, 0), (&x, 0), (&out, 0)), Err(Error::InvalidArgument { .. })));
        assert!(matches!(d.copy_strided_into(&axis(4, 1, 1), (&x, 0), (&x, 3)), Err(Error::Aliasing { .. })));
        untouched(&[&x, &out]);
    });
}

#[test]
fn bytes_behind_the_last_word_are_not_unpacked() {
    each(|d| {
        let (words, out) = (sevens(d, 3), sevens(d, 13));
        let wrong = Error::OutOfRange { what: "bytes of the words", start: 0, end: 13, len: 12 };
        assert_eq!(d.unpack_u8(&words, 13).run().unwrap_err(), wrong);
        assert_eq!(d.unpack_u8(&words, 13).write_to(&out).unwrap_err(), wrong);
        assert!(matches!(d.unpack_u8(&words, u64::MAX).run(), Err(Error::OutOfRange { .. })));
        let small = d.unpack_u8(&words, 12).write_to(&out.slice(..11).unwrap()).unwrap_err();
        assert_eq!(small, Error::BufferTooSmall { what: "the output", required: 12, available: 11 });
        untouched(&[&words, &out]);
    });
}

#[test]
fn loops_that_a_device_would_end_are_refused() {
    use isowarp::backend::Backend as _;
    use isowarp::caps::Capability;
    each(|d| {
        let turns = 100_000;
        let x = sevens(d, 5);
        let expected = (0..turns).fold(3u32, |x, _| x.wrapping_mul(5).wrapping_add(1));
        let map = d.map_into(counting(5), |_| repeat(turns, lit(3u32), |x| x * 5 + 1), &x);
        let sum = d.reduce(counting(5).map(|_| repeat(turns / 100, lit(3u32), |x| x * 5 + 1)), Max).run();
        let Some(limit) = d.caps().loop_turns else {
            map.unwrap();
            assert_eq!(x.read_blocking().unwrap(), [expected; 5]);
            sum.unwrap();
            return;
        };
        let refused = |error| matches!(error, Error::Unsupported { capability: Capability::Turns { limit: of, .. }, .. } if of <= limit);
        assert!(refused(map.unwrap_err()) && refused(sum.unwrap_err()));
        untouched(&[&x]);
        // As many as it takes.
        d.map_into(counting(5), |_| repeat(limit as u32, lit(3u32), |x| x * 5 + 1), &x).unwrap();
        assert_eq!(x.read_blocking().unwrap(), [(0..limit).fold(3u32, |x, _| x.wrapping_mul(5).wrapping_add(1)); 5]);
    });
}

#[test]
fn lines_and_views_of_nothing_have_sizes_that_numbers_hold() {
    each(|d| {
        let nothing = d.upload::<u32>(&[]).unwrap();
        let invalid = |error| matches!(error, Error::InvalidArgument { what: "axis", .. });
        for (rows, columns) in [(1 << 32, 1 << 32), ((1 << 32) + 1, 1 << 32), (u64::MAX, 2)] {
            let shape = [rows, 0, columns];
            assert!(invalid(d.reduce(&nothing, Sum).axis(&shape, 1).run().unwrap_err()));
            assert!(invalid(d.exact_sum(nothing.map(Expr::cast::<f32>)).axis(&shape, 1).run().unwrap_err()));
            assert!(invalid(d.window(&nothing, 1, Sum).axis(&shape, 1).run().unwrap_err()));
        }
        let points = d.upload::<f32>(&[]).unwrap();
        assert!(matches!(d.fft(&points).axis(&[0, 16, 1 << 60], 1).run(), Err(Error::TooLarge { .. })));
        let (x, out) = (sevens(d, 12), sevens(d, 12));
        let far = [Axis { n: u64::MAX, from: 0, to: u64::MAX }];
        assert!(matches!(d.copy_strided_into(&far, (&x, 0), (&out, 0)), Err(Error::OutOfRange { .. })));
        let far = [Axis { n: u64::MAX, from: i64::MIN, to: 1 }, Axis { n: u64::MAX, from: i64::MIN, to: 1 }];
        assert!(matches!(d.copy_strided_into(&far, (&x, 0), (&out, 0)), Err(Error::OutOfRange { .. })));
        // A view of nothing begins anywhere.
        let none = x.slice(1..).unwrap().strided(u64::MAX, 0, 1).unwrap();
        assert!(d.map(&none, |x| x).unwrap().is_empty());
        untouched(&[&x, &out]);
    });
}
