//! Scans of arrays that come in parts.

use super::call::Job;
use super::{DynBuffer, Operator, cast, with_register};
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Source as _, index64};
use crate::ir::{Expr, select};
use crate::ops::Combine;
use crate::patterns::plan::SCAN_TILE;
use crate::patterns::{Map as _, MapTask, Scan as _, ScanTask};

/// Prefixes of a line that comes in parts, the same bits as of the whole: of every part but the last one whole tiles are given, and the fold of
/// all tiles before goes in front of it as a tile whose total it is.
#[derive(Debug)]
pub struct ScanTotal<B: Run<ScanTask> + Run<MapTask>> {
    device: B,
    op: Operator,
    exclusive: bool,
    /// All elements so far combined, of the operator's own type.
    fold: Option<DynBuffer<B>>,
    /// Whether the last part has been given.
    ended: bool,
}

impl<B: Run<ScanTask> + Run<MapTask>> ScanTotal<B> {
    /// The elements of every part but the last are a multiple of this.
    pub const STEP: u64 = SCAN_TILE;

    /// Of nothing yet.
    #[must_use]
    pub fn new(device: &B, op: &Operator, exclusive: bool) -> Self {
        Self { device: device.clone(), op: op.clone(), exclusive, fold: None, ended: false }
    }

    /// The prefixes of the part that follows, of [`Operator::result`]'s type. An error leaves everything as it was, so that a smaller part may be
    /// given.
    ///
    /// # Errors
    /// As [`Call::run`](super::Call::run); [`Error::InvalidArgument`] behind a part that does not end with a tile.
    pub fn next(&mut self, x: &DynBuffer<B>) -> Result<DynBuffer<B>> {
        if self.ended {
            let reason = format!("the part before it was no multiple of {SCAN_TILE} elements");
            return Err(Error::InvalidArgument { what: "part of a scan", reason });
        }
        let load = self.op.load(x.dtype())?;
        let ty = super::single(&load)?;
        let prepared = self.op.prepare(ty, x.dtype())?;
        if self.exclusive {
            prepared.require_identity("exclusive scan")?;
        }
        if x.is_empty() {
            return DynBuffer::new(&self.device, self.op.result(x.dtype()), 0);
        }
        let (prefixes, fold): (DynBuffer<B>, DynBuffer<B>) = with_register!(ty, T => {
            let fold = self.fold.as_ref().map(DynBuffer::typed::<T>).transpose()?;
            let lead = if fold.is_some() { SCAN_TILE } else { 0 };
            let all = self.device.buffer::<T>(lead + x.len())?;
            let part = all.slice(lead..)?.into();
            Job { device: &self.device, inputs: &[x], out: Some(&part), start: 0 }.map(&load, x.len(), part.dtype())?;
            let scanned = match &fold {
                Some(fold) => self.behind(fold, &all, &prepared)?,
                None => self.device.scan(&all, &prepared).run()?,
            };
            drop(all);
            let last = self.device.buffer::<T>(1)?;
            self.device.copy_into(&scanned.slice(lead + x.len() - 1..)?, &last)?;
            (self.placed(&scanned, lead, &prepared)?.into(), last.into())
        });
        let result = cast(&self.device, &prefixes, self.op.result(x.dtype()))?;
        (self.fold, self.ended) = (Some(fold), !x.len().is_multiple_of(SCAN_TILE));
        Ok(result)
    }

    /// Prefixes behind a tile that holds the fold alone: its other elements count for nothing.
    fn behind<T: Element<Reg = T> + Scalar>(&self, fold: &Buffer<B, T>, all: &Buffer<B, T>, op: &impl Combine<T>) -> Result<Buffer<B, T>> {
        self.device.copy_into(fold, &all.slice(..1)?)?;
        let counts = |i: Expr<u64>| select(i.eq(0), 1u32, select(i.lt(SCAN_TILE), 0u32, 1u32));
        self.device
            .scan_by((all, index64()).map(|(x, i)| (x, counts(i))), |(x, of_x), (y, of_y)| {
                (select(of_y.eq(0), x, select(of_x.eq(0), y, op.combine(x, y))), of_x | of_y)
            })
            .finish(|(x, _)| x)
            .run()
    }

    /// The prefixes of a part that begins at element `lead`, each at its element, or exclusive behind it.
    fn placed<T: Element<Reg = T> + Scalar>(&self, scanned: &Buffer<B, T>, lead: u64, op: &impl Combine<T>) -> Result<Buffer<B, T>> {
        let n = scanned.len() - lead;
        match (self.exclusive, lead) {
            (false, _) => scanned.slice(lead..),
            (true, 0) => {
                let out = self.device.buffer::<T>(n)?;
                out.slice(..1)?.write(&[op.identity()])?;
                self.device.copy_into(&scanned.slice(..n - 1)?, &out.slice(1..)?)?;
                Ok(out)
            }
            (true, _) => scanned.slice(lead - 1..lead - 1 + n),
        }
    }
}
