//! Criterion groups of `reduce_variants`, `scan_variants` and `sort_variants`, the rungs of the ladders: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::variants);
criterion::criterion_main!(benches);
