//! A case: a name, what it needs, and a computation on any backend whose outputs are bytes.

use isowarp::backend::Backend;
use isowarp::buffer::{Buffer, DeviceScalar};
use isowarp::element::{DType, Element};
use isowarp::patterns::{Image, Patterns};
use isowarp::{Error, Result};
use xxhash_rust::xxh3::Xxh3;

/// A backend with every pattern.
pub trait Target: Patterns {}
impl<B: Patterns> Target for B {}

/// One array that a case computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// Its element type.
    pub dtype: DType,
    /// Its elements, as they lay on the device.
    pub bytes: Vec<u8>,
}

impl Output {
    /// The bits of element `i`, zero-extended.
    #[must_use]
    pub fn bits(&self, i: usize) -> u64 {
        let size = self.dtype.size_bytes() as usize;
        let mut word = [0; 8];
        word[..size].copy_from_slice(&self.bytes[i * size..][..size]);
        u64::from_le_bytes(word)
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.dtype.size_bytes() as usize
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Results of a case: buffers, scalars, images, or tuples of them, read to the host.
pub trait Outputs {
    /// Reads everything.
    ///
    /// # Errors
    /// What the device reports.
    fn outputs(&self) -> Result<Vec<Output>>;
}

impl Outputs for Output {
    fn outputs(&self) -> Result<Vec<Output>> {
        Ok(vec![self.clone()])
    }
}

impl<B: Backend, T: Element> Outputs for Buffer<B, T> {
    fn outputs(&self) -> Result<Vec<Output>> {
        Ok(vec![Output { dtype: T::DTYPE, bytes: bytemuck::cast_slice(&self.read_blocking()?).to_vec() }])
    }
}

impl<B: Backend, T: Element> Outputs for DeviceScalar<B, T> {
    fn outputs(&self) -> Result<Vec<Output>> {
        self.buffer().outputs()
    }
}

impl<B: Backend, T: Element> Outputs for Image<B, T> {
    fn outputs(&self) -> Result<Vec<Output>> {
        self.buffer().outputs()
    }
}

impl<O: Outputs> Outputs for Vec<O> {
    fn outputs(&self) -> Result<Vec<Output>> {
        let parts: Vec<_> = self.iter().map(Outputs::outputs).collect::<Result<_>>()?;
        Ok(parts.concat())
    }
}

macro_rules! tuple {
    ($($t:ident $i:tt),*) => {
        impl<$($t: Outputs),*> Outputs for ($($t,)*) {
            fn outputs(&self) -> Result<Vec<Output>> {
                Ok([$(self.$i.outputs()?),*].concat())
            }
        }
    };
}
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);

type Body<B> = Box<dyn Fn(&B) -> Result<Vec<Output>> + Send + Sync>;

/// A computation that gives the same bytes on every device.
pub struct Case<B> {
    /// Its name, `pattern/variant/dtype/...`: the key of its digest.
    pub name: String,
    /// Element types beyond f32, i32 and u32 that a device needs for it.
    pub needs: Vec<DType>,
    /// The largest buffer that it allocates, for devices that cannot hold it.
    pub bytes: u64,
    /// Whether it belongs to the quick run.
    pub quick: bool,
    /// Whether it shows that something is refused.
    pub refused: bool,
    body: Body<B>,
}

impl<B> Case<B> {
    /// Computes it on a device.
    ///
    /// # Errors
    /// What the patterns return; some cases expect a certain error.
    pub fn run(&self, device: &B) -> Result<Vec<Output>> {
        (self.body)(device)
    }

    /// Why a result on the CPU shows nothing of other devices: it is an error, and neither that of a reduction of nothing nor one that the case is about.
    #[must_use]
    pub fn unanswered<'r>(&self, result: &'r Result<Vec<Output>>) -> Option<&'r Error> {
        result.as_ref().err().filter(|error| !self.refused && !matches!(error, Error::Empty { .. }))
    }

    /// The pattern that it exercises: the name up to the first slash.
    #[must_use]
    pub fn pattern(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

/// The table of cases, while it is built.
pub struct Cases<B> {
    list: Vec<Case<B>>,
    quick: bool,
}

impl<B: Target> Default for Cases<B> {
    fn default() -> Self {
        Self { list: Vec::new(), quick: true }
    }
}

impl<B: Target> Cases<B> {
    /// Adds a case that needs no more than f32, i32 and u32.
    pub fn add<O: Outputs>(&mut self, name: impl Into<String>, body: impl Fn(&B) -> Result<O> + Send + Sync + 'static) -> &mut Case<B> {
        self.push(name.into(), Box::new(move |device| body(device)?.outputs()))
    }

    fn push(&mut self, name: String, body: Body<B>) -> &mut Case<B> {
        self.list.push(Case { name, needs: Vec::new(), bytes: 0, quick: self.quick, refused: false, body });
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// The cases that `add` adds from now on belong to the quick run, or do not.
    pub fn quick(&mut self, quick: bool) {
        self.quick = quick;
    }

    /// The finished table, sorted by name.
    #[must_use]
    pub fn finish(mut self) -> Vec<Case<B>> {
        self.list.sort_by(|a, b| a.name.cmp(&b.name));
        self.list
    }
}

impl<B> Case<B> {
    /// Says which element types a device needs.
    pub fn needs(&mut self, dtypes: &[DType]) -> &mut Self {
        self.needs.extend(dtypes.iter().filter(|d| !matches!(d, DType::F32 | DType::I32 | DType::U32)));
        self
    }

    /// Says how large the largest buffer is.
    pub fn bytes(&mut self, bytes: u64) -> &mut Self {
        self.bytes = bytes;
        self
    }

    /// Says that the case is about an error.
    pub fn refused(&mut self) -> &mut Self {
        self.refused = true;
        self
    }

    /// Leaves the case out of the quick run.
    pub fn full(&mut self) -> &mut Self {
        self.quick = false;
        self
    }
}

/// The digest of a result, 128 bits in hexadecimal: of the outputs' element types, lengths and bytes, or of the error's text.
#[must_use]
pub fn digest(result: &Result<Vec<Output>, Error>) -> String {
    let mut h = Xxh3::new();
    match result {
        Ok(outputs) => {
            for o in outputs {
                h.update(o.dtype.name().as_bytes());
                h.update(&(o.bytes.len() as u64).to_le_bytes());
                h.update(&o.bytes);
            }
        }
        Err(e) => {
            h.update(b"error");
            h.update(e.to_string().as_bytes());
        }
    }
    format!("{:032x}", h.digest128())
}
