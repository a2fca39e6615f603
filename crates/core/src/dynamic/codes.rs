//! Codecs whose format is known at run time.

use super::DynBuffer;
use super::call::{Job, Results};
use crate::buffer::Buffer;
use crate::element::{DType, Element, Float};
use crate::error::{Error, Result};
use crate::ir::{Expr, trace};
use crate::minifloat::MiniFloat;
use crate::patterns::{Map as _, Patterns};
use crate::random::Random;

impl<B: Patterns> Job<'_, B> {
    pub(super) fn encode(&self, format: MiniFloat, random: Option<Random>) -> Result<Results<B>> {
        let [x] = self.take()?;
        match x.dtype {
            DType::F16 => self.encoded::<half::f16>(x, format, random),
            DType::F32 => self.encoded::<f32>(x, format, random),
            DType::F64 => self.encoded::<f64>(x, format, random),
            other => Err(Error::InvalidArgument { what: "values to encode", reason: format!("they are {other}, not floats") }),
        }
    }

    fn encoded<T: Element<Reg: Float>>(&self, x: &DynBuffer<B>, format: MiniFloat, random: Option<Random>) -> Result<Results<B>> {
        let typed = x.typed::<T>()?;
        if format.bits() > 8 {
            self.into::<u16>(x.len, |out| self.codes(&typed, format, random, out))
        } else {
            self.into::<u8>(x.len, |out| self.codes(&typed, format, random, out))
        }
    }

    fn codes<T, C>(&self, x: &Buffer<B, T>, format: MiniFloat, random: Option<Random>, out: &Buffer<B, C>) -> Result<()>
    where
        T: Element<Reg: Float>,
        C: Element<Reg = u32>,
    {
        match random {
            None => self.device.map_into(x, |x| format.encode(x).store_as::<C>(), out),
            Some(random) => {
                let words = random.uniform::<u32>(x.len());
                self.device.map_into((x, words), |(x, word)| format.encode_stochastic(x, word).store_as::<C>(), out)
            }
        }
    }

    pub(super) fn decode(&self, format: MiniFloat, dtype: DType) -> Result<Results<B>> {
        let [codes] = self.take()?;
        self.map(&trace(|code: Expr<u32>| format.decode(code))?, codes.len, dtype)
    }
}
