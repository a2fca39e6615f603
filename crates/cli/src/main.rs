//! The `isowarp` command: what devices there are, patterns over NumPy files, image filters, validation and benchmarks.

mod args;
mod bench;
mod device;
mod devices;
mod failure;
mod image;
mod main_job;
mod npy;
mod output;
mod progress;
mod run;
mod stats;
mod table;
mod validate;

use args::{Cli, Command};
use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Silent unless asked: a driver's log would drown the command's own messages.
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("off")).init();
    let done = match Cli::parse().command {
        None => main_job::main_job(),
        Some(Command::Devices(a)) => devices::devices(&a),
        Some(Command::Run(a)) => run::run(&a),
        Some(Command::Image(a)) => image::image(&a),
        Some(Command::Validate(a)) => validate::validate(&a),
        Some(Command::Bench(a)) => bench::bench(&a),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.exit_code()
        }
    }
}
