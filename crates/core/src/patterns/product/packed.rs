//! Products of packed operands: matrix instructions, and fixed-point products on every device.

use super::task::{check_terms, most_terms};
use super::{FactorFormat, ProductOrder, ProductTask, Steps};
use crate::backend::{Leaf, Out};
use crate::element::{DType, Ty};
use crate::error::{Error, Result};
use crate::ir::{Func, Node};
use crate::launch::kernels::{
    CONTRACT_COOPERATIVE, CONTRACT_FIXED, CONTRACT_GREATEST, CONTRACT_PACK, CONTRACT_PACKED, CONTRACT_TILES, CONTRACT_TILES_WIDE,
    CONTRACT_WARPGROUP, Kernel, PackParams, PackedParams,
};
use crate::launch::{Array, Choice, Code, KernelSpec, Launcher, MatrixFactors, MatrixInstructions, MatrixShape, Operators, Work};

/// Packed factors: bytes, halves of words, words, or four digits of base 256 of a fixed-point number, each in a plane of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum Packing {
    /// `i8`.
    Signed,
    /// `u8`.
    Unsigned,
    /// `f16`.
    Half,
    /// The upper half of an `f32`.
    Brain,
    /// An `f32` of eleven bits of mantissa.
    Tensor,
    /// Fixed-point numbers.
    Digits,
    /// An `f32`, in tiles of rows or columns of one k after the other.
    Tiles,
    /// An `f64`, in tiles of rows or columns of four k after the other four.
    WideTiles,
}

impl Packing {
    /// Factors of a word of one plane.
    const fn per_word(self) -> u64 {
        match self {
            Self::Signed | Self::Unsigned | Self::Digits => 4,
            Self::Half | Self::Brain => 2,
            Self::Tensor | Self::Tiles | Self::WideTiles => 1,
        }
    }

    /// Whether operands lie in tiles as they are.
    const fn is_tiles(self) -> bool {
        matches!(self, Self::Tiles | Self::WideTiles)
    }

    /// Number of what packs: words, digits, or words of 64 bits.
    const fn kind(self) -> u32 {
        match self {
            Self::Digits => 1,
            Self::WideTiles => 2,
            _ => 0,
        }
    }

    /// Bytes of a word of a plane.
    const fn bytes(self) -> u64 {
        if matches!(self, Self::WideTiles) { 8 } else { 4 }
    }

    const fn planes(self) -> u64 {
        if matches!(self, Self::Digits) { 4 } else { 1 }
    }

    /// Factors of matrix instructions of subgroups.
    const fn factors(self) -> Option<MatrixFactors> {
        match self {
            Self::Half => Some(MatrixFactors::Half),
            Self::Signed | Self::Digits => Some(MatrixFactors::Signed),
            Self::Unsigned => Some(MatrixFactors::Unsigned),
            _ => None,
        }
    }

    /// Multiple of the rows of a packed matrix: the most rows and columns of a tile of the product.
    const fn rows(self, shape: Option<MatrixShape>) -> u64 {
        if matches!(self, Self::Digits) && shape.is_none() { SIDE } else { ROWS }
    }

    /// Rows and columns of a tile of subgroups' instructions of this shape.
    const fn tile_of(self, shape: MatrixShape) -> [u64; 2] {
        let (m, n) = (shape.m as u64, shape.n as u64);
        [8 * m, if matches!(self, Self::Digits) { 4 * n } else { 8 * n }]
    }
}

/// Sides of the tiles that are packed.
const SIDE: u64 = 64;
/// Terms whose greatest magnitude is found by a group of threads.
const PART: u64 = 256;
/// The most rows and columns of a tile of the product.
const ROWS: u64 = 256;
/// Terms after which a sum of digits' products may leave 32 bits.
const SPAN: u64 = 1 << 14;
/// Rows and columns of a group's tile of one plane, and its bytes of shared memory: four stages, or all results.
const TILE: ([u64; 2], u64) = ([128, 128], 128 * (128 + 8) * 4);
/// Tile of digits, and its bytes: three stages.
const TILE_OF_DIGITS: ([u64; 2], u64) = ([64, 64], 3 * 4 * 64 * (64 + 64));
/// Tile of a warpgroup's product, and its bytes: four stages of 128 bytes of k.
const WARPGROUP: ([u64; 2], u64) = ([128, 256], 4 * (128 + 256) * 128);
/// Bit of a format whose rows lie in blocks for warpgroups.
const IN_BLOCKS: u32 = 256;
/// Tile of floats, and its bytes: three stages of 16 terms, and all sums.
const TILE_OF_FLOATS: ([u64; 2], u64) = ([256, 128], 4 * (3 * 16 * (256 + 128) + 256 * 128));
/// Tile of `f64`, and its bytes: two stages of 16 terms, and all sums.
const TILE_OF_DOUBLES: ([u64; 2], u64) = ([128, 128], 8 * (2 * 16 * (128 + 128) + 128 * 128));
/// Tiles of floats from which on there is work for a whole device, and terms that pay for bringing them there.
const MANY_TILES: (u64, u64) = (120, 256);
/// Multiplications below which products of integers are not packed.
const FEW: u64 = 1 << 20;
/// The most bytes of packed operands, where there is another way.
const MOST_BYTES: u64 = 1 << 30;

/// The type that an operand is stored as, where it is stored.
pub(super) fn stored_as<R>(func: &Func, leaves: &[Leaf<R>]) -> Option<DType> {
    let &[result] = &func.results[..] else { return None };
    match func.nodes.get(result as usize)? {
        Node::Param(k) => match leaves.get(usize::from(*k))? {
            Leaf::Elements { dtype, .. } => Some(*dtype),
            _ => None,
        },
        _ => None,
    }
}

/// A packed operand.
#[derive(Clone, Copy)]
struct Packed {
    right: bool,
    rows: u64,
    padded: u64,
    /// Matrices that differ.
    count: u64,
    row: u64,
    column: u64,
    batch: u64,
    extent: u64,
}

impl Packed {
    fn rows_of_all(&self) -> u64 {
        self.count * self.padded
    }

    /// Whether four neighbours in memory are always a vector.
    fn has_fours(&self) -> bool {
        let (near, far) = if self.column == 1 { (self.column, self.row) } else { (self.row, self.column) };
        near == 1 && (far.is_multiple_of(4) || far == 0) && (self.batch.is_multiple_of(4) || self.count == 1)
    }
}

impl ProductTask {
    /// Returns the packing of the factors for this device, where they are packed.
    pub(in crate::patterns) fn packing<B: Launcher>(&self, device: &B, leaves: &[Leaf<B::Raw>]) -> Option<Packing> {
        let wanted = match self.order {
            ProductOrder::Fixed30 => return Some(Packing::Digits),
            ProductOrder::Fast(FactorFormat::F16) => Packing::Half,
            ProductOrder::Fast(FactorFormat::Bf16) => Packing::Brain,
            ProductOrder::Fast(FactorFormat::Tf32) => Packing::Tensor,
            _ if self.ty() == Ty::F32 => Packing::Tiles,
            _ if self.ty() == Ty::F64 => Packing::WideTiles,
            // Sums of integers have no order.
            _ if matches!(self.ty(), Ty::I32 | Ty::U32) => match [&self.a, &self.b].map(|func| stored_as(func, leaves)) {
                [Some(DType::I8), Some(DType::I8)] => Packing::Signed,
                [Some(DType::U8), Some(DType::U8)] => Packing::Unsigned,
                _ => return None,
            },
            _ => return None,
        };
        let work = self.m.saturating_mul(self.n).saturating_mul(self.k);
        let packed = self.operands(ROWS);
        let bytes = packed
            .iter()
            .map(|of| of.rows_of_all().saturating_mul(self.pitch(wanted, true)).saturating_mul(wanted.bytes()))
            .max()
            .unwrap_or(0);
        let tuning = device.tuning();
        let pays = if wanted.is_tiles() {
            let ([rows, columns], shared_bytes) = if wanted == Packing::Tiles { TILE_OF_FLOATS } else { TILE_OF_DOUBLES };
            let tiles = self.m.div_ceil(rows).saturating_mul(self.n.div_ceil(columns)).saturating_mul(self.batch);
            // A quarter of what tiles have room for may be beyond the product.
            let elements = self.m.saturating_mul(self.n).saturating_mul(self.batch);
            let is_full = elements.saturating_mul(4) >= tiles.saturating_mul(3 * rows * columns);
            tiles >= MANY_TILES.0 && is_full && self.k >= MANY_TILES.1 && tuning.shared_bytes >= shared_bytes
        } else {
            work >= FEW && self.m.min(self.n) > super::task::THIN
        };
        let needed = if wanted == Packing::WideTiles { MatrixInstructions::Warpgroup } else { MatrixInstructions::Warp };
        let most = MOST_BYTES.min(tuning.window_bytes);
        let fits = || match tuning.matrix_instructions {
            MatrixInstructions::None => bytes <= most && wanted.factors().is_some_and(|factors| device.matrix_shape(factors).is_some()),
            has => bytes <= MOST_BYTES && has >= needed,
        };
        (pays && fits()).then_some(wanted)
    }

    /// Words of a packed row: whole tiles, and whole chunks of 128 bytes for warpgroups.
    fn pitch(&self, packing: Packing, in_blocks: bool) -> u64 {
        let whole = if in_blocks { SIDE.max(32 * packing.per_word()) } else { SIDE };
        self.k.max(1).next_multiple_of(whole) / packing.per_word()
    }

    /// Matrices whose digits a kernel sees at once, where every one is packed.
    pub(super) fn digits_together<B: Launcher>(&self, device: &B) -> u64 {
        let whole = Packing::Digits.rows(Packing::Digits.factors().and_then(|factors| device.matrix_shape(factors)));
        let words = self.m.max(self.n).next_multiple_of(whole).saturating_mul(self.pitch(Packing::Digits, false));
        let bytes = words.saturating_mul(Packing::Digits.planes() * Packing::Digits.bytes());
        (device.tuning().window_bytes / bytes.max(1)).max(1)
    }

    /// Lines whose digits take so many bytes at most, in whole tiles.
    pub(super) fn lines_of_digits<B: Launcher>(&self, device: &B, bytes: u64) -> u64 {
        let whole = Packing::Digits.rows(Packing::Digits.factors().and_then(|factors| device.matrix_shape(factors)));
        let of_line = self.pitch(Packing::Digits, false).saturating_mul(Packing::Digits.planes() * Packing::Digits.bytes());
        (bytes / of_line / whole * whole).max(whole)
    }

    fn operands(&self, whole: u64) -> [Packed; 2] {
        let [of_a, of_b, _] = self.extents();
        let of = |right, rows: u64, row, column, steps: Steps, extent| {
            let count = if steps.batch == 0 { 1 } else { self.batch };
            Packed { right, rows, padded: rows.next_multiple_of(whole), count, row, column, batch: steps.batch, extent }
        };
        let (a, b) = (self.a_steps, self.b_steps);
        [of(false, self.m, a.row, a.column, a, of_a), of(true, self.n, b.column, b.row, b, of_b)]
    }

    /// Packs the operands, and multiplies.
    pub(super) fn drive_packed<B: Launcher>(
        &self,
        device: &B,
        packing: Packing,
        leaves: &[Leaf<B::Raw>],
        outs: &[Out<B::Raw>],
    ) -> Result<()> {
        let word = |what: &'static str, value: u64| {
            u32::try_from(value).map_err(|_| Error::TooLarge { what, requested: value, limit: u32::MAX.into() })
        };
        let step = |value: u64| word("elements between rows or columns", value);
        let is_fixed = packing == Packing::Digits;
        let in_blocks = !packing.is_tiles() && !is_fixed && device.tuning().matrix_instructions == MatrixInstructions::Warpgroup;
        // Six turns of loops for sixteen terms.
        check_terms("terms of a packed product, where the device ends long loops", self.k, most_terms(device, 6).saturating_mul(16))?;
        let shape = packing.factors().and_then(|factors| device.matrix_shape(factors));
        let (operands, pitch) = (self.operands(packing.rows(shape)), self.pitch(packing, in_blocks));
        let [of_a, of_b] = operands.map(|of| of.rows_of_all());
        let parts = self.k.div_ceil(PART);
        let (kernel, ([rows, columns], shared_bytes)): (&'static Kernel<PackedParams>, _) = match (packing, in_blocks) {
            (Packing::Tiles, _) => (&CONTRACT_TILES, TILE_OF_FLOATS),
            (Packing::WideTiles, _) => (&CONTRACT_TILES_WIDE, TILE_OF_DOUBLES),
            (Packing::Digits, _) if shape.is_none() => (&CONTRACT_FIXED, TILE_OF_DIGITS),
            (_, true) => (&CONTRACT_WARPGROUP, WARPGROUP),
            (_, false) => shape.map_or((&CONTRACT_PACKED, TILE), |shape| (&CONTRACT_COOPERATIVE, (packing.tile_of(shape), 0))),
        };
        let groups = self.m.div_ceil(rows) * self.n.div_ceil(columns) * self.batch;
        let many = is_fixed && self.k > SPAN && (device.code() == Code::Ptx || shape.is_some());
        let bytes = |rows: u64| rows.saturating_mul(packing.planes()).saturating_mul(pitch).saturating_mul(packing.bytes());
        let scratch = device.scratch(&[
            bytes(of_a),
            bytes(of_b),
            if is_fixed { 4 * of_a.max(of_b) * parts.max(1) } else { 4 },
            if is_fixed { 4 * (of_a + of_b) } else { 4 },
            if many { groups * rows * columns * 8 } else { 4 },
        ])?;
        let [packed_a, packed_b, greatest, exponents, totals] = &scratch[..] else {
            return Err(Error::InvalidArgument { what: "gemm", reason: "the device has no scratch".to_owned() });
        };
        let extents = [operands[0].extent, operands[1].extent, self.extents()[2]];
        let functions = Operators::Product { a: &self.a, b: &self.b, finish: &self.finish, extents, packing: Some(packing) };
        for (of, to) in operands.iter().zip([packed_a, packed_b]) {
            let params = PackParams {
                rows: word("rows or columns of a product", of.rows)?,
                terms: word("terms of a product", self.k)?,
                padded: word("rows or columns of a product", of.padded)?,
                pitch: pitch as u32,
                format: packing as u32 | if in_blocks { IN_BLOCKS } else { 0 },
                right: of.right.into(),
                row: step(of.row)?,
                column: step(of.column)?,
                batch: of.batch,
                exponents: if of.right { word("rows of all matrices", of_a)? } else { 0 },
                vector: of.has_fours().into(),
            };
            let halves = u32::from(packing == Packing::Half);
            let choices: [Choice; 4] = [("type", 0), ("right", of.right.into()), ("kind", packing.kind()), ("halves", halves)];
            let arrays = [Array::piece(to), Array::piece(greatest), Array::piece(exponents)];
            let launch = |kernel, tiles: u64| {
                let spec = KernelSpec::new(kernel, &params, &choices, &arrays).with(functions, self.numerics, leaves, outs);
                device.launch(
                    &spec.writing_single(true),
                    Work { results: Some(extents[2]), ..Work::whole(1, &|_| of.rows_of_all() / SIDE * tiles) },
                )
            };
            if is_fixed && parts > 0 {
                launch(&CONTRACT_GREATEST, parts)?;
            }
            launch(&CONTRACT_PACK, pitch * packing.per_word() / SIDE)?;
        }
        let c = self.c_steps;
        let alone = |of: &Packed| u32::from(of.count == 1);
        // Threads write the outputs in vectors of four alone where the columns are so many.
        let vector = (c.row.is_multiple_of(4) || self.m == 1) && (c.batch.is_multiple_of(4) || self.batch == 1);
        let params = PackedParams {
            rows: word("rows of a product", self.m)?,
            columns: word("columns of a product", self.n)?,
            pitch: pitch as u32,
            padded_rows: operands[0].padded as u32,
            padded_columns: operands[1].padded as u32,
            alike: alone(&operands[0]) | alone(&operands[1]) << 1,
            vector: vector.into(),
            exponents: of_a as u32,
            c_row: step(c.row)?,
            c_batch: c.batch,
            // Padding beyond the terms of one chain is a part of it: a chain of its own would be +0, and make a sum of -0 that.
            block: word(
                "terms of a chain",
                if self.block() < self.k { self.block() } else { self.block().max(pitch * packing.per_word()) },
            )?,
        };
        let of_shape = shape.zip(packing.factors()).map(|(MatrixShape { m, n, k, lanes }, factors)| {
            let (digits, many) = (is_fixed.into(), many.into());
            [("m", m), ("n", n), ("k", k), ("lanes", lanes), ("factors", factors as u32), ("digits", digits), ("many", many)]
        });
        let of_type: [Choice; 1] = [("type", 0)];
        let choices = of_shape.as_ref().map_or(&of_type[..], |choices| choices);
        let arrays = [packed_a, packed_b, exponents, totals].map(Array::piece);
        let arrays = if is_fixed || shape.is_some() { &arrays[..] } else { &arrays[..2] };
        let spec = KernelSpec::new(kernel, &params, choices, arrays).with(functions, self.numerics, leaves, outs);
        let single = device.code() == Code::Wgsl || params.vector == 0 || !self.n.is_multiple_of(4);
        device.launch(&spec.writing_single(single), Work { results: Some(extents[2]), shared_bytes, ..Work::whole(1, &|_| groups) })
    }
}

/// Exponent of a row with an infinite number or NaN.
const NOT_FINITE: u32 = 255;

/// A row of fixed-point numbers: the exponent of its greatest magnitude, at least that of the least normal number, and the four digits of each, the highest
/// one first; none where one is infinite or NaN.
#[derive(Clone, Debug, Default)]
pub struct FixedRow {
    exponent: u32,
    digits: Vec<[i8; 4]>,
}

impl FixedRow {
    /// The fixed-point numbers of floats: multiples of 2^-29 of the power of two at or below the greatest magnitude, rounded to nearest even.
    pub fn new(values: impl Iterator<Item = f32> + Clone) -> Self {
        let exponent_of = |value: f32| (value.to_bits() << 1 >> 24).max(1);
        let exponent = values.clone().map(exponent_of).max().unwrap_or(1);
        if exponent == NOT_FINITE {
            return Self { exponent, digits: Vec::new() };
        }
        let digits = |value: f32| {
            let bits = value.to_bits();
            let implied = if bits << 1 >> 24 == 0 { 0 } else { 1 << 23 };
            let (whole, apart) = (((bits & 0x7f_ffff) | implied) << 6, (exponent - exponent_of(value)).min(31));
            let (kept, rest) = (whole >> apart, whole & ((1 << apart) - 1));
            let half = if apart == 0 { 0 } else { 1 << (apart - 1) };
            let up = apart > 0 && (rest > half || (rest == half && kept % 2 == 1));
            let magnitude = (kept + u32::from(up)) as i32;
            let mut left = if value.is_sign_negative() { -magnitude } else { magnitude };
            let mut all = [0; 4];
            for digit in all.iter_mut().rev() {
                *digit = left as i8;
                left = (left - i32::from(*digit)) >> 8;
            }
            all
        };
        Self { exponent, digits: values.map(digits).collect() }
    }

    /// The bits of the sum of the products of two rows' numbers: exact but for the products of digits below the fourth level, and rounded once. NaN where a
    /// row has an infinite number or NaN.
    #[must_use]
    pub fn product(&self, other: &Self) -> u32 {
        if self.exponent.max(other.exponent) == NOT_FINITE {
            return 0x7fc0_0000;
        }
        let mut total = 0i64;
        for (x, y) in self.digits.iter().zip(&other.digits) {
            for (p, &d) in x.iter().enumerate() {
                for (q, &e) in y.iter().enumerate().take(4 - p) {
                    total += i64::from(i32::from(d) * i32::from(e)) << (8 * (3 - p - q));
                }
            }
        }
        rounded(total, (self.exponent + other.exponent) as i32 - 288)
    }
}

/// The bits of `sum` 2^`exponent`, rounded once, to nearest even.
fn rounded(sum: i64, exponent: i32) -> u32 {
    let (whole, sign) = (sum.unsigned_abs(), if sum < 0 { 1u32 << 31 } else { 0 });
    if whole == 0 {
        return 0;
    }
    let top = 63 - whole.leading_zeros() as i32 + exponent;
    let unit = (top - 23).max(-149);
    let kept = match unit - exponent {
        65.. => 0,
        64 => u64::from(whole > 1 << 63),
        shift @ 1.. => {
            let (kept, rest, half) = (whole >> shift, whole & ((1 << shift) - 1), 1u64 << (shift - 1));
            kept + u64::from(rest > half || (rest == half && kept % 2 == 1))
        }
        shift => whole << -shift,
    };
    // The highest bit of a normal number's mantissa adds one to the exponent, and so does what carries beyond.
    let bits = kept + if top >= -126 { ((unit + 149) as u64) << 23 } else { 0 };
    sign | bits.min(0x7f80_0000) as u32
}
