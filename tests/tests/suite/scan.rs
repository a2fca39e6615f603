//! Modifiers of scans against plain loops. On every device.

use crate::common::{each, mt19937};
use isowarp::{Error, backend::Backend as _, prelude::*};
use isowarp_textbook::ScanVariant;

/// Lengths around tiles.
const LENGTHS: [usize; 6] = [0, 1, 300, 8192, 8193, 40_001];

/// Whether a line or a segment starts at an element.
fn starts(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| u32::from(i.wrapping_mul(0x9E37_79B9) >> 23 == 7)).collect()
}

/// Combines, for every element, those before it since the last start, and these with itself.
fn scanned<A: Copy>(x: &[A], starts: &[u32], initial: A, combine: impl Fn(A, A) -> A) -> (Vec<A>, Vec<A>) {
    let mut so_far = initial;
    let both = x.iter().zip(starts).map(|(&x, &starts)| {
        let before = if starts == 0 { so_far } else { initial };
        so_far = combine(before, x);
        (before, so_far)
    });
    both.unzip()
}

#[test]
fn initial_values_stand_before_every_line_and_segment() {
    for n in LENGTHS {
        let (x, flags) = (mt19937(3, n), starts(n));
        // x -> a x + b over 16 bits each, both in one word: the left one first, and they do not commute.
        let after = |f: u32, g: u32| {
            let (a, b) = ((f >> 16).wrapping_mul(g >> 16), (f & 0xffff).wrapping_mul(g >> 16).wrapping_add(g & 0xffff));
            a << 16 | b & 0xffff
        };
        let (before, with) = scanned(&x, &flags, 0x0003_0007, after);
        let (line_before, line_with) = scanned(&x, &vec![0; n], 0x0003_0007, after);
        let offsets: Vec<u32> = (0..n as u32).filter(|&i| flags[i as usize] != 0).chain([n as u32]).collect();
        each(|d| {
            let (x, flags, offsets) = (d.upload(&x).unwrap(), d.upload(&flags).unwrap(), d.upload(&offsets).unwrap());
            let keys = d.cumsum(&flags).unwrap();
            let op = Op::associative(1 << 16, |f: Expr<u32>, g: Expr<u32>| {
                let (a, b) = ((f >> 16) * (g >> 16), (f & 0xffff) * (g >> 16) + (g & 0xffff));
                a << 16 | b & 0xffff
            });
            let composed = || d.scan(&x, op).initial(0x0003_0007);
            let host = |found: isowarp::Result<Buffer<_, u32>>| found.unwrap().read_blocking().unwrap();
            assert_eq!(host(composed().run()), line_with, "{n}");
            assert_eq!(host(composed().exclusive().run()), line_before, "{n}");
            assert_eq!(host(composed().by_flags(&flags).run()), with, "{n}");
            assert_eq!(host(composed().by_flags(flags.map(|f| f.ne(0))).exclusive().run()), before, "{n}");
            assert_eq!(host(composed().by_key(&keys).run()), with, "{n}");
            assert_eq!(host(composed().by_key(&keys).exclusive().run()), before, "{n}");
            assert_eq!(host(composed().segments(&offsets).checked().run()), with, "{n}");
            assert_eq!(host(composed().segments(&offsets).exclusive().run()), before, "{n}");
            assert_eq!(host(composed().axis(&[n as u64, 1], 0).run()), line_with, "{n}");
            for variant in ScanVariant::ALL {
                assert_eq!(host(composed().variant(variant).exclusive().run()), line_before, "{n}, {}", variant.name());
            }
        });
    }
}

#[test]
fn wider_accumulators_do_not_wrap() {
    let x = mt19937(8, 30_001);
    let (before, with) = scanned(&x.iter().map(|&x| u64::from(x)).collect::<Vec<_>>(), &vec![0; x.len()], 5, |a, b| a + b);
    let signs: Vec<i32> = x.iter().map(|&x| if x & 1 == 0 { i32::MAX } else { i32::MIN }).collect();
    let halves: Vec<f32> = signs
        .iter()
        .scan(0.0, |sum, &x| {
            *sum += if x > 0 { 0.5 } else { -0.5 };
            Some(*sum)
        })
        .collect();
    each(|d| {
        let (x, signs) = (d.upload(&x).unwrap(), d.upload(&signs).unwrap());
        // Halves of signs are exact in f32, whose sums would wrap as integers.
        let sums = d.scan(signs.map(|x| select(x.gt(0), 1i32 << 30, -(1 << 30))), Sum).accumulate_in::<f32>();
        let sums = sums.finish(|sum| sum * 2f32.powi(-31)).run().unwrap();
        assert_eq!(sums.read_blocking().unwrap(), halves);
        if d.caps().supports(isowarp::element::DType::U64) {
            let wide = || d.scan(&x, Sum).initial(5).accumulate_in::<u64>();
            assert_eq!(wide().run().unwrap().read_blocking().unwrap(), with);
            assert_eq!(wide().exclusive().axis(&[30_001, 1], 0).run().unwrap().read_blocking().unwrap(), before);
            let one = d.upload(&[0u32, 30_001]).unwrap();
            assert_eq!(wide().segments(&one).run().unwrap().read_blocking().unwrap(), with);
        }
    });
}

#[test]
fn keys_and_flags_need_no_length() {
    each(|d| {
        let x = d.upload(&[1u32; 7]).unwrap();
        let host = |found: isowarp::Result<Buffer<_, u32>>| found.unwrap().read_blocking().unwrap();
        assert_eq!(host(d.scan(&x, Sum).by_key(index().map(|i| i / 3)).run()), [1, 2, 3, 1, 2, 3, 1]);
        assert_eq!(host(d.scan(&x, Sum).by_flags(index().map(|i| (i % 3).eq(0))).run()), [1, 2, 3, 1, 2, 3, 1]);
        let sums = d.reduce(&x, Sum).by_key(index().map(|i| i / 3)).run().unwrap();
        assert_eq!(sums.len_blocking().unwrap(), 3);
        assert_eq!(sums.values.1.slice(..3).unwrap().read_blocking().unwrap(), [3, 3, 1]);
    });
}

#[test]
fn accumulators_of_several_parts_start_anew_with_segments() {
    for n in LENGTHS {
        let (x, flags) = (mt19937(9, n), starts(n));
        let maps: Vec<(u32, u32)> = x.iter().map(|&x| (x | 1, x >> 7)).collect();
        let compose = |f: (u32, u32), g: (u32, u32)| (f.0.wrapping_mul(g.0), f.1.wrapping_mul(g.0).wrapping_add(g.1));
        let (before, with) = scanned(&maps, &flags, (1, 0), compose);
        each(|d| {
            let (x, flags) = (d.upload(&x).unwrap(), d.upload(&flags).unwrap());
            let keys = d.cumsum(&flags).unwrap();
            let maps = || d.scan_by(x.map(|x| (x | 1, x >> 7)), |f, g| (f.0 * g.0, f.1 * g.0 + g.1));
            let host = |(a, b): &(Buffer<_, u32>, Buffer<_, u32>)| -> Vec<(u32, u32)> {
                a.read_blocking().unwrap().into_iter().zip(b.read_blocking().unwrap()).collect()
            };
            assert_eq!(host(&maps().by_flags(&flags).run().unwrap()), with, "{n}");
            assert_eq!(host(&maps().by_key(&keys).run().unwrap()), with, "{n}");
            assert_eq!(host(&maps().by_flags(&flags).identity((1, 0)).exclusive().run().unwrap()), before, "{n}");
            let out = (d.buffer(n as u64).unwrap(), d.buffer(n as u64).unwrap());
            maps().by_key(&keys).identity((1, 0)).exclusive().write_to((&out.0, &out.1)).unwrap();
            assert_eq!(host(&out), before, "{n}");
        });
    }
}

#[test]
fn modifiers_may_come_in_any_order() {
    let x: Vec<f32> = mt19937(5, 30_000).into_iter().map(|x| x as f32 * 1e-6).collect();
    each(|d| {
        let x = d.upload(&x).unwrap();
        let bits = |found: isowarp::Result<Buffer<_, f32>>| -> Vec<u32> {
            found.unwrap().read_blocking().unwrap().into_iter().map(f32::to_bits).collect()
        };
        let one = bits(d.scan(&x, Sum).exclusive().initial(0.5).axis(&[300, 100], 1).finish(|s| s * 3.0).run());
        assert_eq!(bits(d.scan(&x, Sum).axis(&[300, 100], 1).finish(|s| s * 3.0).initial(0.5).exclusive().run()), one);
        assert_eq!(bits(d.scan(&x, Sum).finish(|s| s * 3.0).initial(0.5).exclusive().axis(&[300, 100], 1).run()), one);
        let thirds = || index().map(|i| (i % 3).eq(0).cast::<u32>());
        let k = d.map(&x, isowarp::prelude::Expr::cast::<u32>).unwrap();
        let two = bits(d.scan(&k, Sum).accumulate_in::<f32>().by_flags(thirds()).initial(2.0).run());
        assert_eq!(bits(d.scan(&k, Sum).initial(2).by_flags(thirds()).accumulate_in::<f32>().run()), two);
    });
}

#[test]
fn a_modifier_that_does_not_fit_the_values_is_a_typed_error() {
    each(|d| {
        let (x, flags, out) = (d.upload(&[1u32, 2, 3]).unwrap(), d.upload(&[1u32, 0]).unwrap(), d.upload(&[7u32; 3]).unwrap());
        let few = d.scan(&x, Sum).by_flags(&flags).initial(1).write_to(&out).unwrap_err();
        assert!(matches!(few, Error::LengthMismatch { expected: 3, found: 2, .. }), "{few:?}");
        let axis = d.scan(&x, Sum).axis(&[3], 1).write_to(&out).unwrap_err();
        assert!(matches!(axis, Error::InvalidArgument { what: "axis", .. }), "{axis:?}");
        let shape = d.scan(&x, Sum).axis(&[2, 2], 1).write_to(&out).unwrap_err();
        assert!(matches!(shape, Error::LengthMismatch { expected: 4, found: 3, .. }), "{shape:?}");
        let wide = d.scan_by((&x, index(), &x, &x), |a, b| (a.0 + b.0, b.1, b.2, b.3)).by_flags(index());
        let wide = wide.finish(|a| a.0).write_to(&out).unwrap_err();
        assert!(matches!(wide, Error::TooLarge { requested: 5, limit: 4, .. }), "{wide:?}");
        let identity = d.scan_by((&x, &x), |a, b| (a.0 + b.0, a.1 * b.1)).identity((0, 3)).exclusive().finish(|a| a.0).write_to(&out);
        assert!(matches!(identity, Err(Error::InvalidArgument { what: "identity", .. })), "{identity:?}");
        let offsets = d.upload(&[0u32, 9, 3]).unwrap();
        let small = d.scan(&x, Sum).segments(&offsets).checked().write_to(&out.slice(..2).unwrap()).unwrap_err();
        assert!(matches!(small, Error::BufferTooSmall { required: 3, available: 2, .. }), "before the offsets are looked at: {small:?}");
        let aliased = d.scan(&x, Sum).segments(&out).write_to(&out).unwrap_err();
        assert!(matches!(aliased, Error::Aliasing { .. }), "{aliased:?}");
        assert_eq!(out.read_blocking().unwrap(), [7; 3], "nothing was written");
    });
}
