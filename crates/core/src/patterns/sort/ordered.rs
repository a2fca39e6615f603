//! Modifiers of every call that compares keys.

use super::{NanOrder, SortBy, SortOrder};
use core::ops::Range;

/// Calls that compare keys: sorts, merges, searches, set operations, and whether keys are in order. Without these modifiers all bits are compared, and
/// the least key comes first, but of a [`top_k`](super::Sort::top_k) the greatest.
pub trait Ordered: Sized {
    /// An order ([`SortOrder`]), or an order and a range of bits ([`SortBy`]).
    type By: From<SortOrder> + AsMut<SortOrder>;

    /// The order of the call.
    #[doc(hidden)]
    fn by_mut(&mut self) -> &mut Self::By;

    /// Takes the greatest key first; inputs that have to be sorted are sorted so. Equal keys keep their order here too. By a comparator, what it puts last
    /// comes first.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[30u32, 10, 30, 20])?;
    /// let falling = dev.sort(&keys).descending().run()?;
    /// assert_eq!(falling.read_blocking()?, [30, 30, 20, 10]);
    /// assert_eq!(dev.argsort(&keys).descending().run()?.read_blocking()?, [0, 2, 3, 1]);
    /// assert_eq!(dev.argsort(&keys).by(|a, b| (a / 20).lt(b / 20)).descending().run()?.read_blocking()?, [0, 2, 3, 1]);
    /// assert_eq!(dev.is_sorted(&falling).descending().run()?.read_blocking()?, 1);
    ///
    /// let needles = dev.upload(&[30u32, 15])?;
    /// assert_eq!(dev.upper_bound(&falling, &needles).descending().run()?.read_blocking()?, [2, 3]);
    /// assert_eq!(dev.merge(&falling, &needles).descending().run()?.read_blocking()?, [30, 30, 30, 20, 15, 10]);
    /// assert_eq!(dev.co_ranks(&falling, &needles, &dev.upload(&[3u32, 4])?).descending().run()?.read_blocking()?, [2, 3]);
    /// assert_eq!(dev.difference(&falling, &needles).descending().run()?.read_blocking()?, [30, 20, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    fn descending(mut self) -> Self {
        *self.by_mut().as_mut() = SortOrder::Descending;
        self
    }

    /// Compares as a value says: an order, and in sorts possibly a range of bits. It stands for all that was said of the order before.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3u8, 1, 2])?;
    /// for (order, sorted) in [(SortOrder::Ascending, [1, 2, 3]), (SortOrder::Descending, [3, 2, 1])] {
    ///     assert_eq!(dev.sort(&keys).order(order).run()?.read_blocking()?, sorted);
    /// }
    /// assert_eq!(dev.top_k(&keys, 1).order(SortOrder::Ascending).run()?.read_blocking()?, [1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    fn order(mut self, by: impl Into<Self::By>) -> Self {
        *self.by_mut() = by.into();
        self
    }

    /// Compares only these bits of the keys, 0 being the lowest, of the key as an unsigned integer ([`KeyBits`](super::KeyBits)). Keys are equal that agree
    /// in them.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[30u32, 10, 20])?;
    /// assert_eq!(dev.argsort(&keys).bits(0..3).run()?.read_blocking()?, [1, 2, 0]); // of 6, 2, 4
    /// assert_eq!(dev.top_k(&keys, 1).bits(0..3).run()?.read_blocking()?, [30]);
    /// assert_eq!(dev.is_sorted(&keys).bits(0..2).run()?.read_blocking()?, 0); // 2, 2, 0
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// ```compile_fail,E0271
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// # let x = dev.upload(&[1u32])?;
    /// dev.merge(&x, &x).bits(0..3).run()?; // merges compare whole keys
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    fn bits(mut self, bits: Range<u32>) -> Self
    where
        Self: Ordered<By = SortBy>,
    {
        self.by_mut().bits = Some(bits);
        self
    }

    /// Puts NaN of either sign and of any payload after all numbers, in descending order too, as NumPy does; they are equal, so in stable sorts they keep their
    /// order. Without it NaN are at either end, by their sign: keys compare in IEEE 754's total order. Sorted inputs of searches have to be in this order.
    ///
    /// Keys among the results have the canonical NaN. They are computed as fused inputs are: stored once more before the sort, and after a descending one.
    /// Integers have no NaN, so it changes nothing for them. It does not go with [`bits`](Self::bits), nor with comparators, which say themselves where
    /// NaN go.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[-f32::NAN, 1.0, f32::NAN, -2.0])?;
    /// assert_eq!(dev.argsort(&keys).run()?.read_blocking()?, [0, 3, 1, 2]); // -NaN, -2, 1, NaN
    /// assert_eq!(dev.argsort(&keys).nan_last().run()?.read_blocking()?, [3, 1, 0, 2]);
    /// assert_eq!(dev.argsort(&keys).descending().nan_last().run()?.read_blocking()?, [1, 3, 0, 2]);
    /// assert_eq!(dev.top_k(&keys, 2).nan_last().run()?.read_blocking()?, [1.0, -2.0]);
    /// let sorted = dev.sort(&keys).nan_last().run()?;
    /// assert_eq!(dev.is_sorted(&sorted).nan_last().run()?.read_blocking()?, 1);
    /// assert_eq!(dev.lower_bound(&sorted, &keys).nan_last().run()?.read_blocking()?, [2, 1, 2, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    fn nan_last(mut self) -> Self
    where
        Self: Ordered<By: NanOrder>,
    {
        *self.by_mut().nan_last_mut() = true;
        self
    }
}
