//! Criterion groups of `filter`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::filter);
criterion::criterion_main!(benches);
