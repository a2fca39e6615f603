//! Moves in windows, against the CPU's.

use super::texts::{BITS, SHARED, accept_planned, signature};
use super::{Sample, both, bytes, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use half::f16;
use isowarp_core::backend::Run;
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::element::Element;
use isowarp_core::input::{Source as _, counting, index};
use isowarp_core::launch::kernels::{LAYOUT, SWAP_SQUARE, TRANSPOSE, TRANSPOSE_SQUARE, TRANSPOSE_TILES};
use isowarp_core::patterns::layout::MAX_AXES;
use isowarp_core::patterns::layout::plan::plane_choices;
use isowarp_core::patterns::layout::{Axis, Layout};
use isowarp_core::patterns::{MapTask, Move, ScatterOp};
use isowarp_cpu::Cpu;

/// Every kind of move of `x`, some of the indices outside.
fn every_kind<B, T: Element>(d: &B, x: &Buffer<B, T>) -> Vec<Buffer<B, T>>
where
    B: Layout,
{
    let n = x.len() as u32;
    let spread = |limit: u32| (0..n).map(|i| i.wrapping_mul(2_654_435_761) % limit).collect::<Vec<u32>>();
    let at = d.upload(&spread(n + 100)).expect("upload");
    // An odd multiple of the position is no other position's, below a power of two.
    let unique: Vec<u64> = (0..u64::from(n)).map(|i| i * 40_503 % u64::from(n.next_power_of_two())).collect();
    let unique = d.upload(&unique).expect("upload");
    let filled = || d.copy_of(x);
    let (last, once, strided) = (filled(), filled(), filled());
    d.scatter(x, &at).write_to(&last).expect("scatter");
    d.scatter(x, &unique).unique().write_to(&once).expect("scatter");
    let (rows, columns) = (x.len() / 96, 96);
    let plane = x.slice(..rows * columns).expect("inside");
    let side = (x.len() - 7).isqrt();
    let (square, squares, many) = (filled(), filled(), filled());
    d.transpose(&square.slice(7..7 + side * side).expect("inside"), side, side).in_place().expect("transposed");
    let (third, few) = (side / 3, side / 9 / 4 * 4);
    d.transpose(&squares.slice(..7 * third * third).expect("inside"), third, third).batch(7).in_place().expect("transposed");
    d.transpose(&many.slice(..80 * few * few).expect("inside"), few, few).batch(80).in_place().expect("transposed");
    let rectangles = [
        (0, [1, rows, 96]),
        (0, [1, 96, rows]),
        (5, [1, rows - 1, 95]),
        (3, [3, 4, rows * 7]),
        (1, [2, rows * 15, 3]),
        (0, [60, rows / 5, 7]),
    ];
    let rectangles = rectangles.map(|(first, [batch, rows, columns])| {
        let out = filled();
        let within = out.slice(first..first + batch * rows * columns).expect("inside");
        d.transpose_through(&within, [batch, rows, columns], x.len() * T::DTYPE.size_bytes() / 10).expect("transposed");
        out
    });
    let axes = [Axis { n: rows, from: -96, to: 96 }, Axis { n: 48, from: 2, to: 2 }];
    d.copy_strided_into(&axes, (x, (rows - 1) * 96), (&strided, 0)).expect("copied");
    let mut all = vec![
        d.gather(x, &at).run().expect("gathered"),
        last,
        once,
        strided,
        square,
        squares,
        many,
        d.transpose(&plane, rows, columns).run().expect("transposed"),
        d.transpose(&plane, columns, rows).run().expect("transposed"),
        d.permute_axes(&plane, &[4, rows, 24], &[2, 0, 1]).run().expect("permuted"),
        d.reverse(x).run().expect("reversed"),
        d.rotate(x, 12_345).run().expect("rotated"),
    ];
    all.extend(rectangles);
    all
}

/// A copy, whatever else is in scope.
trait Copied: Run<MapTask> {
    fn copy_of<T: Element>(&self, x: &Buffer<Self, T>) -> Buffer<Self, T> {
        isowarp_core::patterns::Map::copy(self, x).expect("copied")
    }
}
impl<B: Run<MapTask>> Copied for B {}

fn check<T: Sample>(gpu: &Wgpu, n: usize) {
    let (c, g) = both(gpu, &T::samples(n, 9));
    for (k, (c, g)) in every_kind(&Cpu::new(), &c).iter().zip(&every_kind(gpu, &g)).enumerate() {
        same_bits(&format!("move {k} of {n} elements of {}", T::DTYPE), c, g);
    }
}

#[test]
fn small_windows_do_not_show_in_moves() {
    for bytes in [1 << 14, 40 << 10] {
        let gpu = own_device(&Options::default());
        gpu.limit_windows(bytes);
        check::<u8>(&gpu, 100_003);
        check::<f16>(&gpu, 50_021);
        check::<f32>(&gpu, 33_013);
        check::<f64>(&gpu, 20_011);
    }
}

#[test]
fn rectangles_in_place_are_what_a_transpose_gives() {
    fn rectangle<B: Layout, T: Sample>(d: &B, shape: [u64; 3], through: u64) {
        let [batch, rows, columns] = shape;
        let x = d.upload(&T::samples((batch * rows * columns) as usize, 3)).expect("upload");
        let turned = d.transpose(&x, rows, columns).batch(batch).run().expect("transposed");
        d.transpose_through(&x, shape, through * T::DTYPE.size_bytes()).expect("transposed");
        assert!(bytes(&turned) == bytes(&x), "{shape:?} through {through} of {}", T::DTYPE);
    }
    fn rectangles<B: Layout>(d: &B) {
        for (shape, through) in
            [([1, 128, 320], 4096), ([1, 300, 77], 1500), ([2, 89, 211], 1000), ([1, 3, 5000], 600), ([1, 4096, 2], 256)]
        {
            rectangle::<_, u8>(d, shape, through);
            rectangle::<_, f16>(d, shape, through);
            rectangle::<_, f32>(d, shape, through);
        }
    }
    rectangles(&Cpu::new());
    rectangles(&own_device(&Options::default()));
}

/// Moves of what is computed of `x`, some of the indices outside.
fn computed<B: Move>(d: &B, x: &Buffer<B, f32>) -> Vec<Buffer<B, f32>> {
    let n = x.len() as u32;
    let filled = || d.copy_of(x);
    let (last, once, sums, least) = (filled(), filled(), filled(), filled());
    let at = move |i: isowarp_core::ir::Expr<u32>| (i * 2_654_435_761) % (n + 100);
    let (copy, few) = (filled(), counting(1200));
    d.scatter_pairs((&copy.reversed(), index()).map(|(x, i)| (at(i), x * 2.0))).write_to(&last).expect("scatter");
    d.scatter_pairs(few.map(|i| (i * 27 + 3, i.cast::<f32>()))).unique().write_to(&once).expect("scatter");
    d.scatter_pairs((&copy, index()).map(|(x, i)| (at(i) % 700, x)))
        .reduce(ScatterOp::Sum)
        .write_to(&sums.slice(..700).expect("inside"))
        .expect("scatter");
    d.scatter_pairs((&copy, index()).map(|(x, i)| (at(i), -x))).reduce(ScatterOp::Min).write_to(&least).expect("scatter");
    let gathered = d.gather(few.map(|i| i.cast::<f32>() * 0.5), (&copy, index()).map(move |(_, i)| at(i) % 1300)).run().expect("gather");
    vec![last, once, sums, least, gathered]
}

#[test]
fn small_windows_do_not_show_in_moves_of_what_is_computed() {
    // Arrays that are fetched from are bound whole, in several windows.
    for bytes in [40 << 10, 100 << 10] {
        let gpu = own_device(&Options::default());
        gpu.limit_windows(bytes);
        let (c, g) = both(&gpu, &f32::samples(33_013, 9));
        for (k, (c, g)) in computed(&Cpu::new(), &c).iter().zip(&computed(&gpu, &g)).enumerate() {
            same_bits(&format!("computed move {k}"), c, g);
        }
    }
}

#[test]
fn copies_of_every_size_and_rank() {
    let none = signature(&[], &[]);
    for size in [1, 2, 4, 8, 16] {
        for atomic in [false, true] {
            for rank in 0..=MAX_AXES {
                let choices = [("size", size), ("rank", rank as u32), ("atomic", (atomic && size < 4).into())];
                accept_planned(LAYOUT.def(), BITS, &choices, &none);
            }
        }
    }
    for size in [1, 2, 4, 8] {
        // Narrow planes are taken in whole units only.
        for vector in [false, true].into_iter().filter(|vector| *vector || size >= 4) {
            for batch in 0..=4 {
                let shared = accept_planned(TRANSPOSE.def(), BITS, &plane_choices(size, vector, batch), &none);
                assert!(shared <= SHARED, "{size}-byte elements: {shared} bytes of shared memory");
            }
            accept_planned(TRANSPOSE_SQUARE.def(), BITS, &plane_choices(size, vector, 0), &none);
        }
        accept_planned(SWAP_SQUARE.def(), BITS, &plane_choices(size, false, 0), &none);
    }
    for unit in [1, 2, 4, 8, 16] {
        accept_planned(TRANSPOSE_TILES.def(), BITS, &[("unit", unit)], &none);
    }
}
