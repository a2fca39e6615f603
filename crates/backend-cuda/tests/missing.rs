//! A machine without the CUDA driver: every call says so. The driver of a machine that has one is hidden from a process of its own.

#![cfg(target_os = "linux")]

use isowarp_core::Error;
use isowarp_cuda::{Cuda, Driver};
use std::process::Command;

/// Says to this program that it is the one without a driver.
const HIDDEN: &str = "ISOWARP_TEST_HIDDEN_DRIVER";

const NAME: &str = "a_missing_driver_is_an_error_and_not_a_panic";

#[test]
fn a_missing_driver_is_an_error_and_not_a_panic() {
    if std::env::var_os(HIDDEN).is_some() {
        for error in [Driver::load().map(drop).unwrap_err(), Cuda::new(0).map(drop).unwrap_err(), Cuda::new(7).map(drop).unwrap_err()] {
            let Error::Unavailable { backend, reason } = error else { panic!("expected Unavailable, found {error}") };
            assert_eq!(backend, "cuda");
            assert!(reason.contains("libcuda"), "{reason}");
        }
        return;
    }
    // The loader looks here first, and stops at a file that is no library.
    let folder = std::env::temp_dir().join(format!("isowarp-no-driver-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in ["cuda", "nvcuda"].into_iter().flat_map(cudarc::get_lib_name_candidates) {
        std::fs::write(folder.join(name), b"").expect("a file");
    }
    let run = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", NAME, "--nocapture"])
        .env(HIDDEN, "1")
        .env("LD_LIBRARY_PATH", &folder)
        .output();
    std::fs::remove_dir_all(&folder).expect("removed");
    let run = run.expect("it starts again");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
}
