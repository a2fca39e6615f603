//! Criterion groups of `merge`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::merge);
criterion::criterion_main!(benches);
