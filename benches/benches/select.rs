//! Criterion groups of `select`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::select);
criterion::criterion_main!(benches);
