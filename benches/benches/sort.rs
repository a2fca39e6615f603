//! Criterion groups of `sort`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::sort);
criterion::criterion_main!(benches);
