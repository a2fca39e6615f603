//! Forms into the caller's buffers give what the others give, write nothing behind it, and refuse what does not fit. On every device.

use crate::common::{each, mt19937};
use isowarp::element::Element;
use isowarp::prelude::*;
use isowarp::{Device, Error, Result};

fn host<T: Element>(x: &Buffer<Device, T>) -> Vec<T> {
    x.read_blocking().unwrap()
}

/// Returns what `run` writes into a buffer of two elements more than there are, which stay as they were.
fn into<T: Element>(d: &Device, n: u64, seven: T, run: impl FnOnce(&Buffer<Device, T>) -> Result<()>) -> Vec<T> {
    let out = d.upload(&vec![seven; n as usize + 2]).unwrap();
    run(&out).unwrap();
    let mut found = host(&out);
    assert!(found.split_off(n as usize) == [seven; 2], "written behind the end");
    found
}

#[test]
fn moves_into_buffers_are_the_others() {
    each(|d| {
        for n in [0u64, 1, 5, 300, 70_001] {
            let x = d.upload(&mt19937(7, n as usize)).unwrap();
            let bytes = d.map(&x, Expr::store_as::<u8>).unwrap();
            let order = d.argsort(&x).run().unwrap();
            assert_eq!(into(d, n, 7, |out| d.permute(&x, &order).write_to(out)), host(&d.permute(&x, &order).run().unwrap()), "{n}");
            assert_eq!(
                into(d, n, 7, |out| d.permute(&x, &order).inverse().write_to(out)),
                host(&d.permute(&x, &order).inverse().run().unwrap()),
                "{n}"
            );
            assert_eq!(
                into(d, n, 7, |out| d.permute(&bytes, &order).inverse().write_to(out)),
                host(&d.permute(&bytes, &order).inverse().run().unwrap())
            );
            let packed = d.pack_u8(&x).run().unwrap();
            assert_eq!(into(d, n.div_ceil(4), 7, |out| d.pack_u8(&x).write_to(out)), host(&packed), "{n}");
            assert_eq!(into(d, n, 7, |out| d.unpack_u8(&packed, n).write_to(out)), host(&d.unpack_u8(&packed, n).run().unwrap()), "{n}");
            let rows = n / 5;
            let whole = x.slice(..rows * 5).unwrap();
            let expected = d.transpose(&whole, rows, 1).batch(5).run().unwrap();
            assert_eq!(into(d, rows * 5, 7, |out| d.transpose(&whole, rows, 1).batch(5).write_to(out)), host(&expected), "{n}");
            let (from, to) = (ImageLayout::Nhwc, ImageLayout::Chwn);
            let expected = d.convert_layout(&whole, [rows, 5, 1, 1], from, to).run().unwrap();
            assert_eq!(
                into(d, rows * 5, 7, |out| d.convert_layout(&whole, [rows, 5, 1, 1], from, to).write_to(out)),
                host(&expected),
                "{n}"
            );
            let rule = |i: Expr<u32>| (i * 2_654_435_761) >> 5;
            let expected = d.sort(counting(rows * 5).map(rule)).axis(&[rows, 5], 1).run().unwrap();
            assert_eq!(
                into(d, rows * 5, 7, |out| d.sort(counting(rows * 5).map(rule)).axis(&[rows, 5], 1).write_to(out)),
                host(&expected),
                "{n}"
            );
        }
        for shape in [vec![1u64], vec![16], vec![8, 32], vec![4, 2, 64]] {
            let n = shape.iter().product();
            let x = d.upload(&mt19937(9, n as usize)).unwrap();
            let halves = d.map(&x, |x| (x >> 20).cast::<f32>().store_as::<half::f16>()).unwrap();
            assert_eq!(into(d, n, 7, |out| d.to_morton(&x, &shape).write_to(out)), host(&d.to_morton(&x, &shape).run().unwrap()));
            assert_eq!(into(d, n, 7, |out| d.from_morton(&x, &shape).write_to(out)), host(&d.from_morton(&x, &shape).run().unwrap()));
            let seven = half::f16::from_f32(7.0);
            assert_eq!(
                into(d, n, seven, |out| d.to_morton(&halves, &shape).write_to(out)),
                host(&d.to_morton(&halves, &shape).run().unwrap())
            );
        }
    });
}

#[test]
fn selections_into_buffers_are_the_others() {
    each(|d| {
        for n in [0u64, 1, 5, 300, 70_001] {
            let x = d.upload(&mt19937(3, n as usize)).unwrap();
            let (keys, flags) = (d.map(&x, |x| x >> 30).unwrap(), d.map(&x, |x| x & 6u32).unwrap());
            let (out, more, count, wide) =
                (d.buffer(n).unwrap(), d.buffer(n).unwrap(), d.buffer::<u32>(1).unwrap(), d.buffer::<u32>(2).unwrap());
            let kept = |out: &Buffer<Device, u32>| host(&out.slice(..u64::from(host(&count)[0])).unwrap());
            d.select_flagged(&x, &flags).write_to((&out, &count)).unwrap();
            assert_eq!(kept(&out), d.select_flagged(&x, &flags).run().unwrap().read_blocking().unwrap(), "{n}");
            let near = |a: Expr<u32>, b: Expr<u32>| (a >> 1).eq(b >> 1);
            d.unique(&keys).by(near).write_to((&out, &count)).unwrap();
            assert_eq!(kept(&out), d.unique(&keys).by(near).run().unwrap().read_blocking().unwrap(), "{n}");
            d.unique(&x).by_key(&keys).write_to(((&out, &more), &count)).unwrap();
            let expected = d.unique(&x).by_key(&keys).run().unwrap();
            let first = |b: &Buffer<Device, u32>| host(&b.slice(..expected.len_blocking().unwrap()).unwrap());
            assert_eq!((kept(&out), kept(&more)), (first(&expected.values.0), first(&expected.values.1)), "{n}");
            let (low, middle) = (|k: Expr<u32>| k.lt(1 << 30), |k: Expr<u32>| k.lt(3 << 30));
            d.partition(&x, low).three_way(middle).write_to((&out, &wide)).unwrap();
            let (parts, counts) = d.partition(&x, low).three_way(middle).run().unwrap();
            assert_eq!((host(&out), host(&wide)), (host(&parts), host(&counts)), "{n}");
            let runs = d.run_length_encode(&keys).run().unwrap();
            let (values, lengths) = &runs.values;
            for count in [n, n / 2] {
                let expected = d.run_length_decode(values, lengths, count).length(&runs.count).run().unwrap();
                assert_eq!(
                    into(d, count, 7, |out| d.run_length_decode(values, lengths, count).length(&runs.count).write_to(out)),
                    host(&expected),
                    "{n}"
                );
            }
            assert_eq!(host(&d.run_length_decode(values, lengths, n).length(&runs.count).run().unwrap()), host(&keys), "{n}");
        }
    });
}

#[test]
fn questions_are_answered_into_buffers_as_elsewhere() {
    each(|d| {
        for n in [0u64, 1, 300, 70_001] {
            for place in [0, n / 2, n.saturating_sub(1), n] {
                let x = d.generate(n, (index(), scalar(place as u32)), |(i, at)| i.eq(at).cast::<u32>()).unwrap();
                let found = |run: &dyn Fn(&Buffer<Device, u32>) -> Result<()>| into(d, 1, 7, run)[0];
                let one = |x: Expr<u32>| x.ne(0);
                let there = u32::from(place < n);
                assert_eq!(found(&|out| d.find_if(&x, one).write_to(out)), place.min(n) as u32, "{n} {place}");
                // As the documentation of `Find` says.
                let word = |f: fn(Expr<u32>) -> Expr<bool>| x.map(move |x| f(x).cast::<u32>());
                assert_eq!(found(&|out| d.reduce(word(one), Or).write_to(out)), there, "{n} {place}");
                let all = |f: fn(Expr<u32>) -> Expr<bool>| found(&|out| d.reduce_by(word(f), |a, b| a & b).identity(1).write_to(out));
                assert_eq!((all(|x| x.eq(0)), all(|x| !x.ne(0))), (1 - there, 1 - there), "{n} {place}");
                let read = |answer: Result<isowarp::buffer::DeviceScalar<Device, u32>>| answer.unwrap().read_blocking().unwrap();
                assert_eq!(read(d.find_if(&x, one).run()), place.min(n) as u32, "{n} {place}");
                assert_eq!((read(d.any(&x, one)), read(d.none(&x, one)), read(d.all(&x, |x| x.eq(0)))), (there, 1 - there, 1 - there));
                // A one before the last place is followed by less.
                let sorted = u32::from(place + 1 >= n);
                assert_eq!(found(&|out| d.is_sorted(&x).write_to(out)), sorted, "{n} {place}");
                assert_eq!(read(d.is_sorted(&x).run()), sorted, "{n} {place}");
            }
        }
    });
}

#[test]
fn segments_are_reduced_by_parts_into_buffers() {
    each(|d| {
        let x = d.upload(&mt19937(4, 9000)).unwrap();
        let offsets = d.upload(&[3u32, 3, 40, 8000, 9000]).unwrap();
        let (low, high) = (d.upload(&[7u32; 6]).unwrap(), d.upload(&[7u32; 6]).unwrap());
        type Pair = (Expr<u32>, Expr<u32>);
        let (load, nothing) = (|x: Expr<u32>| (x, x), (u32::MAX, 0));
        let (both, finish) = (|a: Pair, b: Pair| (a.0.min(b.0), a.1.max(b.1)), |x: Pair| x);
        d.reduce_by(x.map(load), both).segments(&offsets).identity(nothing).finish(finish).write_to((&low, &high)).unwrap();
        let (a, b) = d.reduce_by(x.map(load), both).segments(&offsets).identity(nothing).finish(finish).run().unwrap();
        assert_eq!((host(&low), host(&high)), ([host(&a), vec![7; 2]].concat(), [host(&b), vec![7; 2]].concat()));
        assert_eq!(host(&a), host(&d.reduce(&x, Min).segments(&offsets).run().unwrap()));
        let reduce = |low: &Buffer<Device, u32>, high: &Buffer<Device, u32>| {
            d.reduce_by(x.map(load), both).segments(&offsets).identity(nothing).finish(finish).write_to((low, high))
        };
        let (before, small) = (host(&low), high.slice(..3).unwrap());
        assert!(matches!(reduce(&low, &small), Err(Error::BufferTooSmall { required: 4, available: 3, .. })));
        assert!(matches!(reduce(&low, &low), Err(Error::Aliasing { .. })));
        assert!(matches!(reduce(&low, &x), Err(Error::Aliasing { .. })));
        assert_eq!(host(&low), before);
    });
}

#[test]
fn buffers_that_do_not_fit_are_refused_and_not_written() {
    each(|d| {
        let x = d.iota(16, 0u32, 1).unwrap();
        let (out, other, count) = (d.upload(&[7u32; 16]).unwrap(), d.upload(&[7u32; 16]).unwrap(), d.upload(&[7u32]).unwrap());
        let (small, none) = (out.slice(..3).unwrap(), out.slice(..0).unwrap());
        let too_small = |found: Result<()>| assert!(matches!(found, Err(Error::BufferTooSmall { .. })), "{found:?}");
        let overlap = |found: Result<()>| assert!(matches!(found, Err(Error::Aliasing { .. })), "{found:?}");
        let odd = |x: Expr<u32>| (x & 1u32).ne(0);
        let image = ([1, 2, 2, 4], ImageLayout::Nchw, ImageLayout::Nhwc);
        too_small(d.permute(&x, &x).write_to(&small));
        too_small(d.permute(&x, &x).inverse().write_to(&small));
        too_small(d.pack_u8(&x).write_to(&small));
        too_small(d.transpose(&x, 2, 4).batch(2).write_to(&small));
        too_small(d.convert_layout(&x, image.0, image.1, image.2).write_to(&small));
        too_small(d.to_morton(&x, &[4, 4]).write_to(&small));
        too_small(d.from_morton(&x, &[4, 4]).write_to(&small));
        too_small(d.sort(x.map(|x| x)).axis(&[x.len() / 4, 4], 1).write_to(&small));
        too_small(d.select_flagged(&x, &x).write_to((&small, &count)));
        too_small(d.select_flagged(&x, &x).write_to((&out, &none)));
        too_small(d.unique(&x).by(Expr::eq).write_to((&small, &count)));
        too_small(d.unique(&x).by_key(&x).write_to(((&out, &small), &count)));
        too_small(d.partition(&x, odd).three_way(odd).write_to((&out, &count)));
        too_small(d.find_if(&x, odd).write_to(&none));
        let nothing = x.slice(..0).unwrap();
        too_small(d.find_if(&nothing, odd).write_to(&none));
        too_small(d.is_sorted(&x).write_to(&none));
        too_small(d.is_sorted(&nothing).write_to(&none));
        overlap(d.permute(&x, &other).write_to(&x));
        overlap(d.permute(&x, &out).inverse().write_to(&x));
        overlap(d.permute(&out, &x).inverse().write_to(&x));
        overlap(d.pack_u8(&x).write_to(&x));
        overlap(d.unpack_u8(&x, 16).write_to(&x));
        overlap(d.transpose(&x, 2, 4).batch(2).write_to(&x));
        overlap(d.convert_layout(&x, image.0, image.1, image.2).write_to(&x));
        overlap(d.to_morton(&x, &[4, 4]).write_to(&x));
        overlap(d.sort(x.map(|x| x)).axis(&[x.len() / 4, 4], 1).write_to(&x));
        overlap(d.select_flagged(&x, &other).write_to((&x, &count)));
        overlap(d.unique(&x).by(Expr::eq).write_to((&x, &count)));
        overlap(d.unique(&other).by_key(&x).write_to(((&out, &out), &count)));
        overlap(d.partition(&x, odd).three_way(odd).write_to((&out, &out)));
        overlap(d.find_if(&x, odd).write_to(&x));
        overlap(d.is_sorted(&x).write_to(&x.slice(4..).unwrap()));
        assert!(matches!(d.sort(x.map(|x| x)).axis(&[x.len() / 5, 5], 1).write_to(&out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.is_sorted(&x).bits(3..33).write_to(&out), Err(Error::InvalidArgument { what: "bits", .. })));
        assert!(host(&x).into_iter().eq(0..16));
        assert_eq!((host(&out), host(&other), host(&count)), (vec![7; 16], vec![7; 16], vec![7]));
    });
}
