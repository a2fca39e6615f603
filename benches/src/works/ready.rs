//! Benchmarks that are ready to run: inputs and outputs on the device.

use super::Shape;
use isowarp::element::{Element, Scalar as _};
use isowarp::ir::Expr;
use isowarp::monte_carlo::{Acceptance, Ising, Start};
use isowarp::patterns::filter::Pixel;
use isowarp::prelude::*;
use isowarp::{Device, Result};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Closure that is measured: behind a pointer, so that what is around it is compiled once for a type, and not for each benchmark.
pub(super) type Enqueue = Rc<dyn Fn(u64) -> Result<()>>;
type OfOne<T, R> = Box<dyn Fn(&Device, &Buffer<Device, T>, &Buffer<Device, R>) -> Result<()>>;
type Digest = Box<dyn Fn() -> Result<u32>>;

/// A benchmark whose inputs and outputs lie on the device.
pub struct Ready {
    enqueue: Enqueue,
    digest: Digest,
    round_trip: Box<dyn Fn() -> Result<()>>,
}

impl Ready {
    /// Enqueues the pattern on the input whose turn it is.
    ///
    /// # Errors
    /// Errors of the pattern.
    pub fn enqueue(&self, turn: u64) -> Result<()> {
        (self.enqueue)(turn)
    }

    /// A number that depends on every bit of the output of turn 0.
    ///
    /// # Errors
    /// Errors that the device reports.
    pub fn digest(&self) -> Result<u32> {
        self.enqueue(0)?;
        (self.digest)()
    }

    /// The same, with another number in place of the one that depends on every bit of the output.
    pub(super) fn digest_by(self, digest: impl Fn() -> Result<u32> + 'static) -> Self {
        Self { digest: Box::new(digest), ..self }
    }

    /// Brings the first input from the host to the device, runs the pattern, and brings the output back. The first call makes the host's copy.
    ///
    /// # Errors
    /// Fails with the error of the pattern, and of the device.
    pub fn round_trip(&self) -> Result<()> {
        (self.round_trip)()
    }

    /// A pattern that reads `x` in turn and writes `out`, as much of it as a count says, where there is one.
    pub(super) fn new<T: Element, R: Element>(
        d: &Device,
        shape: &Shape,
        x: &Buffer<Device, T>,
        (out, count): (&Buffer<Device, R>, Option<&Buffer<Device, u32>>),
        enqueue: Enqueue,
    ) -> Result<Self> {
        let (first, host): (_, OnceCell<Vec<T>>) = (turn_of(x, shape, 0)?, OnceCell::new());
        let (d, out, count, again) = (d.clone(), out.clone(), count.cloned(), Rc::clone(&enqueue));
        // Elements after the count are another turn's.
        let written = Rc::new(move || match &count {
            Some(count) => out.slice(..u64::from(count.read_blocking()?[0]).min(out.len())),
            None => Ok(out.clone()),
        });
        let found = Rc::clone(&written);
        Ok(Self {
            enqueue,
            digest: Box::new(move || digest(&d, &found()?)),
            round_trip: Box::new(move || {
                if host.get().is_none() {
                    let _ = host.set(first.read_blocking()?);
                }
                first.write(host.get().map_or(&[], Vec::as_slice))?;
                again(0)?;
                written()?.read_blocking().map(drop)
            }),
        })
    }
}

/// Random elements: floats in [0, 1), integers of any bits.
pub(crate) fn random<T: Element>(d: &Device, n: u64, seed: u32) -> Result<Buffer<Device, T>> {
    d.generate(n, (index(), scalar(seed)), |(i, seed)| {
        let h = (i + seed) * 0x9E37_79B9;
        let h = (h ^ (h >> 16)) * 0x85EB_CA6B;
        let h = (h ^ (h >> 13)) * 0xC2B2_AE35;
        let h = h ^ (h >> 16);
        let value = if T::Reg::TY.is_float() {
            ((h >> 8).cast::<f32>() * (1.0 / 16_777_216.0)).cast::<T::Reg>()
        } else if T::Reg::TY.words() == 2 {
            (h.cast::<u64>() * 0x9E37_79B9_7F4A_7C15).cast::<T::Reg>()
        } else {
            h.cast::<T::Reg>()
        };
        value.store_as::<T>()
    })
}

/// For each turn one run of rising elements, or two of half as many.
pub(crate) fn rising<T: Element>(d: &Device, s: &Shape, turns: u64, in_halves: bool) -> Result<Buffer<Device, T>> {
    let n = s.n as u32;
    let first = if in_halves { n / 2 } else { n };
    // Elements stand so far apart, and each at random in its part.
    let step = u32::MAX / first.max(n - first).max(1);
    d.generate(s.n * turns, (index(), scalar(s.seed)), move |(i, seed)| {
        let k = i % n;
        let place = isowarp::ir::select(k.ge(first), k - first, k);
        let h = (i + seed) * 0x9E37_79B9;
        let h = (h ^ (h >> 16)) * 0x85EB_CA6B;
        let key = place * step + (h ^ (h >> 13)) % step;
        let narrow = if T::Reg::TY.is_float() { (key >> 8).cast::<f32>().cast::<T::Reg>() } else { key.cast::<T::Reg>() };
        narrow.store_as::<T>()
    })
}

/// A pattern of two sorted arrays, `n` elements together.
pub(crate) fn halves<T: Element>(
    d: &Device,
    shape: &Shape,
    f: impl Fn(&Device, &Buffer<Device, T>, &Buffer<Device, T>, &Buffer<Device, T>) -> Result<()> + 'static,
) -> Result<Ready> {
    let half = shape.n / 2;
    let x = rising::<T>(d, shape, shape.copies, true)?;
    one_of(d, shape, x, move |d, both, out| f(d, &both.slice(..half)?, &both.slice(half..)?, out))
}

/// A permutation of the indices where `n` is a power of two, with no two neighbours in one cache line.
pub(crate) fn random_indices(d: &Device, s: &Shape) -> Result<Buffer<Device, u32>> {
    let n = s.n as u32;
    d.generate(s.n, index(), move |i| {
        let h = (i * 0x9E37_79B1) % n;
        (h ^ (h >> 7)) % n
    })
}

/// The sum of all words, each times an odd number of its own.
pub(crate) fn digest<T: Element>(d: &Device, out: &Buffer<Device, T>) -> Result<u32> {
    let word = |x: Expr<T::Reg>| {
        if T::Reg::TY.words() == 1 {
            return x.bitcast::<u32>();
        }
        let x = x.bitcast::<u64>();
        (x ^ (x >> 32)).cast::<u32>()
    };
    d.reduce((out, index()).map(|(x, i)| word(x) * (i * 2 + 1)), Sum).run()?.read_blocking()
}

/// Slice `turn` of a buffer that holds several inputs.
pub(crate) fn turn_of<T: Element>(all: &Buffer<Device, T>, shape: &Shape, turn: u64) -> Result<Buffer<Device, T>> {
    let start = turn % shape.copies * shape.n;
    all.slice(start..start + shape.n)
}

pub(crate) fn one<T: Element>(
    d: &Device,
    shape: &Shape,
    f: impl Fn(&Device, &Buffer<Device, T>, &Buffer<Device, T>) -> Result<()> + 'static,
) -> Result<Ready> {
    one_of(d, shape, random::<T>(d, shape.n * shape.copies, shape.seed)?, f)
}

/// A pattern of inputs in turn, to one output.
pub(crate) fn one_of<T: Element>(
    d: &Device,
    shape: &Shape,
    x: Buffer<Device, T>,
    f: impl Fn(&Device, &Buffer<Device, T>, &Buffer<Device, T>) -> Result<()> + 'static,
) -> Result<Ready> {
    into(d, shape, x, shape.n, f)
}

/// A pattern of random elements with so many words as its result.
pub(crate) fn results<T: Element>(
    d: &Device,
    shape: &Shape,
    len: u64,
    f: impl Fn(&Device, &Buffer<Device, T>, &Buffer<Device, u32>) -> Result<()> + 'static,
) -> Result<Ready> {
    into(d, shape, random::<T>(d, shape.n * shape.copies, shape.seed)?, len, f)
}

/// A pattern of inputs in turn, to an output of `len` elements.
pub(crate) fn into<T: Element, R: Element>(
    d: &Device,
    shape: &Shape,
    x: Buffer<Device, T>,
    len: u64,
    f: impl Fn(&Device, &Buffer<Device, T>, &Buffer<Device, R>) -> Result<()> + 'static,
) -> Result<Ready> {
    into_by(d, shape, x, len, Box::new(f))
}

fn into_by<T: Element, R: Element>(d: &Device, shape: &Shape, x: Buffer<Device, T>, len: u64, f: OfOne<T, R>) -> Result<Ready> {
    let (shape, device, out) = (*shape, d.clone(), zeroed::<R>(d, len)?);
    Ready::new(d, &shape, &x.clone(), (&out.clone(), None), Rc::new(move |turn| f(&device, &turn_of(&x, &shape, turn)?, &out)))
}

/// Matrices of random elements, each transposed where it lies as often as its turn comes.
pub(crate) fn turned(d: &Device, shape: &Shape, sides: fn(u64) -> [u64; 2]) -> Result<Ready> {
    let (shape, device, [rows, columns]) = (*shape, d.clone(), sides(shape.n));
    let x = random::<f32>(d, shape.n * shape.copies, shape.seed)?;
    let turn = move |device: &Device, x: &Buffer<Device, f32>| device.transpose(&x.slice(..rows * columns)?, rows, columns).in_place();
    let other = d.clone();
    let enqueue: Enqueue = {
        let x = x.clone();
        Rc::new(move |k| turn(&device, &turn_of(&x, &shape, k)?))
    };
    let ready = Ready::new(d, &shape, &x, (&turn_of(&x, &shape, 0)?, None), enqueue)?;
    Ok(ready.digest_by(move || {
        let once = random::<f32>(&other, shape.n, shape.seed)?;
        turn(&other, &once)?;
        digest(&other, &once)
    }))
}

/// Sweeps of a lattice near its critical temperature, which goes on from turn to turn.
pub(crate) fn swept(d: &Device, shape: &Shape, sides: fn(u64) -> Vec<u32>, beta: f64) -> Result<Ready> {
    let at = Acceptance::at_beta(beta)?;
    let start = move |d: &Device, n: u64, seed: u32| Ising::new(d, &sides(n), Start::Hot, Random::new(seed.into()));
    let spins = Rc::new(RefCell::new(start(d, shape.n, shape.seed)?));
    let (device, n, seed) = (d.clone(), shape.n, shape.seed);
    let again = Rc::clone(&spins);
    Ok(Ready {
        enqueue: Rc::new(move |_| spins.borrow_mut().sweep(at, 1)),
        digest: Box::new(move || {
            let mut once = start(&device, n, seed)?;
            once.sweep(at, 1)?;
            digest(&device, &once.spins()?)
        }),
        round_trip: Box::new(move || {
            let mut spins = again.borrow_mut();
            let host = spins.spins()?.read_blocking()?;
            let brought = spins.device().upload(&host)?;
            spins.set(&brought)?;
            spins.sweep(at, 1)?;
            spins.spins()?.read_blocking().map(drop)
        }),
    })
}

/// A pattern of random elements that counts what it writes.
pub(crate) fn counted<T: Element>(
    d: &Device,
    shape: &Shape,
    f: impl Fn(&Device, &Buffer<Device, T>, &Buffer<Device, T>, &Buffer<Device, u32>) -> Result<()> + 'static,
) -> Result<Ready> {
    counted_of(d, shape, random::<T>(d, shape.n * shape.copies, shape.seed)?, f)
}

pub(crate) fn counted_of<T: Element>(
    d: &Device,
    shape: &Shape,
    x: Buffer<Device, T>,
    f: impl Fn(&Device, &Buffer<Device, T>, &Buffer<Device, T>, &Buffer<Device, u32>) -> Result<()> + 'static,
) -> Result<Ready> {
    let (shape, device) = (*shape, d.clone());
    let (out, count) = (zeroed::<T>(d, shape.n)?, zeroed::<u32>(d, 1)?);
    Ready::new(
        d,
        &shape,
        &x.clone(),
        (&out.clone(), Some(&count.clone())),
        Rc::new(move |turn| f(&device, &turn_of(&x, &shape, turn)?, &out, &count)),
    )
}

pub(crate) fn zeroed<T: Element>(d: &Device, n: u64) -> Result<Buffer<Device, T>> {
    let out = d.buffer(n)?;
    d.generate_into(n, scalar(0u32), |z| z.cast::<T::Reg>().store_as::<T>(), &out)?;
    Ok(out)
}

type Floats = Buffer<Device, f32>;

pub(crate) fn two(d: &Device, shape: &Shape, f: impl Fn(&Device, &Floats, &Floats, &Floats) -> Result<()> + 'static) -> Result<Ready> {
    let y = random::<f32>(d, shape.n * shape.copies, !shape.seed)?;
    let shape_of_y = *shape;
    // `x` is the slice of this turn; `y` follows it.
    one::<f32>(d, shape, move |d, x, out| f(d, x, &turn_of(&y, &shape_of_y, x.offset() / shape_of_y.n)?, out))
}

/// Keys, and values that travel with them; the digest is the values'.
pub(crate) fn pairs(d: &Device, shape: &Shape) -> Result<Ready> {
    let values = random::<u32>(d, shape.n, !shape.seed)?;
    let keys = zeroed::<u32>(d, shape.n)?;
    one::<u32>(d, shape, move |d, x, out| d.sort(x).with_values(&values).write_to((&keys, out)))
}

/// The thousand greatest, and where they are.
pub(crate) fn first_thousand<T: Element>(d: &Device, shape: &Shape) -> Result<Ready> {
    let places = zeroed::<u32>(d, 1000)?;
    one::<T>(d, shape, move |d, x, out| d.top_k(x, x.len().min(1000)).with_indices().write_to((out, &places)))
}

pub(crate) fn image<T: Pixel>(d: &Device, shape: &Shape, kind: FilterKind) -> Result<Ready> {
    let side = shape.n.isqrt() as u32;
    one::<T>(d, shape, move |d, x, out| {
        let whole = |b: &Buffer<Device, T>| Image::new(b.clone(), side, side, 1);
        d.filter_into(&whole(x)?, kind.clone(), Border::Clamp, &whole(out)?)
    })
}
