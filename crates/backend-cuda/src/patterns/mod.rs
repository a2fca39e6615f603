//! The patterns' host side on CUDA: which kernel, how its holes are filled, which grid, which scratch.

mod by_key;
mod filter;
mod histogram;
mod holes;
mod keys;
mod launcher;
mod lines;
mod merge;
mod merge_sort;
pub(crate) mod probe;
mod reduce;
mod scan;
mod scratch;
mod segmented_sort;
mod segments;
mod select;
mod sort;
#[cfg(test)]
mod tests;
mod together;
mod tuning;

pub(crate) use launcher::library_text;
pub(crate) use scratch::Scratch;

use crate::backend::Cuda;
use crate::launch::{Args, In, MAX_OUTPUTS};
use crate::memory::Buffer;
use holes::{Shape, places};
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::caps::Capability;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{Func, Param};

/// A kernel's arguments, and the part of its identity that comes from them.
struct Bound {
    args: Args,
    shapes: Vec<Shape>,
    key: Key,
}

/// Collects everything that a kernel's text depends on into one 128-bit value.
#[derive(Clone, Copy)]
struct Key(u128);

impl Key {
    fn new(seed: u64) -> Self {
        Self(u128::from(seed))
    }

    fn word(self, w: u64) -> Self {
        // An odd multiplier of 128 bits spreads every input bit upwards; the rotation brings them down again.
        const K: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        Self(((self.0 ^ u128::from(w)).wrapping_mul(K)).rotate_left(47))
    }

    fn func(self, f: &Func) -> Self {
        let h = f.hash128();
        self.word(h as u64).word((h >> 64) as u64)
    }
}

/// Puts leaves and outputs into the argument block, and that there are `n` elements. Vector access is part of a leaf's shape: it is chosen where the address of
/// element 0 is aligned to four elements (16 bytes at most).
fn bind(cuda: &Cuda, (pattern, n): (&'static str, u64), params: &[Param], leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<Bound> {
    let too_many = || {
        let capability = Capability::StorageBuffers((leaves.len() + outs.len()) as u32);
        Error::Unsupported { pattern, capability, device: cuda.info().name.clone() }
    };
    if outs.len() > MAX_OUTPUTS {
        return Err(too_many());
    }
    let mut args = Args { n, ..Args::default() };
    let mut key = Key::new(leaves.len() as u64);
    let mut shapes = Vec::with_capacity(leaves.len() + outs.len());
    let mut inputs = Vec::with_capacity(leaves.len());
    for (leaf, param) in leaves.iter().zip(params) {
        let (input, shape) = match leaf {
            Leaf::Elements { raw, dtype, offset, stride } => {
                let size = dtype.size_bytes();
                let ptr = cuda.address(raw, "an input")? + offset * size;
                let shape = match stride {
                    0 => Shape::Broadcast(*dtype),
                    1 if ptr % (4 * size).min(16) == 0 => Shape::Vector(*dtype),
                    _ => Shape::Strided(*dtype),
                };
                (In { ptr, stride: stride.wrapping_mul(size as i64) }, shape)
            }
            Leaf::Array { raw, dtype, offset, len } => {
                let ptr = cuda.address(raw, "an input")? + offset * dtype.size_bytes();
                (In { ptr, stride: *len as i64 }, Shape::Array(*dtype, leaf.twin(leaves, n)))
            }
            Leaf::Value { bits } => match param {
                Param::Index(ty) => (In::default(), Shape::Index(*ty)),
                Param::Value(ty) => (In { ptr: *bits, stride: 0 }, Shape::Value(*ty)),
                Param::Array(_) => {
                    return Err(Error::InvalidArgument { what: "an input", reason: "an array needs a buffer".to_owned() });
                }
            },
        };
        inputs.push(input);
        key = key.word(shape.code());
        shapes.push(shape);
    }
    let block = bytemuck::cast_slice_mut::<In, u64>(&mut args.inputs);
    for ((input, shape), at) in inputs.into_iter().zip(&shapes).zip(places(&shapes)) {
        let words = [input.ptr, input.stride as u64];
        let to = block.get_mut(at / 8..at / 8 + shape.words()).ok_or_else(too_many)?;
        to.copy_from_slice(&words[..shape.words()]);
    }
    for (k, out) in outs.iter().enumerate() {
        let size = out.dtype.size_bytes();
        let ptr = cuda.address(&out.raw, "the output")? + out.offset * size;
        let shape = if ptr % (4 * size).min(16) == 0 { Shape::Vector(out.dtype) } else { Shape::Strided(out.dtype) };
        args.out[k] = ptr;
        key = key.word(shape.code());
        shapes.push(shape);
    }
    Ok(Bound { args, shapes, key })
}

/// Splits a 64-bit word for the kernels' argument words.
fn put_wide(u: &mut [u32], at: usize, v: u64) {
    u[at] = v as u32;
    u[at + 1] = (v >> 32) as u32;
}

/// A grid dimension, or the error that it is too large.
fn blocks(n: u64) -> Result<u32> {
    const LIMIT: u64 = i32::MAX as u64;
    if n > LIMIT {
        return Err(Error::TooLarge { what: "blocks of a launch", requested: n, limit: LIMIT });
    }
    Ok(n as u32)
}
