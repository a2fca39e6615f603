//! Criterion groups of `reduce`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::reduce);
criterion::criterion_main!(benches);
