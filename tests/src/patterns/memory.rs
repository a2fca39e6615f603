//! Moving bytes: what arrives on a device comes back.

use super::input;
use crate::case::{Cases, Target};
use crate::data::{self, Fill};
use half::f16;
use isowarp::Result;
use isowarp::buffer::Memory as _;
use isowarp::element::Element;
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    typed::<B, f32>(c);
    typed::<B, i32>(c);
    typed::<B, u32>(c);
    typed::<B, f64>(c);
    typed::<B, i64>(c);
    typed::<B, u64>(c);
    typed::<B, f16>(c);
    typed::<B, u8>(c);
}

fn typed<B: Target, T: Element>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    for n in [0, 1, 2, 3, 5, 255, 4099] {
        c.add(format!("memory/round_trip/{t}/n={n}"), move |d| input::<B, T>(d, Fill::Bits, n, "round_trip")).needs(&[t]);
        c.add(format!("memory/copy/{t}/n={n}"), move |d| d.copy(&input::<B, T>(d, Fill::Bits, n, "copy")?)).needs(&[t]);
    }
    // A slice that starts and ends inside a 32-bit word where the type is narrow.
    for (start, end) in [(0, 0), (1, 2), (1, 1000), (3, 1000), (5, 5), (6, 997)] {
        c.add(format!("memory/slice/{t}/{start}..{end}"), move |d| input::<B, T>(d, Fill::Bits, 1000, "slice")?.slice(start..end))
            .needs(&[t]);
    }
    for (from, to, n) in [(0, 0, 64), (1, 0, 63), (0, 3, 61), (5, 2, 40), (7, 7, 1)] {
        c.add(format!("memory/copy_into/{t}/{from}->{to}x{n}"), move |d| {
            let x = input::<B, T>(d, Fill::Bits, 64, "from")?;
            let out = input::<B, T>(d, Fill::Bits, 64, "to")?;
            d.copy_into(&x.slice(from..from + n)?, &out.slice(to..to + n)?)?;
            Ok(out)
        })
        .needs(&[t]);
    }
    for offset in 0..4 {
        c.add(format!("memory/write/{t}/offset={offset}"), move |d| writes::<B, T>(d, offset)).needs(&[t]);
    }
    c.add(format!("memory/overwrite/{t}"), move |d| {
        let x = d.upload(&[T::narrow(input::<B, T>(d, Fill::Bits, 1, "overwrite")?.read_blocking()?[0].widen()); 77])?;
        let y = input::<B, T>(d, Fill::Bits, 77, "overwritten")?;
        d.copy_into(&y, &x)?;
        d.copy_into(&x.slice(..8)?, &y.slice(64..72)?)?;
        Ok((x, y))
    })
    .needs(&[t]);
}

/// A buffer into whose middle runs of every length were written, some of them between other commands.
fn writes<B: Target, T: Element>(d: &B, offset: u64) -> Result<Buffer<B, T>> {
    let out = input::<B, T>(d, Fill::Bits, 256, "written over")?;
    for len in 0..16 {
        let data = data::data::<T>(Fill::Bits, len, len);
        let place = out.slice(offset + 15 * len..)?.slice(..len)?;
        if len % 5 == 4 {
            // In front of the write: a copy over the same elements.
            d.copy_into(&input::<B, T>(d, Fill::Bits, len, "in front")?, &place)?;
        }
        place.write(&data)?;
    }
    Ok(out)
}
