//! Convolutions of several channels by a kernel that finds the elements of windows by steps along their axes.

use super::geometry::{Geometry, WindowAxis};
use crate::backend::{Leaf, Out};
use crate::element::Ty;
use crate::error::{Error, Result};
use crate::ir::Func;
use crate::launch::kernels::{CONVOLVE_LAYER, LayerParams};
use crate::launch::{Code, KernelSpec, Launcher, Operators, Work};
use crate::patterns::ProductTask;
use crate::patterns::product::{THIN, most_terms, turns};
use std::sync::Arc;

/// The most taps of a channel: a window has a bit to each.
pub(super) const MAX_TAPS: u64 = 64;
/// The longest step of an axis, and the most elements that windows begin before an image.
pub(super) const MAX_STEP: u64 = 255;
/// Filters and windows of a group of threads, of CUDA's kernel and of WGSL's.
const TILE: [u64; 2] = [64, 256];
const TILE_WGSL: [u64; 2] = [64, 128];
/// Sums of an invocation there.
const SUMS_WGSL: u32 = 32;
/// Tiles from which on they are not computed in parts, which are added afterwards.
const MIN_TILES: u64 = 48;
/// Bytes of all sums of a tile, and of the terms of two tiles beside them.
const SHARED_BYTES: [u64; 2] = [4 * TILE[0] * TILE[1], 4 * 2 * 8 * (TILE[0] + 4 + TILE[1] + 4) + 4 * MAX_TAPS];

/// Images whose windows are the columns of a product's right matrix, which has a row to each tap of each channel. All around images there are zeros.
#[derive(Clone, Debug)]
pub struct Windows {
    /// An element of the images at its index, over the leaves of the product; zero at 2^32 - 1.
    pub image: Arc<Func>,
    /// Axes of an image. Spacings are 1, strides, dilations and what windows begin before an image at most 255, and taps at most 64 together.
    pub axes: [WindowAxis; 3],
    /// Channels of a group.
    pub channels: u64,
    /// Filters of a group, the rows of a product.
    pub filters: u64,
    /// Groups of channels and filters.
    pub groups: u64,
    /// Images, of all their channels: a product of the batch is a group of an image.
    pub images: u64,
}

impl Windows {
    pub(super) fn new(of: &Geometry, image: Arc<Func>) -> Self {
        let [channels, filters] = of.channels;
        Self { image, axes: of.axes, channels, filters, groups: of.groups, images: of.batch }
    }

    fn of(&self, number: impl Fn(&WindowAxis) -> u64) -> u64 {
        self.axes.iter().fold(1, |all: u64, axis| all.saturating_mul(number(axis)))
    }

    fn tiles(&self, code: Code) -> u64 {
        let [filters, of_tile] = if code == Code::Ptx { TILE } else { TILE_WGSL };
        let windows = self.of(|axis| axis.out).saturating_mul(self.images);
        self.filters.div_ceil(filters).saturating_mul(windows.div_ceil(of_tile)).saturating_mul(self.groups)
    }

    /// Tests whether the kernel computes this product, and no other is faster: few filters, and few tiles of many terms, are the product's.
    pub(in crate::patterns) fn pay<B: Launcher>(&self, product: &ProductTask, device: &B, leaves: &[Leaf<B::Raw>]) -> bool {
        let code = device.code();
        let fits = code == Code::Wgsl || device.tuning().shared_bytes >= SHARED_BYTES.iter().sum();
        let is_kind = code != Code::Rust && product.ty() == Ty::F32 && fits;
        let are_many = self.filters > THIN && (product.k <= product.block() || self.tiles(code) >= MIN_TILES);
        is_kind && are_many && product.k <= most_terms(device, turns(Ty::F32, SUMS_WGSL)) && product.packing(device, leaves).is_none()
    }

    /// Computes the product.
    pub(in crate::patterns) fn drive<B: Launcher>(
        &self,
        product: &ProductTask,
        device: &B,
        leaves: &[Leaf<B::Raw>],
        outs: &[Out<B::Raw>],
    ) -> Result<()> {
        let word = |value: u64| {
            u32::try_from(value).map_err(|_| Error::TooLarge { what: "elements of an axis", requested: value, limit: u32::MAX.into() })
        };
        let [z, y, x] = &self.axes;
        let steps = |axis: &WindowAxis| word(axis.taps | axis.stride << 8 | axis.dilation << 16 | axis.before.unsigned_abs() << 24);
        let windows = self.of(|axis| axis.out);
        let vectors = windows.is_multiple_of(4);
        let params = LayerParams {
            depth: word(z.n)?,
            height: word(y.n)?,
            width: word(x.n)?,
            windows_z: word(z.out)?,
            windows_y: word(y.out)?,
            windows_x: word(x.out)?,
            steps_z: steps(z)?,
            steps_y: steps(y)?,
            steps_x: steps(x)?,
            channels: word(self.channels)?,
            filters: word(self.filters)?,
            channel_groups: word(self.groups)?,
            images: word(self.images)?,
            block: word(product.block())?,
            form: vectors.into(),
        };
        let elements = self.of(|axis| axis.n).saturating_mul(self.channels * self.groups).saturating_mul(self.images);
        let [of_filters, _, results] = product.extents();
        let operators = Operators::Product {
            a: &product.a,
            b: &self.image,
            finish: &product.finish,
            extents: [of_filters, elements, results],
            packing: None,
        };
        let spec = KernelSpec::new(&CONVOLVE_LAYER, &params, &[], &[]).with(operators, product.numerics, leaves, outs);
        let of_all = |_| self.tiles(device.code());
        let work = Work { results: Some(results), shared_bytes: SHARED_BYTES[0], ..Work::whole(results, &of_all) };
        device.launch(&spec.writing_single(!vectors), work)
    }
}
