//! P09 move, by index: gather, scatter, permutations, reversal, rotation, packing.

mod combine;
mod computed;
mod enqueue;
mod floats;
mod gather;
mod narrow;
mod permute;
mod plan;
mod scatter;
mod task;

pub(crate) use enqueue::{check_indices, raw_as};
pub(super) use enqueue::{gather, scatter};
pub(crate) use floats::target_word;
pub use gather::{GatherCall, Gathering};
pub use permute::{Packing, PermuteCall, Permuting, Reversing, Rotating, Unpacking};
pub use scatter::{Apart, Combined, Last, Meeting, Pairs, Reduced, ScatterCall, ScatterSources, Unique};
pub use task::{GatherTask, IndexElement, IndexScalar, ScatterFromTask, ScatterOp, ScatterTask};

use super::layout::LayoutTask;
use super::operand::Operand;
use super::reduce::ReduceTask;
use super::{HistogramTask, MapTask};
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::call::ArrayCall;
use crate::element::Element;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::input::{Input, Numbers, Stored, Values};
use crate::ir::Expr;

/// Elements moved by index. Those of a buffer move as raw bits, whatever their type: NaN payloads and the sign of zero stay.
///
/// Values and indices are any input: what is counted, constant, zipped, permuted, reversed, or computed lies in no memory. What is computed is stored as
/// a [map](crate::patterns::Map) stores it: a NaN is the canonical one. It may be [stored as](Expr::store_as) elements of 8 bits, or of 16 in at most
/// 2^31 targets. Inputs that are computed are evaluated where they are wanted, so that an array or a view that is read for them has at most 2^32
/// elements from the first to the last.
///
/// Indices are integers of 8, 16, 32 or 64 bits. No access leaves a buffer, whatever they are: a gather of an index out of range, such as a negative
/// one, gives zero bits, a scatter to one writes nothing. The modifier `checked` waits for the device and makes it an
/// [`Error::IndexOutOfRange`], with the first such position and nothing changed.
///
/// # Duplicates
/// Where several sources of [`Move::scatter`] have one target, the last of them (the highest position) stays, as in NumPy and as in a loop.
/// That costs a pass over the targets; [`unique`](ScatterCall::unique) says that there are none and is one pass over the sources.
/// [`reduce`](ScatterCall::reduce) combines all of them by an operation whose order cannot show, and [`combine`](ScatterCall::combine) by any
/// associative operator in their order.
///
/// No output may overlap an input. Work O(indices), and O(targets) where the last source stays, which also takes four bytes of scratch a target.
///
/// Source: NVIDIA's Thrust (gather, scatter); NumPy's `take` and index assignment.
pub trait Move:
    Run<GatherTask> + Run<ScatterTask> + Run<ScatterFromTask> + Run<LayoutTask> + Run<MapTask> + Run<ReduceTask> + Run<HistogramTask>
{
    /// `values[indices[i]]` for every `i`: a value or a tuple of up to four. An index that names no element gives zeros. Modifier:
    /// [`checked`](GatherCall::checked).
    ///
    /// One launch.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at) = (dev.upload(&[10.0f32, 20.0, 30.0])?, dev.upload(&[2u32, 0, 2, 9])?);
    /// assert_eq!(dev.gather(&x, &at).run()?.read_blocking()?, [30.0, 10.0, 30.0, 0.0]); // 9 names no element
    /// // Indices are integers of any size.
    /// assert_eq!(dev.gather(&x, &dev.upload(&[1i8, -1])?).run()?.read_blocking()?, [20.0, 0.0]);
    ///
    /// // Every other product, from the last on.
    /// let y = dev.upload(&[1.0f32, 2.0, 3.0])?;
    /// let found = dev.gather((&x, &y).map(|(x, y)| x * y), counting(2).map(|i| lit(2u32) - i * 2)).run()?;
    /// assert_eq!(found.read_blocking()?, [90.0, 10.0]);
    /// let (i, x) = dev.gather((counting(3), &x.reversed()), &at).run()?;
    /// assert_eq!((i.read_blocking()?, x.read_blocking()?), (vec![2, 0, 2, 0], vec![10.0, 30.0, 10.0, 0.0]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::WrongDevice`], [`Error::TooLarge`], [`Error::Op`], [`Error::BufferTooSmall`],
    /// [`Error::Aliasing`]; of a checked call [`Error::IndexOutOfRange`] with the first offending position.
    fn gather<V: Values<Self>, H: Numbers<Self, Element: IndexElement>>(&self, values: V, indices: H) -> GatherCall<'_, Self, V, H> {
        ArrayCall::new(self, Gathering { values, indices, along: None, checked: false })
    }

    /// `out[indices[i]] = values[i]` for every `i`; of several with one target the last stays. Other elements of `out` stay as they are. Modifiers:
    /// [`checked`](ScatterCall::checked); [`unique`](ScatterCall::unique), [`reduce`](ScatterCall::reduce), or [`combine`](ScatterCall::combine).
    ///
    /// Two launches over sources and one over targets: which source is a target's last one, then its value, which is computed where it is wanted.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, at, out) = (dev.upload(&[1.0f32, 2.0, 3.0])?, dev.upload(&[4u32, 0, 4])?, dev.upload(&[9.0f32; 5])?);
    /// dev.scatter(&x, &at).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [2.0, 9.0, 9.0, 9.0, 3.0]); // two go to place 4: the last stays
    /// dev.scatter(x.map(|x| x * 10.0), index().map(|i| i & 1)).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [30.0, 20.0, 9.0, 9.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ScatterCall::write_to`].
    fn scatter<V: Values<Self, Out: Stored>, H: Numbers<Self, Element: IndexElement>>(
        &self,
        values: V,
        indices: H,
    ) -> ScatterCall<'_, Self, Apart<V, H>> {
        ScatterCall::new(self, Apart { values, indices })
    }

    /// As [`Move::scatter`] of pairs of an index and a value, which one operator computes of its inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1i64, 2, 3])?, dev.buffer(3)?);
    /// dev.scatter_pairs((&x, index()).map(|(x, i)| (lit(2u32) - i, -x))).unique().write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [-3, -2, -1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ScatterCall::write_to`].
    fn scatter_pairs<I: IndexScalar, R: Stored, P: Input<Self, Exprs = (Expr<I>, R)>>(&self, pairs: P) -> ScatterCall<'_, Self, Pairs<P>> {
        ScatterCall::new(self, Pairs(pairs))
    }

    /// `x[order[i]]` for every `i`: NumPy's `x[order]`. As many indices as elements; an index out of range gives zero bits. Modifiers:
    /// [`inverse`](PermuteCall::inverse), [`checked`](PermuteCall::checked).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, order) = (dev.upload(&[10u32, 20, 30])?, dev.upload(&[2u32, 0, 1])?);
    /// assert_eq!(dev.permute(&x, &order).run()?.read_blocking()?, [30, 10, 20]);
    /// assert_eq!(dev.permute(counting(3), order.map(|i| i)).inverse().run()?.read_blocking()?, [1, 2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Move::gather`], and [`Error::LengthMismatch`]; of a checked call [`Error::IndexOutOfRange`], [`Error::DuplicateIndex`] with the first
    /// position whose index was there before, and [`Error::TooLarge`] for 2^31 elements.
    fn permute<V: Values<Self, Out: Stored>, H: Numbers<Self, Element: IndexElement>>(
        &self,
        x: V,
        order: H,
    ) -> PermuteCall<'_, Self, V, H> {
        ArrayCall::new(self, Permuting { x, order, inverse: false, checked: false })
    }

    /// Fails for indices that are not below `limit` or are negative, naming the first. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let indices = dev.upload(&[2i32, 0, -1, 9])?;
    /// let error = dev.check_indices(&indices, 3).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 2, index: -1, limit: 3, .. }));
    /// let error = dev.check_indices(counting(9).map(|i| lit(5i32) - i.cast::<i32>()), 9).unwrap_err();
    /// assert!(matches!(error, isowarp::Error::IndexOutOfRange { position: 6, index: -1, limit: 9, .. }));
    /// // Before any call that takes indices.
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0])?;
    /// let whole = indices.slice(..2)?;
    /// let found = dev.check_indices(&whole, x.len()).and_then(|()| dev.map(permuted(&x, &whole), |x| x * 2.0))?;
    /// assert_eq!(found.read_blocking()?, [6.0, 2.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] with the first offending position; [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`],
    /// [`Error::WrongDevice`].
    fn check_indices<H: Numbers<Self, Element: IndexElement>>(&self, indices: H, limit: u64) -> Result<()> {
        const PATTERN: &str = "check_indices";
        match indices.plain() {
            Some(indices) => check_indices(self, PATTERN, indices, limit),
            None => {
                let of = Operand::<Self, <H::Element as Element>::Reg>::traced(self, PATTERN, &indices, |at| at)?;
                gather::check_operand(self, PATTERN, &of, limit)
            }
        }
    }

    /// The elements from last to first.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(b"warp")?, dev.upload(b"____!")?);
    /// assert_eq!(dev.reverse(&x).run()?.read_blocking()?, *b"praw");
    /// dev.reverse(&x).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, *b"praw!");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map_into`](super::Map::map_into).
    fn reverse<'a, T: Element>(&'a self, x: &'a Buffer<Self, T>) -> ArrayCall<'a, Self, Reversing<'a, Self, T>> {
        ArrayCall::new(self, Reversing(x))
    }

    /// The elements moved up by `by` places, those that leave at the end coming back at the start: element `i` goes to `(i + by) mod n`
    /// (NumPy's `roll`). The caller's buffer has the same length.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 2, 3, 4])?;
    /// assert_eq!(dev.rotate(&x, 1).run()?.read_blocking()?, [4, 1, 2, 3]);
    /// assert_eq!(dev.rotate(&x, -1).run()?.read_blocking()?, [2, 3, 4, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::copy_into`](super::Map::copy_into).
    fn rotate<'a, T: Element>(&'a self, x: &'a Buffer<Self, T>, by: i64) -> ArrayCall<'a, Self, Rotating<'a, Self, T>> {
        ArrayCall::new(self, Rotating(x, by))
    }

    /// The low eight bits of every element, four to a word, the first lowest; what is missing to the last word is zero.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[0x11u32, 0x22, 0x33, 0x44, 0x155])?;
    /// assert_eq!(dev.pack_u8(&x).run()?.read_blocking()?, [0x4433_2211, 0x55]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map_into`](super::Map::map_into).
    fn pack_u8<'a>(&'a self, x: &'a Buffer<Self, u32>) -> ArrayCall<'a, Self, Packing<'a, Self>> {
        ArrayCall::new(self, Packing(x))
    }

    /// The inverse of [`Move::pack_u8`]: the first `n` bytes of the words, each as an element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let words = dev.upload(&[0x4433_2211u32, 0x55])?;
    /// assert_eq!(dev.unpack_u8(&words, 5).run()?.read_blocking()?, [0x11, 0x22, 0x33, 0x44, 0x55]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map_into`](super::Map::map_into), and [`Error::OutOfRange`] for more bytes than there are.
    fn unpack_u8<'a>(&'a self, words: &'a Buffer<Self, u32>, n: u64) -> ArrayCall<'a, Self, Unpacking<'a, Self>> {
        ArrayCall::new(self, Unpacking(words, n))
    }
}
impl<B: Run<GatherTask> + Run<ScatterTask> + Run<ScatterFromTask> + Run<LayoutTask> + Run<MapTask> + Run<ReduceTask> + Run<HistogramTask>>
    Move for B
{
}
