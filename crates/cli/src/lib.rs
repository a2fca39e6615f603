//! The `isowarp` command: what devices there are, patterns over NumPy files, image filters, validation and benchmarks. A library for the program alone
//! and for what throws random bytes at its readers ([`readers`]): nothing here is kept stable.

mod args;
mod bench;
mod device;
mod devices;
mod failure;
mod image;
mod main_job;
mod npy;
mod number;
mod output;
mod progress;
#[doc(hidden)]
pub mod readers;
mod run;
mod screen;
mod stats;
mod table;
mod validate;

use args::{Cli, Command};
use clap::Parser as _;
use failure::Failure;
use std::process::ExitCode;

/// Says how many heaps glibc has.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS: &str = "MALLOC_ARENA_MAX";

/// Does what the command line says.
#[must_use]
pub fn main() -> ExitCode {
    keep_addresses();
    keep_vulkan_quiet();
    keep_running_at_limits();
    // Silent unless asked: a driver's log would drown the command's own messages.
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("off")).init();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return help(&said),
    };
    let done = match cli.command {
        None => main_job::main_job(cli.verbose),
        Some(Command::Devices(a)) => devices::devices(&a),
        Some(Command::Run(a)) => run::run(&a),
        Some(Command::Image(a)) => image::image(&a),
        Some(Command::Validate(a)) => validate::validate(&a),
        Some(Command::Bench(a)) => bench::bench(&a),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => end(&failure),
    }
}

/// Says what was asked for with --help, or what is wrong with the request.
fn help(said: &clap::Error) -> ExitCode {
    if let Some(failure) = Failure::of_arguments(said) {
        return end(&failure);
    }
    match said.print() {
        Ok(()) => ExitCode::from(said.exit_code() as u8),
        Err(e) => end(&Failure::stream("write standard output", &e)),
    }
}

/// Says what went wrong, and with what status the command ends.
fn end(failure: &Failure) -> ExitCode {
    if !matches!(failure, Failure::Closed) {
        screen::complain(failure);
    }
    failure.exit_code()
}

/// Starts again with one heap for all threads where addresses are limited: glibc reserves 64 MiB of them for every further one, which arrays then lack.
fn keep_addresses() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if isowarp::host::addresses().is_some()
        && std::env::var_os(HEAPS).is_none()
        && let Ok(program) = std::env::current_exe()
    {
        use std::os::unix::process::CommandExt as _;
        // It comes back where the program is not found any more.
        let _ = std::process::Command::new(program).args(std::env::args_os().skip(1)).env(HEAPS, "1").exec();
    }
}

/// A file that grows to the limit (`ulimit -f`) is an error of writing, not the signal that ends the process.
fn keep_running_at_limits() {
    #[cfg(unix)]
    // SAFETY: no other thread runs yet, and ignoring a signal runs no code.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Mesa's Vulkan layer looks for a Wayland display whenever a program starts, and complains where no folder is named for its socket: lines that
/// look like a failure of ours.
fn keep_vulkan_quiet() {
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: the process has no other thread yet that could read the environment.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", "/nonexistent") };
    }
}
