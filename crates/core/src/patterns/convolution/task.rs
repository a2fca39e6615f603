//! Convolutions of planes as data, and the launch that computes them.

use super::geometry::WindowAxis;
use crate::backend::{Leaf, Out};
use crate::element::Ty;
use crate::error::{Error, Result};
use crate::launch::kernels::{CONVOLVE, ConvolveParams};
use crate::launch::{KernelSpec, Launcher, Operators, Planned, Work};
use crate::patterns::{Border, ProductTask};

/// The most taps along an axis of a filter that the kernel has room for.
pub(super) const MAX_TAPS: u64 = 33;
/// Rows and columns of results of a group of threads, for sums of 32 bits and of 64.
const TILES: [[u64; 2]; 2] = [[16, 128], [8, 128]];

/// Convolutions of planes by a filter each, as data: a sum over the taps row by row, `filter(t) * image(o + t - before)`, in blocks, each a chain of fused
/// multiply-adds that starts with +0; blocks are added left to right. It is a product with one row for each plane, whose right matrix is the windows of the
/// plane. Elements of A are those of filters, which planes take in turn; elements of B those of images, plane by plane.
#[derive(Clone, Debug)]
pub struct ConvolutionTask {
    /// The product, but for where elements of B are.
    pub product: ProductTask,
    /// Rows and columns of a plane. Strides, dilations and spacings are 1, there are at most 33 taps, and no window begins inside.
    pub axes: [WindowAxis; 2],
    /// The elements beyond a plane.
    pub border: Border,
    /// Filters.
    pub filters: u64,
}

impl ConvolutionTask {
    /// Indices that filters, images and results have.
    #[must_use]
    pub fn extents(&self) -> [u64; 3] {
        let [y, x] = &self.axes;
        let planes = self.product.batch;
        [self.filters * y.taps * x.taps, planes * y.n * x.n, planes * y.out * x.out]
    }
}

impl<B: Launcher> Planned<B> for ConvolutionTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let Self { product, axes: [y, x], .. } = self;
        let extents = self.extents();
        for extent in extents {
            device.tuning().check_numbered("elements of planes", extent)?;
        }
        let word = |value: u64| {
            u32::try_from(value).map_err(|_| Error::TooLarge { what: "elements of an axis", requested: value, limit: u32::MAX.into() })
        };
        let ty = product.ty();
        let vectors = x.out.is_multiple_of(4);
        let params = ConvolveParams {
            image_width: word(x.n)?,
            image_height: word(y.n)?,
            width: word(x.out)?,
            height: word(y.out)?,
            taps_x: word(x.taps)?,
            taps_y: word(y.taps)?,
            before_x: word(x.before.unsigned_abs())?,
            before_y: word(y.before.unsigned_abs())?,
            border: match self.border {
                Border::Clamp => 0,
                Border::Zero => 1,
                Border::Mirror => 2,
                Border::Wrap => 3,
            },
            block: word(product.block())?,
            filters: word(self.filters)?,
            form: vectors.into(),
        };
        let choice = match ty {
            Ty::F32 => 0,
            Ty::F64 => 1,
            _ => 2,
        };
        // PTX has entries for the rows of taps that most filters have; WGSL is a text for each.
        let kind = match (ty, x.taps) {
            (Ty::F32, 3 | 5 | 7 | 9) => 3 + (params.taps_x - 3) / 2,
            _ => choice,
        };
        let [rows, columns] = TILES[ty.words() - 1];
        let groups = product.batch * y.out.div_ceil(rows) * x.out.div_ceil(columns);
        // CUDA's weights, and the elements that a tile reads, in rows of whole vectors.
        let line = x.taps.next_multiple_of(4 / ty.words() as u64);
        let pitch = 8 * if ty == Ty::F64 { 22 } else { 20 + u64::from(x.taps > 32) };
        let shared_bytes = 4 * ty.words() as u64 * (y.taps * line + (rows + y.taps - 1) * pitch);
        let choices = [("type", choice), ("kind", kind), ("several", (x.taps * y.taps > product.block()).into()), ("taps", params.taps_x)];
        let operators = Operators::Product { a: &product.a, b: &product.b, finish: &product.finish, extents, packing: None };
        let spec = KernelSpec::new(&CONVOLVE, &params, &choices, &[]).with(operators, product.numerics, leaves, outs);
        let of_all = |_| groups;
        device.launch(&spec.writing_single(!vectors), Work { results: Some(extents[2]), shared_bytes, ..Work::whole(extents[2], &of_all) })
    }
}
