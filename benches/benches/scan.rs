//! Criterion groups of `scan`: `pattern/dtype/size`, a function per backend.

mod common;

criterion::criterion_group!(benches, common::scan);
criterion::criterion_main!(benches);
