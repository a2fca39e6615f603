//! P13 image filters: one pass over strips of rows.

use super::Launch;
use super::dialect::{Dialect, NATIVE_FMA};
use super::operands::{Operands, Signature, Span};
use super::program::{Operators, Program};
use crate::buffer::Buffer;
use crate::device::Wgpu;
use crate::pipeline::Kernel;
use isowarp_core::backend::{Backend as _, Leaf, Out, Run};
use isowarp_core::caps::FmaKind;
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Param;
use isowarp_core::patterns::{Border, FilterKind, FilterTask};
use isowarp_shaders::kernels::FILTER;
use std::sync::Arc;

/// Weights that the kernel takes.
const WEIGHTS: usize = 25;

impl Run<FilterTask> for Wgpu {
    fn run(&self, task: &FilterTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let [Leaf::Elements { raw, offset, .. }] = leaves else {
            return Err(Error::InvalidArgument { what: "filter", reason: "it has one input and one output".to_owned() });
        };
        let (pitch, height) = (u64::from(task.width) * u64::from(task.channels), u64::from(task.height));
        let (radius, limits) = (u64::from(task.kind.radius()), self.window_limits());
        let bands = Bands::plan(self, task, leaves, outs, height)?;
        // Bands of rows where the image is longer than a window; each reads its neighbours' nearest rows too.
        let bound = bands.operands.span(limits, pitch * height, 1, true) / pitch;
        if bound >= height {
            return bands.launch([0, height], (0, [0, height]));
        }
        let band = bound.saturating_sub(2 * radius + 1);
        if band == 0 {
            let requested = (2 * radius + 6) * pitch * task.dtype.size_bytes();
            return Err(Error::TooLarge { what: "bytes of a few rows of the image", requested, limit: limits.window_bytes });
        }
        // Rows at one edge that read those of the other come from a copy of both.
        let far = if task.border == Border::Wrap { radius } else { 0 };
        for (first, top) in [(0, height - far), (height - far, height - 2 * far)].into_iter().filter(|_| far > 0) {
            let (bits, before) = (if task.dtype == DType::U8 { DType::U8 } else { DType::U32 }, height - top);
            let rows = self.allocate_bytes(3 * far * pitch * task.dtype.size_bytes())?;
            self.copy_elements(bits, (raw, offset + top * pitch), (&rows, 0), before * pitch)?;
            self.copy_elements(bits, (raw, *offset), (&rows, before * pitch), (3 * far - before) * pitch)?;
            let leaf = [Leaf::Elements { raw: rows, dtype: task.dtype, offset: 0, stride: 1 }];
            Bands::plan(self, task, &leaf, outs, 3 * far)?.launch([first, far], (0, [top, 3 * far]))?;
        }
        super::reduce::chunks(height - 2 * far, band, |at, count| {
            let (first, end) = (far + at, far + at + count);
            // Clamped and mirrored rows are no further from the band than those outside the image that they stand for.
            let (top, bottom) = (first.saturating_sub(radius), (end + radius).min(height));
            bands.launch([first, count], (top, [top, bottom - top]))
        })
    }
}

/// A filter's kernel and operands.
struct Bands<'a> {
    wgpu: &'a Wgpu,
    task: &'a FilterTask,
    kernel: Arc<Kernel>,
    operands: Operands<'a>,
}

impl<'a> Bands<'a> {
    /// Plans for an input of `rows` rows.
    fn plan(wgpu: &'a Wgpu, task: &'a FilterTask, leaves: &'a [Leaf<Buffer>], outs: &'a [Out<Buffer>], rows: u64) -> Result<Self> {
        let pitch = u64::from(task.width) * u64::from(task.channels);
        let params = [Param::Value(task.dtype.ty())];
        let operands = Operands::plan(wgpu.window_limits(), &params, leaves, outs, pitch % 4 == 0, false, pitch * rows)?;
        let holes = holes(task, &operands.signature, wgpu.dialect());
        let kernel = wgpu.program("filter", &program(task, &operands.signature, &holes))?;
        Ok(Self { wgpu, task, kernel, operands })
    }

    /// Computes `count` rows from row `first` on; the input holds `held` rows from row `at` on, which is row `top` of the image. After the
    /// image's last row comes its first.
    fn launch(&self, [first, count]: [u64; 2], (at, [top, held]): (u64, [u64; 2])) -> Result<()> {
        let (task, limits) = (self.task, self.wgpu.window_limits());
        let (pitch, height) = (u64::from(task.width) * u64::from(task.channels), u64::from(task.height));
        let groups = pitch.div_ceil(u64::from(samples(task)));
        let rows = strip(count, groups);
        let words = [u64::from(task.width), height, pitch, groups, rows, first, first + count, top].map(|w| w as u32);
        let mut launch = Launch::new(0, &words);
        launch.args.push(risk(&task.kind));
        let weights: &[f32] = if let FilterKind::Weighted { weights, .. } = &task.kind { weights } else { &[] };
        let bits = weights.iter().map(|w| w.to_bits()).chain(std::iter::repeat(0));
        bits.take(WEIGHTS).for_each(|w| launch.args.push(w));
        let (input, output) = (Span::of(at * pitch, held * pitch), Span::of(first * pitch, count * pitch));
        self.operands.bind(limits, input, output, &mut launch.bindings, &mut launch.args)?;
        self.wgpu.launch(&self.kernel, &launch, (groups * count.div_ceil(rows)).div_ceil(128))
    }
}
/// Samples of a row that an invocation takes: more share more of their windows, and take more registers.
fn samples(task: &FilterTask) -> u32 {
    match (task.dtype, &task.kind) {
        (DType::U8, _) => 8,
        (_, FilterKind::Sobel) if task.channels == 1 => 8,
        _ => 4,
    }
}

/// Rows of a strip: many where the image is large, so that few rows are read twice, and fewer where invocations would be wanting.
fn strip(rows: u64, groups: u64) -> u64 {
    [16, 8, 4, 2].into_iter().find(|&s| rows / s * groups >= 1 << 16).unwrap_or(1)
}

pub(super) fn holes(task: &FilterTask, signature: &Signature, dialect: Dialect) -> [(&'static str, u32); 16] {
    let vector = |v: bool| u32::from(v);
    let exact = !dialect.repairs.is_empty() && task.kind != FilterKind::Median3;
    let reads = signature.leaves.iter().any(|l| matches!(l, super::operands::LeafKind::Vector { .. }));
    [
        ("n", samples(task)),
        ("c", task.channels),
        ("radius", task.kind.radius()),
        (
            "border",
            match task.border {
                Border::Clamp => 0,
                Border::Zero => 1,
                Border::Mirror => 2,
                Border::Wrap => 3,
            },
        ),
        ("wide", vector(task.dtype != DType::U8)),
        ("in_vector", vector(reads)),
        ("out_vector", vector(signature.outs.iter().any(|o| o.vector))),
        ("weighted", vector(matches!(task.kind, FilterKind::Weighted { .. }))),
        ("sobel", vector(task.kind == FilterKind::Sobel)),
        ("median", vector(task.kind == FilterKind::Median3)),
        ("exact", vector(exact)),
        ("seeded", vector(task.kind == FilterKind::Sobel && task.dtype != DType::U8 && dialect.seeds.root && !exact)),
        ("byte_seeded", vector(task.kind == FilterKind::Sobel && task.dtype == DType::U8 && dialect.seeds.byte_root)),
        ("normal", vector(stays_normal(task))),
        ("rolled", vector(dialect.fma == FmaKind::ViaInteger && task.kind != FilterKind::Median3)),
        ("guarded", vector(dialect.fma == FmaKind::Guarded && task.kind != FilterKind::Median3 && !stays_normal(task))),
    ]
}

/// Whether no product or sum of the filter can be subnormal: those of bytes and differences of bytes, if the weights are not tiny.
fn stays_normal(task: &FilterTask) -> bool {
    // Sums are multiples of a weight's last bit, which is at least 2^-123 then.
    let far = |w: &f32| *w == 0.0 || w.abs() >= f32::from_bits(27 << 23);
    task.dtype == DType::U8
        && match &task.kind {
            FilterKind::Weighted { weights, .. } => weights.iter().all(far),
            FilterKind::Sobel | FilterKind::Median3 => true,
        }
}

/// The kernel's `risk`: samples that are zero or at least 2^e, so multiples of 2^(e - 23), make every product and sum a multiple of the least
/// normal number, which is then zero or normal itself.
fn risk(kind: &FilterKind) -> u32 {
    match kind {
        // Differences are squared: multiples of 2^-63.
        FilterKind::Sobel => risk_of(-63 + 23),
        FilterKind::Median3 => risk_of(f32::MIN_EXP - 1),
        FilterKind::Weighted { weights, .. } => {
            let lowest = weights.iter().filter(|w| **w != 0.0 && w.is_finite()).map(|&w| last_bit(w)).min();
            risk_of(lowest.map_or(f32::MIN_EXP - 1, |low| f32::MIN_EXP - 1 - low + 23))
        }
    }
}

/// The exponent of the lowest bit that is set in a finite number other than zero; far below all where a flushing `fma` takes it for zero.
fn last_bit(w: f32) -> i32 {
    let (biased, fraction) = (w.to_bits() >> 23 & 0xff, w.to_bits() & 0x7f_ffff);
    if biased == 0 { i32::MIN / 2 } else { biased as i32 - 127 - 23 + (fraction | 1 << 23).trailing_zeros() as i32 }
}

/// Twice the bits of 2^exponent, less one; every number but zero is below that of an exponent that is out of range.
fn risk_of(exponent: i32) -> u32 {
    let biased = exponent.clamp(f32::MIN_EXP - 1, f32::MAX_EXP) + 127;
    ((biased as u32) << 24) - 1
}

/// Functions that the kernel calls where the adapter gets operations wrong.
const EXACT: [&str; 9] = [
    NATIVE_FMA,
    "iw_fma",
    "iw_sqrt",
    "iw_byte_root",
    "iw_canonical",
    "iw_exact_add_f32",
    "iw_exact_sub_f32",
    "iw_exact_mul_f32",
    "iw_exact_cast_f32_u32",
];

pub(super) fn program<'a>(task: &FilterTask, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    let is = |name| holes.contains(&(name, 1));
    let calls: &[&str] = match (&task.kind, is("normal"), is("guarded")) {
        _ if is("exact") => &EXACT,
        (FilterKind::Median3, ..) => &[],
        (FilterKind::Sobel, true, _) if is("byte_seeded") => &[NATIVE_FMA, "iw_byte_root", "iw_canonical"],
        (FilterKind::Sobel, ..) if is("seeded") => {
            &[NATIVE_FMA, "iw_fma", "iw_sqrt", "iw_has_seeded_root", "iw_seeded_root", "iw_canonical"]
        }
        (FilterKind::Sobel, true, _) => &[NATIVE_FMA, "iw_sqrt", "iw_canonical"],
        (FilterKind::Sobel, false, false) => &["iw_fma", "iw_sqrt", "iw_canonical"],
        (FilterKind::Sobel, false, true) => &[NATIVE_FMA, "iw_fma", "iw_sqrt", "iw_canonical"],
        (FilterKind::Weighted { .. }, true, _) => &[NATIVE_FMA, "iw_canonical"],
        (FilterKind::Weighted { .. }, false, false) => &["iw_fma", "iw_canonical"],
        (FilterKind::Weighted { .. }, false, true) => &[NATIVE_FMA, "iw_fma", "iw_canonical"],
    };
    Program {
        template: FILTER,
        entry: "image_filter",
        constants: holes,
        operators: Operators::Calls(calls),
        signature,
        numerics: task.numerics,
        first: false,
    }
}
