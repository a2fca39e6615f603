//! Searches by a comparator.

use super::call::order;
use super::found::{End, search};
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::Numbers;
use crate::ir::Expr;
use crate::patterns::before::Elsewhere;
use crate::patterns::map::same;
use crate::patterns::operand::Operand;
use crate::patterns::select::Count;
use crate::patterns::sort::{By, check_nan};
use crate::patterns::{MapTask, SearchCall, SearchDomain, SearchKind};

impl<B, I, J, T, F> SearchDomain<B, I, J> for By<F>
where
    B: Run<MapTask>,
    T: Scalar,
    I: Numbers<B, Element: Element<Reg = T>, Exprs = Expr<T>>,
    J: Numbers<B, Element = I::Element, Exprs = Expr<T>>,
    F: Fn(Expr<T>, Expr<T>) -> Expr<bool>,
{
    fn search<C: Count>(call: &SearchCall<'_, B, I, J, Self>, out: &Buffer<B, C>) -> Result<()> {
        let device = call.device;
        let sorted = Elsewhere::new(device, "search", &call.sorted, same::<T>)?;
        let needles = Operand::<B, T>::traced(device, "search", &call.needles, same)?;
        check_nan(call.by.nan_last)?;
        let before = order(call.by.order, &call.domain.0)?;
        let ends: &[End] = match call.kind {
            SearchKind::Lower => &[End::Lower],
            SearchKind::Upper => &[End::Upper],
            SearchKind::Equal => &[End::Lower, End::Upper],
        };
        search(device, &sorted, &needles, &before, ends, out)
    }
}
