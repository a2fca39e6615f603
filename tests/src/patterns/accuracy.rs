//! Ordered sums and distances in units in the last place: every size, lines along every axis, adversarial floats.

use super::{FEW, SIZES, input, pairs};
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::element::{DType, Element, Float, Num};
use isowarp::ir::{Ulp, select};
use isowarp::prelude::*;

const ORDERS: [SumOrder; 4] = [SumOrder::Sequential, SumOrder::Pairwise, SumOrder::Kahan, SumOrder::Neumaier];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        sum::<B, f32>(c, SumOrder::Pairwise, Fill::Cancel, n, false);
    }
    for order in ORDERS {
        for n in FEW {
            sum::<B, f32>(c, order, Fill::Wide, n, n > 8193);
            sum::<B, f64>(c, order, Fill::Cancel, n, true);
        }
        sum::<B, f32>(c, order, Fill::Bits, 3001, true);
        sum::<B, f32>(c, order, Fill::Subnormal, 3001, false);
        lines::<B, f32>(c, order, false);
        lines::<B, f64>(c, order, true);
        c.add(format!("ordered_sum/{order:?}/segments"), move |d| {
            let (x, lengths) = (input::<B, f32>(d, Fill::Wide, 90_001, "x")?, input::<B, u32>(d, Fill::Bits, 201, "lengths")?);
            let offsets = d.scan(lengths.map(|n| select((n >> 9).lt(1u32 << 21), n & 1023, n & 7)), Sum).exclusive().run()?;
            Ok((d.ordered_sum(&x, order).segments(&offsets).run()?, d.ordered_sum(x.reversed(), order).segments(&offsets).run()?))
        });
        c.add(format!("ordered_sum/{order:?}/f16"), move |d| {
            let x = input::<B, half::f16>(d, Fill::Plain, 5003, "x")?;
            d.ordered_sum(&x, order).run()
        })
        .full();
        c.add(format!("ordered_sum/{order:?}/fused"), move |d| {
            let x = input::<B, f32>(d, Fill::Wide, 30_011, "x")?;
            let (whole, random) = (d.ordered_sum(x.map(|x| x * x), order).run()?, Random::new(5).normal(9001, 0.0, 1.0));
            Ok((whole, d.ordered_sum(random, order).run()?, d.ordered_sum(x.reversed(), order).run()?))
        })
        .full();
    }
    c.add("ordered_sum/large", |d| d.ordered_sum(Random::new(1).normal(1 << 24, 0.0, 1.0), SumOrder::Pairwise).run()).bytes(1 << 26).full();
    for fill in [Fill::Bits, Fill::Plain, Fill::Subnormal] {
        for n in [0, 1, 31, 257, 8193, 100_003] {
            ulp::<B, f32>(c, fill, n);
        }
        ulp::<B, f64>(c, fill, 8193);
    }
    let error = c.add("ulp/error", |d| {
        let (x, y) = pairs::<B, f64>(d, Fill::Bits, 5003, "x")?;
        let narrow = d.map(&x, Expr::cast::<f32>)?;
        d.map((&narrow, &x, &y), |(narrow, x, y)| (narrow.ulp_error(x), narrow.ulp_error(y)))
    });
    error.needs(&[DType::F64]);
}

fn sum<B: Target, T: Element<Reg = T> + Float + Num>(c: &mut Cases<B>, order: SumOrder, fill: Fill, n: u64, full: bool) {
    let name = format!("ordered_sum/{order:?}/{}/{}/n={n}", T::DTYPE, fill.name());
    let case = c.add(name, move |d| {
        let x = input::<B, T>(d, fill, n, "x")?;
        d.ordered_sum(&x, order).run()
    });
    case.needs(&[T::DTYPE]);
    if full {
        case.full();
    }
}

fn lines<B: Target, T: Element<Reg = T> + Float + Num>(c: &mut Cases<B>, order: SumOrder, full: bool) {
    for (shape, axis) in
        [([1, 1, 1], 1), ([37, 1003, 1], 1), ([9, 129, 33], 1), ([3000, 1, 7], 0), ([2, 2, 4099], 2), ([5, 0, 3], 1), ([0, 4, 4], 2)]
    {
        let name = format!("ordered_sum/{order:?}/{}/axis/{}x{}x{}/{axis}", T::DTYPE, shape[0], shape[1], shape[2]);
        let case = c.add(name, move |d| {
            let x = input::<B, T>(d, Fill::Cancel, shape.iter().product(), "x")?;
            d.ordered_sum(&x, order).axis(&shape, axis).run()
        });
        case.needs(&[T::DTYPE]);
        if full {
            case.full();
        }
    }
}

fn ulp<B: Target, T: Element<Reg = T> + Ulp>(c: &mut Cases<B>, fill: Fill, n: u64) {
    let case = c.add(format!("ulp/{}/{}/n={n}", T::DTYPE, fill.name()), move |d| {
        let (x, y) = (input::<B, T>(d, fill, n, "x")?, input::<B, T>(d, fill, n, "y")?);
        Ok(d.ulp(&x, &y)?.words().clone())
    });
    case.needs(&[T::DTYPE, if T::DTYPE == DType::F64 { DType::U64 } else { DType::U32 }]);
}
