//! Selections, runs and groups.

use super::call::{Job, Results};
use super::order::{bits, of_bits, same_length, with_words};
use super::{inlined, single, with_dtype};
use crate::buffer::{DeviceScalar, Memory as _};
use crate::element::Ty;
use crate::error::{Error, Result};
use crate::input::{Source as _, index};
use crate::ir::graph::Value;
use crate::ir::{Expr, Func, select};
use crate::patterns::{Atomics as _, Groups as _, Map as _, Patterns, RunLengths as _, Select as _};

impl<B: Patterns> Job<'_, B> {
    pub(super) fn select(&self, keep: &Func, indices: bool) -> Result<Results<B>> {
        single(keep)?;
        let (x, inputs) = (self.first()?, self.operands(keep));
        with_dtype!(x.dtype, T => {
            let x = x.typed::<T>()?;
            let kept = self.device.select((inputs, &x, self.index()), |(args, ..)| inlined::<bool>(keep, &args));
            if indices {
                let kept = kept.finish(|(_, x, i)| (x.store_as::<T>(), Expr::<u32>::from_value(i[0]))).run()?;
                return Ok(Results::counted(vec![kept.values.0.into(), kept.values.1.into()], kept.count));
            }
            let kept = kept.finish(|(_, x, _)| x.store_as::<T>()).run()?;
            Ok(Results::counted(vec![kept.values.into()], kept.count))
        })
    }

    pub(super) fn partition(&self, first: &Func, second: Option<&Func>) -> Result<Results<B>> {
        let (x, device) = (self.first()?, self.device);
        single(first)?;
        second.map_or(Ok(Ty::Bool), single)?;
        with_dtype!(x.dtype, T => {
            let (x, out) = (x.typed::<T>()?, device.buffer::<T>(x.len)?);
            let counts = device.buffer::<u32>(if second.is_some() { 2 } else { 1 })?;
            if let Some(second) = second {
                let part = |one: &[Value], two: &[Value]| select(inlined::<bool>(first, one), 0, select(inlined::<bool>(second, two), 1, 2));
                let parts = device.partition_three((self.operands(first), self.operands(second), &x), |(one, two, _)| part(&one, &two));
                parts.finish(|(.., x)| x.store_as::<T>()).write_to((&out, &counts))?;
            } else {
                let parts = device.partition((self.operands(first), &x), |(args, _)| inlined::<bool>(first, &args));
                parts.finish(|(_, x)| x.store_as::<T>()).write_to((&out, &counts))?;
            }
            Ok([out.into(), counts.into()].into())
        })
    }

    pub(super) fn unique(&self) -> Result<Results<B>> {
        let keys = self.first()?;
        let [_, values] = self.inputs else {
            self.take::<1>()?;
            return with_dtype!(keys.dtype, T => {
                let kept = self.device.unique(&keys.typed::<T>()?).run()?;
                Ok(Results::counted(vec![kept.values.into()], kept.count))
            });
        };
        same_length(keys, values)?;
        with_dtype!(keys.dtype, K => {
            let keys = keys.typed::<K>()?;
            if values.dtype.size_bytes() >= 4 {
                return with_words!(values.dtype, V => {
                    let found = self.device.unique(&bits::<B, V>(values)?).by_key(&keys).run()?;
                    Ok(Results::counted(vec![found.values.0.into(), of_bits(found.values.1, values.dtype)], found.count))
                });
            }
            // Narrower elements are fetched, since a selection does not keep the bits of every f16. What lies after the places is undefined: the
            // first element stands there.
            let found = self.device.unique(&self.device.iota::<u32>(keys.len(), 0, 1)?).by_key(&keys).run()?;
            let (places, count) = (found.values.1, found.count);
            let at = self.device.map((&places, index(), &count), |(at, i, n): (Expr<u32>, Expr<u32>, Expr<u32>)| select(i.lt(n), at, 0))?;
            Ok(Results::counted(vec![found.values.0.into(), self.fetched(values, &at.into())?], count))
        })
    }

    pub(super) fn run_length_encode(&self) -> Result<Results<B>> {
        let [x] = self.take()?;
        with_dtype!(x.dtype, T => {
            let runs = self.device.run_length_encode(&x.typed::<T>()?).run()?;
            Ok(Results::counted(vec![runs.values.0.into(), runs.values.1.into()], runs.count))
        })
    }

    pub(super) fn run_length_decode(&self) -> Result<Results<B>> {
        let ([values, lengths], device) = (self.take()?, self.device);
        if lengths.len != values.len {
            return Err(Error::LengthMismatch { what: "lengths", expected: values.len, found: lengths.len });
        }
        let too_large = |what, requested| Error::TooLarge { what, requested, limit: u32::MAX.into() };
        let runs = u32::try_from(values.len).map_err(|_| too_large("runs to decode", values.len))?;
        let size = lengths.dtype.size_bytes() as usize;
        let invalid = |reason| Err(Error::InvalidArgument { what: "lengths", reason });
        if lengths.dtype.ty().is_float() {
            return invalid(format!("they are integers, not {}", lengths.dtype));
        }
        // The host has to know how many elements there will be; the lengths are read for it.
        let signed = matches!(lengths.dtype.ty(), Ty::I32 | Ty::I64);
        let (mut words, mut total) = (Vec::new(), 0u64);
        for (k, bytes) in lengths.read_blocking()?.chunks_exact(size).enumerate() {
            if signed && bytes[size - 1] >> 7 == 1 {
                return invalid(format!("that at position {k} is below zero"));
            }
            let length = bytes.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b));
            total = total.saturating_add(length);
            words.push(length as u32);
        }
        if total > u32::MAX.into() {
            return Err(too_large("elements of all runs", total));
        }
        let (lengths, runs): (_, DeviceScalar<B, u32>) = (device.upload(&words)?, device.upload_scalar(runs)?);
        if values.dtype.size_bytes() >= 4 {
            return with_words!(values.dtype, V => {
                let found = device.run_length_decode(&bits::<B, V>(values)?, &lengths, total).length(&runs).run()?;
                Ok(of_bits(found, values.dtype).into())
            });
        }
        // Narrower elements are fetched, since what is read into an operator does not keep the bits of every f16.
        let places = device.run_length_decode(&device.iota::<u32>(values.len, 0, 1)?, &lengths, total).length(&runs).run()?;
        self.fetched(values, &places.into()).map(Results::from)
    }

    pub(super) fn ballot(&self, holds: &Func, width: u64) -> Result<Results<B>> {
        self.take::<1>()?;
        single(holds)?;
        let inputs = self.operands(holds);
        let bits = self.device.group_ballot(inputs.map(|args| inlined::<bool>(holds, &args)), width).run()?;
        Ok(super::DynBuffer::from(bits).into())
    }

    pub(super) fn matched(&self, width: u64) -> Result<Results<B>> {
        let [x] = self.take()?;
        with_dtype!(x.dtype, T => {
            let (first, count) = self.device.group_match(&x.typed::<T>()?, width).run()?;
            Ok([first.into(), count.into()].into())
        })
    }

    pub(super) fn tickets(&self) -> Result<Results<B>> {
        let [x] = self.take()?;
        with_dtype!(x.dtype, T => {
            let (ticket, count) = self.device.tickets(&x.typed::<T>()?).run()?;
            Ok([ticket.into(), count.into()].into())
        })
    }
}
