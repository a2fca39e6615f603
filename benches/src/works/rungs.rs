//! The rungs of the textbooks' ladders, as they are measured.

use super::histograms::samples;
use super::{Work, halves, one, random, work};
use isowarp::element::DType;
use isowarp::prelude::*;
use isowarp_textbook::{HistogramVariant, MergeVariant, ProductVariant, ReduceVariant, ScanVariant, SortVariant};

/// The rungs of the ladders of reduce, scan, histogram, merge and products, and the textbooks' sorts, each with the pattern itself last.
pub(super) fn works() -> Vec<Work> {
    macro_rules! sum {
        ($name:literal, $variant:ident) => {
            work(concat!("reduce_variants/", $name), DType::F32, 4, |d, s| {
                one::<f32>(d, s, |d, x, out| d.reduce(x, Sum).variant(ReduceVariant::$variant).write_to(out))
            })
        };
    }
    macro_rules! prefixes {
        ($name:literal, $variant:ident) => {
            work(concat!("scan_variants/", $name), DType::F32, 8, |d, s| {
                one::<f32>(d, s, |d, x, out| d.scan(x, Sum).variant(ScanVariant::$variant).write_to(out))
            })
        };
    }
    macro_rules! sorted {
        ($name:literal, $variant:ident) => {
            work(concat!("sort_variants/", $name), DType::U32, 8, |d, s| {
                one::<u32>(d, s, |d, x, out| d.sort(x).variant(SortVariant::$variant).write_to(out))
            })
        };
    }
    // Text of lower-case letters, four to a bin.
    macro_rules! letters {
        ($name:literal, $variant:ident) => {
            work(concat!("histogram_variants/", $name), DType::U8, 1, |d, s| {
                samples::<u8>(
                    d,
                    s,
                    7,
                    |x| x % 26 + 97,
                    |d, x, out| d.histogram(binned(x, 7, |x| (x - 97) / 4)).variant(HistogramVariant::$variant).write_to(out),
                )
            })
        };
    }
    macro_rules! merged {
        ($name:literal, $variant:ident) => {
            work(concat!("merge_variants/", $name), DType::U32, 8, |d, s| {
                halves::<u32>(d, s, |d, a, b, out| d.merge(a, b).variant(MergeVariant::$variant).write_to(out))
            })
        };
    }
    // Square matrices of as many elements as there are, or fewer.
    macro_rules! multiplied {
        ($name:literal, $variant:ident) => {
            work(concat!("gemm_variants/", $name), DType::F32, 12, |d, s| {
                let (n, b) = (s.n.isqrt(), random::<f32>(d, s.n, s.seed ^ 1)?);
                one::<f32>(d, s, move |d, a, out| d.gemm(matrix(a, n, n), matrix(&b, n, n)).variant(ProductVariant::$variant).write_to(out))
            })
        };
    }
    vec![
        sum!("fold-in-half", FoldInHalf),
        sum!("interleaved", Interleaved),
        sum!("convergent", Convergent),
        sum!("sequential", Sequential),
        sum!("first-combine", FirstCombine),
        sum!("unrolled", Unrolled),
        sum!("coarsened", Coarsened),
        sum!("shuffle", Shuffle),
        sum!("vectorised", Vectorised),
        sum!("aligned-tree", AlignedTree),
        prefixes!("kogge-stone", KoggeStone),
        prefixes!("brent-kung", BrentKung),
        prefixes!("coarsened", Coarsened),
        prefixes!("single-pass", SinglePass),
        sorted!("odd-even-transposition", OddEvenTransposition),
        sorted!("bitonic", Bitonic),
        sorted!("odd-even-merge", OddEvenMerge),
        sorted!("sample", Sample),
        sorted!("radix-split", RadixSplit),
        sorted!("radix-local", RadixLocal),
        sorted!("radix-digits", RadixDigits),
        sorted!("radix-coarsened", RadixCoarsened),
        sorted!("radix", Radix),
        letters!("atomic", Atomic),
        letters!("private-memory", PrivateMemory),
        letters!("private-shared", PrivateShared),
        letters!("coarsened-contiguous", CoarsenedContiguous),
        letters!("coarsened-interleaved", CoarsenedInterleaved),
        letters!("aggregated", Aggregated),
        letters!("replicated", Replicated),
        merged!("basic", Basic),
        merged!("tiled", Tiled),
        merged!("circular-buffer", CircularBuffer),
        merged!("merge-path", MergePath),
        multiplied!("naive", Naive),
        multiplied!("coalesced", Coalesced),
        multiplied!("tiled", Tiled),
        multiplied!("register-tiled", RegisterTiled),
        multiplied!("vectorised", Vectorised),
        multiplied!("contract", Contract),
    ]
}
