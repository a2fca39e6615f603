//! Searches by a comparator.

use super::call::traced;
use super::found::{End, search};
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::Input;
use crate::ir::Expr;
use crate::patterns::before::Elsewhere;
use crate::patterns::map::same;
use crate::patterns::operand::Operand;
use crate::patterns::select::Count;
use crate::patterns::sort::{By, SortKeys};
use crate::patterns::{MapTask, SearchCall, SearchDomain, SearchKind, SortOrder};

impl<B, I, J, T, F> SearchDomain<B, I, J> for By<F>
where
    B: Run<MapTask>,
    T: Scalar,
    I: SortKeys<B, Element: Element<Reg = T>> + Input<B, Exprs = Expr<T>>,
    J: SortKeys<B, Element = I::Element> + Input<B, Exprs = Expr<T>>,
    F: Fn(Expr<T>, Expr<T>) -> Expr<bool>,
{
    fn search<C: Count>(call: &SearchCall<'_, B, I, J, Self>, memory: impl FnOnce(u64) -> Result<Buffer<B, C>>) -> Result<Buffer<B, C>> {
        let device = call.device;
        let sorted = Elsewhere::new(device, "search", &call.sorted, same::<T>)?;
        let needles = Operand::<B, T>::traced(device, "search", &call.needles, same)?;
        let f = &call.domain.0;
        let before = traced(|a, b| if call.order == SortOrder::Descending { f(b, a) } else { f(a, b) })?;
        let ends: &[End] = match call.kind {
            SearchKind::Lower => &[End::Lower],
            SearchKind::Upper => &[End::Upper],
            SearchKind::Equal => &[End::Lower, End::Upper],
        };
        let out = memory(needles.len()?)?;
        search(device, &sorted, &needles, &before, ends, &out)?;
        Ok(out)
    }
}
