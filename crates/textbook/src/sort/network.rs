//! Sorting networks as data: their steps, and how these are cut into launches.

/// Keys of a tile, which a workgroup sorts in its own memory.
pub const TILE: u64 = 1024;
/// Keys that a window of [`TILE`] keys reads on either side of those that it writes, where pairs lie across the edges of tiles: so many places may
/// what is wrong at its ends move inwards.
pub const HALO: u64 = 256;

/// Comparisons of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Network {
    /// Neighbours, in turns from the first key on and from the second.
    Transposition,
    /// Batcher's, of runs that rise and then fall. The second run is looked at from its end, so that the lesser key always goes to the lower place.
    Bitonic,
    /// Batcher's, of merges of the odd places and of the even ones.
    OddEvenMerge,
}

/// A step of a network: pairs of places, no place in two of them, whose keys change places where the higher place holds the lesser key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct NetworkStep {
    /// The network.
    pub network: Network,
    /// Keys of the sorted runs that a merge makes one of; the number of the round, from 0 on, of a transposition sort.
    pub run: u64,
    /// Distance of the places of a pair, where the second run is not looked at from its end: a power of two.
    pub distance: u64,
}

impl NetworkStep {
    /// The first step.
    #[must_use]
    pub const fn first(network: Network) -> Self {
        let run = if matches!(network, Network::Transposition) { 0 } else { 1 };
        Self { network, run, distance: 1 }
    }

    /// The step after it.
    #[must_use]
    pub const fn next(self) -> Self {
        match self.network {
            Network::Transposition => Self { run: self.run + 1, ..self },
            _ if self.distance > 1 => Self { distance: self.distance / 2, ..self },
            _ => Self { run: 2 * self.run, distance: 2 * self.run, ..self },
        }
    }

    /// Steps until the runs of a merge are one.
    const fn left(self) -> u64 {
        self.distance.ilog2() as u64 + 1
    }

    /// Pair `q`, the lower place first; some numbers stand for none. Of `n` keys, pairs are there whose higher place is below `n`.
    #[must_use]
    pub const fn pair(self, q: u64) -> Option<(u64, u64)> {
        let d = self.distance;
        let (block, r) = (q / d * 2 * d, q % d);
        match self.network {
            Network::Transposition => Some((block + self.run % 2, block + self.run % 2 + 1)),
            Network::Bitonic if d == self.run => Some((block + r, block + 2 * d - 1 - r)),
            Network::OddEvenMerge if d < self.run => {
                let x = block + d + r;
                if (x ^ (x + d)) < 2 * self.run { Some((x, x + d)) } else { None }
            }
            _ => Some((block + r, block + r + d)),
        }
    }

    /// All steps that sort `n` keys: that network of a power of two of keys, or of `n` rounds, without the pairs that are not there.
    pub fn all(network: Network, n: u64) -> impl Iterator<Item = Self> {
        core::iter::successors(Some(Self::first(network)), |step| Some(step.next())).take(Self::count(network, n) as usize)
    }

    /// Number of these.
    #[must_use]
    pub const fn count(network: Network, n: u64) -> u64 {
        if n < 2 {
            return 0;
        }
        let levels = n.next_power_of_two().ilog2() as u64;
        match network {
            Network::Transposition => n,
            _ => levels * (levels + 1) / 2,
        }
    }

    /// Numbers of pairs of `n` keys.
    #[must_use]
    pub const fn pairs(self, n: u64) -> u64 {
        match self.network {
            Network::Transposition => n / 2,
            _ => n.next_power_of_two() / 2,
        }
    }
}

/// Part of a network that a launch carries out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// Some steps in each window of [`TILE`] keys, from one array to the other.
    Windows {
        /// The first of the steps.
        first: NetworkStep,
        /// Number of them.
        steps: u64,
        /// 0 where windows are tiles, which no pair leaves; else [`HALO`].
        halo: u64,
    },
    /// One step over the whole array, in place.
    Everywhere(NetworkStep),
}

/// Window `k` with this halo: its first place, and the places that it writes, from one to another; all may be behind the last key.
#[must_use]
pub const fn window(k: u64, halo: u64) -> (u64, u64, u64) {
    let written = k * (TILE - 2 * halo);
    (written.saturating_sub(halo), written, written + TILE - 2 * halo)
}

/// The launches of a network that sorts `n` keys.
#[must_use]
pub fn passes(network: Network, n: u64) -> Vec<Pass> {
    let first = NetworkStep::first(network);
    let count = NetworkStep::count(network, n);
    if count == 0 {
        return Vec::new();
    }
    if n <= TILE {
        return vec![Pass::Windows { first, steps: count, halo: 0 }];
    }
    if network == Network::Transposition {
        let round = |round| (NetworkStep { run: round, ..first }, HALO.min(n - round));
        return (0..n).step_by(HALO as usize).map(round).map(|(first, steps)| Pass::Windows { first, steps, halo: HALO }).collect();
    }
    // Runs of half a tile are merged inside tiles; of longer ones the steps that a window sees wholly.
    let halo = if network == Network::Bitonic { 0 } else { HALO };
    let reach = if network == Network::Bitonic { TILE / 2 } else { HALO / 2 };
    let mut passes = vec![Pass::Windows { first, steps: NetworkStep::count(network, TILE), halo: 0 }];
    let runs = core::iter::successors(Some(TILE), |run| Some(2 * run)).take_while(|run| *run < n);
    for run in runs {
        let mut step = NetworkStep { network, run, distance: run };
        while step.distance > reach {
            passes.push(Pass::Everywhere(step));
            step = step.next();
        }
        passes.push(Pass::Windows { first: step, steps: step.left(), halo });
    }
    passes
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Network; 3] = [Network::Transposition, Network::Bitonic, Network::OddEvenMerge];

    /// Keys are the bits above 8; those below tell equal keys apart and are not compared.
    const TAG: u32 = 8;

    fn exchange(keys: &mut [u32], (x, y): (u64, u64)) {
        if y < keys.len() as u64 && keys[y as usize] >> TAG < keys[x as usize] >> TAG {
            keys.swap(x as usize, y as usize);
        }
    }

    fn plain(network: Network, keys: &mut [u32]) {
        let n = keys.len() as u64;
        for step in NetworkStep::all(network, n) {
            (0..step.pairs(n)).filter_map(|q| step.pair(q)).for_each(|pair| exchange(keys, pair));
        }
    }

    #[test]
    fn zeros_and_ones_are_sorted_in_every_order() {
        // A network that sorts all arrays of zeros and ones sorts all arrays.
        for network in ALL {
            for n in 0..=13u32 {
                for bits in 0..1u32 << n {
                    let mut keys: Vec<u32> = (0..n).map(|k| (bits >> k & 1) << TAG).collect();
                    plain(network, &mut keys);
                    let ones = keys.iter().sum::<u32>() >> TAG;
                    assert!(keys.is_sorted() && ones == bits.count_ones(), "{network:?} {n} {bits:b}");
                }
            }
        }
    }

    #[test]
    fn no_place_is_in_two_pairs_of_a_step() {
        for network in ALL {
            let n = 64;
            for step in NetworkStep::all(network, n) {
                let mut places: Vec<u64> = (0..step.pairs(n)).filter_map(|q| step.pair(q)).flat_map(|(x, y)| [x, y]).collect();
                let all = places.len();
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), all, "{step:?}");
            }
        }
    }

    #[test]
    fn comparators_are_as_many_as_in_the_books() {
        let count = |network, n: u64| -> usize {
            let exists = |pair: &(u64, u64)| pair.1 < n;
            NetworkStep::all(network, n).map(|s| (0..s.pairs(n)).filter_map(|q| s.pair(q)).filter(exists).count()).sum()
        };
        // Knuth, volume 3, section 5.3.4: 63 comparators of the odd-even merge sort of 16 keys, 19 of 8; n / 4 * log n * (log n + 1) of the bitonic one.
        assert_eq!((count(Network::OddEvenMerge, 8), count(Network::OddEvenMerge, 16)), (19, 63));
        assert_eq!((count(Network::Bitonic, 8), count(Network::Bitonic, 16)), (24, 80));
        assert_eq!(count(Network::Transposition, 8), 28);
    }

    /// The launches as kernels do them.
    fn in_passes(network: Network, keys: &mut Vec<u32>) {
        let n = keys.len() as u64;
        for pass in passes(network, n) {
            match pass {
                Pass::Everywhere(step) => (0..step.pairs(n)).filter_map(|q| step.pair(q)).for_each(|pair| exchange(keys, pair)),
                Pass::Windows { first, steps, halo } => {
                    let mut out = Vec::new();
                    for k in 0..n.div_ceil(TILE - 2 * halo) {
                        let (begin, from, to) = window(k, halo);
                        let mut seen = keys[begin as usize..n.min(begin + TILE) as usize].to_vec();
                        let mut step = first;
                        for _ in 0..steps {
                            assert!(halo == 0 || begin.is_multiple_of(2 * step.distance));
                            let moved = |(x, y): (u64, u64)| (x - begin, y - begin);
                            let first = begin / 2;
                            (first..first + TILE / 2).filter_map(|q| step.pair(q)).for_each(|pair| exchange(&mut seen, moved(pair)));
                            step = step.next();
                        }
                        out.extend_from_slice(&seen[(from - begin) as usize..(to.min(n) - begin) as usize]);
                    }
                    *keys = out;
                }
            }
        }
    }

    #[test]
    fn launches_make_the_comparisons_of_the_steps() {
        for network in ALL {
            for n in [2u64, 511, 1023, 1024, 1025, 1537, 2049, 3000, 5003] {
                let start: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 18).collect();
                let (mut expected, mut found) = (start.clone(), start);
                plain(network, &mut expected);
                in_passes(network, &mut found);
                assert_eq!(found, expected, "{network:?} of {n}");
                assert!(found.is_sorted_by_key(|key| key >> TAG));
            }
        }
    }
}
