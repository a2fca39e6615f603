//! Criterion groups of `map`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::map);
criterion::criterion_main!(benches);
