//! Patterns of keys in an order: sorts, merges, searches, sets.

use super::call::{Job, Order, Over, Results, SetOp, Sorted, Variants};
use super::fold::{Parts, over};
use super::moves::with_index;
use super::{DynBuffer, inlined, map, single, widened, with_dtype, with_offsets};
use crate::backend::Backend;
use crate::buffer::Buffer;
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::expression;
use crate::ir::{Expr, Func};
use crate::patterns::merge_sort::check_sorted_by;
use crate::patterns::moves::check_indices;
use crate::patterns::sort::check_sorted;
use crate::patterns::{
    Lines, Merge as _, Ordered as _, Patterns, Search as _, SearchBy, SearchKind, Sets as _, Sort as _, SortBy, SortOrder,
};

/// A finished operator as the closure that traces it again.
fn before<K: Element>(of: &Func) -> impl Fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool> + '_ {
    |a, b| inlined(of, &[a.value(), b.value()])
}

/// The order of values of what compares all their bits, which [`Job::check`] has seen to.
fn plain(by: &SortBy) -> SortOrder {
    by.order
}

/// Runs `$body` with a call in an order of values, or of the caller's.
macro_rules! ordered {
    ($call:expr, $order:expr, $by:expr, $K:ty, $ordered:ident => $body:expr) => {
        match $order {
            Order::Values(by) => {
                let $ordered = $call.order($by(by));
                $body
            }
            Order::Own(func) => {
                let $ordered = $call.by(before::<$K>(func));
                $body
            }
        }
    };
}

/// Runs `$body` with `$V` standing for a type of as many bits: values that travel keep all of them.
macro_rules! with_words {
    ($dtype:expr, $V:ident => $body:expr) => {
        if $dtype.size_bytes() == 8 {
            type $V = u64;
            $body
        } else {
            type $V = u32;
            $body
        }
    };
}
pub(super) use with_words;

/// The memory of elements as that of others of their size.
pub(super) fn bits<B: Backend, T: Element>(x: &DynBuffer<B>) -> Result<Buffer<B, T>> {
    Buffer::from_raw(&x.device, x.raw.clone(), x.offset, x.len)
}

/// And back.
pub(super) fn of_bits<B: Backend, T: Element>(x: Buffer<B, T>, dtype: DType) -> DynBuffer<B> {
    DynBuffer { dtype, ..DynBuffer::from(x) }
}

pub(super) fn same_length<B: Backend>(keys: &DynBuffer<B>, values: &DynBuffer<B>) -> Result<()> {
    if keys.len == values.len {
        return Ok(());
    }
    Err(Error::LengthMismatch { what: "values", expected: keys.len, found: values.len })
}

/// Places in lines, as places in the array, which are `u64` where it is that long: `k` of each line.
fn in_array<B: Patterns>(device: &B, places: &DynBuffer<B>, lines: Lines, k: u64) -> Result<DynBuffer<B>> {
    if lines.count() < 2 || k == 0 {
        return Ok(places.clone());
    }
    let Lines { n, inner, .. } = lines;
    let (from, index) = if lines.elements() > 1 << 32 { ("u64(x)", Ty::U64) } else { ("x", Ty::U32) };
    let text =
        if inner == 1 { format!("{from} + i / {k} * {n}") } else { format!("({from} + i / {} * {n}) * {inner} + i % {inner}", k * inner) };
    map(device, &expression::parse(&text, &[Ty::U32], Some(index), None)?, &[places], index.dtype())
}

/// Lines along an axis of an array of so many elements, or the array as one line.
fn lines(over: &Over, len: u64) -> Result<Lines> {
    if let Over::Axis(shape, axis) = over { Lines::along(shape, *axis) } else { Ok(Lines::one(len)) }
}

fn unsupported<T>(what: &'static str, reason: &str) -> Result<T> {
    Err(Error::InvalidArgument { what, reason: reason.to_owned() })
}

impl<B: Patterns> Job<'_, B> {
    pub(super) fn sort(&self, order: &Order, over: &Over, gives: Sorted) -> Result<Results<B>> {
        if let Order::Own(func) = order {
            single(func)?;
        }
        match (gives, over) {
            (Sorted::Keys | Sorted::Indices, Over::Whole) => self.sort_whole(order, gives == Sorted::Indices),
            (Sorted::Keys | Sorted::Indices, _) => self.sort_parts(order, over, gives == Sorted::Indices),
            (Sorted::KeysAndIndices, Over::Whole) => {
                let [keys] = self.take()?;
                with_dtype!(keys.dtype, K => {
                    let keys = keys.typed::<K>()?;
                    let (keys, places) = ordered!(self.device.sort(&keys), order, SortBy::clone, K, sort => sort.with_indices().run()?);
                    Ok([keys.into(), places.into()].into())
                })
            }
            (Sorted::KeysAndValues, _) => self.sort_pairs(order, over),
            _ => unsupported("the order", "keys and indices are of one row"),
        }
    }

    fn sort_whole(&self, order: &Order, indices: bool) -> Result<Results<B>> {
        let [keys] = self.take()?;
        with_dtype!(keys.dtype, K => {
            let keys = keys.typed::<K>()?;
            if indices {
                ordered!(self.device.argsort(&keys), order, SortBy::clone, K, sort => self.into(keys.len(), |out| sort.write_to(out)))
            } else {
                ordered!(self.device.sort(&keys), order, SortBy::clone, K, sort => self.into(keys.len(), |out| sort.write_to(out)))
            }
        })
    }

    /// Rows or segments.
    fn sort_parts(&self, order: &Order, of: &Over, indices: bool) -> Result<Results<B>> {
        let Order::Values(by) = order else { return unsupported("the order", "rows and segments are sorted by value") };
        let ((parts, ..), keys) = (self.parts(of)?, self.first()?);
        with_dtype!(keys.dtype, K => {
            let keys = keys.typed::<K>()?;
            if indices {
                let sort = self.device.argsort(&keys).order(by.clone());
                over!(&parts, sort, parted => self.into(keys.len(), |out| parted.write_to(out)))
            } else {
                let sort = self.device.sort(&keys).order(by.clone());
                over!(&parts, sort, parted => self.into(keys.len(), |out| parted.write_to(out)))
            }
        })
    }

    fn sort_pairs(&self, order: &Order, over: &Over) -> Result<Results<B>> {
        let [keys, values, offsets @ ..] = self.inputs else { return self.take::<2>().map(|pair| pair[0].clone().into()) };
        same_length(keys, values)?;
        let (device, inputs) = (self.device, [&[*keys], offsets].concat());
        let of_keys = Job { inputs: &inputs, ..*self };
        // Narrow values, and those of rows, are fetched.
        if values.dtype.size_bytes() < 4 || matches!(over, Over::Axis(..)) {
            let sort = |gives| of_keys.sort(order, over, gives).map(|found| found.all);
            if *over == Over::Whole {
                let [keys, places] = &sort(Sorted::KeysAndIndices)?[..] else { return self.take::<2>().map(|pair| pair[0].clone().into()) };
                return Ok([keys.clone(), self.fetched(values, places)?].into());
            }
            let lines = lines(over, keys.len)?;
            let places = in_array(device, &sort(Sorted::Indices)?[0], lines, lines.n)?;
            return Ok([self.fetched(keys, &places)?, self.fetched(values, &places)?].into());
        }
        let (parts, ..) = of_keys.parts(over)?;
        with_dtype!(keys.dtype, K => with_words!(values.dtype, V => {
            let (x, v) = (keys.typed::<K>()?, bits::<B, V>(values)?);
            let (sorted, carried) = match order {
                Order::Values(by) => {
                    let sort = device.sort(&x).with_values(&v).order(by.clone());
                    over!(&parts, sort, parted => parted.run()?)
                }
                Order::Own(func) if *over == Over::Whole => device.sort(&x).with_values(&v).by(before::<K>(func)).run()?,
                Order::Own(_) => return unsupported("the order", "segments are sorted by value"),
            };
            Ok([sorted.into(), of_bits(carried, values.dtype)].into())
        }))
    }

    pub(super) fn sort_by(&self, by: &SortBy, variant: &dyn Variants<B>) -> Result<Results<B>> {
        let [keys] = self.take()?;
        with_dtype!(keys.dtype, K => {
            let keys = keys.typed::<K>()?;
            self.into(keys.len(), |out| self.device.sort(&keys).order(by.clone()).variant(variant).write_to(out))
        })
    }

    pub(super) fn top_k(&self, k: u64, by: &SortBy, over: &Over) -> Result<Results<B>> {
        let keys = self.first()?;
        if let [_, values] = self.inputs {
            same_length(keys, values)?;
        }
        let (first, places) = with_dtype!(keys.dtype, K => {
            let keys = keys.typed::<K>()?;
            let first = self.device.top_k(&keys, k).order(by.clone()).with_indices();
            let (first, places) = match over {
                Over::Whole => first.run()?,
                Over::Axis(shape, axis) => first.axis(shape, *axis).run()?,
                _ => return unsupported("the first keys", "they are of all or of rows"),
            };
            (DynBuffer::from(first), DynBuffer::from(places))
        });
        let [_, values] = self.inputs else { return self.take::<1>().map(|_| [first, places].into()) };
        let carried = self.fetched(values, &in_array(self.device, &places, lines(over, keys.len)?, k)?)?;
        Ok(Results { all: vec![first, carried, places], count: None })
    }

    /// Fails where an array is not in order, if that is asked for. The names are those of orders of values, and of the caller's.
    fn check<K: Element>(&self, names: [&'static str; 2], arrays: &[(&'static str, &Buffer<B, K>)], order: &Order) -> Result<()> {
        match order {
            Order::Own(func) => single(func).map(drop)?,
            Order::Values(by) if by.bits.is_some() => return unsupported("the order", "arrays that are sorted by some bits are not taken"),
            Order::Values(by) if by.nan_last && names[0] != "search" => {
                return unsupported("the order", "arrays that are sorted with NaN last are searched, not merged");
            }
            Order::Values(_) => {}
        }
        if self.out.is_some() {
            return Ok(());
        }
        arrays.iter().try_for_each(|(what, x)| match order {
            Order::Values(by) => check_sorted(self.device, names[0], what, x, by),
            Order::Own(func) => check_sorted_by(self.device, names[1], what, x, before::<K>(func)),
        })
    }

    pub(super) fn merge(&self, order: &Order) -> Result<Results<B>> {
        let (device, names) = (self.device, ["merge", "merge_by"]);
        let (a, b, values) = match *self.inputs {
            [a, v, b, w] => (a, b, Some((v, w))),
            _ => self.take().map(|[a, b]| (a, b, None))?,
        };
        if let Some((v, w)) = values {
            same_length(a, v)?;
            same_length(b, w)?;
            if v.dtype != w.dtype {
                return unsupported("values", &format!("those of the first array are {}, of the second {}", v.dtype, w.dtype));
            }
        }
        with_dtype!(a.dtype, K => {
            let (x, y) = (a.typed::<K>()?, b.typed::<K>()?);
            self.check(names, &[("the first array", &x), ("the second array", &y)], order)?;
            let Some((v, w)) = values else {
                return ordered!(device.merge(&x, &y), order, plain, K, merge => self.into(x.len() + y.len(), |out| merge.write_to(out)));
            };
            macro_rules! travelling {
                ($V:ty) => {{
                    let (of_x, of_y) = (bits::<B, $V>(v)?, bits::<B, $V>(w)?);
                    let merged = ordered!(device.merge(&x, &y), order, plain, K, merge => merge.with_values(&of_x, &of_y).run()?);
                    Ok([merged.0.into(), of_bits(merged.1, v.dtype)].into())
                }};
            }
            match v.dtype.size_bytes() {
                1 => travelling!(u8),
                2 => travelling!(half::f16),
                4 => travelling!(u32),
                _ => travelling!(u64),
            }
        })
    }

    pub(super) fn merge_by(&self, by: &SortBy, variant: &dyn Variants<B>) -> Result<Results<B>> {
        let [a, b] = self.take()?;
        with_dtype!(a.dtype, K => {
            let (x, y) = (a.typed::<K>()?, b.typed::<K>()?);
            self.check(["merge"; 2], &[("the first array", &x), ("the second array", &y)], &by.clone().into())?;
            self.into(x.len() + y.len(), |out| self.device.merge(&x, &y).order(by.order).variant(variant).write_to(out))
        })
    }

    pub(super) fn search(&self, kind: SearchKind, order: &Order) -> Result<Results<B>> {
        let ([sorted, needles], device) = (self.take()?, self.device);
        with_dtype!(sorted.dtype, K => {
            let (x, needles) = (sorted.typed::<K>()?, needles.typed::<K>()?);
            self.check(["search", "search_by"], &[("the sorted array", &x)], order)?;
            let search = match kind {
                SearchKind::Lower => device.lower_bound(&x, &needles),
                SearchKind::Upper => device.upper_bound(&x, &needles),
                SearchKind::Equal => device.count_equal(&x, &needles),
            };
            let wide = self.out.map_or(x.len() > u32::MAX.into(), |out| out.dtype == DType::U64);
            let by = |by: &SortBy| SearchBy { order: by.order, nan_last: by.nan_last };
            ordered!(search, order, by, K, search => match wide {
                true => self.into::<u64>(needles.len(), |out| search.write_to(out)),
                false => self.into::<u32>(needles.len(), |out| search.write_to(out)),
            })
        })
    }

    pub(super) fn sets(&self, op: SetOp, order: &Order) -> Result<Results<B>> {
        let ([a, b], device) = (self.take()?, self.device);
        with_dtype!(a.dtype, K => {
            let (a, b) = (a.typed::<K>()?, b.typed::<K>()?);
            let names = ["a set operation", "a set operation by an order"];
            self.check(names, &[("the first array", &a), ("the second array", &b)], order)?;
            let set = match op {
                SetOp::Union => device.union(&a, &b),
                SetOp::Intersection => device.intersection(&a, &b),
                SetOp::Difference => device.difference(&a, &b),
                SetOp::SymmetricDifference => device.symmetric_difference(&a, &b),
            };
            let found = ordered!(set, order, plain, K, set => set.run()?);
            Ok(Results::counted(vec![found.values.into()], found.count))
        })
    }

    pub(super) fn co_ranks(&self, order: SortOrder) -> Result<Results<B>> {
        let ([a, b, ranks], device) = (self.take()?, self.device);
        let limit = a.len().saturating_add(b.len()).saturating_add(1);
        with_index!(ranks, at => check_indices(device, "co_ranks", &at, limit))?;
        let ranks = &widened(device, ranks)?;
        with_dtype!(a.dtype, K => {
            let (a, b) = (a.typed::<K>()?, b.typed::<K>()?);
            self.check(["co_ranks"; 2], &[("the first array", &a), ("the second array", &b)], &order.into())?;
            // None is negative, so signed ones are what they are as unsigned ones.
            with_words!(ranks.dtype, P => {
                let ranks = bits::<B, P>(ranks)?;
                self.into(ranks.len(), |out| device.co_ranks(&a, &b, &ranks).order(order).write_to(out))
            })
        })
    }

    pub(super) fn is_sorted(&self, order: &Order) -> Result<Results<B>> {
        let [keys] = self.take()?;
        if let Order::Own(func) = order {
            single(func)?;
        }
        with_dtype!(keys.dtype, K => {
            let keys = keys.typed::<K>()?;
            ordered!(self.device.is_sorted(&keys), order, SortBy::clone, K, sorted => sorted.run().map(Results::from))
        })
    }
}
