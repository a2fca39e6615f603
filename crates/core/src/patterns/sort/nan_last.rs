//! Keys whose NaN come after all numbers.

use super::{SortBy, SortOrder};
use crate::backend::{Backend, Run};
use crate::buffer::Buffer;
use crate::element::{Element, Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Elements, Input, Narrow, Source, Values};
use crate::ir::graph;
use crate::ir::{Expr, Traced, TracedValue, select};
use crate::patterns::{Map as _, MapTask};
use core::marker::PhantomData;

/// Orders that may have NaN last.
pub trait NanOrder {
    /// Whether NaN come after all numbers.
    #[doc(hidden)]
    fn nan_last_mut(&mut self) -> &mut bool;
}

impl NanOrder for SortBy {
    fn nan_last_mut(&mut self) -> &mut bool {
        &mut self.nan_last
    }
}

/// Keys as they are sorted, and how. Where NaN are to be last, keys are compared in ascending order: all NaN are the canonical one, which that has last, and
/// for a descending order numbers are negated.
#[derive(Debug)]
pub(in crate::patterns) struct OrderedKeys<'a, B, I> {
    keys: &'a I,
    /// Comparison of the keys.
    pub(in crate::patterns) by: SortBy,
    /// The order with NaN last that was asked for.
    nan_last: Option<SortOrder>,
    of: PhantomData<B>,
}

impl<'a, B: Backend, I: Elements<B>> OrderedKeys<'a, B, I> {
    pub(in crate::patterns) fn new(keys: &'a I, by: &SortBy) -> Result<Self> {
        if by.nan_last && by.bits.is_some() {
            return Err(Error::InvalidArgument { what: "bits", reason: "NaN are put last among whole keys".to_owned() });
        }
        // Integers have none.
        if by.nan_last && I::Element::DTYPE.ty().is_float() {
            return Ok(Self { keys, by: SortOrder::Ascending.into(), nan_last: Some(by.order), of: PhantomData });
        }
        Ok(Self { keys, by: by.clone(), nan_last: None, of: PhantomData })
    }

    /// Gives sorted keys their signs back.
    pub(in crate::patterns) fn restore(&self, device: &B, sorted: &Buffer<B, I::Element>) -> Result<()>
    where
        B: Run<MapTask>,
    {
        if self.nan_last != Some(SortOrder::Descending) {
            return Ok(());
        }
        device.map_into(sorted, |x| of_float(x, |x| -x, |x| -x).store_as::<I::Element>(), sorted)
    }
}

impl<B: Run<MapTask>, K: Element> OrderedKeys<'_, B, &Buffer<B, K>> {
    /// Stores keys as they are compared, where they lie.
    pub(super) fn prepare_in_place(&self, device: &B) -> Result<()> {
        let Some(order) = self.nan_last else { return Ok(()) };
        let keys = *self.keys;
        device.map_into(keys, |x| compared(x, order).store_as::<K>(), keys)
    }
}

/// A function of a float; integers stay.
fn of_float<T: Scalar>(x: Expr<T>, narrow: impl Fn(Expr<f32>) -> Expr<f32>, wide: impl Fn(Expr<f64>) -> Expr<f64>) -> Expr<T> {
    match T::TY {
        Ty::F32 => narrow(x.same_as()).same_as(),
        Ty::F64 => wide(x.same_as()).same_as(),
        _ => x,
    }
}

/// A key that is compared in ascending order.
fn compared<T: Scalar>(x: Expr<T>, order: SortOrder) -> Expr<T> {
    let descending = order == SortOrder::Descending;
    // Chosen, and not only passed on: keys that are passed on keep their bits.
    of_float(
        x,
        |x| select(x.is_nan(), f32::NAN, if descending { -x } else { x }),
        |x| select(x.is_nan(), f64::NAN, if descending { -x } else { x }),
    )
}

impl<B: Backend, I: Elements<B>> Source for OrderedKeys<'_, B, I> {
    type Exprs = Narrow<I::Element>;

    fn exprs(&self, next: &mut u16) -> Narrow<I::Element> {
        let mut values: Vec<TracedValue> = Vec::with_capacity(1);
        I::out(self.keys.exprs(next)).push_values(&mut values);
        let from = <I::Out as Traced>::types();
        let value = graph::with(|g| match (values.first(), from.first()) {
            (Some(value), Some(&ty)) => {
                let id = g.id(value.0, ty);
                g.cast(id, <I::Element as Element>::Reg::TY)
            }
            _ => g.constant(<I::Element as Element>::Reg::TY, 0),
        });
        let key = Expr::<<I::Element as Element>::Reg>::from_value(value);
        self.nan_last.map_or(key, |order| compared(key, order)).store_as()
    }
}

impl<B: Backend, I: Elements<B>> Input<B> for OrderedKeys<'_, B, I> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.keys.collect(c)
    }
}

impl<B: Backend, I: Elements<B>> Values<B> for OrderedKeys<'_, B, I> {
    type Out = Narrow<I::Element>;

    fn out(x: Narrow<I::Element>) -> Narrow<I::Element> {
        x
    }

    fn plain(&self) -> Option<&Buffer<B, I::Element>> {
        if self.nan_last.is_some() { None } else { self.keys.plain() }
    }
}
