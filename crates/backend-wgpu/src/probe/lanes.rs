//! Questions that the probe asks of subgroups: WGSL promises no place of an invocation in a subgroup, and patterns need to know it.

use super::SubgroupReport;

/// Words that each lane reports.
pub(super) const WORDS: usize = 12;
/// Invocations of a workgroup, which is what kernels that use subgroups run with.
const THREADS: usize = 256;
/// Workgroups of the probe.
const GROUPS: usize = 4;

/// Each lane reports where it sits, and what it got by shuffle, vote and scan, after invocations have gone different ways.
pub(super) const WGSL: &str = "@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;
@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) sid: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
) {
    let at = group.x * 256u + lane;
    var v = values[at];
    for (var k = 0u; k < lane % 5u; k++) {
        v = (v << 1u) | (v >> 31u);
    }
    let base = at * 12u;
    results[base] = size;
    results[base + 1u] = sid;
    results[base + 2u] = subgroup;
    results[base + 3u] = subgroups;
    // Every distance of a tree.
    var mixed = v;
    for (var step = 1u; step < size; step *= 2u) {
        let other = subgroupShuffleXor(mixed, step);
        if ((lane & step) != 0u) {
            mixed = mixed * 2654435761u + other;
        } else {
            mixed = mixed ^ (other * 40503u);
        }
    }
    results[base + 4u] = mixed;
    results[base + 5u] = bitcast<u32>(subgroupShuffle(bitcast<f32>(v), (sid + size - 1u) % size));
    results[base + 6u] = subgroupShuffle(v, size - 1u);
    results[base + 7u] = subgroupExclusiveAdd(v);
    // Of subgroups of up to 128 lanes; wider ones have no more words.
    let odd = subgroupBallot((v & 1u) == 1u);
    for (var k = 0u; k < 4u; k++) {
        results[base + 8u + k] = odd[k];
    }
}
";

/// The lanes' values: bits of all kinds, among them NaN with payloads and subnormal numbers.
pub(super) fn values() -> Vec<u32> {
    let special = [0x7f80_0001, 0xffa1_2345, 0x7fc0_0000, 0x0000_0001, 0x8000_0000, 0x807f_ffff];
    (0..(THREADS * GROUPS) as u32)
        .map(|i| if i % 7 == 3 { special[(i / 7) as usize % special.len()] } else { i.wrapping_mul(2_654_435_761) ^ (i << 19) })
        .collect()
}

/// Judges the lanes' words.
pub(super) fn report(words: &[u32]) -> SubgroupReport {
    let rows: Vec<&[u32]> = words.chunks_exact(WORDS).collect();
    let size = rows.first().map_or(1, |r| r[0]).max(1);
    let full = rows.len() == THREADS * GROUPS && size.is_power_of_two() && size as usize <= THREADS;
    let place = |i: u32| [size, i % size, i / size, THREADS as u32 / size];
    let linear = full && rows.iter().zip(0..).all(|(r, i)| r[..4] == place(i % THREADS as u32));
    let works = linear && {
        let values: Vec<u32> = values().iter().zip(0..).map(|(v, i)| v.rotate_left(i % THREADS as u32 % 5)).collect();
        values.chunks_exact(size as usize).zip(rows.chunks_exact(size as usize)).all(|(v, r)| moves(v, r))
    };
    SubgroupReport { size, linear, works }
}

/// Whether one subgroup's lanes got what they should for these values.
fn moves(values: &[u32], rows: &[&[u32]]) -> bool {
    let size = values.len();
    let mut mixed = values.to_vec();
    let mut step = 1;
    while step < size {
        let mix = |i: usize| {
            let (own, other) = (mixed[i], mixed[i ^ step]);
            if i & step != 0 { own.wrapping_mul(2_654_435_761).wrapping_add(other) } else { own ^ other.wrapping_mul(40_503) }
        };
        mixed = (0..size).map(mix).collect();
        step *= 2;
    }
    let mut ballot = [0; 4];
    for (word, values) in ballot.iter_mut().zip(values.chunks(32)) {
        *word = values.iter().zip(0..).fold(0, |m, (&v, n)| m | ((v & 1) << n));
    }
    rows.iter().enumerate().all(|(i, r)| {
        let before = values[..i].iter().fold(0_u32, |s, &v| s.wrapping_add(v));
        r[4..8] == [mixed[i], values[(i + size - 1) % size], values[size - 1], before] && r[8..] == ballot
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words that an adapter with these places would report.
    fn words(size: u32, place: impl Fn(u32) -> u32) -> Vec<u32> {
        let n = THREADS as u32;
        (0..n * GROUPS as u32).flat_map(|i| [[size, place(i % n) % size, place(i % n) / size, n / size], [0; 4], [0; 4]].concat()).collect()
    }

    #[test]
    fn only_full_subgroups_of_consecutive_invocations_are_linear() {
        assert!(report(&words(32, |i| i)).linear);
        // In squares of 8 x 8, as fragment quads lie.
        assert!(!report(&words(32, |i| (i & !0x0a) | ((i & 2) << 2) | ((i & 8) >> 2))).linear);
        assert!(!report(&words(48, |i| i)).linear);
        assert!(!report(&[]).linear);
        let partly: Vec<u32> = words(64, |i| i).iter().enumerate().map(|(k, &w)| if k == WORDS * 200 { 32 } else { w }).collect();
        assert!(!report(&partly).linear);
    }

    #[test]
    fn lanes_that_move_nothing_do_not_work() {
        assert!(!report(&words(32, |i| i)).works);
    }
}
