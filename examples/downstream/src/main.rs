//! The library on the best device of this machine, of the backends that were compiled in.

use downstream::{entropy, normalise};
use isowarp::prelude::*;

fn main() -> isowarp::Result<()> {
    let device = Device::auto()?;
    println!("on {}", device.describe());
    let x = device.generate(1_000_000, index(), |i| (i.cast::<f32>() * 1e-4).sin())?;
    let y = normalise(&device, &x)?;
    let (low, high) = device.minmax(&y)?;
    println!("from {} to {}", low.read_blocking()?, high.read_blocking()?);
    println!("entropy {:.4} bits", entropy(&device, &y)?.read_blocking()?);
    Ok(())
}
