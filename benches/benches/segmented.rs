//! Criterion groups of `segmented`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::segmented);
criterion::criterion_main!(benches);
