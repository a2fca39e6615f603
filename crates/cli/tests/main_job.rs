//! The command without a subcommand: on a machine that has no Vulkan driver, and into a pipe that closes.

mod common;

use common::{command, stderr, stdout, succeeded};
use std::process::{Command, Stdio};

/// The main job where loaders of Vulkan find no driver, and CUDA no GPU.
fn without_drivers() -> Command {
    let mut job = command();
    job.env_remove("ISOWARP_BACKEND").env("CUDA_VISIBLE_DEVICES", "-1");
    job.envs(["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(|name| (name, "/nonexistent/none.json")));
    job
}

// Adapters of Metal and DX12 need no driver that a variable names.
#[cfg(target_os = "linux")]
#[test]
fn without_a_vulkan_driver_the_main_job_ends_well_on_the_cpu() {
    let run = without_drivers().output().expect("the command starts");
    succeeded(&run);
    let said = stdout(&run);
    assert!(said.contains("CPU"), "{said}");
    assert!(!said.contains("llvmpipe") && !said.contains("SwiftShader"), "{said}");
    assert!(!stderr(&run).contains("error"), "{}", stderr(&run));
}

#[cfg(unix)]
#[test]
fn into_a_closed_pipe_the_main_job_ends_quietly() {
    use std::io::{BufRead as _, BufReader};
    // Before the first line, and after it.
    for lines in [0, 1] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let mut job = without_drivers();
        let running = job.stdout(writer).stderr(Stdio::piped()).spawn().expect("the command starts");
        // The command's own end is the last one that is open.
        drop(job);
        let mut reader = BufReader::new(reader);
        for _ in 0..lines {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a line");
            assert!(line.starts_with("isowarp "), "{line}");
        }
        drop(reader);
        let run = running.wait_with_output().expect("the command ends");
        assert!(run.status.code() == Some(0) && !stderr(&run).contains("error"), "after {lines} lines: {} {}", run.status, stderr(&run));
    }
}
