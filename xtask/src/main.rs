//! Build and check tasks of the workspace. One module per command; this file only names them.

mod bundle;
mod ci;
mod coverage;
mod cuda;
mod cuda_stub;
mod package;
mod ptx;
mod ptxas;
mod shell;
mod swiftshader;
mod test;
mod validate;
mod vulkan;
mod wheel;
mod workspace;

use clap::{Parser, Subcommand};

/// Build and check tasks of the isowarp workspace.
///
/// Run as `cargo xtask <command>`; none of them needs a GPU.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile the CUDA sources of kernels-cu and of crates/textbook to their folders `ptx` with NVRTC 12.4 (no CUDA toolkit needed)
    Ptx(ptx::Options),
    /// Fetch NVIDIA's assembler for the tests of the PTX lowering, and print where it is
    Ptxas,
    /// Build a stand-in for the CUDA driver under target/cuda-stub, for tests and for building `cust`
    CudaStub(cuda_stub::Options),
    /// Compare every device of this machine with the CPU definition and with the recorded digests
    Validate(validate::Options),
    /// Put the digests of every device of this machine into tests/digests.json
    Record(validate::Options),
    /// Try random operators and patterns on every device of this machine: `--seconds N`, `--seed S`, `--backend NAME`, `--pattern NAME`
    Fuzz(validate::Options),
    /// Collect the programs that a GPU machine needs under target/bundle, with a script that needs no Rust
    Bundle(bundle::Options),
    /// Set up what the tests need, then run all of them
    Test(test::Options),
    /// Everything that has to hold before a change goes in
    Ci(ci::Options),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Ptx(options) => ptx::run(&options),
        Command::Ptxas => ptxas::run(),
        Command::CudaStub(options) => cuda_stub::run(&options),
        Command::Validate(options) => validate::run(&options),
        Command::Record(options) => validate::record(&options),
        Command::Fuzz(options) => validate::fuzz(&options),
        Command::Bundle(options) => bundle::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Ci(options) => ci::run(&options),
    }
}
