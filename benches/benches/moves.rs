//! Criterion groups of `move`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::moves);
criterion::criterion_main!(benches);
