//! Arrays in Fortran order, which are put into C order on the device.

use crate::failure::Result;
use crate::npy::Array;
use crate::progress::Progress;
use isowarp::dynamic::{Call, DynBuffer};
use isowarp::patterns::layout::MAX_AXES;
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

/// The elements read as an array with its first axes in reverse, these in reverse: in passes, where there are too many for one.
fn transposed(device: &Device, array: &Array, axes: usize) -> isowarp::Result<Vec<u8>> {
    let (reversed, rest) = array.shape.split_at(axes);
    let mut shape: Vec<u64> = reversed.iter().rev().chain(rest).copied().collect();
    let mut elements = DynBuffer::upload(device, array.dtype, &array.bytes)?;
    let mut done = 0;
    while done < axes {
        // Axes that have their places are one block, as are those that wait and those behind; the last ones of those that wait come before the others.
        let beside = usize::from(done > 0) + usize::from(!rest.is_empty());
        let turned = if axes - done + beside <= MAX_AXES { axes - done } else { MAX_AXES - 1 - beside };
        let (waits, last) = (done..axes - turned, axes - turned..axes);
        let order: Vec<usize> = (0..done).chain(last.rev()).chain(waits).chain(axes..shape.len()).collect();
        let next: Vec<u64> = order.iter().map(|&axis| shape[axis]).collect();
        elements = Call::PermuteAxes(shape, order).run(device, &[&elements])?.one();
        (shape, done) = (next, done + turned);
    }
    elements.read_blocking()
}
