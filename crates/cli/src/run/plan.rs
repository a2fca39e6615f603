//! Plans of calls, and their execution on a device.

use crate::failure::Result;
use crate::npy::Array;
use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::dynamic::{Call, DynBuffer, Question};
use isowarp::element::DType;
use isowarp_textbook::Textbook;

type Buffer = DynBuffer<Device>;

/// Use that the command makes of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Result for --out.
    Result,
    /// Number of occurrences of each element.
    Lengths,
    /// The keys that the result's values belong to.
    Keys,
    /// Where the result's elements were.
    Indices,
    /// Number of elements in parts of the result.
    Count,
    /// Rows of a factorised matrix, in the order of its pivots.
    Permutation,
    /// Status of each system.
    Status,
    /// Distances in sum, which are printed.
    Distances,
}

/// An `f64` that the host makes of a count.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Finish {
    /// The count itself.
    Count,
    /// Its square root.
    Root,
    /// Whether it is not 0, as 0 or 1.
    Any,
    /// Its share of a number.
    Share(u64),
}

impl Finish {
    fn of(self, count: u32) -> f64 {
        let count = f64::from(count);
        match self {
            Self::Count => count,
            Self::Root => count.sqrt(),
            Self::Any => count.min(1.0),
            // NumPy's mean of nothing.
            Self::Share(0) => f64::NAN,
            Self::Share(n) => count / n as f64,
        }
    }
}

/// Computation of a command line, checked as far as it can be without a device.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) call: Call,
    /// Algorithm of a textbook that takes the pattern's place.
    pub(crate) variant: Option<Textbook>,
    /// The shape of the result, where it is known before.
    shape: Option<Vec<u64>>,
    /// Whether the result is written as truth values.
    pub(crate) boolean: bool,
    /// Whether pairs along the result's last axis are written as complex numbers.
    pub(super) complex: bool,
    /// Uses of the call's results.
    parts: &'static [Part],
    /// Number to be made of each result, a count.
    finish: Option<Finish>,
}

impl Plan {
    pub(super) const fn new(call: Call, shape: Vec<u64>) -> Self {
        Self { call, variant: None, shape: Some(shape), boolean: false, complex: false, parts: &[Part::Result], finish: None }
    }

    /// One line, whose length is known at the end.
    pub(super) const fn counted(call: Call) -> Self {
        Self { call, variant: None, shape: None, boolean: false, complex: false, parts: &[Part::Result], finish: None }
    }

    pub(super) fn by(self, variant: Option<Textbook>) -> Self {
        Self { variant, ..self }
    }

    pub(super) fn boolean(self, boolean: bool) -> Self {
        Self { boolean, ..self }
    }

    pub(super) fn complex(self, complex: bool) -> Self {
        Self { complex, ..self }
    }

    pub(super) fn giving(self, parts: &'static [Part]) -> Self {
        Self { parts, ..self }
    }

    /// The same of counts, of which numbers are made.
    pub(super) fn finished(self, finish: Finish) -> Self {
        Self { finish: Some(finish), ..self }
    }

    /// Uses of the call's results, in their order.
    pub(super) const fn parts(&self) -> &'static [Part] {
        self.parts
    }

    /// The shape of a result of so many elements.
    pub(super) fn shape(&self, elements: u64) -> Vec<u64> {
        self.shape.clone().unwrap_or_else(|| vec![elements])
    }

    /// Computes the result, and what there is beside it.
    pub(super) fn execute(&self, device: &Device, inputs: &[Buffer]) -> Result<(Buffer, Vec<(Part, Buffer)>)> {
        let (call, all) = (self.on(device), inputs.iter().collect::<Vec<_>>());
        let found = match &self.variant {
            Some(variant) => call.run_by(device, &all, variant)?,
            None => call.run(device, &all)?,
        };
        let mut found = found.trimmed()?;
        // An element that is nowhere is at the end: then there is no place.
        if let (Call::Ask(Question::First, _), Some(place)) = (&self.call, found.first_mut()) {
            let at = place.read_blocking()?.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b));
            let places = u64::from(inputs.first().is_some_and(|x| at < x.len()));
            *place = DynBuffer::from_raw(device, place.raw().clone(), place.dtype(), place.offset(), places)?;
        }
        let mut parts: Vec<_> = self.parts.iter().copied().zip(found).collect();
        let at = parts.iter().position(|(part, _)| *part == Part::Result).unwrap_or(0);
        let result = parts.remove(at).1;
        let result = match self.finish {
            None => result,
            // Not every device has f64: these are its words.
            Some(finish) => {
                let counts = result.read_blocking()?;
                let counts = counts.as_chunks::<4>().0.iter().map(|count| finish.of(u32::from_le_bytes(*count)));
                Buffer::upload(device, DType::U32, &counts.flat_map(f64::to_le_bytes).collect::<Vec<_>>())?
            }
        };
        Ok((result, parts))
    }

    /// The same once more, for a measurement: into the result where the pattern can.
    pub(super) fn repeat(&self, device: &Device, inputs: &[Buffer], result: &Buffer) -> isowarp::Result<()> {
        let (call, inputs) = (self.on(device), inputs.iter().collect::<Vec<_>>());
        match &self.variant {
            Some(variant) if call.writes() => call.write_by(device, &inputs, variant, result),
            Some(variant) => call.run_by(device, &inputs, variant).map(drop),
            None if call.writes() => call.write_to(device, &inputs, result),
            None => call.run(device, &inputs).map(drop),
        }
    }

    /// The call as a device takes it: truth values need no u8 there.
    fn on(&self, device: &Device) -> Call {
        match self.call.clone() {
            Call::Map { func, n, dtype: DType::U8 } if self.boolean && !device.caps().supports(DType::U8) => {
                Call::Map { func, n, dtype: DType::U32 }
            }
            call => call,
        }
    }

    /// The result's shape and type in a file.
    pub(super) fn head(&self, result: &Buffer) -> Array {
        let head = of_file(result, self.shape(result.len()), self.boolean);
        if self.finish.is_some() { Array { dtype: DType::F64, ..head } } else { head }
    }
}

/// The shape and type of what there is beside a result of some shape; keys may be truth values.
pub(super) fn head_beside(what: Part, found: &Buffer, shape: &[u64], boolean: bool) -> Array {
    let shape = match what {
        Part::Lengths | Part::Count | Part::Status => vec![found.len()],
        // A row of a matrix has a number.
        Part::Permutation => shape[..shape.len().saturating_sub(1)].to_vec(),
        _ => shape.to_vec(),
    };
    of_file(found, shape, boolean && what == Part::Keys)
}

fn of_file(found: &Buffer, shape: Vec<u64>, boolean: bool) -> Array {
    let dtype = if boolean { DType::U8 } else { found.dtype() };
    Array { shape, dtype, boolean, bytes: Vec::new() }
}

/// Truth values of a byte in the place of elements.
pub(crate) fn truths(bytes: &mut Vec<u8>, dtype: DType) {
    let size = dtype.size_bytes() as usize;
    let elements = bytes.len() / size;
    for k in 0..elements {
        bytes[k] = u8::from(bytes[k * size..][..size].iter().any(|&b| b != 0));
    }
    bytes.truncate(elements);
}
