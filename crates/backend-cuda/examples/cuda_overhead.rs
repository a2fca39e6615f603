//! Host cost of the calls that a loop makes, in microseconds each: run on a GPU with `--release`.

use isowarp_core::Result;
use isowarp_core::backend::Backend;
use isowarp_cuda::{Args, Cuda, Grid};
use std::time::Instant;

const EMPTY: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry empty(.param .align 8 .b8 empty_param_0[272])
{
\tret;
}
";

fn main() -> Result<()> {
    let gpu = Cuda::new(0)?;
    println!("{} ({})", gpu.caps().device, gpu.caps().driver);
    let started = Instant::now();
    let kernel = gpu.kernel_from_ptx(EMPTY, "empty")?;
    println!("compile             {:8.1}", started.elapsed().as_secs_f64() * 1e6);
    let args = Args::default();
    let small = gpu.allocate_bytes(4096)?;

    // SAFETY: the kernel touches no memory.
    each(&gpu, "launch", 2000, || unsafe { gpu.launch(&kernel, Grid::linear(132, 256), &args) })?;
    each(&gpu, "find kernel by text", 2000, || gpu.kernel_from_ptx(EMPTY, "empty").map(drop))?;
    each(&gpu, "address", 2000, || gpu.address(&small, "small").map(drop))?;
    each(&gpu, "allocate 4 KiB", 2000, || gpu.allocate_bytes(4096).map(drop))?;
    each(&gpu, "allocate 256 MiB", 200, || gpu.allocate_bytes(256 << 20).map(drop))?;
    each(&gpu, "fill 4 KiB", 2000, || gpu.fill(&small, 0, 4096, &[0; 4]))?;
    each(&gpu, "record and wait", 2000, || gpu.wait(&gpu.record()?))?;
    each(&gpu, "upload 4 KiB", 2000, || gpu.write_bytes(&small, 0, &[1; 4096]))?;
    each(&gpu, "read 4 bytes", 500, || gpu.read_bytes_blocking(&small, 0, 4).map(drop))?;
    each(&gpu, "read 4 bytes async", 500, || pollster::block_on(gpu.read_bytes(&small, 0, 4)).map(drop))?;

    let bytes = 1u64 << 30;
    let large = gpu.allocate_bytes(bytes)?;
    let host = vec![1u8; bytes as usize];
    for _ in 0..2 {
        let started = Instant::now();
        gpu.write_bytes(&large, 0, &host)?;
        gpu.synchronize()?;
        rate("upload 1 GiB", bytes, started);
        let started = Instant::now();
        let back = gpu.read_bytes_blocking(&large, 0, bytes)?;
        rate("read 1 GiB", back.len() as u64, started);
    }
    Ok(())
}

/// Host time of one call, without waiting for the device in between.
fn each(gpu: &Cuda, what: &str, count: u32, mut call: impl FnMut() -> Result<()>) -> Result<()> {
    for _ in 0..20 {
        call()?;
    }
    gpu.synchronize()?;
    let started = Instant::now();
    for _ in 0..count {
        call()?;
    }
    println!("{what:20}{:8.2}", started.elapsed().as_secs_f64() * 1e6 / f64::from(count));
    gpu.synchronize()
}

fn rate(what: &str, bytes: u64, started: Instant) {
    println!("{what:20}{:8.1} GB/s", bytes as f64 / started.elapsed().as_secs_f64() * 1e-9);
}
