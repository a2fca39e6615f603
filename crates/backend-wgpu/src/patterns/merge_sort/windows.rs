//! A merge of two runs that no binding holds. Which part of a run a tile needs is known on the device only, so each pair of windows onto the runs is
//! a dispatch, and does what it sees. Windows overlap, so that whatever a tile needs of a run lies in one of them whole.

use super::{Bindings, Form, Order, PAYLOAD, Runs, Side, Step, THREADS};
use crate::buffer::Buffer;
use crate::patterns::Launch;
use crate::patterns::place::Place;
use crate::patterns::reduce::chunks;
use isowarp_core::error::Result;
use isowarp_core::patterns::SortPayload;

/// The parameters, by their places behind the first element's index.
const RUN_A: usize = 0;
const RUN_B: usize = 1;
const BLOCKS: usize = 2;
const FIRST_BLOCK: usize = 3;
const RESUMED: usize = 4;
const WINDOW_A: usize = 5;
const SPAN_A: usize = 6;
const WINDOW_B: usize = 7;
const SPAN_B: usize = 8;
const SKIP_A: usize = 9;
const SKIP_B: usize = 10;
const SKIP_V: usize = 11;
const SKIP_W: usize = 12;
const SKIP_KEYS: usize = 13;
const SKIP_VALUES: usize = 14;

/// A part of a run that is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Window {
    first: u64,
    len: u64,
    /// Number of places from its first key on that are in no later window; the last window has the run's end, too.
    places: u64,
}

/// Cuts a run of `len` keys into windows of at most `most`, of which neighbours share `overlap`.
fn windows(len: u64, most: u64, overlap: u64) -> Vec<Window> {
    let (mut found, mut first) = (Vec::new(), 0);
    while first + most < len {
        found.push(Window { first, len: most, places: most - overlap });
        first += most - overlap;
    }
    found.push(Window { first, len: len - first, places: len - first + 1 });
    found
}

/// Counts the passes through all windows until every search among `keys` has ended. In each, every search makes a step or more, and one among no
/// more than `overlap` keys lies in one window of either run.
fn rounds(mut keys: u64, overlap: u64) -> u32 {
    let mut rounds = 1;
    while keys > overlap {
        keys /= 2;
        rounds += 1;
    }
    rounds
}

fn pairs(a: &[Window], b: &[Window]) -> impl Iterator<Item = (Window, Window)> {
    a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)))
}

impl Order<'_> {
    /// Merges one pair of runs; `cuts` has room for two numbers to a tile.
    pub(super) fn merge_through_windows(&self, payload: SortPayload, runs: &Runs<'_>, cuts: &Buffer, to: Side<'_>) -> Result<()> {
        let form = Form { key_bytes: runs.keys[0].size, payload, writes_keys: to.keys.is_some(), rolled: self.rolled, windows: true };
        let lengths = [0, 1].map(|k| runs.lengths[k].min(runs.bound[k]));
        let [m, n] = lengths;
        let (tile, tiles) = (self.tiling.tile, self.tiles(runs.n));
        let whole = Place { raw: cuts, offset: 0, size: PAYLOAD };
        let limits = self.wgpu.window_limits();

        let kernel = self.kernel(Step::Cuts, form)?;
        let overlap = self.most / 2;
        let [a, b] = lengths.map(|len| windows(len, self.most, overlap));
        let rounds = if a.len() + b.len() == 2 { 1 } else { rounds(m.min(n), overlap) };
        for round in 0..rounds {
            for (k, (a, b)) in pairs(&a, &b).enumerate() {
                let (mut words, mut bindings) = self.bind_windows(lengths, runs.keys, [(a, a.len), (b, b.len)])?;
                (words[BLOCKS], words[RESUMED]) = (tiles as u32, u32::from(round > 0 || k > 0));
                bindings.push(whole.bind(limits, 0, 2 * tiles)?.1);
                let mut launch = Launch::new(0, &words);
                launch.bindings = bindings;
                self.wgpu.launch(&kernel, &launch, tiles.div_ceil(THREADS.into()))?;
            }
        }

        let kernel = self.kernel(Step::Merge { alone: false }, form)?;
        let [a, b] = lengths.map(|len| windows(len, self.most, tile));
        for (a, b) in pairs(&a, &b) {
            // As many keys are before a tile as are before its parts of both runs.
            let first = (a.first + b.first).div_ceil(tile);
            let end = ((a.first + a.places + b.first + b.places - 2) / tile + 1).min(tiles);
            chunks(end.saturating_sub(first), self.most / tile, |k, count| {
                let (mut words, mut bindings) = self.bind_windows(lengths, runs.keys, [(a, a.places), (b, b.places)])?;
                (words[BLOCKS], words[FIRST_BLOCK]) = (count as u32, (first + k) as u32);
                if let Some([v, w]) = runs.values {
                    self.bind((&mut words, &mut bindings), SKIP_V, v, (a.first, a.len))?;
                    self.bind((&mut words, &mut bindings), SKIP_W, w, (b.first, b.len))?;
                }
                bindings.push(whole.bind(limits, 0, tiles)?.1);
                let begin = (first + k) * tile;
                let elements = (begin, (count * tile).min(runs.n - begin));
                self.outputs(&mut words, &mut bindings, [SKIP_KEYS, SKIP_VALUES], to, elements)?;
                let mut launch = Launch::new(0, &words);
                launch.bindings = bindings;
                self.wgpu.launch(&kernel, &launch, count)
            })?;
        }
        Ok(())
    }

    /// Binds a window of either run, with how many keys from its first on count.
    fn bind_windows<'b>(
        &self,
        lengths: [u64; 2],
        keys: [Place<'b>; 2],
        [(a, span_a), (b, span_b)]: [(Window, u64); 2],
    ) -> Result<([u32; 15], Bindings<'b>)> {
        let (mut words, mut bindings) = ([0; 15], Bindings::new());
        [words[RUN_A], words[RUN_B]] = lengths.map(|len| len as u32);
        (words[WINDOW_A], words[SPAN_A]) = (a.first as u32, span_a as u32);
        (words[WINDOW_B], words[SPAN_B]) = (b.first as u32, span_b as u32);
        self.bind((&mut words, &mut bindings), SKIP_A, keys[0], (a.first, a.len))?;
        self.bind((&mut words, &mut bindings), SKIP_B, keys[1], (b.first, b.len))?;
        Ok((words, bindings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_every_place_once_and_what_follows_it() {
        for (len, most, overlap) in [(0, 10, 4), (9, 10, 4), (10, 10, 4), (11, 10, 4), (16, 10, 4), (17, 10, 4), (100, 9, 4), (64, 8, 4)] {
            let found = windows(len, most, overlap);
            let mut next = 0;
            for w in &found {
                assert!(w.first == next && w.len <= most);
                next += w.places;
                // The overlap that follows the last of its places lies in the window.
                assert!(w.first + w.len == len || w.places - 1 + overlap < w.len, "{w:?}");
            }
            assert_eq!(next, len + 1, "{len}, {most}, {overlap}");
        }
    }

    #[test]
    fn rounds_halve_what_is_searched_until_a_window_holds_it() {
        assert_eq!([0, 5, 10, 11, 21, 22, 43, 44].map(|keys| rounds(keys, 10)), [1, 1, 1, 2, 2, 3, 3, 4]);
    }
}
