//! P02 reduce: indices along axes, initial values, wider accumulators and accumulators of several parts, over every domain.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::Element as _;
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in [0, 1, 257, 20_011] {
        c.add(format!("reduce/initial/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Cancel, n, "x")?;
            Ok((d.reduce(&x, Sum).initial(0.1).run()?, d.reduce(&x, Max).initial(-2.0).run()?))
        });
    }
    for (name, shape, axis) in [("rows", [37, 541], 1), ("columns", [541, 37], 0)] {
        c.add(format!("reduce/argmax_axis/{name}/f32"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, 37 * 541, "x")?;
            Ok((d.reduce(&x, Max).axis(&shape, axis).with_index().run()?, d.reduce(&x, Min).axis(&shape, axis).index().run()?))
        });
        c.add(format!("reduce/argmin_axis/{name}/i64"), move |d| {
            let x = input::<B, i64>(d, Fill::Wide, 37 * 541, "x")?;
            d.reduce(&x, Min).axis(&shape, axis).initial(-5).with_index().run()
        })
        .needs(&[i64::DTYPE])
        .full();
        c.add(format!("reduce/parts_axis/{name}/f32"), move |d| {
            let x = input::<B, f32>(d, Fill::Plain, 37 * 541, "x")?;
            let moments = d.reduce_by(x.map(|x| (x, x * x)), |a, b| (a.0 + b.0, a.1 + b.1)).axis(&shape, axis);
            moments.finish(|(sum, squares)| squares - sum * sum).run()
        })
        .full();
    }
    c.add("reduce/accumulate_in/u64_of_u8", |d| {
        let (x, offsets) = (input::<B, u8>(d, Fill::Bits, 20_011, "x")?, d.iota(40, 0u32, 513)?);
        Ok((d.reduce(&x, Sum).accumulate_in::<u64>().run()?, d.reduce(&x, Sum).accumulate_in::<u64>().segments(&offsets).run()?))
    })
    .needs(&[u8::DTYPE, u64::DTYPE])
    .full();
    c.add("reduce/finish/f16", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 20_011, "x")?;
        d.reduce(&x.slice(..20_000)?, Sum).axis(&[20, 1000], 1).finish(Expr::store_as::<f16>).run()
    })
    .needs(&[f16::DTYPE])
    .full();
    c.add("reduce/parts_by_key/f32", |d| {
        let (x, keys) = (input::<B, f32>(d, Fill::Plain, 20_011, "x")?, input::<B, u32>(d, Fill::Sorted, 20_011, "keys")?);
        let (found, means, count) = (d.buffer(20_011)?, d.buffer(20_011)?, d.buffer(1)?);
        d.fill(&found, 0)?;
        d.fill(&means, 0.0)?;
        let of = d.reduce_by(x.map(|x| (x, lit(1u32))), |a, b| (a.0 + b.0, a.1 + b.1)).identity((0.0, 0)).by_key(keys.map(|k| k >> 22));
        of.finish(|(sum, n)| sum / n.cast::<f32>()).write_to(((&found, &means), &count))?;
        Ok((found, means, count))
    })
    .full();
}
