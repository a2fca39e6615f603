//! Forms of the patterns that an adapter runs: data, apart from the algorithms. No entry changes a result.

use crate::context::Context;
use crate::probe::Report;
use isowarp_core::caps::DeviceKind;

/// Parameters that may be tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// Words of an accumulator from which on a reduction walks its tiles and short rows in subgroups; none has [`NEVER`].
    pub(crate) reduce_in_subgroups_from: u32,
    /// Whether a scan walks its tiles and short rows in subgroups.
    pub(crate) scan_in_subgroups: bool,
    /// Whether a sort ranks its keys in subgroups.
    pub(crate) sort_in_subgroups: bool,
    /// Whether what a sort or a merge does to each key of an invocation is a loop, which drivers compile faster and may run slower.
    pub(crate) sort_rolled: bool,
    /// Tiles of a line, two or more, from which on a scan is one launch that looks back instead of three.
    pub(crate) look_back_from_tiles: u64,
    /// Tiles of a group of a look-back, at most the 256 invocations of a workgroup.
    pub(crate) look_back_group: u32,
    /// Invocations of a workgroup that looks back by groups, a power of two from 256 to 1024: more have less to compile each.
    pub(crate) look_back_threads: u32,
    /// Most that the rows of a kernel may repeat of an operator, by its weight: each row is a copy that the driver compiles. A reduction's
    /// operator of this weight stands in loops.
    pub(crate) most_repeated: u32,
    /// Rows of four elements of one word, at most, that an invocation of a selection holds.
    pub(crate) select_rows: u32,
    /// Workgroups of a reduction by key before each takes several tiles.
    pub(crate) by_key_groups: u64,
    /// Tiles of a merge from which on most of them begin where a search between two others finds it: a longer way that reads less.
    pub(crate) merge_bracketed_from: u64,
    /// Invocations of a workgroup of a map.
    pub(crate) map_threads: u32,
    /// Weight of an operator from which on an invocation of a map takes two groups of four elements.
    pub(crate) map_in_pairs_from: u32,
    /// Invocations of a workgroup of a histogram.
    pub(crate) histogram_threads: u32,
    /// Most workgroups of a histogram: each adds its own bins to the output.
    pub(crate) histogram_groups: u64,
    /// Most words of shared memory that a histogram's bins take, where the adapter has them: a power of two.
    pub(crate) histogram_cells: u32,
}

/// A line of the table: adapters, and what suits them.
struct Entry {
    /// PCI vendor; `None` for all.
    vendor: Option<u32>,
    /// Kind of adapter; `None` for all.
    kind: Option<DeviceKind>,
    tuning: Tuning,
}

/// Three launches give a driver more to compile than the one that looks back does, so that is the one even for two tiles.
const DEFAULT: Tuning = Tuning {
    reduce_in_subgroups_from: 1,
    scan_in_subgroups: true,
    sort_in_subgroups: true,
    sort_rolled: false,
    look_back_from_tiles: 2,
    look_back_group: 64,
    look_back_threads: 256,
    most_repeated: 512,
    select_rows: 8,
    by_key_groups: 1024,
    merge_bracketed_from: 16_384,
    map_threads: 256,
    map_in_pairs_from: NEVER,
    histogram_threads: 256,
    histogram_groups: 4096,
    histogram_cells: 8192,
};

/// More words than accumulators have.
const NEVER: u32 = u32::MAX;

/// PCI's number.
const NVIDIA: u32 = 0x10de;

/// The first entry that fits an adapter holds.
const TABLE: [Entry; 3] = [
    // Measured on an H200: sums of 2^28 f32 take 248 us in shared memory and 253 in subgroups, argmin 295 and 256; sums of 2^24 22.4 and 25.4.
    // Maps: an exponential takes 528 us, 525 with 128 threads and 517 in pairs; a copy 506.7, 506.3 and 513.6.
    // 256 bins of 2^28 u32: 247 us, 250 with 8 rows in the place of 4, 254 with 512 invocations; of 2^28 u8: 100, 111 with 4 rows in the place of 8, 109 with
    // 512 invocations, 113 with twice the shared memory (and 102 with 512 workgroups, which cost 1.7 us of 2^24 u32).
    Entry {
        vendor: Some(NVIDIA),
        kind: None,
        tuning: Tuning {
            reduce_in_subgroups_from: 2,
            look_back_threads: 1024,
            map_threads: 128,
            map_in_pairs_from: 32,
            histogram_threads: 1024,
            histogram_groups: 264,
            ..DEFAULT
        },
    },
    // LLVM takes most of a minute and gigabytes over 8 rows of an operator with an exponential and a logarithm, and seconds over 8 of a selection.
    Entry {
        vendor: None,
        kind: Some(DeviceKind::Cpu),
        tuning: Tuning { most_repeated: 64, select_rows: 2, by_key_groups: 16, merge_bracketed_from: 8, sort_rolled: true, ..DEFAULT },
    },
    Entry { vendor: None, kind: None, tuning: DEFAULT },
];

/// Rows of a kernel that looks back.
const LOOK_BACK_ROWS: u32 = 8;

impl Tuning {
    /// Whether a reduction with an accumulator of so many words walks in subgroups.
    pub(crate) fn reduces_in_subgroups(self, words: u32) -> bool {
        words >= self.reduce_in_subgroups_from
    }

    /// Rows, at most `most`, of a kernel whose rows repeat operators of this weight: a power of two.
    pub(crate) fn rows(self, most: u32, weight: u32) -> u32 {
        most.min(1 << (self.most_repeated / weight.max(1)).max(1).ilog2())
    }

    /// Whether a reduction's operator of this weight stands in loops.
    pub(crate) fn rolls(self, weight: u32) -> bool {
        weight >= self.most_repeated
    }

    /// Whether the kernel of a scan that looks back may be compiled with operators of this weight.
    pub(crate) fn looks_back(self, weight: u32) -> bool {
        self.rows(LOOK_BACK_ROWS, weight) == LOOK_BACK_ROWS
    }

    /// Groups of four elements to an invocation of a map with an operator of this weight.
    pub(crate) fn map_groups(self, weight: u32) -> u32 {
        if weight >= self.map_in_pairs_from { 2 } else { 1 }
    }

    /// The table's answer, with what the caller asked for. Subgroup forms need an adapter on which the probe found subgroups to work.
    pub(crate) fn of(context: &Context, report: &Report) -> Self {
        let (info, asked) = (&context.info, context.subgroups);
        let kind = crate::context::kind(info.device_type);
        let fits = |e: &&Entry| e.vendor.is_none_or(|v| v == info.vendor) && e.kind.is_none_or(|k| k == kind);
        let found = TABLE.iter().find(fits).map_or(DEFAULT, |e| e.tuning);
        let usable = report.subgroup.as_ref().is_some_and(|s| s.works) && info.subgroup_min_size >= 4 && info.subgroup_max_size <= 128;
        Self {
            reduce_in_subgroups_from: match asked {
                _ if !usable => NEVER,
                None => found.reduce_in_subgroups_from,
                Some(true) => 1,
                Some(false) => NEVER,
            },
            scan_in_subgroups: usable && asked.unwrap_or(found.scan_in_subgroups),
            sort_in_subgroups: usable && asked.unwrap_or(found.sort_in_subgroups),
            ..found
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_operators_get_fewer_rows_and_light_ones_as_many_as_there_are() {
        for (weight, rows) in [(0, 8), (1, 8), (64, 8), (65, 4), (128, 4), (256, 2), (257, 1), (512, 1), (100_000, 1)] {
            assert_eq!(DEFAULT.rows(8, weight), rows, "{weight}");
            assert_eq!(DEFAULT.looks_back(weight), rows == 8, "{weight}");
        }
        assert_eq!(DEFAULT.rows(2, 1), 2);
    }
}
