//! Modifiers of scans against plain loops. On every device.

use crate::common::{each, mt19937};
use isowarp::{Error, backend::Backend as _, prelude::*};

/// Lengths around tiles.
const LENGTHS: [usize; 6] = [0, 1, 300, 8192, 8193, 40_001];

/// Whether a line or a segment starts at an element.
fn starts(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| u32::from(i.wrapping_mul(0x9E37_79B9) >> 23 == 7)).collect()
}

/// What every element has before it since the last start, combined, and with itself.
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
        let (before, with) = scanned(&x, &flags, 12_345, u32::wrapping_add);
        let offsets: Vec<u32> = (0..n as u32).filter(|&i| flags[i as usize] != 0).chain([n as u32]).collect();
        let (line_before, line_with) = scanned(&x, &vec![0; n], 12_345, u32::wrapping_add);
        each(|d| {
            let (x, flags, offsets) = (d.upload(&x).unwrap(), d.upload(&flags).unwrap(), d.upload(&offsets).unwrap());
            let sums = || d.scan(&x, Sum).initial(12_345);
            let host = |found: isowarp::Result<Buffer<_, u32>>| found.unwrap().read_blocking().unwrap();
            assert_eq!(host(sums().run()), line_with, "{n}");
            assert_eq!(host(sums().exclusive().run()), line_before, "{n}");
            assert_eq!(host(sums().by_flags(&flags).run()), with, "{n}");
            assert_eq!(host(sums().by_flags(&flags).exclusive().run()), before, "{n}");
            assert_eq!(host(sums().segments(&offsets).checked().run()), with, "{n}");
            assert_eq!(host(sums().segments(&offsets).exclusive().run()), before, "{n}");
            assert_eq!(host(sums().axis(&[n as u64, 1], 0).run()), line_with, "{n}");
        });
    }
}

#[test]
fn wider_accumulators_do_not_wrap() {
    let x = vec![250u8; 70_001];
    each(|d| {
        let x = d.upload(&x).unwrap();
        let sums = d.scan(&x, Sum).initial(u32::MAX).accumulate_in::<f32>().axis(&[70_001, 1], 1).run().unwrap();
        assert_eq!(sums.read_blocking().unwrap()[0], u32::MAX as f32 + 250.0);
        if d.caps().supports(isowarp::element::DType::U64) {
            let last = d.scan(&x, Sum).initial(u32::MAX).accumulate_in::<u64>().run().unwrap().read_blocking().unwrap()[70_000];
            assert_eq!(last, 250 * 70_001 + u64::from(u32::MAX));
        }
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
            assert_eq!(host(&maps().by_flags(&flags).exclusive_from((1, 0)).run().unwrap()), before, "{n}");
            let out = (d.buffer(n as u64).unwrap(), d.buffer(n as u64).unwrap());
            maps().by_key(&keys).exclusive_from((1, 0)).write_to((&out.0, &out.1)).unwrap();
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
        let two = bits(d.scan(&x, Sum).accumulate_in::<f32>().by_flags(thirds()).initial(2.0).run());
        assert_eq!(bits(d.scan(&x, Sum).initial(2.0).by_flags(thirds()).accumulate_in::<f32>().run()), two);
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
        assert_eq!(out.read_blocking().unwrap(), [7; 3], "nothing was written");
    });
}
