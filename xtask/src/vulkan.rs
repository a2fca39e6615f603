//! Whether this machine has a Vulkan adapter, asked of the Vulkan loader itself, and how to get a software one.

use crate::shell;
use anyhow::{Context as _, Result, bail};
use std::ffi::{c_char, c_void};
use std::process::Command;
use std::ptr;

/// Packages of Debian and its kin: a software adapter and the loader.
const PACKAGES: [&str; 2] = ["mesa-vulkan-drivers", "libvulkan1"];

/// Action to take about the adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// There are this many.
    Ready(u32),
    /// There is none, and it may be installed.
    Install,
    /// There is none, and a person has to see to it.
    Refuse,
}

/// Makes sure that there is an adapter for wgpu: installs the software one through `apt-get` where that is allowed, else says what to install.
pub(crate) fn ensure() -> Result<()> {
    // Metal and DX12 come with their systems.
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let may_install = || shell::answers("apt-get", &["--version"]) && shell::is_root();
    match step(adapters(), may_install) {
        Step::Ready(count) => {
            println!("Vulkan adapters: {count}");
            Ok(())
        }
        Step::Install => install().with_context(|| help("could not be installed")),
        Step::Refuse => bail!(help("is not here")),
    }
}

/// Decides, from what the Vulkan loader sees; whether something may be installed is asked only where it has to be.
fn step(adapters: Option<u32>, may_install: impl FnOnce() -> bool) -> Step {
    match adapters {
        Some(count) if count > 0 => Step::Ready(count),
        _ if may_install() => Step::Install,
        _ => Step::Refuse,
    }
}

/// Returns the message that a person gets.
fn help(what: &str) -> String {
    format!(
        "the tests need a Vulkan adapter, which {what}\n  help: install a software one and run this again: `apt-get install {}` as root (Debian, Ubuntu), \
         `dnf install mesa-vulkan-drivers vulkan-loader` (Fedora), `pacman -S vulkan-swrast vulkan-icd-loader` (Arch); \
         or say which devices this machine has: ISOWARP_TEST_DEVICES=cpu",
        PACKAGES.join(" ")
    )
}

fn install() -> Result<()> {
    println!("no Vulkan adapter: installing Mesa's software one");
    shell::run(Command::new("apt-get").args(["update", "-q"]))?;
    let command = &mut Command::new("apt-get");
    shell::run(command.args(["install", "-q", "-y", "--no-install-recommends"]).args(PACKAGES).env("DEBIAN_FRONTEND", "noninteractive"))?;
    match adapters() {
        Some(n) if n > 0 => Ok(()),
        _ => bail!("the packages are installed, but the Vulkan loader still finds no adapter"),
    }
}

/// `VkInstanceCreateInfo` with nothing in it but its type, which is 1.
#[repr(C)]
struct InstanceCreateInfo {
    structure: i32,
    next: *const c_void,
    flags: u32,
    application: *const c_void,
    layer_count: u32,
    layers: *const *const c_char,
    extension_count: u32,
    extensions: *const *const c_char,
}

type CreateInstance = unsafe extern "system" fn(*const InstanceCreateInfo, *const c_void, *mut *mut c_void) -> i32;
type EnumeratePhysicalDevices = unsafe extern "system" fn(*mut c_void, *mut u32, *mut c_void) -> i32;
type DestroyInstance = unsafe extern "system" fn(*mut c_void, *const c_void);

/// Number of adapters that the Vulkan loader sees; `None` where there is no loader or no driver.
fn adapters() -> Option<u32> {
    // SAFETY: the Vulkan loader's constructors are meant to run in any program.
    let loader = unsafe { libloading::Library::new("libvulkan.so.1") }.ok()?;
    let info = InstanceCreateInfo {
        structure: 1,
        next: ptr::null(),
        flags: 0,
        application: ptr::null(),
        layer_count: 0,
        layers: ptr::null(),
        extension_count: 0,
        extensions: ptr::null(),
    };
    let mut instance = ptr::null_mut();
    let mut count = 0;
    // SAFETY: the three functions have the signatures that the Vulkan specification gives them; `info`, `instance` and `count` outlive the
    // calls, and the instance is destroyed once.
    unsafe {
        let create = loader.get::<CreateInstance>(b"vkCreateInstance\0").ok()?;
        let enumerate = loader.get::<EnumeratePhysicalDevices>(b"vkEnumeratePhysicalDevices\0").ok()?;
        let destroy = loader.get::<DestroyInstance>(b"vkDestroyInstance\0").ok()?;
        if create(&raw const info, ptr::null(), &raw mut instance) != 0 {
            return None;
        }
        let found = enumerate(instance, &raw mut count, ptr::null_mut());
        destroy(instance, ptr::null());
        (found == 0).then_some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_is_installed_where_that_is_allowed_and_asked_for_where_it_is_not() {
        assert_eq!(step(Some(2), || unreachable!("nothing has to be installed")), Step::Ready(2));
        // No loader, no driver, or a loader that finds nothing.
        for adapters in [None, Some(0)] {
            assert_eq!(step(adapters, || true), Step::Install);
            assert_eq!(step(adapters, || false), Step::Refuse);
        }
    }

    #[test]
    fn a_person_is_told_what_to_install_on_each_system() {
        let text = help("is not here");
        for word in
            ["apt-get install mesa-vulkan-drivers libvulkan1", "dnf install", "pacman -S", "run this again", "ISOWARP_TEST_DEVICES=cpu"]
        {
            assert!(text.contains(word), "{text}");
        }
    }
}
