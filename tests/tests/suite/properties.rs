//! Random shapes, operators and views: every device against the CPU, shrunk to the smallest that differs.

use crate::common::{cpu, gpus};
use isowarp::prelude::*;
use isowarp::{Device, Result};
use isowarp_conformance::case::{Output, Outputs};
use isowarp_conformance::patterns::UNARY;
use isowarp_conformance::report::difference;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Runs a body on the CPU and on each other device, for random inputs; a difference is shrunk.
fn agree<S: Strategy>(inputs: S, body: impl Fn(&Device, &S::Value) -> Result<Vec<Output>>) {
    let (cpu, gpus) = (cpu(), gpus());
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let done = runner.run(&inputs, |input| {
        let expected = body(&cpu, &input);
        for gpu in &gpus {
            let differs = difference(&expected, &body(gpu, &input));
            prop_assert!(differs.is_none(), "{}: {}", gpu.describe(), differs.unwrap_or_default());
        }
        Ok(())
    });
    if let Err(e) = done {
        panic!("{e}");
    }
}

/// Floats of any bits, most of them of moderate size.
fn floats() -> impl Strategy<Value = Vec<f32>> {
    let float = prop_oneof![4 => -1e3f32..1e3, 2 => any::<u32>().prop_map(f32::from_bits), 1 => Just(-0.0), 1 => (0u32..0x80_0000).prop_map(f32::from_bits)];
    prop::collection::vec(float, 0..3000)
}

fn words() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 0..20_000)
}

type Binary = fn(Expr<f32>, Expr<f32>) -> Expr<f32>;
const BINARY: [Binary; 8] =
    [|x, y| x + y, |x, y| x - y, |x, y| x * y, |x, y| x / y, Expr::min, Expr::max, |x, y| select(x.lt(y), x, y), |x, y| x.mul_add(y, x)];

#[test]
fn maps_of_composed_operators_agree() {
    let ops = prop::collection::vec((0..BINARY.len(), 0..UNARY.len(), any::<bool>()), 1..5);
    agree((floats(), ops, -8f32..8.0), |d, (x, ops, k)| {
        let x = d.upload(x)?;
        let build = |(x, k): (Expr<f32>, Expr<f32>)| {
            ops.iter().fold(x, |v, &(b, u, unary)| if unary { UNARY[u].1(v) + k } else { BINARY[b](v, x * k) })
        };
        d.map((&x, scalar(*k)), build)?.outputs()
    });
}

#[test]
fn maps_of_views_agree() {
    let view = (0u64..1000, 0u64..600, -3i64..4).prop_filter("inside 1000 elements", |(start, len, stride)| {
        let last = *start as i64 + (*len as i64 - 1).max(0) * stride;
        (0..1000).contains(&last)
    });
    agree((view, 0u64..8), |d, ((start, len, stride), offset)| {
        let x = d.iota(1000, 0u32, 3)?;
        let out = d.iota(*len + 20, 7u32, 0)?;
        d.map_into(&x.strided(*start, *len, *stride)?, |v| v ^ 0x55, &out.slice(*offset..)?)?;
        out.outputs()
    });
}

#[test]
fn reductions_agree() {
    agree((floats(), 0usize..6), |d, (x, op)| {
        let x = d.upload(x)?;
        match op {
            0 => d.sum(&x)?.outputs(),
            1 => d.reduce(&x, Min).run()?.outputs(),
            2 => d.argmax(&x)?.outputs(),
            3 => d.reduce(&x, Op::associative(0.0, |a, b| a - b * 0.5)).run()?.outputs(),
            4 => d.norm2(&x)?.outputs(),
            _ => d.minmax(&x)?.outputs(),
        }
    });
}

#[test]
fn scans_agree() {
    agree((words(), 0usize..5, 0u64..9), |d, (x, op, skip)| {
        let x = d.upload(x)?;
        let x = x.slice((*skip).min(x.len())..)?;
        match op {
            0 => d.cumsum(&x)?.outputs(),
            1 => d.scan(&x, Xor).exclusive().run()?.outputs(),
            2 => d.scan(&x, Op::associative(0, |a: Expr<u32>, b| select(b.lt(1 << 28), a, b))).run()?.outputs(),
            3 => d.scan(x.map(isowarp::prelude::Expr::cast::<f32>), Sum).run()?.outputs(),
            _ => d.scan(&x, Sum).by_flags(&d.map(&x, |x| (x % 50).eq(0).cast::<u32>())?).run()?.outputs(),
        }
    });
}

#[test]
fn lines_along_axes_agree() {
    agree(((1u64..40, 1u64..300, 1u64..40), 0usize..3, any::<bool>()), |d, ((a, b, c), axis, exclusive)| {
        let shape = [*a, *b, *c];
        let x = d.generate(a * b * c, index(), |i| (i * 2_654_435_761).bitcast::<i32>().cast::<f32>())?;
        (d.reduce(&x, Sum).axis(&shape, *axis).run()?, d.scan(&x, Sum).axis(&shape, *axis).exclusive_if(*exclusive).run()?).outputs()
    });
}

#[test]
fn sorts_agree() {
    let by = (any::<bool>(), 0u32..33, 0u32..33);
    agree((floats(), by, any::<bool>()), |d, (x, (down, a, b), few)| {
        let x = d.upload(x)?;
        let order = if *down { SortOrder::Descending } else { SortOrder::Ascending };
        let by = || order.bits(*a.min(b)..*a.max(b));
        if *few {
            let keys = d.map(&x, |x| x.bitcast::<u32>() % 7)?;
            let values = d.iota(x.len(), 1u64, 3)?;
            return (d.sort(&keys).with_values(&values).order(order).run()?, d.argsort(&keys).order(order).run()?).outputs();
        }
        (d.sort(&x).with_indices().order(by()).run()?, d.sort(&x).order(order).run()?).outputs()
    });
}

#[test]
fn sorts_by_orders_agree() {
    agree((floats(), any::<bool>(), 0u64..9), |d, (x, contradicts, skip)| {
        let x = d.upload(x)?;
        let x = x.slice((*skip).min(x.len())..)?;
        let half = x.len() / 3;
        if *contradicts {
            // NaN is before nothing and behind nothing.
            let merged = d.merge(&x.slice(..half)?, &x.slice(half..)?).by(Expr::lt).run()?;
            return (d.sort(&x).by(Expr::lt).run()?, d.argsort(&x).by(Expr::lt).run()?, merged).outputs();
        }
        let last = |a: Expr<f32>, b: Expr<f32>| (a.bitcast::<u32>() & 63u32).lt(b.bitcast::<u32>() & 63u32);
        d.sort(&x).with_values(&d.iota(x.len(), 1u32, 3)?).by(last).run()?.outputs()
    });
}

#[test]
fn selections_agree() {
    agree((words(), 0usize..5, any::<u32>(), 0u64..9), |d, (x, op, k, skip)| {
        let x = d.upload(x)?;
        let x = x.slice((*skip).min(x.len())..)?;
        let (out, count) = (d.iota(x.len(), 7u32, 0)?, d.upload(&[0u32; 2])?);
        let runs = d.map(&x, |x| x >> 30)?;
        match op {
            0 => d.select((&x, scalar(*k)), |(x, k)| x.lt(k)).finish(|(x, _)| x).write_to((&out, &count))?,
            1 => d.partition((&x, scalar(*k)), |(x, k)| x.lt(k)).finish(|(x, _)| x).write_to((&out, &count))?,
            2 => d.partition_three(&x, |x| x >> 30).write_to((&out, &count))?,
            3 => d.unique(&runs).write_to((&out, &count))?,
            _ => {
                let values = d.iota(x.len(), 7u32, 0)?;
                d.run_length_encode(&runs).write_to(((&values, &out), &count))?;
                return (out, values, count).outputs();
            }
        }
        (out, count).outputs()
    });
}

#[test]
fn moves_agree() {
    let shape = (1u64..40, 1u64..30, 1u64..20, 0usize..6);
    agree((words(), shape, -70_000i64..70_000), |d, (x, (a, b, c, order), by)| {
        const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let x = d.upload(x)?;
        let at = d.map(&x, |x| x % 20_011)?;
        let out = d.iota(15_000, 7u32, 0)?;
        d.scatter(&x, &at).write_to(&out)?;
        let all = d.iota(a * b * c, 1u32, 3)?;
        let turned = d.permute_axes(&all, &[*a, *b, *c], &ORDERS[*order]).run()?;
        ((d.gather(&x, &at).run()?, d.rotate(&x, *by).run()?, d.reverse(&x).run()?), (turned, out)).outputs()
    });
}

#[test]
fn filters_agree() {
    let kind = prop_oneof![
        Just(FilterKind::Sobel),
        Just(FilterKind::Median3),
        (prop_oneof![Just(3u32), Just(5)], prop::collection::vec(-2f32..2.0, 25))
            .prop_map(|(size, weights)| FilterKind::Weighted { size, weights: weights[..(size * size) as usize].to_vec() }),
    ];
    let size = (1u32..90, 1u32..60, prop_oneof![Just(1u32), Just(3), Just(4)]);
    agree((size, kind, 0..Border::ALL.len()), |d, ((width, height, channels), kind, border)| {
        let n = u64::from(width * height * channels);
        let f = d.generate(n, index(), |i| ((i * 2_654_435_761) >> 8).cast::<f32>() * 1e-3 - 4000.0)?;
        let u = d.generate(n, index(), |i| ((i * 2_654_435_761) >> 13).store_as::<u8>())?;
        let border = Border::ALL[*border];
        let wide = d.filter(&Image::new(f, *width, *height, *channels)?, kind.clone(), border)?;
        (wide, d.filter(&Image::new(u, *width, *height, *channels)?, kind.clone(), border)?).outputs()
    });
}
