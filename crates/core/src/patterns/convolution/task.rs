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
/// The most terms of a line's results.
pub(super) const MAX_LINE_TERMS: u64 = 384;
/// Rows and columns of results of a group of threads, for sums of 32 bits and of 64.
const TILES: [[u64; 2]; 2] = [[16, 128], [8, 128]];

/// Convolutions of planes, as data: a sum over the channels of a group and the taps of a filter, plane by plane and row by row, `filter(t) * image(o + t -
/// before)`, in blocks, each a chain of fused multiply-adds that starts with +0; blocks are added left to right. It is a product with one row for each filter
/// of a group, whose right matrix is the windows. Elements of A are those of filters; elements of B those of images, as they lie.
#[derive(Clone, Debug)]
pub struct ConvolutionTask {
    /// The product, but for its extents and where elements of B are.
    pub product: ProductTask,
    /// Planes of a channel, rows and columns of a plane. Strides, dilations and spacings are 1, there are at most 33 taps along rows and columns, or 384 terms
    /// of a line, which is one row with one row of taps, and no window begins inside.
    pub axes: [WindowAxis; 3],
    /// The elements beyond a plane.
    pub border: Border,
    /// Images.
    pub images: u64,
    /// Groups of channels.
    pub groups: u64,
    /// Channels of a group, of the images and of the results, which are its filters.
    pub channels: [u64; 2],
}

impl ConvolutionTask {
    /// Filters of all groups.
    #[must_use]
    pub fn filters(&self) -> u64 {
        self.groups * self.channels[1]
    }

    /// Terms of a result.
    #[must_use]
    pub fn terms(&self) -> u64 {
        self.axes.iter().fold(self.channels[0], |a, axis| a.saturating_mul(axis.taps))
    }

    /// Indices that filters, images and results have.
    #[must_use]
    pub fn extents(&self) -> [u64; 3] {
        let all = |of: fn(&WindowAxis) -> u64| self.axes.iter().fold(1, |a: u64, axis| a.saturating_mul(of(axis)));
        let [inputs, outputs] = self.channels.map(|n| self.images * self.groups * n);
        [self.filters() * self.terms(), inputs * all(|axis| axis.n), outputs * all(|axis| axis.out)]
    }

    /// Tiles of 32-bit results of images of one channel by so many filters.
    pub(super) fn tiles([z, y, x]: &[WindowAxis; 3], filters: u64) -> u64 {
        let [rows, columns] = TILES[0];
        filters.saturating_mul(z.out).saturating_mul(y.out.div_ceil(rows)).saturating_mul(x.out.div_ceil(columns))
    }

    /// Whether images are single rows.
    pub(super) fn is_line(axes: &[WindowAxis; 3]) -> bool {
        axes[..2].iter().all(|axis| (axis.n, axis.taps, axis.out) == (1, 1, 1))
    }
}

impl<B: Launcher> Planned<B> for ConvolutionTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let Self { product, axes: [z, y, x], .. } = self;
        let extents = self.extents();
        for extent in extents {
            device.tuning().check_numbered("elements of planes", extent)?;
        }
        let word = |value: u64| {
            u32::try_from(value).map_err(|_| Error::TooLarge { what: "elements of an axis", requested: value, limit: u32::MAX.into() })
        };
        let ty = product.ty();
        let vectors = x.out.is_multiple_of(4);
        let [rows, columns] = TILES[ty.words() - 1];
        let is_line = Self::is_line(&self.axes);
        let [height, width] = if is_line { [x.out.div_ceil(columns), columns] } else { [y.out, x.out] };
        // CUDA's weights, and the elements that a tile reads, are rows of whole vectors, of which eight neighbours are two kinds, or four of 64 bits.
        let unit = 4 / ty.words() as u64;
        let of_weights = x.taps.next_multiple_of(unit);
        let lane_pitch = (columns + of_weights).div_ceil(8).max(if ty == Ty::F64 { 22 } else { 20 });
        let params = ConvolveParams {
            image_width: word(x.n)?,
            image_height: word(y.n)?,
            width: word(x.out)?,
            height: word(height)?,
            taps: word(x.taps)? | word(y.taps)? << 16,
            before_x: word(x.before.unsigned_abs())?,
            before_y: word(y.before.unsigned_abs())?,
            border: match self.border {
                Border::Clamp => 0,
                Border::Zero => 1,
                Border::Mirror => 2,
                Border::Wrap => 3,
            },
            block: word(product.block())?,
            filters: word(self.filters())?,
            outs: word(self.channels[1])?,
            channels: word(self.channels[0])?,
            depth: word(z.n)?,
            out_depth: word(z.out)?,
            taps_z: word(z.taps)?,
            before_z: word(z.before.unsigned_abs())?,
            taps_y: word(y.taps)?,
            form: vectors.into(),
        };
        let choice = match ty {
            Ty::F32 => 0,
            Ty::F64 => 1,
            _ => 2,
        };
        // PTX has entries for the rows of taps that most filters have; WGSL is a text for each.
        let several = self.terms() > product.block();
        let is_sliced = self.channels[0] * z.taps > 1;
        let kind = match (ty, x.taps) {
            _ if is_line => 3 + choice,
            (Ty::F32, 3) if is_sliced && !several => 9,
            _ if is_sliced => 6 + choice,
            (Ty::F32, 3 | 5 | 7 | 9) if !several => 10 + (x.taps as u32 - 3) / 2,
            _ => choice,
        };
        let groups = self.images * self.filters() * z.out * height.div_ceil(rows) * width.div_ceil(columns);
        let shared_bytes = 4 * ty.words() as u64 * (y.taps * of_weights + (rows + y.taps - 1) * 8 * lane_pitch);
        let choices = [
            ("type", choice),
            ("kind", kind),
            ("several", several.into()),
            ("taps", word(x.taps)?),
            ("line", is_line.into()),
            ("sliced", is_sliced.into()),
        ];
        let operators = Operators::Product { a: &product.a, b: &product.b, finish: &product.finish, extents, packing: None };
        let spec = KernelSpec::new(&CONVOLVE, &params, &choices, &[]).with(operators, product.numerics, leaves, outs);
        let of_all = |_| groups;
        device.launch(&spec.writing_single(!vectors), Work { results: Some(extents[2]), shared_bytes, ..Work::whole(extents[2], &of_all) })
    }
}
