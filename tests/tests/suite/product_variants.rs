//! The rungs of the textbook's product of matrices: the pattern's bits, and what they refuse. On every device.

use crate::common::each;
use isowarp::Error;
use isowarp::patterns::ProductOrder;
use isowarp::prelude::*;
use isowarp_conformance::data::{self, Fill};
use isowarp_textbook::ProductVariant;

#[test]
fn every_rung_has_the_bits_of_the_product() {
    each(|d| {
        for [m, n, k] in [[1u64, 1, 1], [16, 17, 512], [33, 65, 1030], [64, 64, 16], [70, 132, 515], [3, 4, 0]] {
            let a = d.upload(&data::data::<f32>(Fill::Cancel, m * k, 1)).unwrap();
            let b = d.upload(&data::data::<f32>(Fill::Plain, k * n, 2)).unwrap();
            for order in [ProductOrder::Blocks, ProductOrder::Chain] {
                let call = || d.gemm(matrix(&a, m, k), matrix(&b, k, n)).order(order);
                let bits = |x: Buffer<_, f32>| x.read_blocking().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>();
                let expected = bits(call().run().unwrap());
                for variant in ProductVariant::ALL {
                    assert_eq!(bits(call().variant(variant).run().unwrap()), expected, "{} of {m}x{n}x{k}, {order:?}", variant.name());
                }
            }
        }
    });
}

#[test]
fn products_that_rungs_do_not_take_are_refused_and_nothing_is_written() {
    each(|d| {
        let (x, out) = (d.upload(&[1u32; 16]).unwrap(), d.upload(&[7u32; 16]).unwrap());
        let (f, of_floats) = (d.upload(&[1.0f32; 16]).unwrap(), d.upload(&[7.0f32; 16]).unwrap());
        for variant in ProductVariant::ALL {
            let call = d.gemm(matrix(&x, 4, 4), matrix(&x, 4, 4)).variant(variant);
            assert!(matches!(call.write_to(&out), Err(Error::InvalidArgument { what: "elements", .. })), "{}", variant.name());
            let call = d.gemm(matrix(&f, 4, 4), matrix(&f, 4, 4)).order(ProductOrder::Fixed30).variant(variant);
            assert!(matches!(call.write_to(&of_floats), Err(Error::InvalidArgument { what: "order of a product", .. })));
            let call = d.gemm(matrix(&f, 4, 4), matrix(&f, 2, 4)).variant(variant);
            assert!(matches!(call.write_to(&of_floats), Err(Error::LengthMismatch { .. })));
            let call = d.gemm(matrix(&f, 4, 4), matrix(&f, 4, 4)).variant(variant);
            assert!(matches!(call.write_to(&f), Err(Error::Aliasing { .. })));
        }
        assert_eq!((out.read_blocking().unwrap(), of_floats.read_blocking().unwrap()), (vec![7; 16], vec![7.0; 16]));
    });
}
