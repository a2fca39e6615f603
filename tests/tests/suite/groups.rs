//! Groups against loops over them, which know nothing of words, sorts and sums.

use crate::common::{each, mt19937};
use isowarp::prelude::*;
use std::collections::HashMap;

/// Well-mixed numbers below `keys`.
fn few_keys(n: u32, keys: u32) -> Vec<u32> {
    (0..n).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) % keys).collect()
}

const WIDTHS: [usize; 9] = [1, 3, 8, 31, 32, 33, 64, 333, 5000];

/// Cut as plain Rust cuts slices; sums of integers, so in any order.
#[test]
fn groups_are_folded_as_chunks_are() {
    for (n, width) in [(0usize, 3usize), (1, 1), (5, 8), (1000, 7), (4096, 32), (9001, 1000), (9001, 1)] {
        let x = mt19937(12, n);
        let sums: Vec<u32> = x.chunks(width).map(|g| g.iter().fold(0, |a: u32, &b| a.wrapping_add(b))).collect();
        let least: Vec<u32> = x.chunks(width).flat_map(|g| g.iter().scan(u32::MAX, |m, &v| (*m = v.min(*m), Some(*m)).1)).collect();
        let before: Vec<u32> = x.chunks(width).flat_map(|g| g.iter().scan(0u32, |s, &v| (Some(*s), *s = s.wrapping_add(v)).0)).collect();
        let same: Vec<u32> = x.chunks(width).map(|g| u32::from(g.iter().all(|v| v >> 31 == g[0] >> 31))).collect();
        each(|d| {
            let (x, w) = (d.upload(&x).unwrap(), width as u64);
            assert_eq!(d.group_reduce(&x, w, Sum).run().unwrap().read_blocking().unwrap(), sums, "{n} in {width}");
            assert_eq!(d.group_scan(&x, w, Min).run().unwrap().read_blocking().unwrap(), least, "{n} in {width}");
            assert_eq!(d.group_scan(&x, w, Sum).exclusive().run().unwrap().read_blocking().unwrap(), before, "{n} in {width}");
            assert_eq!(d.group_match_all(x.map(|x| x >> 31), w).run().unwrap().read_blocking().unwrap(), same, "{n} in {width}");
            let out = d.upload(&[7u32; 1]).unwrap();
            assert!(d.group_reduce(&x, 0, Sum).write_to(&out).is_err());
            assert_eq!(out.read_blocking().unwrap(), [7]);
        });
    }
}

/// Ansorge, *Programming in Parallel with CUDA*, example 3.3: thread 1234567 of blocks of 256 in groups of 32, 16 and 8.
#[test]
fn a_thread_of_partitions_is_where_the_textbook_has_it() {
    let (id, block) = (1_234_567u32, 256);
    // The place in a group, which group of its block it is, and how many there are.
    for (width, place, group, groups) in [(32u32, 7, 4, 8), (16, 7, 8, 16), (8, 7, 16, 32)] {
        each(|d| {
            let start = u64::from(id / block * block);
            let ids = d.iota::<u32>(start + u64::from(block), 0, 1).unwrap().slice(start..).unwrap();
            let ranks = d.group_rank(ids.map(|i| i.ge(0)), width.into()).run().unwrap().read_blocking().unwrap();
            let counts = d.group_count(ids.map(|i| i.eq(id)), width.into()).run().unwrap().read_blocking().unwrap();
            assert_eq!((ranks[(id % block) as usize], counts.len()), (place, groups));
            assert_eq!(counts.iter().position(|&c| c == 1), Some(group));
        });
    }
}

#[test]
fn votes_ballots_and_ranks_are_those_of_loops() {
    each(|d| {
        for width in WIDTHS {
            let x = few_keys(1003, 10);
            let dx = d.upload(&x).unwrap();
            let (mut ballot, mut counts, mut ranks) = (Vec::new(), Vec::new(), Vec::new());
            for group in x.chunks(width) {
                let words = width.min(x.len()).div_ceil(32);
                let mut bits = vec![0u32; words];
                let mut rank = 0;
                for (k, v) in group.iter().enumerate() {
                    ranks.push(rank);
                    if v % 3 == 0 {
                        bits[k / 32] |= 1 << (k % 32);
                        rank += 1;
                    }
                }
                ballot.extend(bits);
                counts.push((rank, group.len() as u32));
            }
            let third = |x: Expr<u32>| (x % 3).eq(0);
            let w = width as u64;
            assert_eq!(d.group_ballot(dx.map(third), w).run().unwrap().read_blocking().unwrap(), ballot, "{width}");
            assert_eq!(d.group_rank(dx.map(third), w).run().unwrap().read_blocking().unwrap(), ranks, "{width}");
            let votes = |of: fn((u32, u32)) -> u32| counts.iter().map(|&c| of(c)).collect::<Vec<_>>();
            assert_eq!(d.group_count(dx.map(third), w).run().unwrap().read_blocking().unwrap(), votes(|c| c.0), "{width}");
            assert_eq!(d.group_any(dx.map(third), w).run().unwrap().read_blocking().unwrap(), votes(|c| u32::from(c.0 > 0)), "{width}");
            assert_eq!(d.group_all(dx.map(third), w).run().unwrap().read_blocking().unwrap(), votes(|c| u32::from(c.0 == c.1)), "{width}");
        }
    });
}

#[test]
fn matches_and_partitions_are_those_of_loops() {
    each(|d| {
        for width in WIDTHS {
            let x = few_keys(1003, 6);
            let dx = d.upload(&x).unwrap();
            let (mut first, mut count, mut rank, mut masks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for group in x.chunks(width) {
                let mut places: HashMap<u32, Vec<u32>> = HashMap::new();
                for (k, &v) in group.iter().enumerate() {
                    rank.push(places.get(&v).map_or(0, |p| p.len() as u32));
                    places.entry(v).or_default().push(k as u32);
                }
                for v in group {
                    let peers = &places[v];
                    first.push(peers[0]);
                    count.push(peers.len() as u32);
                    masks.push(peers.iter().fold(0u32, |m, &k| m | 1u32.checked_shl(k).unwrap_or(0)));
                }
            }
            let w = width as u64;
            let read = |(a, b): (Buffer<_, u32>, Buffer<_, u32>)| (a.read_blocking().unwrap(), b.read_blocking().unwrap());
            assert_eq!(read(d.group_match(&dx, w).run().unwrap()), (first, count.clone()), "{width}");
            assert_eq!(read(d.group_partition(&dx, w).run().unwrap()), (rank, count), "{width}");
            if width <= 32 {
                assert_eq!(d.group_match_mask(&dx, w).run().unwrap().read_blocking().unwrap(), masks, "{width}");
            }
        }
    });
}

/// Tables 3.4 and 3.5 of Ansorge's book: a source that is not there gives the lane's own value.
#[test]
fn shuffles_are_those_of_the_table() {
    each(|d| {
        for width in WIDTHS {
            let x = few_keys(1003, 1 << 20);
            let dx = d.upload(&x).unwrap();
            for how in [Shuffle::From(4), Shuffle::Up(3), Shuffle::Down(5), Shuffle::Xor(6), Shuffle::Down(u32::MAX)] {
                let source = |k: u64| match how {
                    Shuffle::From(from) => Some(u64::from(from)),
                    Shuffle::Up(by) => k.checked_sub(by.into()),
                    Shuffle::Down(by) => Some(k + u64::from(by)),
                    Shuffle::Xor(by) => Some(k ^ u64::from(by)),
                };
                let one = |(g, k): (&[u32], usize)| source(k as u64).and_then(|s| g.get(s as usize)).copied().unwrap_or(g[k]);
                let want: Vec<u32> = x.chunks(width).flat_map(|g| (0..g.len()).map(move |k| (g, k))).map(one).collect();
                let got = d.group_shuffle(&dx, width as u64, how).run().unwrap().read_blocking().unwrap();
                assert_eq!(got, want, "{how:?} in groups of {width}");
            }
        }
    });
}

/// Numbers that the sources print: lane 12 of 32 alone; 64 threads in groups of 16; every third lane is one of a coalesced group of 11 or 10.
#[test]
fn printed_numbers_come_out() {
    each(|d| {
        let lanes = d.iota(64, 0u32, 1).unwrap();
        assert_eq!(d.group_ballot(lanes.map(|i| i.eq(12)), 32).run().unwrap().read_blocking().unwrap(), [0x1000, 0]);
        let ranks = d.group_rank(lanes.map(|i| i.ge(0)), 16).run().unwrap().read_blocking().unwrap();
        assert_eq!(ranks, (0..64).map(|i| i % 16).collect::<Vec<u32>>());
        assert_eq!(d.group_count(lanes.map(|i| (i % 3).eq(0)), 32).run().unwrap().read_blocking().unwrap(), [11, 11]);
        assert_eq!(d.group_count(lanes.map(|i| (i % 3).eq(2)), 32).run().unwrap().read_blocking().unwrap(), [10, 11]);
    });
}

#[test]
fn bad_groups_are_refused_and_nothing_is_written() {
    each(|d| {
        let x = d.iota(100, 0u32, 1).unwrap();
        let out = d.upload(&[7u32; 99]).unwrap();
        let refused = [
            d.group_ballot(x.map(|x| x.gt(1)), 0).write_to(&out),
            d.group_rank(x.map(|x| x.gt(1)), 5).write_to(&out),
            d.group_match_mask(&x, 33).write_to(&out),
            d.group_shuffle(&x, 8, Shuffle::Up(1)).write_to(&out),
            d.group_shuffle(&x, 8, Shuffle::Up(1)).write_to(&x),
            d.group_ballot(x.map(|x| x.gt(1)), 8).write_to(&x),
            d.group_match(&x, 40).write_to((&out, &out)),
            d.group_shuffle_by(&x, 8, &out).run().map(drop),
        ];
        let texts: Vec<String> = refused.into_iter().map(|r| format!("{:?}", r.unwrap_err())).collect();
        let kinds = [
            "InvalidArgument",
            "BufferTooSmall",
            "InvalidArgument",
            "BufferTooSmall",
            "Aliasing",
            "Aliasing",
            "BufferTooSmall",
            "LengthMismatch",
        ];
        for (text, kind) in texts.iter().zip(kinds) {
            assert!(text.starts_with(kind), "{text}");
        }
        assert_eq!(out.read_blocking().unwrap(), [7; 99]);
        assert_eq!(x.read_blocking().unwrap(), (0..100).collect::<Vec<u32>>());
    });
}
