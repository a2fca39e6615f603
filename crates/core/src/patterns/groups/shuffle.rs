//! Shuffles: fetches from where the source lies.

use super::call::{check_out, check_width};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::input::{Input, array, index, scalar};
use crate::ir::{Expr, select};
use crate::patterns::moves::raw_as;
use crate::patterns::{Map as _, MapTask, Move};

/// Whose element a [shuffle](super::Groups::group_shuffle) gives. A source that is not in the group, or behind the last element, gives the element itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Shuffle {
    /// The one at this place of the group: a broadcast.
    From(u32),
    /// The one so many places before.
    Up(u32),
    /// The one so many places behind.
    Down(u32),
    /// The one whose place differs in these bits.
    Xor(u32),
}

impl Shuffle {
    /// The source's place in a group of `len` elements; any that is not below `len` is none.
    pub(super) fn source(self, place: Expr<u32>, len: Expr<u32>, by: Expr<u32>) -> Expr<u32> {
        match self {
            Self::From(_) => by,
            Self::Up(_) => select(by.le(place), place - by, u32::MAX),
            Self::Down(_) => select(by.lt(len - place), place + by, u32::MAX),
            Self::Xor(_) => place ^ by,
        }
    }

    pub(super) const fn by(self) -> u32 {
        match self {
            Self::From(k) | Self::Up(k) | Self::Down(k) | Self::Xor(k) => k,
        }
    }
}

/// Elements of places that `source` names, of a group's length, the element's place and further inputs.
pub(super) fn shuffled<B: Run<MapTask> + Move, T: Element, I: Input<B>>(
    device: &B,
    x: &Buffer<B, T>,
    width: u64,
    inputs: I,
    source: impl Fn(Expr<u32>, Expr<u32>, I::Exprs) -> Expr<u32>,
    out: &Buffer<B, T>,
) -> Result<()> {
    let n = x.len();
    let width = check_width(width, n)?;
    check_out(device, n, out)?;
    let at = |(more, i, n, width): (I::Exprs, Expr<u32>, Expr<u32>, Expr<u32>)| {
        let place = i % width;
        let first = i - place;
        let len = width.min(n - first);
        let source = source(place, len, more);
        select(source.lt(len), first + source, i)
    };
    let all = (inputs, index(), scalar(n as u32), scalar(width as u32));
    macro_rules! mapped {
        ($word:ty) => {{
            let (x, out) = (raw_as::<B, T, $word>(x)?, raw_as::<B, T, $word>(out)?);
            device.generate_into(n, (all, array(&x)), |(all, x)| x.at(at(all)).store_as::<$word>(), &out)
        }};
    }
    match T::DTYPE.size_bytes() {
        1 => mapped!(u8),
        4 => mapped!(u32),
        8 => mapped!(u64),
        // A NaN of two bytes would be stored canonical by a map.
        _ => {
            let indices: Buffer<B, u32> = device.buffer(n)?;
            device.generate_into(n, all, at, &indices)?;
            device.gather(x, &indices).write_to(out)
        }
    }
}
