//! Equal keys within groups: in a launch where a group fits into a mask, else by sorting.

use super::call::Call;
use super::{Groups, MASK_WIDTH, Peers};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::{Source as _, array, index, scalar};
use crate::ir::{ArrayExpr, Expr, select};
use crate::ops::{Max, Min};
use crate::patterns::{Map as _, Ordered as _};

/// For each element the lowest place with its key, or how many of its keys come before; and how many there are.
pub(crate) fn rank_into<B: Groups>(device: &B, call: &Call<B>, peers: Peers, out: (&Buffer<B, u32>, &Buffer<B, u32>)) -> Result<()> {
    call.check(device, &[(out.0, call.n), (out.1, call.n)])?;
    if call.n == 0 {
        return Ok(());
    }
    if call.width <= MASK_WIDTH {
        return call.peers(device, peers, &[out.0, out.1]);
    }
    if call.key_words() == 1 { sorted::<B, u32>(device, call, peers, out) } else { sorted::<B, u64>(device, call, peers, out) }
}

/// An element as it stands in the order of groups and keys, and its neighbours.
struct Place<K: Element> {
    key: Expr<K::Reg>,
    keys: ArrayExpr<K>,
    from: Expr<u32>,
    order: ArrayExpr<u32>,
    width: Expr<u32>,
}

impl<K: Element> Place<K> {
    /// Whether the element at position `other` is of another group or has another key.
    fn differs(&self, other: Expr<u32>) -> Expr<bool> {
        self.keys.at(other).ne(self.key) | (self.order.at(other) / self.width).ne(self.from / self.width)
    }
}

fn sorted<B: Groups, K: Element<Reg = K> + Scalar>(
    device: &B,
    call: &Call<B>,
    peers: Peers,
    out: (&Buffer<B, u32>, &Buffer<B, u32>),
) -> Result<()> {
    let (n, width) = (call.n, scalar(call.width as u32));
    let (keys, order) = in_order(device, call, &call.keys::<K>(device)?)?;
    // Where the run of equal keys starts, for each position in the order; and where it ends, from the last position to the first.
    let inputs = ((&keys, array(&keys)), (&order, array(&order)), index(), width);
    let start = device
        .scan(
            inputs.map(|((key, keys), (from, order), j, width)| {
                let here = Place { key, keys, from, order, width };
                select(j.eq(0) | here.differs(j - 1u32), j, 0u32)
            }),
            Max,
        )
        .run()?;
    let (keys_back, order_back) = (keys.reversed(), order.reversed());
    let inputs = ((&keys_back, array(&keys)), (&order_back, array(&order)), index(), scalar(n as u32), width);
    let end = device
        .scan(
            inputs.map(|((key, keys), (from, order), i, n, width)| {
                let here = Place { key, keys, from, order, width };
                select(i.eq(0) | here.differs(n - i), n - i, u32::MAX)
            }),
            Min,
        )
        .run()?;
    let (values, counts): (Buffer<B, u32>, Buffer<B, u32>) = (device.buffer(n)?, device.buffer(n)?);
    let end = end.reversed();
    let inputs = (&start, &end, index(), array(&order), width);
    let first = peers == Peers::First;
    device.map_into(
        inputs,
        |(start, end, j, order, width)| {
            let value = if first { order.at(start) % width } else { j - start };
            (value, end - start)
        },
        (&values, &counts),
    )?;
    device.scatter(&values, &order).unique().write_to(&out.0.slice(..n)?)?;
    device.scatter(&counts, &order).unique().write_to(&out.1.slice(..n)?)
}

/// The keys of each group in order, equal ones as they come, and where they were.
fn in_order<B: Groups, K: Element>(device: &B, call: &Call<B>, keys: &Buffer<B, K>) -> Result<(Buffer<B, K>, Buffer<B, u32>)> {
    if call.groups() == 1 {
        return device.sort(keys).with_indices().run();
    }
    let by_key = device.argsort(keys).run()?;
    let groups = device.map((&by_key, scalar(call.width as u32)), |(i, width)| i / width)?;
    let bits = u64::BITS - (call.groups() - 1).leading_zeros();
    let (_, order) = device.sort(&groups).with_values(&by_key).bits(0..bits).run()?;
    Ok((device.gather(keys, &order).run()?, order))
}
