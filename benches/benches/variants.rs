//! Criterion groups of `reduce_variants`, `scan_variants`, `sort_variants`, `histogram_variants` and `merge_variants`, the rungs of the ladders:
//! `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::variants);
criterion::criterion_main!(benches);
