//! Criterion groups of `groups` and `atomics`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::groups);
criterion::criterion_main!(benches);
