//! Arrays in Fortran order, which are put into C order on the device.

use crate::failure::Result;
use crate::npy::Array;
use crate::progress::Progress;
use isowarp::dynamic::{Call, DynBuffer};
use isowarp::{Device, Error, Selector};

/// An array whose elements came in Fortran order, in C order.
pub(super) fn in_c_order(device: &Device, array: Array) -> Result<Array> {
    let _progress = Progress::new("transposing", 0);
    let bytes = match transposed(device, &array) {
        // The host holds the array already.
        Err(Error::OutOfMemory { .. } | Error::TooLarge { .. }) => transposed(&Device::open(Selector::Cpu)?, &array)?,
        done => done?,
    };
    Ok(Array { bytes, ..array })
}

/// The elements read as an array with its axes in reverse, its axes in reverse.
fn transposed(device: &Device, array: &Array) -> isowarp::Result<Vec<u8>> {
    let shape: Vec<u64> = array.shape.iter().rev().copied().collect();
    let order = (0..shape.len()).rev().collect();
    let elements = DynBuffer::upload(device, array.dtype, &array.bytes)?;
    Call::PermuteAxes(shape, order).run(device, &[&elements])?.one().read_blocking()
}
