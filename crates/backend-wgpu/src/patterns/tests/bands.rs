//! Products of matrices that are longer than a binding.

use super::{both, device, own_device, same_bits};
use crate::context::Options;
use isowarp_core::backend::Backend as _;
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::error::Error;
use isowarp_core::input::{Source as _, counting, index};
use isowarp_core::ir::Expr;
use isowarp_core::patterns::{Convolutions as _, Map, ProductOrder, Products, Reduce as _, grid, matrix};
use isowarp_cpu::Cpu;

/// Multiples of 2^-8 below 4.
fn near(n: u64, seed: u64) -> Vec<f32> {
    (0..n).map(|i| ((i + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 53) as f32 / 256.0 - 4.0).collect()
}

fn product<B: Products>(
    d: &B,
    a: &Buffer<B, f32>,
    b: &Buffer<B, f32>,
    [m, n, k]: [u64; 3],
    turned: [bool; 2],
    order: ProductOrder,
) -> Buffer<B, f32> {
    let a = if turned[0] { matrix(a, k, m).transposed() } else { matrix(a, m, k) };
    let b = if turned[1] { matrix(b, n, k).transposed() } else { matrix(b, k, n) };
    d.gemm(a, b).order(order).run().expect("a product")
}

/// Batches with fused inputs, one operand in common, an addend, and rows of results that are apart.
fn batches<B: Products + Map>(d: &B, a: &Buffer<B, f32>, b: &Buffer<B, f32>, [m, n, k]: [u64; 3], count: u64) -> [Buffer<B, f32>; 3] {
    let pitch = n + 5;
    let c = d.map(counting(count * m * pitch), |i| (i % 1001).cast::<f32>() * 0.25).expect("a map");
    let wide = d.gemm(matrix(a.map(|x| x + x), m, k).batch(count), matrix(b.map(|x| x * 0.5), k, n)).add(-0.5, &c).leading(pitch);
    wide.write_to(&c).expect("products");
    let alike = d.gemm(matrix(a, m, k), matrix(b, k, n).batch(count)).finish(Expr::abs).run().expect("products");
    let halves = d.gemm(matrix(a, m, k).batch(count), matrix(b, n, k).transposed().batch(count)).alpha(0.5).run().expect("products");
    [c, alike, halves]
}

#[test]
fn products_above_the_binding_limit_are_cut() {
    let (cpu, gpu) = (Cpu::new(), own_device(&Options::default()));
    gpu.limit_windows(20_000);
    // Rows of A, columns of B, or both are many; sums of one and of several blocks, and lines that are long themselves.
    for shape @ [m, n, k] in [[300, 9, 70], [9, 300, 70], [150, 170, 40], [70, 90, 600], [5, 7, 2500], [130, 3, 1030]] {
        let ((ca, ga), (cb, gb)) = (both(&gpu, &near(m * k, 1)), both(&gpu, &near(k * n, 2)));
        for turned in [[false; 2], [true, false], [false, true], [true; 2]] {
            for order in [ProductOrder::Blocks, ProductOrder::Chain, ProductOrder::Fixed30] {
                // Packed rows are many, however few there are.
                if order != ProductOrder::Fixed30 || k < 70 {
                    let what = format!("{order:?} {shape:?} {turned:?}");
                    same_bits(&what, &product(&cpu, &ca, &cb, shape, turned, order), &product(&gpu, &ga, &gb, shape, turned, order));
                }
            }
        }
    }
    for (shape @ [m, n, k], count) in [([20, 9, 33], 90), ([3, 2, 5], 2000), ([150, 40, 40], 3), ([40, 160, 40], 3)] {
        let ((ca, ga), (cb, gb)) = (both(&gpu, &near(count * m * k, 3)), both(&gpu, &near(count * k * n, 4)));
        let (expected, found) = (batches(&cpu, &ca, &cb, shape, count), batches(&gpu, &ga, &gb, shape, count));
        expected.iter().zip(&found).for_each(|(expected, found)| same_bits(&format!("{count} of {shape:?}"), expected, found));
    }
}

/// Rows of few terms take many times their own room as digits.
#[test]
fn fixed_point_products_of_long_thin_matrices_have_room() {
    let (cpu, gpu) = (Cpu::new(), device());
    let long = (gpu.caps().max_binding_bytes / 256 + 77).min(1 << 20);
    for shape @ [m, n, k] in [[long, 2, 3], [2, long, 3]] {
        let ((ca, ga), (cb, gb)) = (both(gpu, &near(m * k, 1)), both(gpu, &near(k * n, 2)));
        let of = |of_cpu, of_gpu| same_bits(&format!("{shape:?}"), of_cpu, of_gpu);
        let order = ProductOrder::Fixed30;
        of(&product(&cpu, &ca, &cb, shape, [false; 2], order), &product(gpu, &ga, &gb, shape, [false; 2], order));
    }
}

/// Operands, and an epilogue, that look at their indices: of the bands that they are computed in.
#[test]
fn indices_of_bands_are_those_of_the_matrices() {
    let (cpu, gpu) = (Cpu::new(), own_device(&Options::default()));
    gpu.limit_windows(20_000);
    fn of<B: Products>(d: &B, b: &Buffer<B, f32>, [m, n, k]: [u64; 3], count: u64) -> Buffer<B, f32> {
        let [x, y, z] = [m * k, k * n, m * n].map(|len| b.slice(0..count * len).expect("a slice"));
        let a = (counting(count * m * k), &x).map(|(i, x)| (i % 257).cast::<f32>() * 0.125 - x);
        d.gemm(matrix(a, m, k).batch(count), matrix(&y, n, k).transposed().batch(count))
            .epilogue((counting(count * m * n), &z), |v, (i, z)| v + (i % 1009).cast::<f32>() * z)
            .run()
            .expect("a product")
    }
    for (shape @ [m, n, k], count) in [([150, 160, 40], 1), ([6, 300, 70], 1), ([20, 9, 33], 60)] {
        let (cb, gb) = both(&gpu, &near(count * [m * k, k * n, m * n].into_iter().fold(0, u64::max), 5));
        same_bits(&format!("{count} of {shape:?}"), &of(&cpu, &cb, shape, count), &of(&gpu, &gb, shape, count));
    }
    // Columns of bands whose lines lie across them would have to be copied, and their indices with them.
    let (_, out) = both(&gpu, &vec![7.0f32; 150 * 160]);
    let (_, b) = both(&gpu, &near(70 * 160, 1));
    let indexed = (counting(70 * 160), &b).map(|(i, x)| x + (i % 3).cast::<f32>());
    let call = gpu.gemm(matrix(&b, 150, 70), matrix(indexed, 70, 160));
    assert!(matches!(call.write_to(&out), Err(Error::TooLarge { .. })));
    assert!(out.read_blocking().expect("the output").iter().all(|&x| x == 7.0));
}

/// A plane above the limit of a binding, which the kernel of planes does not see at once.
#[test]
fn a_plane_above_the_real_limit_is_convolved() {
    let gpu = device();
    let [height, width] = [(40 << 20) / 8000 + 1, 8000u32];
    let image = gpu.generate(u64::from(height * width), index(), |i| i).expect("generate");
    let filter = gpu.upload(&[1u32, 2, 3, 4, 5, 6, 7, 8, 9]).expect("upload");
    let found = gpu.convolve(grid(&image, &[height.into(), width.into()]), grid(&filter, &[3, 3])).run().expect("a convolution");
    // 45 times the first element of the window, and what the others are more.
    let more: u32 = (0..9).map(|t| (t + 1) * (t / 3 * width + t % 3)).sum();
    let across = width - 2;
    let wrong = gpu.count((&found, index()), |(v, i)| v.ne((i / across * width + i % across) * 45 + more)).expect("count");
    assert_eq!(wrong.read_blocking().expect("read"), 0);
    assert_eq!(found.len(), u64::from((height - 2) * across));
}
