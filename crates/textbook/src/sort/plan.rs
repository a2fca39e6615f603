//! The host's side of the algorithms: which launches a device is asked for, over which memory.

use super::network::{Network, NetworkStep, Pass, TILE, passes};
use super::sample::SamplePlan;
use super::{LOCAL_TILE, SortVariant};
use crate::kernels::{
    SORT_BOUNDS, SORT_EVERYWHERE, SORT_FLAGS, SORT_LOAD, SORT_LOCAL, SORT_RUNS, SORT_SAMPLES, SORT_SCATTER, SORT_SPLIT, SORT_STORE,
    SORT_WINDOWS, SortVariantParams,
};
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::call::Variant;
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{self, Expr};
use isowarp_core::launch::{Array, Choice, Code, Groups, Kernel, KernelSpec, Work};
use isowarp_core::ops::Sum;
use isowarp_core::patterns::{MapTask, Patterns, Scan as _, SortPlaces, SortTask};
use std::sync::Arc;

/// Threads of a block.
const THREADS: u64 = 256;
/// A flag beside the network's number: the payload tells equal keys apart.
const RANKED: u32 = 4;

/// Keys as words that compare as unsigned integers, of 32 bits or, for keys of eight bytes, 64, and a payload of 32 bits that travels with them.
struct Words<R> {
    keys: R,
    /// A value, or where the key was.
    payload: Option<R>,
    n: u64,
}

/// Starts of buckets: bucket `b` at entry `b * stride` of a table, the last one ending with the keys.
struct Buckets<'a, R> {
    starts: &'a R,
    stride: u64,
    count: u64,
    /// Keys of a bucket, at most.
    most: u64,
}

impl<R> Clone for Buckets<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R> Copy for Buckets<'_, R> {}

/// Choices that the text of a kernel depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// Bytes of a key where it lies.
    pub key_bytes: u64,
    /// Whether something travels.
    pub pairs: bool,
    /// Whether it is the keys' places, and equal keys are ordered by it.
    pub ranked: bool,
    /// The network whose step it is: its number.
    pub network: u32,
    /// Keys of a lane that sorts a tile.
    pub items: u64,
    /// Whether buckets are sorted.
    pub buckets: bool,
    /// Whether the task's values are read: what travels, or at the end what lies at the places that did.
    pub values: bool,
}

impl Form {
    /// As choices of a kernel.
    #[must_use]
    pub fn choices(self) -> [Choice; 9] {
        [
            ("key_bytes", self.key_bytes as u32),
            ("wide", (self.key_bytes == 8).into()),
            ("pairs", self.pairs.into()),
            ("ranked", self.ranked.into()),
            ("network", self.network),
            ("items", self.items.max(1) as u32),
            ("coarse", (self.items > 1).into()),
            ("buckets", self.buckets.into()),
            ("values", self.values.into()),
        ]
    }
}

/// The words that are sorted, and room for as many.
struct Sides<R> {
    front: Words<R>,
    back: Words<R>,
}

impl<R> Sides<R> {
    fn turn(&mut self) {
        core::mem::swap(&mut self.front, &mut self.back);
    }
}

/// A sort and what its launches share.
struct Walk<'a, B: Patterns> {
    device: &'a B,
    task: &'a SortTask,
    places: SortPlaces<'a, B::Raw>,
    params: SortVariantParams,
    form: Form,
}

impl<B: Patterns> Variant<B, SortTask> for SortVariant {
    fn run(&self, device: &B, task: &SortTask, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let places = task.places(leaves, outs)?;
        self.check(task, places.payload_bytes)?;
        if *self == Self::Radix {
            return device.run(task, leaves, outs);
        }
        if device.code() == Code::Rust {
            return super::host::run(*self, device, task, &places);
        }
        // Kernels bind whole arrays.
        let limit = device.tuning().most(task.dtype.size_bytes().max(4));
        if task.n > limit {
            return Err(Error::TooLarge { what: "keys of a textbook's sort", requested: task.n, limit });
        }
        let (map, ranked) = (task.key_bits(), *self == Self::Sample);
        let low = |count: u32| if count == 0 { 0 } else { u64::MAX >> (64 - count) };
        let params = SortVariantParams {
            negative: map.negative,
            flip: map.flip,
            mask: low(task.bits.end) ^ low(task.bits.start),
            flags: if ranked { RANKED } else { 0 },
            sign_bit: (map.width - 1) & 31,
            ..SortVariantParams::default()
        };
        let form = Form { key_bytes: task.dtype.size_bytes(), ranked, values: places.values.is_some(), ..Form::default() };
        let walk = Walk { device, task, places, params, form };
        let mut sides = walk.sides(task.n)?;
        walk.load(&sides.front)?;
        match self {
            Self::OddEvenTransposition => walk.network(Network::Transposition, &mut sides, None)?,
            Self::Bitonic => walk.network(Network::Bitonic, &mut sides, None)?,
            Self::OddEvenMerge => walk.network(Network::OddEvenMerge, &mut sides, None)?,
            Self::Sample => walk.sample(&mut sides)?,
            variant => match variant.digits() {
                Some((bits, tile)) => walk.digits(&mut sides, bits, tile)?,
                None => walk.split(&mut sides)?,
            },
        }
        walk.store(&sides.front, &sides.back)
    }
}

impl<B: Patterns> Walk<'_, B> {
    /// Bytes of a word.
    fn word(&self) -> u64 {
        self.task.dtype.size_bytes().max(4)
    }

    fn words(&self, n: u64) -> Result<Words<B::Raw>> {
        let travels = self.form.ranked || self.form.values;
        let payload = if travels { Some(self.device.allocate_bytes(4 * n)?) } else { None };
        Ok(Words { keys: self.device.allocate_bytes(self.word() * n)?, payload, n })
    }

    fn sides(&self, n: u64) -> Result<Sides<B::Raw>> {
        Ok(Sides { front: self.words(n)?, back: self.words(n)? })
    }

    fn table(&self, n: u64) -> Result<Buffer<B, u32>> {
        self.device.buffer(n)
    }

    /// Keys, and what travels with them.
    fn both<'w>(&self, words: &'w Words<B::Raw>) -> [Array<'w, B::Raw>; 2] {
        let payload = words.payload.as_ref().map_or(Array::NONE, |payload| Array::of((payload, 0), 4, words.n));
        [Array::of((&words.keys, 0), self.word(), words.n), payload]
    }

    fn launch(
        &self,
        kernel: &'static Kernel<SortVariantParams>,
        (params, form): (SortVariantParams, Form),
        arrays: &[Array<'_, B::Raw>],
        (n, groups): (u64, u64),
    ) -> Result<()> {
        let work = Work::whole(n, &|_| 0);
        self.device.launch(&KernelSpec::new(kernel, &params, &form.choices(), arrays), work.by(Groups::Of(&|_| groups)))
    }

    /// A thread to each of `n`.
    fn over(
        &self,
        kernel: &'static Kernel<SortVariantParams>,
        of: (SortVariantParams, Form),
        arrays: &[Array<'_, B::Raw>],
        n: u64,
    ) -> Result<()> {
        self.launch(kernel, of, arrays, (n, n.div_ceil(THREADS)))
    }

    /// Payload that travels, if there is one.
    fn values(&self, read: bool) -> Array<'_, B::Raw> {
        self.places.values.filter(|_| read).map_or(Array::NONE, |place| Array::of(place, 4, self.task.n))
    }

    /// The task's keys become words, and its values, or the keys' places, the payload.
    fn load(&self, to: &Words<B::Raw>) -> Result<()> {
        let form = Form { pairs: to.payload.is_some(), ..self.form };
        let [keys, payload] = self.both(to);
        let arrays = [Array::of(self.places.keys, self.form.key_bytes, self.task.n), self.values(!form.ranked), keys, payload];
        self.over(&SORT_LOAD, (self.params, form), &arrays, self.task.n)
    }

    /// Words become keys again and go to the outputs, and the payload, or the values whose places it holds, with them.
    fn store(&self, from: &Words<B::Raw>, spare: &Words<B::Raw>) -> Result<()> {
        let n = self.task.n;
        let form = Form { pairs: self.places.payload_out.is_some(), ..self.form };
        let alone = self.device.tuning().stores_narrow || form.key_bytes >= 4;
        // Narrow elements share words, which go to the output by a map then.
        let keys_out = match self.places.keys_out {
            Some(out) if alone => Array::out(out, n),
            None if self.device.tuning().stores_narrow => Array::NONE,
            _ => self.both(spare)[0],
        };
        let payload_out = self.places.payload_out.map_or(Array::NONE, |out| Array::out(out, n));
        let [keys, payload] = self.both(from);
        self.over(&SORT_STORE, (self.params, form), &[keys, payload, self.values(form.ranked), keys_out, payload_out], n)?;
        let Some(out) = self.places.keys_out.filter(|_| !alone) else { return Ok(()) };
        let dtype = if form.key_bytes == 1 { DType::U8 } else { DType::U16 };
        let words = Leaf::Elements { raw: spare.keys.clone(), dtype: DType::U32, offset: 0, stride: 1 };
        let pack = MapTask { func: Arc::new(ir::trace(|word: Expr<u32>| word)?), n, numerics: self.device.numerics() };
        self.device.run(&pack, &[words], &[Out { raw: out.raw.clone(), dtype, offset: out.offset }])
    }

    fn network(&self, network: Network, sides: &mut Sides<B::Raw>, buckets: Option<Buckets<'_, B::Raw>>) -> Result<()> {
        let n = buckets.map_or(sides.front.n, |buckets| buckets.most);
        passes(network, n).into_iter().try_for_each(|pass| self.pass(pass, sides, buckets))
    }

    /// Steps of a network in every window of the array, or of every bucket; or a step over all of it, in place.
    fn pass(&self, pass: Pass, sides: &mut Sides<B::Raw>, buckets: Option<Buckets<'_, B::Raw>>) -> Result<()> {
        let (step, steps, halo) = match pass {
            Pass::Everywhere(step) => (step, 0, 0),
            Pass::Windows { first, steps, halo } => (first, steps, halo),
        };
        let NetworkStep { network, run, distance, .. } = step;
        let (front, back) = (&sides.front, &sides.back);
        let n = front.n;
        let most = buckets.map_or(n, |b| b.most);
        let each = match pass {
            Pass::Everywhere(_) => step.pairs(most).div_ceil(THREADS),
            Pass::Windows { .. } => most.div_ceil(TILE - 2 * halo),
        };
        let (stride, count) = buckets.map_or((0, 0), |b| (b.stride, b.count));
        let params = SortVariantParams {
            run: run as u32,
            distance: distance as u32,
            steps: steps as u32,
            halo: halo as u32,
            each: each as u32,
            stride: stride as u32,
            buckets: count as u32,
            flags: self.params.flags | network as u32,
            ..self.params
        };
        let form = Form { pairs: front.payload.is_some(), buckets: buckets.is_some(), network: network as u32, ..self.form };
        let starts = buckets.map_or(Array::NONE, |b| Array::of((b.starts, 0), 4, b.stride * b.count));
        let groups = each * count.max(1);
        let [keys, payload] = self.both(front);
        match pass {
            Pass::Everywhere(_) => self.launch(&SORT_EVERYWHERE, (params, form), &[keys, payload, starts], (n, groups)),
            Pass::Windows { .. } => {
                let [to, payload_to] = self.both(back);
                self.launch(&SORT_WINDOWS, (params, form), &[keys, payload, to, payload_to, starts], (n, groups))?;
                sides.turn();
                Ok(())
            }
        }
    }

    /// Tiles sorted, samples of them, buckets, and these sorted.
    fn sample(&self, sides: &mut Sides<B::Raw>) -> Result<()> {
        let n = sides.front.n;
        let mut to_go = passes(Network::Bitonic, n).into_iter();
        let Some(tiles) = to_go.next() else { return Ok(()) };
        self.pass(tiles, sides, None)?;
        if to_go.next().is_none() {
            return Ok(());
        }
        let plan = SamplePlan::new(n);
        let mut samples = self.sides(plan.samples)?;
        let form = Form { pairs: true, ..self.form };
        let [keys, payload] = self.both(&sides.front);
        let [sample_keys, sample_places] = self.both(&samples.front);
        self.over(&SORT_SAMPLES, (self.params, form), &[keys, payload, sample_keys, sample_places], plan.samples)?;
        self.network(Network::Bitonic, &mut samples, None)?;

        let params = SortVariantParams {
            stride: plan.tiles as u32,
            buckets: plan.buckets as u32,
            samples: plan.samples as u32,
            keys: plan.n as u32,
            ..self.params
        };
        let [starts, counts, offsets] = [self.table(plan.table())?, self.table(plan.table())?, self.table(plan.table())?];
        let [of_starts, of_counts, of_offsets] = [&starts, &counts, &offsets].map(|table| Array::of((table.raw(), 0), 4, plan.table()));
        let [keys, payload] = self.both(&sides.front);
        let [sample_keys, sample_places] = self.both(&samples.front);
        let arrays = [keys, payload, sample_keys, sample_places, of_starts, of_counts];
        self.over(&SORT_BOUNDS, (params, form), &arrays, plan.table())?;
        self.device.scan(&counts, Sum).exclusive().write_to(&offsets)?;
        let [to, payload_to] = self.both(&sides.back);
        self.over(&SORT_SCATTER, (params, form), &[keys, payload, to, payload_to, of_starts, of_offsets], plan.n)?;
        sides.turn();
        let buckets = Buckets { starts: offsets.raw(), stride: plan.tiles, count: plan.buckets, most: plan.most() };
        self.network(Network::Bitonic, sides, Some(buckets))
    }

    /// Tiles sorted by a digit, a scan of how many keys they have in which bucket, and these put there.
    fn digits(&self, sides: &mut Sides<B::Raw>, bits: u32, tile: u64) -> Result<()> {
        let n = sides.front.n;
        let (tiles, range) = (n.div_ceil(tile), self.task.bits.clone());
        // Entries of a table of all values of a digit and all tiles.
        let room = (1 << bits.min(range.end - range.start)) * tiles;
        let [starts, counts, offsets] = [self.table(room)?, self.table(room)?, self.table(room)?];
        let form = Form { pairs: sides.front.payload.is_some(), ..self.form };
        for bit in range.clone().step_by(bits as usize) {
            let buckets = 1 << bits.min(range.end - bit);
            let table = buckets * tiles;
            let params = SortVariantParams { bit, buckets: buckets as u32, stride: tiles as u32, run: tile as u32, ..self.params };
            let [of_starts, of_counts, of_offsets] = [&starts, &counts, &offsets].map(|of| Array::of((of.raw(), 0), 4, table));
            let ([keys, payload], [to, payload_to]) = (self.both(&sides.front), self.both(&sides.back));
            let sorted = Form { items: tile / LOCAL_TILE, ..form };
            self.launch(&SORT_LOCAL, (params, sorted), &[keys, payload, to, payload_to, of_starts, of_counts], (n, tiles))?;
            sides.turn();
            self.device.scan(&counts.slice(..table)?, Sum).exclusive().write_to(&offsets.slice(..table)?)?;
            let ([keys, payload], [to, payload_to]) = (self.both(&sides.front), self.both(&sides.back));
            self.over(&SORT_RUNS, (params, form), &[keys, payload, to, payload_to, of_starts, of_offsets], n)?;
            sides.turn();
        }
        Ok(())
    }

    /// Keys parted by a bit, for each of them: those whose bit is 0 in front.
    fn split(&self, sides: &mut Sides<B::Raw>) -> Result<()> {
        let n = sides.front.n;
        let (flags, ones) = (self.table(n)?, self.table(n)?);
        for bit in self.task.bits.clone() {
            let params = SortVariantParams { bit, ..self.params };
            let [keys, payload] = self.both(&sides.front);
            let of_flags = Array::of((flags.raw(), 0), 4, n);
            self.over(&SORT_FLAGS, (params, self.form), &[keys, payload, of_flags], n)?;
            self.device.scan(&flags, Sum).exclusive().write_to(&ones)?;
            let form = Form { pairs: sides.front.payload.is_some(), ..self.form };
            let [to, payload_to] = self.both(&sides.back);
            self.over(&SORT_SPLIT, (params, form), &[keys, payload, Array::of((ones.raw(), 0), 4, n), to, payload_to], n)?;
            sides.turn();
        }
        Ok(())
    }
}
