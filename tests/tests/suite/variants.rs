//! The rungs of the ladders of reduce and scan: against closed forms, printed tables, and the printed kernels walked thread by thread; what they
//! have in common; and what they refuse. On every device.

use crate::common::{cpu, each};
use isowarp::prelude::*;
use isowarp::{Device, Error};
use isowarp_conformance::data::{self, Fill};
use isowarp_textbook::{ReduceVariant, ScanVariant};

fn sum(d: &Device, variant: ReduceVariant, x: &Buffer<Device, f32>) -> u32 {
    d.reduce(x, Sum).variant(variant).run().unwrap().read_blocking().unwrap().to_bits()
}

#[test]
fn sums_of_whole_numbers_are_the_closed_form_on_every_rung() {
    each(|d| {
        for n in [1u64, 2, 255, 256, 257, 4095, 4097, 65_537, 1_000_003] {
            let x = d.iota(n, 0u32, 1).unwrap();
            for variant in ReduceVariant::ALL {
                let found = d.reduce(&x, Sum).variant(variant).run().unwrap().read_blocking().unwrap();
                assert_eq!(u64::from(found), n * (n - 1) / 2 % (1 << 32), "{} of {n}", variant.name());
            }
        }
    });
}

#[test]
fn prefixes_of_ones_and_of_whole_numbers_are_the_closed_forms() {
    each(|d| {
        for n in [1u64, 255, 257, 1025, 70_001] {
            let (ones, x) = (d.iota(n, 1u32, 0).unwrap(), d.iota(n, 0u32, 1).unwrap());
            for variant in ScanVariant::ALL {
                let scan = |x: &Buffer<_, u32>, exclusive| {
                    d.scan(x, Sum).variant(variant).exclusive_if(exclusive).run().unwrap().read_blocking().unwrap()
                };
                assert!(scan(&ones, false).into_iter().eq(1..=n as u32), "{} of {n} ones", variant.name());
                assert!(scan(&ones, true).into_iter().eq(0..n as u32), "{} of {n} ones", variant.name());
                let triangular = (0..n as u32).map(|i| (u64::from(i) * (u64::from(i) + 1) / 2) as u32);
                assert!(scan(&x, false).into_iter().eq(triangular), "{} of {n}", variant.name());
            }
        }
    });
}

#[test]
fn the_tables_of_a_radix_sort_are_the_printed_ones() {
    // Kirk, Hwu and El Hajj, section 13: where the blocks' buckets start, with one and with two bits a pass.
    let counts: [(&[u32], &[u32]); 2] = [
        (&[2, 2, 1, 3, 2, 2, 3, 1], &[0, 2, 4, 5, 8, 10, 12, 15]),
        (&[1, 1, 0, 2, 1, 1, 2, 0, 1, 1, 1, 1, 1, 1, 1, 1], &[0, 1, 2, 2, 4, 5, 6, 8, 8, 9, 10, 11, 12, 13, 14, 15]),
    ];
    each(|d| {
        for (table, starts) in counts {
            let x = d.upload(table).unwrap();
            for variant in ScanVariant::ALL {
                assert_eq!(
                    d.scan(&x, Sum).variant(variant).exclusive().run().unwrap().read_blocking().unwrap(),
                    starts,
                    "{}",
                    variant.name()
                );
            }
        }
    });
}

#[test]
fn rungs_with_one_order_give_the_same_bits_and_others_do_not() {
    use ReduceVariant::{AlignedTree, Coarsened, Convergent, FirstCombine, Interleaved, Sequential, Unrolled};
    let host: Vec<f32> = data::data(Fill::Cancel, 100_003, 1);
    each(|d| {
        let x = d.upload(&host).unwrap();
        assert_eq!(sum(d, Interleaved, &x), sum(d, AlignedTree, &x), "both are the aligned tree");
        assert_eq!(sum(d, Convergent, &x), sum(d, AlignedTree, &x), "the same pairs on other lanes");
        assert_eq!(sum(d, Unrolled, &x), sum(d, FirstCombine, &x), "the same steps written out");
        let others = [AlignedTree, Sequential, FirstCombine, Coarsened].map(|v| sum(d, v, &x));
        assert!((1..4).all(|k| !others[..k].contains(&others[k])), "{others:?}");
    });
}

#[test]
fn operators_that_do_not_commute_need_a_rung_that_keeps_order() {
    each(|d| {
        let x = d.iota(1000, 1u32, 1).unwrap();
        for variant in ReduceVariant::ALL {
            let last = d.reduce(&x, Op::associative(0, |_, b| b)).variant(variant).run().unwrap().read_blocking().unwrap();
            assert_eq!(last == 1000, variant.keeps_order(), "{}: {last}", variant.name());
        }
        for variant in ScanVariant::ALL {
            let first = d.scan(&x, Op::associative(0, |a, _| a)).variant(variant).run().unwrap().read_blocking().unwrap();
            assert!(first.iter().all(|&v| v == 1), "{}", variant.name());
        }
    });
}

/// The printed tree reductions over one block whose shared memory is `x`, a power of two of elements.
fn printed_block(mut x: Vec<f32>, far_first: bool) -> f32 {
    let mut stride = if far_first { x.len() / 2 } else { 1 };
    while stride > 0 && stride < x.len() {
        for t in 0..x.len() {
            let works = if far_first { t < stride } else { t % (2 * stride) == 0 };
            if works {
                x[t] += x[t + stride];
            }
        }
        stride = if far_first { stride / 2 } else { stride * 2 };
    }
    x[0]
}

#[test]
fn sums_of_one_block_are_those_of_the_printed_kernels() {
    let x: Vec<f32> = data::data(Fill::Cancel, 4096, 2);
    let d = cpu();
    let on = |variant, x: &[f32]| sum(&d, variant, &d.upload(x).unwrap());
    // reduce0 halves the array in global memory; of a block's length that is the tree of reduce2.
    assert_eq!(on(ReduceVariant::FoldInHalf, &x), printed_block(x.clone(), true).to_bits());
    assert_eq!(on(ReduceVariant::Interleaved, &x[..256]), printed_block(x[..256].to_vec(), false).to_bits());
    assert_eq!(on(ReduceVariant::Sequential, &x[..256]), printed_block(x[..256].to_vec(), true).to_bits());
    let first: Vec<f32> = (0..256).map(|t| x[t] + x[t + 256]).collect();
    assert_eq!(on(ReduceVariant::FirstCombine, &x[..512]), printed_block(first, true).to_bits());
    let strided = |t: usize| (1..16).fold(x[t], |v, k| v + x[256 * k + t]);
    assert_eq!(on(ReduceVariant::Coarsened, &x), printed_block((0..256).map(strided).collect(), true).to_bits());
    // Warps first: the printed shuffle-down of 16, 8, ..., 1.
    let warps = |lanes: &dyn Fn(usize) -> f32| {
        let of_warps: Vec<f32> = (0..8).map(|w| printed_block((32 * w..32 * w + 32).map(lanes).collect(), true)).collect();
        printed_block(of_warps, true).to_bits()
    };
    assert_eq!(on(ReduceVariant::Shuffle, &x), warps(&strided));
    let vector = |t: usize| {
        let c = |e: usize| (1..4).fold(x[4 * t + e], |v, k| v + x[1024 * k + 4 * t + e]);
        c(0) + c(1) + c(2) + c(3)
    };
    assert_eq!(on(ReduceVariant::Vectorised, &x), warps(&vector));
}

/// Kogge-Stone as printed, with two arrays instead of barriers.
fn printed_kogge_stone(mut x: Vec<f32>) -> Vec<f32> {
    let mut stride = 1;
    while stride < x.len() {
        let before = x.clone();
        for t in stride..x.len() {
            x[t] = before[t - stride] + before[t];
        }
        stride *= 2;
    }
    x
}

/// Brent-Kung as printed, two elements to a thread.
fn printed_brent_kung(mut x: Vec<f32>) -> Vec<f32> {
    let threads = x.len() / 2;
    let mut stride = 1;
    while stride <= threads {
        for t in 0..threads {
            let index = (t + 1) * 2 * stride - 1;
            if index < x.len() {
                x[index] += x[index - stride];
            }
        }
        stride *= 2;
    }
    stride = x.len() / 4;
    while stride > 0 {
        for t in 0..threads {
            let index = (t + 1) * 2 * stride - 1;
            if index + stride < x.len() {
                x[index + stride] += x[index];
            }
        }
        stride /= 2;
    }
    x
}

/// The three phases as printed, four elements to a thread.
fn printed_coarsened(x: &[f32]) -> Vec<f32> {
    let sections: Vec<Vec<f32>> = x.chunks(4).map(|s| vec![s[0], s[0] + s[1], s[0] + s[1] + s[2], s[0] + s[1] + s[2] + s[3]]).collect();
    let totals = printed_kogge_stone(sections.iter().map(|s| s[3]).collect());
    let behind = |k: usize, v: f32| if k == 0 { v } else { totals[k - 1] + v };
    (0..x.len()).map(|i| if i % 4 == 3 { totals[i / 4] } else { behind(i / 4, sections[i / 4][i % 4]) }).collect()
}

#[test]
fn prefixes_of_one_block_are_those_of_the_printed_kernels() {
    let x: Vec<f32> = data::data(Fill::Cancel, 1024, 3);
    let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let d = cpu();
    let on = |variant, x: &[f32]| bits(d.scan(&d.upload(x).unwrap(), Sum).variant(variant).run().unwrap().read_blocking().unwrap());
    assert_eq!(on(ScanVariant::KoggeStone, &x[..256]), bits(printed_kogge_stone(x[..256].to_vec())));
    assert_eq!(on(ScanVariant::BrentKung, &x[..512]), bits(printed_brent_kung(x[..512].to_vec())));
    assert_eq!(on(ScanVariant::Coarsened, &x), bits(printed_coarsened(&x)));
    // Two blocks: the second one's prefixes behind the first one's total.
    let second: Vec<f32> = printed_kogge_stone(x[256..512].to_vec());
    let total = printed_kogge_stone(x[..256].to_vec())[255];
    assert_eq!(on(ScanVariant::KoggeStone, &x[..512])[256..], bits(second.into_iter().map(|v| total + v).collect()));
}

#[test]
fn bad_input_is_refused_on_every_rung_and_nothing_is_written() {
    each(|d| {
        let (x, small, nothing) = (d.upload(&[7.0f32; 100]).unwrap(), d.upload(&[7.0f32; 99]).unwrap(), d.upload::<f32>(&[]).unwrap());
        let out = d.upload(&[7.0f32; 1]).unwrap();
        for variant in ReduceVariant::ALL {
            let none = out.slice(..0).unwrap();
            assert!(matches!(
                d.reduce(&x, Sum).variant(variant).write_to(&none),
                Err(Error::BufferTooSmall { required: 1, available: 0, .. })
            ));
            assert!(matches!(d.reduce(&x, Sum).variant(variant).write_to(&x), Err(Error::Aliasing { .. })));
            assert_eq!(d.reduce(&nothing, Min).variant(variant).write_to(&out).unwrap_err(), Error::Empty { pattern: "min" });
            let differ = d.reduce((&x, &small).map(|(x, y)| x + y), Sum).variant(variant).write_to(&out);
            assert_eq!(differ.unwrap_err(), Error::LengthMismatch { what: "an input", expected: 100, found: 99 });
            assert_eq!(d.reduce(&nothing, Sum).variant(variant).run().unwrap().read_blocking().unwrap().to_bits(), 0);
        }
        for variant in ScanVariant::ALL {
            let expected = Error::BufferTooSmall { what: "the output", required: 100, available: 99 };
            assert_eq!(d.scan(&x, Sum).variant(variant).write_to(&small).unwrap_err(), expected);
            assert!(matches!(d.scan(&x, Sum).variant(variant).exclusive().write_to(&x), Err(Error::Aliasing { .. })));
            assert!(d.scan(&nothing, Sum).variant(variant).exclusive().run().unwrap().read_blocking().unwrap().is_empty());
        }
        for b in [&x, &small, &out] {
            assert!(b.read_blocking().unwrap().iter().all(|v| *v == 7.0), "a buffer was changed by a call that failed");
        }
    });
}
