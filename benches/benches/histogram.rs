//! Criterion groups of `histogram`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::histogram);
criterion::criterion_main!(benches);
