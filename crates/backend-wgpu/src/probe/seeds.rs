//! Whether division and square root may start from the adapter's own approximations: run for every mantissa.

use super::bench::{Bench, to_words};
use crate::context::{Context, kind};
use crate::pipeline::Pipelines;
use isowarp_core::caps::{DeviceKind, FmaKind};
use isowarp_core::error::{Error, Result};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// Approximations of the adapter that lead to correctly rounded results, as the start-up probe found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seeds {
    /// Seed that the reciprocal of a division starts from; `None` where it computes a seed of its own.
    pub reciprocal: Option<Seed>,
    /// Whether the square root starts from the inverse root.
    pub root: bool,
    /// Whether a whole number times its inverse root rounds to the whole number, up to 255, that its root rounds to.
    pub byte_root: bool,
}

/// Quality of an approximation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seed {
    /// So good that it has but to be rounded.
    Close,
    /// Good after a step of Newton's iteration.
    Coarse,
}

impl Seeds {
    /// Nothing starts from the adapter's approximations.
    pub const NONE: Self = Self { reciprocal: None, root: false, byte_root: false };
}

/// Arguments: the first one's bits, the distance to the next, how many, and of which function ([`RECIPROCAL`], [`ROOT`] or [`BYTE_ROOT`]).
pub(crate) type Range = [u32; 4];

const RECIPROCAL: u32 = 0;
const ROOT: u32 = 1;
/// Arguments are whole numbers.
const BYTE_ROOT: u32 = 2;

/// The largest sum of squares of two gradients of bytes.
const MOST_SQUARE: u32 = 2 * 1020 * 1020;

/// Every mantissa in the first, a middle and the last binade (a pair of them for roots) of the fast forms' ranges, and a stride through
/// all of the range.
pub(crate) const RANGES: [Range; 9] = [
    [0x2080_0000, 1, 1 << 23, RECIPROCAL],
    [0xbf80_0000, 1, 1 << 23, RECIPROCAL],
    [0x5e00_0000, 1, 1 << 23, RECIPROCAL],
    [0x2080_0000, 127, 0x3e00_0000 / 127, RECIPROCAL],
    [0x1880_0000, 1, 1 << 24, ROOT],
    [0x3f80_0000, 1, 1 << 24, ROOT],
    [0x7e80_0000, 1, 1 << 24, ROOT],
    [0x1880_0000, 255, 0x6700_0000 / 255, ROOT],
    [0, 1, MOST_SQUARE + 1, BYTE_ROOT],
];

const GROUPS: u32 = 1024;
/// The name of the check's kernel.
pub(super) const NAME: &str = "probe seeds";

/// Counts, for each workgroup, the arguments at which the seeded functions agree with the definitions that need no seed. It counts
/// agreement, not difference, so that a kernel that did not run proves nothing. Divisions by a mantissa of all ones do not use the seed.
const KERNEL: &str = "@group(0) @binding(0) var<storage, read> ranges: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> agreements: array<u32>;
var<workgroup> counts: array<atomic<u32>, 4>;
@compute @workgroup_size(256)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if lane < 4u {
        atomicStore(&counts[lane], 0u);
    }
    workgroupBarrier();
    var same = vec4<u32>();
    for (var k = 0u; k < RANGES; k++) {
        let range = ranges[k];
        for (var i = id.x; i < range.z; i += THREADS) {
            let x = bitcast<f32>(range.x + i * range.y);
            if range.w == 0u {
                let rounded = iw_reciprocal(x);
                let last = (bitcast<u32>(x) | 0xff800000u) == 0xffffffffu;
                same.x += u32(last || rounded == iw_reciprocal_close(x));
                same.y += u32(last || rounded == iw_reciprocal_coarse(x));
            } else if range.w == 1u {
                let rounded = iw_sqrt(x);
                same.z += u32(rounded == iw_seeded_root(x));
            } else {
                let n = f32(range.x + i * range.y);
                same.w += u32(min(floor(iw_sqrt(n) + 0.5f), 255.0f) == min(floor(iw_byte_root(n) + 0.5f), 255.0f));
            }
        }
    }
    for (var k = 0u; k < 4u; k++) {
        atomicAdd(&counts[k], same[k]);
    }
    workgroupBarrier();
    if lane < 4u {
        agreements[group.x * 4u + lane] = atomicLoad(&counts[lane]);
    }
}
";

/// The check's kernel, over the adapter's own `fma`: fast forms call that even where it is guarded elsewhere.
pub(crate) fn wgsl(ranges: usize) -> Result<String> {
    let calls = ["iw_reciprocal", "iw_reciprocal_close", "iw_reciprocal_coarse", "iw_sqrt", "iw_seeded_root", "iw_byte_root"];
    let mut resolve = |name: &str| match name {
        "iw_fma" => isowarp_shaders::snippet("iw_fma@native"),
        "iw_reciprocal_close" => isowarp_shaders::renamed("iw_seeded_reciprocal@close", name),
        "iw_reciprocal_coarse" => isowarp_shaders::renamed("iw_seeded_reciprocal@coarse", name),
        _ => None,
    };
    let mut text = isowarp_shaders::prelude(&BTreeSet::from(calls.map(str::to_owned)), &mut resolve)
        .map_err(|e| Error::Compile { kernel: NAME.to_owned(), log: e.to_string() })?;
    let _ = write!(text, "const RANGES = {ranges}u;\nconst THREADS = {}u;\n{KERNEL}", GROUPS * 256);
    Ok(text)
}

/// Runs the check's kernel over these ranges.
pub(crate) async fn measure(context: &Context, pipelines: &Arc<Pipelines>, wgsl: &str, ranges: &[Range]) -> Result<Seeds> {
    let mut bench = Bench::new(pipelines);
    bench.enqueue_groups(context, NAME, wgsl, super::bench::as_bytes(ranges), GROUPS as usize * 4, GROUPS)?;
    let words = to_words(&bench.finish(context).await?.into_iter().next().unwrap_or_default());
    let asked = |function: u32| -> u64 { ranges.iter().filter(|r| r[3] == function).map(|r| u64::from(r[2])).sum() };
    let agree = |at: usize| -> u64 { words.chunks_exact(4).map(|group| u64::from(group[at])).sum() };
    let coarse = (agree(1) == asked(RECIPROCAL)).then_some(Seed::Coarse);
    let reciprocal = if agree(0) == asked(RECIPROCAL) { Some(Seed::Close) } else { coarse };
    Ok(Seeds { reciprocal, root: agree(2) == asked(ROOT), byte_root: agree(3) == asked(BYTE_ROOT) })
}

/// Whether seeds can pay (on a GPU), and what was measured holds in every kernel: unsealed, a compiler may simplify around a division in
/// one and not in another.
pub(super) fn can_pay(context: &Context) -> bool {
    kind(context.info.device_type) != DeviceKind::Cpu && context.seal.is_some()
}

/// Chooses the seeds that division and root may start from here. Measured only where they can pay and `fma` costs one instruction.
pub(super) async fn choose(context: &Context, pipelines: &Arc<Pipelines>, fma: FmaKind) -> Seeds {
    if !can_pay(context) || !matches!(fma, FmaKind::Native | FmaKind::Guarded) {
        return Seeds::NONE;
    }
    let found = match wgsl(RANGES.len()) {
        Ok(text) => measure(context, pipelines, &text, &RANGES).await,
        Err(error) => Err(error),
    };
    found.unwrap_or_else(|error| {
        log::warn!("division and square root keep their own seeds: {error}");
        Seeds::NONE
    })
}
