//! Convolutions of images by filters.

use super::call::Job;
use super::{DynBuffer, Results};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::patterns::product::Factor;
use crate::patterns::{Border, Convolutions as _, FftScalar, Grid, Patterns, ProductOrder, grid};

/// A convolution of two inputs of one type: images `[batch, channels, ...]` by filters `[filters, channels, ...]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Convolution {
    /// Axes of an image.
    pub image: Vec<u64>,
    /// Images, and channels of each.
    pub images: [u64; 2],
    /// Axes of a filter.
    pub filter: Vec<u64>,
    /// Filters, and the channels that each looks at.
    pub filters: [u64; 2],
    /// From a window to the next, a number to each axis; 1 without.
    pub stride: Option<Vec<u64>>,
    /// From a tap to the next likewise.
    pub dilation: Option<Vec<u64>>,
    /// Elements beyond the image.
    pub padding: Padding,
    /// Values of these.
    pub border: Border,
    /// Groups of channels and filters.
    pub groups: u64,
    /// Flag: filters are flipped.
    pub flipped: bool,
    /// Flag: the transpose.
    pub transposed: bool,
    /// The order of evaluation.
    pub order: ProductOrder,
    /// Flag: computed by transforms, with filters flipped and the full result unless padding says otherwise.
    pub fourier: bool,
}

/// Elements beyond an image that windows reach.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Padding {
    /// As the call has it that is not told.
    Default,
    /// Elements at either end of each axis.
    By(Vec<u64>),
    /// As many as let the result have the image's extents.
    Same,
}

/// Applies what a convolution says to a typed call.
macro_rules! modified {
    ($call:expr, $of:expr) => {{
        let (call, of) = ($call, $of);
        let call = call.border(of.border).groups(of.groups).order(of.order);
        let call = if let Some(stride) = &of.stride { call.stride(stride) } else { call };
        let call = if let Some(dilation) = &of.dilation { call.dilation(dilation) } else { call };
        let call = match &of.padding {
            Padding::Default => call,
            Padding::By(padding) => call.padding(padding),
            Padding::Same => call.same(),
        };
        let call = if of.flipped { call.flipped() } else { call };
        if of.transposed { call.transposed() } else { call }
    }};
}

impl Convolution {
    fn image_of<I>(&self, x: I) -> Grid<I> {
        grid(x, &self.image).channels(self.images[1]).batch(self.images[0])
    }

    fn filter_of<I>(&self, x: I) -> Grid<I> {
        grid(x, &self.filter).channels(self.filters[1]).batch(self.filters[0])
    }

    /// The shape of the result: images, filters, and the axes of one.
    ///
    /// # Errors
    /// Operands and modifiers that do not fit, as the typed call.
    pub fn shape<B: Patterns>(&self, device: &B) -> Result<Vec<u64>> {
        let extents = if self.fourier { self.fourier_extents()? } else { self.extents(device)? };
        let filters = if self.fourier {
            self.images[1]
        } else if self.transposed {
            self.filters[1].saturating_mul(self.groups)
        } else {
            self.filters[0]
        };
        Ok([self.images[0], filters].into_iter().chain(extents).collect())
    }

    fn extents<B: Patterns>(&self, device: &B) -> Result<Vec<u64>> {
        // Operands without elements: shapes alone are looked at.
        let none: Buffer<B, f32> = device.buffer(0)?;
        modified!(device.convolve(self.image_of(&none), self.filter_of(&none)), self).extents()
    }

    fn fourier_extents(&self) -> Result<Vec<u64>> {
        let plain = self.stride.is_none()
            && self.dilation.is_none()
            && self.border == Border::Zero
            && self.groups == 1
            && !self.transposed
            && self.order == ProductOrder::Blocks;
        if !plain || matches!(self.padding, Padding::By(_)) {
            let reason =
                "by transforms there are no strides, dilations, borders, groups and numbers of padding: all elements are kept, or `same`"
                    .to_owned();
            return Err(Error::InvalidArgument { what: "convolution", reason });
        }
        let full = |(&n, &taps): (&u64, &u64)| (n + taps).saturating_sub(1);
        Ok(match self.padding {
            Padding::Same => self.image.clone(),
            _ => self.image.iter().zip(&self.filter).map(full).collect(),
        })
    }
}

impl<B: Patterns> Job<'_, B> {
    pub(super) fn convolution(&self, of: &Convolution) -> Result<Results<B>> {
        let [a, b] = self.take()?;
        match (a.dtype, b.dtype, of.fourier) {
            (DType::F32, DType::F32, true) => self.fourier_convolution::<f32>(of, [a, b]),
            (DType::F64, DType::F64, true) => self.fourier_convolution::<f64>(of, [a, b]),
            (DType::F32, DType::F32, false) => self.convolution_of::<f32>(of, [a, b]),
            (DType::F64, DType::F64, false) => self.convolution_of::<f64>(of, [a, b]),
            (DType::F16, DType::F16, false) => self.convolution_of::<half::f16>(of, [a, b]),
            (DType::I8, DType::I8, false) => self.convolution_of::<i8>(of, [a, b]),
            (DType::U8, DType::U8, false) => self.convolution_of::<u8>(of, [a, b]),
            (DType::I16, DType::I16, false) => self.convolution_of::<i16>(of, [a, b]),
            (DType::U16, DType::U16, false) => self.convolution_of::<u16>(of, [a, b]),
            (DType::I32, DType::I32, false) => self.convolution_of::<i32>(of, [a, b]),
            (DType::U32, DType::U32, false) => self.convolution_of::<u32>(of, [a, b]),
            (a, b, by_transforms) => {
                let types = if by_transforms { "f32 or f64" } else { "one type, of at most 32 bits or f64" };
                let reason = format!("{a} and {b} are not convolved: both are of {types}");
                Err(Error::InvalidArgument { what: "image and filter", reason })
            }
        }
    }

    fn convolution_of<T: Element<Reg: Factor>>(&self, of: &Convolution, [a, b]: [&DynBuffer<B>; 2]) -> Result<Results<B>> {
        let (a, b) = (a.typed::<T>()?, b.typed::<T>()?);
        let elements = of.shape(self.device)?.iter().fold(1, |all: u64, &n| all.saturating_mul(n));
        let call = modified!(self.device.convolve(of.image_of(&a), of.filter_of(&b)), of);
        self.into::<T::Reg>(elements, |out| call.write_to(out))
    }

    fn fourier_convolution<T: FftScalar + Factor>(&self, of: &Convolution, [a, b]: [&DynBuffer<B>; 2]) -> Result<Results<B>> {
        let (a, b) = (a.typed::<T>()?, b.typed::<T>()?);
        let elements = of.shape(self.device)?.iter().fold(1, |all: u64, &n| all.saturating_mul(n));
        let call = self.device.fft_convolve(of.image_of(&a), of.filter_of(&b));
        let call = if of.padding == Padding::Same { call.same() } else { call };
        self.into::<T>(elements, |out| call.write_to(out))
    }
}
