//! Inputs on the host, and a pattern on a device with its inputs and outputs there.

use isowarp::element::Element;
use isowarp::prelude::*;
use isowarp::{Device, Result};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// What is enqueued again and again, without allocating.
type Run = Box<dyn FnMut() -> Result<()>>;
/// Brings the result to the host.
type Read = Box<dyn Fn() -> Result<()>>;

/// A pattern that is ready to run.
pub(crate) struct Job {
    pub(crate) run: Run,
    pub(crate) read: Read,
}

/// Inputs of `n` elements each, made when they are first asked for.
#[derive(Debug, Default)]
pub(crate) struct Host {
    pub(crate) n: u64,
    floats: OnceCell<Vec<f32>>,
    words: OnceCell<Vec<u32>>,
    rising: OnceCell<Vec<u32>>,
    halves: OnceCell<Vec<u32>>,
    places: OnceCell<Vec<u32>>,
    runs: OnceCell<Vec<u32>>,
    offsets: OnceCell<Vec<u32>>,
}

/// Elements of a segment.
const SEGMENT: usize = 16;
/// Elements of a run of equal ones.
const RUN: u64 = 4;

/// Bits without a pattern that a kernel could profit from.
fn hash(i: u64) -> u32 {
    let h = (i as u32).wrapping_mul(2_654_435_761);
    (h ^ (h >> 15)).wrapping_mul(0x85EB_CA6B)
}

impl Host {
    pub(crate) fn new(n: u64) -> Self {
        Self { n, ..Self::default() }
    }

    fn made<'a, T>(&self, kept: &'a OnceCell<Vec<T>>, f: impl Fn(u64) -> T) -> &'a [T] {
        kept.get_or_init(|| (0..self.n).map(f).collect())
    }

    /// Between 0 and 1.
    pub(crate) fn floats(&self) -> &[f32] {
        self.made(&self.floats, |i| (hash(i) >> 8) as f32 / 16_777_216.0)
    }

    pub(crate) fn words(&self) -> &[u32] {
        self.made(&self.words, hash)
    }

    /// In ascending order.
    pub(crate) fn rising(&self) -> &[u32] {
        let step = u32::MAX / self.n.clamp(1, u32::MAX.into()) as u32;
        self.made(&self.rising, |i| (i as u32).wrapping_mul(step))
    }

    /// Two arrays in ascending order, one behind the other, with some elements in both.
    pub(crate) fn halves(&self) -> &[u32] {
        let half = self.n / 2;
        self.made(&self.halves, |i| if i < half { (3 * i) as u32 } else { (2 * (i - half)) as u32 })
    }

    /// Numbers of elements, at random.
    pub(crate) fn places(&self) -> &[u32] {
        self.made(&self.places, |i| (u64::from(hash(i)) % self.n) as u32)
    }

    /// Runs of equal elements.
    pub(crate) fn runs(&self) -> &[u32] {
        self.made(&self.runs, |i| (i / RUN) as u32)
    }

    /// Where segments start, and the end of the last one.
    pub(crate) fn offsets(&self) -> &[u32] {
        self.offsets.get_or_init(|| (0..self.n).step_by(SEGMENT).chain([self.n]).map(|i| i as u32).collect())
    }

    /// The side of the square image.
    pub(crate) fn side(&self) -> u32 {
        self.n.isqrt().min(u32::MAX.into()) as u32
    }
}

type Of<T> = Buffer<Device, T>;

/// A pattern with one output of `out` elements.
pub(crate) fn into<T: Element, R: Element>(
    device: &Device,
    x: &[T],
    out: u64,
    f: impl Fn(&Device, &Of<T>, &Of<R>) -> Result<()> + 'static,
) -> Result<Job> {
    let (d, x, y) = (device.clone(), device.upload(x)?, device.buffer::<R>(out)?);
    let written = y.clone();
    Ok(Job { run: Box::new(move || f(&d, &x, &y)), read: Box::new(move || written.read_blocking().map(drop)) })
}

/// A pattern that makes its own output.
pub(crate) fn made(device: &Device, x: &[u32], f: impl Fn(&Device, &Of<u32>) -> Result<Of<u32>> + 'static) -> Result<Job> {
    let (d, x, found) = (device.clone(), device.upload(x)?, Rc::new(RefCell::new(None)));
    let last = Rc::clone(&found);
    let run = move || {
        *found.borrow_mut() = Some(f(&d, &x)?);
        Ok(())
    };
    Ok(Job { run: Box::new(run), read: Box::new(move || last.borrow().as_ref().map_or(Ok(()), |y: &Of<u32>| y.read_blocking().map(drop))) })
}

/// A pattern that writes a part of its output, and how many elements that is.
pub(crate) fn part(device: &Device, x: &[u32], f: impl Fn(&Device, &Of<u32>, &Of<u32>, &Of<u32>) -> Result<()> + 'static) -> Result<Job> {
    let (d, y, count) = (device.clone(), device.buffer::<u32>(x.len() as u64)?, device.buffer::<u32>(1)?);
    let written = (y.clone(), count.clone());
    let x = device.upload(x)?;
    Ok(Job {
        run: Box::new(move || f(&d, &x, &y, &count)),
        read: Box::new(move || {
            let count = written.1.read_blocking()?.first().copied().unwrap_or(0);
            written.0.slice(..u64::from(count))?.read_blocking().map(drop)
        }),
    })
}

/// A pattern with two outputs of as many elements as the input, and perhaps a count.
pub(crate) fn several(
    device: &Device,
    x: &[u32],
    f: impl Fn(&Device, &Of<u32>, (&Of<u32>, &Of<u32>), &Of<u32>) -> Result<()> + 'static,
) -> Result<Job> {
    let (d, n) = (device.clone(), x.len() as u64);
    let (x, y, z, count) = (device.upload(x)?, device.buffer::<u32>(n)?, device.buffer::<u32>(n)?, device.buffer::<u32>(1)?);
    let written = (y.clone(), z.clone());
    Ok(Job {
        run: Box::new(move || f(&d, &x, (&y, &z), &count)),
        read: Box::new(move || {
            written.0.read_blocking()?;
            written.1.read_blocking().map(drop)
        }),
    })
}
