//! Merges of many runs, block by block: of every run a block is in memory, and what no unread element can come before is put in order
//! on the device.

use super::Job;
use super::keys::Keys;
use super::runs::{Runs, Writer, unwritable};
use crate::failure::Result;
use isowarp::Device;
use isowarp::dynamic::{DynBuffer, Sorted};
use isowarp::element::DType;
use std::ops::Range;

/// Bytes of a block from which on it is worth its seek.
const BLOCK: u64 = 16 << 10;
/// Most runs of one merge.
const MOST: u64 = 256;

/// Part of a run that is in memory, and the place of the rest.
struct Block {
    parts: Vec<Vec<u8>>,
    next: u64,
    end: u64,
}

impl Block {
    fn more(&self) -> bool {
        self.next < self.end
    }

    /// Reads on until there are so many elements.
    fn fill(&mut self, keys: &Keys<'_>, runs: &Runs, elements: u64) -> std::io::Result<()> {
        let want = elements.saturating_sub(keys.len(&self.parts) as u64).min(self.end - self.next);
        if want > 0 {
            for (part, read) in self.parts.iter_mut().zip(runs.read(self.next, want)?) {
                part.extend_from_slice(&read);
            }
            self.next += want;
        }
        Ok(())
    }

    /// Takes the first elements out.
    fn take(&mut self, keys: &Keys<'_>, elements: usize) -> Vec<Vec<u8>> {
        let take = |(part, size): (&mut Vec<u8>, &u64)| {
            let rest = part.split_off(elements * *size as usize);
            std::mem::replace(part, rest)
        };
        self.parts.iter_mut().zip(&keys.sizes).map(take).collect()
    }
}

/// The elements at the front of each block that come before everything that is not in memory, equal ones of a run before those of later runs.
fn safe(keys: &Keys<'_>, blocks: &[Block]) -> Vec<usize> {
    let lens: Vec<usize> = blocks.iter().map(|b| keys.len(&b.parts)).collect();
    let key = |r: usize, at: usize| keys.key(&blocks[r].parts[0], at);
    let mut before = keys.before();
    // The run of the least last key, the first of such runs; its next ones may follow at once.
    let mut least: Option<(u64, usize)> = None;
    for run in (0..blocks.len()).filter(|&r| blocks[r].more()) {
        let last = key(run, lens[run] - 1);
        if least.is_none_or(|(least, _)| before(last, least)) {
            least = Some((last, run));
        }
    }
    let Some((last, run)) = least else { return lens };
    let mut safe = |r: usize| {
        let (mut low, mut high) = (0, lens[r]);
        while low < high {
            let middle = low.midpoint(high);
            let key = key(r, middle);
            // Equal ones go first in runs before that one, and wait in later ones.
            if if r < run { !before(last, key) } else { before(key, last) } {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    };
    (0..blocks.len()).map(|r| if r == run { lens[r] } else { safe(r) }).collect()
}

/// Sorted parts, in the order of their runs, as one: a stable sort of one behind the other is their merge.
fn merged(job: &mut Job<'_>, keys: &Keys<'_>, mut parts: Vec<Vec<Vec<u8>>>) -> isowarp::Result<Vec<Vec<u8>>> {
    if parts.len() < 2 {
        return Ok(parts.pop().unwrap_or_default());
    }
    let device = job.device;
    let upload = |(k, dtype): (usize, DType)| {
        let all = parts.iter().map(|part| &part[k][..]).collect::<Vec<_>>().concat();
        DynBuffer::upload(device, dtype, &all)
    };
    let uploaded = keys.types().into_iter().enumerate().map(upload).collect::<isowarp::Result<Vec<DynBuffer<Device>>>>()?;
    drop(parts);
    let gives = if uploaded.len() > 1 { Sorted::KeysAndValues } else { Sorted::Keys };
    let n = uploaded.first().map_or(0, DynBuffer::len);
    let sorted = job.time(|| keys.sort(device, &uploaded.iter().collect::<Vec<_>>(), n, gives))?;
    sorted.iter().map(DynBuffer::read_blocking).collect()
}

/// Merges runs `of`, handing the result on in pieces.
fn pass(job: &mut Job<'_>, keys: &Keys<'_>, (runs, of): (&Runs, Range<usize>), mut put: impl FnMut(Vec<Vec<u8>>) -> Result) -> Result {
    // Half a chunk in all: buffers of ever other sizes are kept for a while by the device's pool.
    let elements = (job.chunk / 2 / of.len() as u64).max(1);
    let block = |k| Block { parts: vec![Vec::new(); keys.sizes.len()], next: runs.start(k), end: runs.ends[k] };
    let mut blocks: Vec<Block> = of.map(block).collect();
    loop {
        for block in &mut blocks {
            block.fill(keys, runs, elements).map_err(|e| unwritable(&job.temp, &e))?;
        }
        let counts = safe(keys, &blocks);
        let taken: Vec<_> = blocks.iter_mut().zip(counts).filter(|(_, n)| *n > 0).map(|(b, n)| b.take(keys, n)).collect();
        if taken.is_empty() {
            return Ok(());
        }
        let found = merged(job, keys, taken)?;
        job.progress.advance(found.first().map_or(0, Vec::len) as u64);
        put(found)?;
    }
}

/// Runs of one merge: as many as have blocks of some size.
fn fan_in(job: &Job<'_>, keys: &Keys<'_>) -> usize {
    (job.chunk / 2 * keys.sizes[0] / BLOCK).clamp(2, MOST) as usize
}

/// Passes over all elements that merges of so many runs take.
pub(super) fn passes(job: &Job<'_>, keys: &Keys<'_>, mut runs: u64) -> u32 {
    let mut passes = 0;
    while runs > 1 {
        runs = runs.div_ceil(fan_in(job, keys) as u64);
        passes += 1;
    }
    passes
}

/// Merges all runs, handing the result on in pieces.
pub(super) fn merge(job: &mut Job<'_>, keys: &Keys<'_>, mut runs: Runs, put: impl FnMut(Vec<Vec<u8>>) -> Result) -> Result {
    let (most, folder) = (fan_in(job, keys), job.temp.clone());
    while runs.ends.len() > most {
        job.merges += 1;
        let mut writer = Writer::new(&folder, &keys.sizes)?;
        for first in (0..runs.ends.len()).step_by(most) {
            let of = first..runs.ends.len().min(first + most);
            pass(job, keys, (&runs, of), |parts| writer.write(&parts))?;
            writer.end();
        }
        runs = writer.done()?;
    }
    job.merges += 1;
    let all = 0..runs.ends.len();
    pass(job, keys, (&runs, all), put)
}

#[cfg(test)]
mod tests {
    use super::super::keys::With;
    use super::*;
    use isowarp::dynamic::Order;
    use isowarp::element::Ty;
    use isowarp::patterns::SortOrder;

    fn block(keys: &[u8], more: bool) -> Block {
        Block { parts: vec![keys.to_vec()], next: 0, end: u64::from(more) }
    }

    #[test]
    fn what_no_unread_element_can_come_before_is_safe() {
        let up = SortOrder::Ascending.into();
        let keys = Keys::new(DType::U8, &up, With::Nothing);
        let safe = |blocks: &[(&[u8], bool)]| safe(&keys, &blocks.iter().map(|(k, more)| block(k, *more)).collect::<Vec<_>>());
        // Everything is in memory.
        assert_eq!(safe(&[(&[1, 9], false), (&[2], false), (&[], false)]), [2, 1, 0]);
        // More of the second run may be 5, too: elements of the first that are 5 come before it, those of the third behind it.
        assert_eq!(safe(&[(&[4, 5, 6], true), (&[3, 5], true), (&[4, 5, 9], false)]), [2, 2, 1]);
        // Of runs with the same last key the first one goes on.
        assert_eq!(safe(&[(&[5, 5], true), (&[5, 5], true), (&[5], true)]), [2, 0, 0]);
        assert_eq!(safe(&[(&[5, 5], false), (&[5, 5], true), (&[5], true)]), [2, 2, 0]);
        let down = SortOrder::Descending.into();
        let keys = Keys::new(DType::F32, &down, With::Nothing);
        let blocks = [[f32::NAN, 1.0].as_slice(), &[0.0, -0.0]].map(|v| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        let [a, b] = blocks.map(|bytes| Block { parts: vec![bytes], next: 0, end: 1 });
        assert_eq!(super::safe(&keys, &[b, a]), [0, 2]);
        // By an order of one's own, of which 12 and 2 are equal.
        let ends = isowarp::expression::parse("x % 10 < y % 10", &[Ty::U32, Ty::U32], None, Some(Ty::Bool)).expect("an order");
        let ends = Order::Own(ends);
        let keys = Keys::new(DType::U8, &ends, With::Nothing);
        let safe = |blocks: &[(&[u8], bool)]| super::safe(&keys, &blocks.iter().map(|(k, more)| block(k, *more)).collect::<Vec<_>>());
        assert_eq!(safe(&[(&[11, 2, 3], true), (&[1, 12], true), (&[31, 2, 9], false)]), [2, 2, 1]);
        assert_eq!(safe(&[(&[2], true), (&[12], true)]), [1, 0]);
    }
}
