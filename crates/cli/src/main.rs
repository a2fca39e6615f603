//! The `isowarp` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    isowarp_cli::main()
}
