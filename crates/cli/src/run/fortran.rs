//! Arrays in Fortran order, which are put into C order on the device.

use crate::failure::Result;
use crate::npy::Array;
use crate::progress::Progress;
use isowarp::dynamic::{Call, DynBuffer};
use isowarp::{Device, Error, Selector};

/// An array of whose elements these first axes came in Fortran order, in C order.
pub(super) fn in_c_order(device: &Device, array: Array, axes: usize) -> Result<Array> {
    let _progress = Progress::new("transposing", 0);
    let bytes = match transposed(device, &array, axes) {
        // The host holds the array already.
        Err(Error::OutOfMemory { .. } | Error::TooLarge { .. }) => transposed(&Device::open(Selector::Cpu)?, &array, axes)?,
        done => done?,
    };
    Ok(Array { bytes, ..array })
}

/// The elements read as an array with its first axes in reverse, these in reverse.
fn transposed(device: &Device, array: &Array, axes: usize) -> isowarp::Result<Vec<u8>> {
    let (reversed, rest) = array.shape.split_at(axes);
    let shape = reversed.iter().rev().chain(rest).copied().collect();
    let order = (0..axes).rev().chain(axes..array.shape.len()).collect();
    let elements = DynBuffer::upload(device, array.dtype, &array.bytes)?;
    Call::PermuteAxes(shape, order).run(device, &[&elements])?.one().read_blocking()
}
