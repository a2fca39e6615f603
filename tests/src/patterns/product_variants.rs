//! P10 products, the rungs of the ladder: every one over the edges of tiles and blocks, layouts, batches and epilogues.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::patterns::ProductOrder;
use isowarp::prelude::*;
use isowarp_textbook::ProductVariant;

/// Rows, columns and terms: around tiles of 16, 32 and 64, and blocks of 512 terms.
const SHAPES: [[u64; 3]; 8] =
    [[1, 1, 1], [16, 16, 16], [17, 33, 31], [64, 64, 64], [65, 68, 130], [33, 20, 1024], [5, 70, 1100], [130, 36, 513]];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for variant in ProductVariant::ALL {
        // The pattern itself has cases of its own.
        c.quick(variant != ProductVariant::Contract);
        let v = variant.name();
        for [m, n, k] in SHAPES {
            c.add(format!("gemm_variants/{v}/plain/{m}x{n}x{k}"), move |d| {
                let (a, b) = (input::<B, f32>(d, Fill::Plain, m * k, "a")?, input::<B, f32>(d, Fill::Plain, k * n, "b")?);
                d.gemm(matrix(&a, m, k), matrix(&b, k, n)).variant(variant).run()
            });
        }
        c.quick(false);
        for fill in [Fill::Bits, Fill::Wide, Fill::Cancel, Fill::Subnormal] {
            c.add(format!("gemm_variants/{v}/{}", fill.name()), move |d| {
                let (a, b) = (input::<B, f32>(d, fill, 20 * 530, "a")?, input::<B, f32>(d, fill, 530 * 36, "b")?);
                d.gemm(matrix(&a, 20, 530), matrix(&b, 530, 36)).variant(variant).run()
            });
        }
        c.add(format!("gemm_variants/{v}/layout"), move |d| {
            let (a, b) = (input::<B, f32>(d, Fill::Plain, 3 * 40 * 70, "a")?, input::<B, f32>(d, Fill::Plain, 3 * 70 * 24, "b")?);
            let turned = (matrix(&a, 70, 40).transposed().batch(3), matrix(&b, 24, 70).transposed().batch(3));
            let call = d.gemm(turned.0, turned.1).order(ProductOrder::Chain);
            Ok((call.variant(variant).run()?, d.gemm(matrix(&a, 5, 0), matrix(&b, 0, 9)).variant(variant).run()?))
        });
        c.add(format!("gemm_variants/{v}/epilogue"), move |d| {
            let (a, b) = (input::<B, f32>(d, Fill::Plain, 37 * 50, "a")?, input::<B, f32>(d, Fill::Plain, 50 * 66, "b")?);
            let half = matrix(a.map(|a| a - 0.5), 37, 50);
            d.gemm(half, matrix(&b, 50, 66))
                .alpha(2.0)
                .finish(|c| (c, c.gt(0.0).select(1u32, 0u32).store_as::<u8>()))
                .variant(variant)
                .run()
        });
    }
    c.quick(true);
}
