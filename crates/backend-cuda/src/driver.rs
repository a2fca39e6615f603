//! The CUDA driver library: whether it is there, which devices it sees, and how its errors become ours.
//!
//! cudarc loads `libcuda` lazily and panics where it (or one of its symbols) is missing, so everything in this crate goes
//! through [`Driver::load`] first.

use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute as Attribute, CUresult};
use isowarp_core::error::{Error, Result};
use std::ffi::CStr;

/// The backend's name in errors and capabilities.
pub(crate) const BACKEND: &str = "cuda";

/// The oldest driver that loads PTX 8.4: R550, which reports CUDA 12.4. All symbols that this crate uses are older.
const MIN_VERSION: u32 = 12_040;

/// Proof that the CUDA driver is present, initialised and recent enough.
#[derive(Debug, Clone, Copy)]
pub struct Driver {
    version: u32,
}

/// Properties that the driver reports of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Position in the driver's list.
    pub ordinal: u32,
    /// The device's name.
    pub name: String,
    /// Compute capability, for example `(9, 0)`.
    pub compute_capability: (u32, u32),
    /// Device memory.
    pub memory_bytes: u64,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// L2 cache.
    pub l2_bytes: u64,
    /// Shared memory that a block can have after opting in.
    pub shared_bytes: u32,
    /// Threads that a block can have.
    pub max_block_threads: u32,
    /// Whether the device shares the host's memory.
    pub integrated: bool,
    /// Whether stream-ordered memory pools work.
    pub memory_pools: bool,
    /// Whether all blocks of a launch can be made to run at the same time.
    pub cooperative: bool,
    /// Identity across processes and restarts.
    pub uuid: [u8; 16],
}

impl Driver {
    /// Loads and initialises the driver.
    ///
    /// # Errors
    /// [`Error::Unavailable`] without a driver, without a device, or with a driver older than R550.
    pub fn load() -> Result<Self> {
        // SAFETY: only opens and closes the driver library, whose initialisers have no preconditions.
        if !unsafe { sys::is_culib_present() } {
            return Err(unavailable("no CUDA driver library (libcuda) was found"));
        }
        // SAFETY: cuInit and cuDriverGetVersion may be called at any time; `version` is live.
        let version = unsafe {
            initialised(sys::cuInit(0))?;
            let mut version = 0;
            initialised(sys::cuDriverGetVersion(&raw mut version))?;
            u32::try_from(version).unwrap_or(0)
        };
        if version < MIN_VERSION {
            return Err(unavailable(format!(
                "the driver supports CUDA {}, and CUDA {} (driver R550) is needed",
                dotted(version),
                dotted(MIN_VERSION)
            )));
        }
        Ok(Self { version })
    }

    /// The CUDA version that the driver supports, as major and minor.
    #[must_use]
    pub fn version(self) -> (u32, u32) {
        (self.version / 1000, self.version % 1000 / 10)
    }

    /// Every device that the driver shows to this process.
    ///
    /// # Errors
    /// [`Error::Driver`] when the driver fails to answer.
    pub fn devices(self) -> Result<Vec<DeviceInfo>> {
        let mut count = 0;
        // SAFETY: the driver is initialised (`self` proves it); `count` is live.
        check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&raw mut count) })?;
        (0..u32::try_from(count).unwrap_or(0)).map(|ordinal| self.device(ordinal)).collect()
    }

    /// One device.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when there is no device at that position.
    pub fn device(self, ordinal: u32) -> Result<DeviceInfo> {
        describe(handle(ordinal)?, ordinal)
    }
}

/// The driver's handle of a device.
pub(crate) fn handle(ordinal: u32) -> Result<CUdevice> {
    let index = i32::try_from(ordinal).unwrap_or(i32::MAX);
    let mut device = 0;
    // SAFETY: callers hold a `Driver`; `device` is live; any index may be asked for.
    match unsafe { sys::cuDeviceGet(&raw mut device, index) } {
        CUresult::CUDA_SUCCESS => Ok(device),
        CUresult::CUDA_ERROR_INVALID_DEVICE => Err(unavailable(format!("there is no CUDA device {ordinal}"))),
        status => Err(error("cuDeviceGet", status)),
    }
}

/// Asks the driver about `device`.
pub(crate) fn describe(device: CUdevice, ordinal: u32) -> Result<DeviceInfo> {
    let number = |attribute| attribute_of(device, attribute).map(|value| u32::try_from(value).unwrap_or(0));
    let mut name = [0u8; 256];
    let mut memory_bytes = 0usize;
    let mut uuid = sys::CUuuid { bytes: [0; 16] };
    // SAFETY: `device` came from the driver; every pointer is to live memory of the stated size.
    unsafe {
        check("cuDeviceGetName", sys::cuDeviceGetName(name.as_mut_ptr().cast(), 256, device))?;
        check("cuDeviceTotalMem", sys::cuDeviceTotalMem_v2(&raw mut memory_bytes, device))?;
        check("cuDeviceGetUuid", sys::cuDeviceGetUuid(&raw mut uuid, device))?;
    }
    let name = CStr::from_bytes_until_nul(&name).map_or_else(|_| String::new(), |name| name.to_string_lossy().into_owned());
    Ok(DeviceInfo {
        ordinal,
        name,
        compute_capability: (
            number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        memory_bytes: memory_bytes as u64,
        multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        l2_bytes: u64::from(number(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
        shared_bytes: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        max_block_threads: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        integrated: number(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
        memory_pools: number(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? != 0,
        cooperative: number(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
        uuid: uuid.bytes.map(|byte| byte as u8),
    })
}

fn attribute_of(device: CUdevice, attribute: Attribute) -> Result<i32> {
    let mut value = 0;
    // SAFETY: `device` came from the driver; `value` is live.
    let status = unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) };
    check("cuDeviceGetAttribute", status)?;
    Ok(value)
}

/// Turns a driver status into a result.
#[inline]
pub(crate) fn check(call: &'static str, status: CUresult) -> Result<()> {
    if status == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(error(call, status)) }
}

/// The error that a failed call stands for. Out of memory is told apart by the allocator, which knows the numbers.
#[cold]
pub(crate) fn error(call: &'static str, status: CUresult) -> Error {
    if is_sticky(status) {
        Error::DeviceLost { reason: format!("{call}: {}", words(status)) }
    } else {
        Error::Driver { call, message: words(status) }
    }
}

/// Statuses after which every further call on the context fails.
fn is_sticky(status: CUresult) -> bool {
    use CUresult as S;
    matches!(
        status,
        S::CUDA_ERROR_ILLEGAL_ADDRESS
            | S::CUDA_ERROR_LAUNCH_TIMEOUT
            | S::CUDA_ERROR_LAUNCH_FAILED
            | S::CUDA_ERROR_ASSERT
            | S::CUDA_ERROR_HARDWARE_STACK_ERROR
            | S::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | S::CUDA_ERROR_MISALIGNED_ADDRESS
            | S::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | S::CUDA_ERROR_INVALID_PC
            | S::CUDA_ERROR_ECC_UNCORRECTABLE
            | S::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | S::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | S::CUDA_ERROR_DEINITIALIZED
            | S::CUDA_ERROR_EXTERNAL_DEVICE
    )
}

/// The driver's words for a status, with its name.
pub(crate) fn words(status: CUresult) -> String {
    let mut text = std::ptr::null();
    // SAFETY: callers have loaded the driver; the string that it returns is static.
    let described = unsafe {
        if sys::cuGetErrorString(status, &raw mut text) == CUresult::CUDA_SUCCESS && !text.is_null() {
            CStr::from_ptr(text).to_string_lossy().into_owned()
        } else {
            String::from("no description")
        }
    };
    format!("{described} ({status:?})")
}

fn initialised(status: CUresult) -> Result<()> {
    match status {
        CUresult::CUDA_SUCCESS => Ok(()),
        CUresult::CUDA_ERROR_NO_DEVICE => Err(unavailable("the CUDA driver sees no device")),
        status => Err(unavailable(format!("the CUDA driver did not start: {}", words(status)))),
    }
}

pub(crate) fn unavailable(reason: impl Into<String>) -> Error {
    Error::Unavailable { backend: BACKEND, reason: reason.into() }
}

fn dotted(version: u32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_that_poison_the_context_are_a_lost_device() {
        assert!(is_sticky(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
        assert!(!is_sticky(CUresult::CUDA_ERROR_INVALID_VALUE));
        assert!(!is_sticky(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    }
}
