//! Prints what each adapter of this machine is and what the start-up probe measured on it; with `RUST_LOG=isowarp_wgpu=debug` how long each kernel took
//! to compile.

use isowarp_core::backend::Backend;
use isowarp_wgpu::{Options, Wgpu, adapters};

fn main() {
    env_logger::init();
    let options = Options::default();
    for adapter in pollster::block_on(adapters(options.backends)) {
        let start = std::time::Instant::now();
        match pollster::block_on(Wgpu::from_adapter(&adapter, &options)) {
            Ok(device) => {
                println!("{:#?}\n{:#?}", device.caps(), device.report());
                println!("opened in {:?}, the probe took {:?} of it", start.elapsed(), device.report().elapsed);
            }
            Err(error) => println!("{}: {error}", adapter.info.name),
        }
    }
}
