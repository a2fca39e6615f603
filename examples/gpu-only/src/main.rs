//! A sum on a GPU, or the reason why there is none.

use isowarp::prelude::*;

fn main() -> isowarp::Result<()> {
    let device = Device::auto()?;
    let sum = device.sum(&device.upload(&[1.0f32, 2.0, 3.0])?)?;
    println!("{} on {}", sum.read_blocking()?, device.describe());
    Ok(())
}

#[cfg(test)]
mod tests {
    use isowarp::backend::Backend as _;
    use isowarp::{Device, Error, Selector};

    #[test]
    fn a_machine_without_a_device_says_so_for_each_backend() {
        // One that has a device after all proves that `auto` finds it.
        match Device::auto() {
            Ok(device) => assert_eq!(device.caps().backend, "cuda"),
            Err(Error::Unavailable { backend, reason }) => {
                assert_eq!(backend, "auto");
                for name in ["cuda: ", "wgpu: ", "cpu: backend `cpu` is not available: isowarp was built without the feature `cpu`"] {
                    assert!(reason.contains(name), "{reason}");
                }
            }
            Err(other) => panic!("{other}"),
        }
        assert!(Device::open(Selector::Cpu).is_err());
        assert!(Device::all().iter().all(|d| d.as_ref().map_or(true, |d| d.caps().backend != "cpu")));
    }

    #[cfg(feature = "cust")]
    #[test]
    fn the_feature_cust_is_the_cuda_backends() {
        // The feature is there for these; they are tested where they are defined.
        let _ = (isowarp::Cuda::from_cust, isowarp::Cuda::lend_cust::<f32>);
    }
}
