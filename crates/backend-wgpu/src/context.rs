//! Finding adapters and opening devices.

use crate::driver::{self, DriverFacts};
use crate::faults::{self, Faults};
use crate::lifetime::Alive;
use crate::seal::{Indices, SealOptions, Zeroes};
use isowarp_core::caps::{DeviceKind, FmaKind};
use isowarp_core::error::{Error, Result};
use isowarp_core::host;
use parking_lot::Mutex;
use std::sync::Arc;

/// Choice of the adapter to open, and options for opening it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Graphics APIs to look at. Default: all. OpenGL's adapters, which cannot be kept from changing what floats compute, are only opened by
    /// name ([`Options::adapter`]), or where this is OpenGL alone.
    pub backends: wgpu::Backends,
    /// Part of the adapter's name, in any case of letters. Default: the best adapter.
    pub adapter: Option<String>,
    /// Most bytes of freed memory that are kept for reuse, as [`Backend::set_pool_limit`](isowarp_core::backend::Backend::set_pool_limit) sets.
    /// Default: a quarter of the adapter's memory, and 256 MiB at least.
    pub pool_bytes: Option<u64>,
    /// Whether to seal kernels (SPIR-V with NoContraction and kept subnormals) where the adapter allows it. Default: yes.
    pub seal: bool,
    /// Whether to keep subnormal numbers where the adapter's own `fma` flushes them but its sums and products can be made to keep them
    /// (NVIDIA on Vulkan): the verdict is then `Strict` instead of `StrictNormal`. An `fma` of an operator then costs some integer
    /// operations more; elementary functions call the adapter's own where that changes no bit. Default: yes.
    pub keep_subnormals: bool,
    /// Way to compute `fma`, proven on the adapter or not: where it is not exact there, the verdict is `Unproven`. Default: the
    /// cheapest that is exact.
    pub fma: Option<FmaKind>,
    /// Whether this library's kernels leave the bounds of storage buffers to the driver where it guards them (`robustBufferAccess2`), which
    /// saves a comparison per access. They never reach past their bindings either way; a caller's are always clamped. Default: yes.
    pub driver_bounds: bool,
    /// Whether reductions and scans walk their trees in subgroups, where the start-up probe finds that these work; the results are the
    /// same bits. Default: as the table of tunings says for the adapter.
    pub subgroups: Option<bool>,
    /// Features to leave out even where the adapter has them; for tests of the narrow forms. Default: none.
    pub without: wgpu::Features,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            backends: wgpu::Backends::all(),
            adapter: None,
            pool_bytes: None,
            seal: true,
            keep_subnormals: true,
            fma: None,
            driver_bounds: true,
            subgroups: None,
            without: wgpu::Features::empty(),
        }
    }
}

/// An adapter that could be opened.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// wgpu's handle.
    pub handle: wgpu::Adapter,
    /// Its name, driver and type.
    pub info: wgpu::AdapterInfo,
}

/// An opened device with everything that was found out about it. Its parts are handles, so a clone is the same device.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) info: wgpu::AdapterInfo,
    pub(crate) features: wgpu::Features,
    pub(crate) limits: wgpu::Limits,
    pub(crate) facts: DriverFacts,
    pub(crate) faults: Arc<Faults>,
    /// See [`Options::keep_subnormals`].
    pub(crate) keep_subnormals: bool,
    /// See [`Options::fma`].
    pub(crate) fma: Option<FmaKind>,
    /// See [`Options::subgroups`].
    pub(crate) subgroups: Option<bool>,
    /// See [`Options::pool_bytes`].
    pub(crate) pool_bytes: Option<u64>,
    /// Of an application's device, the features that it was opened without and that decide what is refused.
    pub(crate) missing: wgpu::Features,
    /// Options for sealing kernels; `None` where they go through wgpu as WGSL.
    pub(crate) seal: Option<SealOptions>,
    pub(crate) alive: Arc<Alive>,
}

/// Features that decide what is refused: without the first, floats may not be proven on Vulkan, and the others are element types.
const DECISIVE: wgpu::Features = wgpu::Features::PASSTHROUGH_SHADERS.union(wgpu::Features::SHADER_F64).union(wgpu::Features::SHADER_INT64);

/// Matrix instructions of subgroups: experimental in wgpu, so that an application's device is never asked for them.
const MATRICES: wgpu::Features = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;

/// Every feature that some kernel has a faster or wider form for.
pub(crate) fn useful_features() -> wgpu::Features {
    use wgpu::Features as F;
    F::SUBGROUP
        | F::SUBGROUP_BARRIER
        | F::SHADER_F16
        | F::SHADER_F64
        | F::SHADER_INT64
        | F::SHADER_INT64_ATOMIC_MIN_MAX
        | F::SHADER_INT64_ATOMIC_ALL_OPS
        | F::TIMESTAMP_QUERY
        | F::TIMESTAMP_QUERY_INSIDE_ENCODERS
        | F::PASSTHROUGH_SHADERS
        | F::IMMEDIATES
        | F::MEMORY_DECORATION_COHERENT
        | F::MEMORY_DECORATION_VOLATILE
}

pub(crate) fn unavailable(reason: impl Into<String>) -> Error {
    Error::Unavailable { backend: "wgpu", reason: reason.into() }
}

/// The kind of processor behind an adapter.
#[must_use]
pub fn kind(device_type: wgpu::DeviceType) -> DeviceKind {
    match device_type {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => DeviceKind::Virtual,
        wgpu::DeviceType::Cpu => DeviceKind::Cpu,
    }
}

fn rank(info: &wgpu::AdapterInfo) -> u32 {
    match kind(info.device_type) {
        DeviceKind::Discrete => 0,
        DeviceKind::Integrated => 1,
        DeviceKind::Virtual => 2,
        DeviceKind::Cpu => 3,
    }
}

/// Adapters of this machine that can run compute kernels, best first: discrete, integrated, virtual, software; drivers' order within
/// a kind. OpenGL's are only among them where `backends` is OpenGL alone. A driver that fails has none.
pub async fn adapters(backends: wgpu::Backends) -> Vec<Adapter> {
    search(backends).await.unwrap_or_else(|error| {
        log::error!("{error}");
        Vec::new()
    })
}

async fn search(backends: wgpu::Backends) -> Result<Vec<Adapter>> {
    let backends = if backends == wgpu::Backends::GL { backends } else { backends & !wgpu::Backends::GL };
    if backends == wgpu::Backends::GL {
        // Before the turn that the search is.
        faults::take_turns();
    }
    let mut found = faults::open(enumerate(backends)).await?;
    found.sort_by_key(|a| rank(&a.info));
    Ok(found)
}

/// State of these backends in a process: the instance, made at the first call and kept for its life. It holds nothing but the loaded drivers, and
/// unloading them (when the last instance goes) while another thread loads them again deadlocks in NVIDIA's. Of OpenGL it is the adapters too:
/// each has the instance's one context, and only one that all share guards it.
#[derive(Clone)]
struct Loaded {
    backends: wgpu::Backends,
    instance: wgpu::Instance,
    adapters: Option<Vec<wgpu::Adapter>>,
}

static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

/// PCI's number.
const GOOGLE: u32 = 0x1ae0;
/// SwiftShader writes every function out in each place. Some kernels from 152,000 instructions on, selections by six elementary functions without loops in
/// these, it compiles to code that ends the process; others of 231,000 run after 100 s of its compiler, and 350,000 take it 22 GB.
const LONGEST_OF_SWIFTSHADER: u64 = 140_000;

/// Addresses, and private memory, that have to be left to a process that loads drivers, where they are limited: Mesa's, with a software adapter opened and
/// a kernel compiled, take 950 MiB and 600.
const DRIVERS_ADDRESSES: u64 = 1280 << 20;
const DRIVERS_PRIVATE: u64 = 768 << 20;

fn load(backends: wgpu::Backends) -> Result<Loaded> {
    let mut all = LOADED.lock();
    if let Some(loaded) = all.iter().find(|loaded| loaded.backends == backends) {
        return Ok(loaded.clone());
    }
    for (left, needed, of) in [
        (host::addresses(), DRIVERS_ADDRESSES, "addresses more (`ulimit -v`)"),
        (host::private(), DRIVERS_PRIVATE, "data more (`ulimit -d`)"),
    ] {
        if let Some(left) = left.filter(|&left| left < needed) {
            let (left, needed) = (left >> 20, needed >> 20);
            return Err(unavailable(format!("the process may take {left} MiB of {of}, and drivers are loaded from {needed} on")));
        }
    }
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // The debug-build default turns on validation layers, which cost more than the kernels.
    descriptor.flags = wgpu::InstanceFlags::empty().with_env();
    let loaded = Loaded { backends, instance: wgpu::Instance::new(descriptor), adapters: None };
    all.push(loaded.clone());
    Ok(loaded)
}

async fn enumerate(backends: wgpu::Backends) -> Result<Vec<Adapter>> {
    let backends = backends & wgpu::Instance::enabled_backend_features();
    if backends.is_empty() {
        return Ok(Vec::new());
    }
    let loaded = load(backends)?;
    let handles = match loaded.adapters {
        Some(adapters) => adapters,
        None => loaded.instance.enumerate_adapters(backends).await,
    };
    if backends.contains(wgpu::Backends::GL)
        && let Some(loaded) = LOADED.lock().iter_mut().find(|loaded| loaded.backends == backends)
    {
        loaded.adapters.get_or_insert_with(|| handles.clone());
    }
    let found = handles
        .into_iter()
        .filter(|a| a.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS))
        .map(|handle| Adapter { info: handle.get_info(), handle });
    Ok(found.collect())
}

/// The adapters that `options` ask for, best first; at least one.
pub(crate) async fn asked(options: &Options) -> Result<Vec<Adapter>> {
    let found = search(options.backends).await?;
    let Some(part) = &options.adapter else {
        let none = "no adapter with compute shaders was found; is a Vulkan, Metal or DX12 driver installed? (OpenGL adapters are opened by name only)";
        return if found.is_empty() { Err(unavailable(none)) } else { Ok(found) };
    };
    let part = part.to_lowercase();
    let named = |all: &[Adapter]| -> Vec<Adapter> { all.iter().filter(|a| a.info.name.to_lowercase().contains(&part)).cloned().collect() };
    let mut all = found;
    let mut of_it = named(&all);
    if of_it.is_empty() && options.backends.contains(wgpu::Backends::GL) && options.backends != wgpu::Backends::GL {
        all.extend(adapters(wgpu::Backends::GL).await);
        of_it = named(&all);
    }
    if of_it.is_empty() {
        let names: Vec<&str> = all.iter().map(|a| &*a.info.name).collect();
        return Err(unavailable(format!("no adapter is called `{part}`; there are: {}", names.join(", "))));
    }
    Ok(of_it)
}

/// Opens a device, one at a time. Only in a browser does that take more than one poll, and there is one thread.
async fn request(adapter: &wgpu::Adapter, descriptor: &wgpu::DeviceDescriptor<'_>) -> Opened {
    let request = adapter.request_device(descriptor);
    #[cfg(not(target_family = "wasm"))]
    return {
        let _guard = crate::lifetime::exclusively();
        pollster::block_on(request)
    };
    #[cfg(target_family = "wasm")]
    request.await
}

type Opened = std::result::Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError>;

impl Context {
    /// Opens one adapter with every useful feature and its full limits.
    pub(crate) async fn from_adapter(adapter: &Adapter, options: &Options) -> Result<Self> {
        let matrices = if adapter.info.backend == wgpu::Backend::Vulkan { MATRICES } else { wgpu::Features::empty() };
        let features = adapter.handle.features() & (useful_features() | matrices) & !options.without;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("isowarp"),
            required_features: features,
            required_limits: adapter.handle.limits(),
            experimental_features: if features.contains(MATRICES) {
                // SAFETY: kernels of this library alone reach the one experimental feature that is asked for, by types and sizes that the driver names.
                unsafe { wgpu::ExperimentalFeatures::enabled() }
            } else {
                wgpu::ExperimentalFeatures::disabled()
            },
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let (device, queue) =
            request(&adapter.handle, &descriptor).await.map_err(|e| unavailable(format!("{}: {e}", adapter.info.name)))?;
        let faults = Arc::new(Faults::default());
        faults.watch(&device);
        Ok(Self {
            keep_subnormals: options.keep_subnormals,
            fma: options.fma,
            subgroups: options.subgroups,
            pool_bytes: options.pool_bytes,
            ..Self::assemble(device, queue, faults, options.seal, options.driver_bounds)
        })
    }

    /// Shares an application's device: no feature is assumed but those that it was opened with, and its error handlers are left alone.
    pub(crate) fn from_device(device: wgpu::Device, queue: wgpu::Queue, seal: bool) -> Self {
        let missing = DECISIVE - device.features();
        // Vulkan alone has a use for the first.
        let missing = if driver::facts(&device).vulkan { missing } else { missing - wgpu::Features::PASSTHROUGH_SHADERS };
        Self { missing, ..Self::assemble(device, queue, Arc::new(Faults::default()), seal, false) }
    }

    /// The device's name; of an application's device also what it was opened without.
    pub(crate) fn device_name(&self) -> String {
        if self.missing.is_empty() {
            return self.info.name.clone();
        }
        let missing: Vec<&str> = self.missing.iter_names().map(|(name, _)| name).collect();
        format!("{} (opened by the application without {})", self.info.name, missing.join(", "))
    }

    fn assemble(device: wgpu::Device, queue: wgpu::Queue, faults: Arc<Faults>, seal: bool, driver_bounds: bool) -> Self {
        let facts = driver::facts(&device);
        let features = device.features();
        let sealable = seal && facts.vulkan && features.contains(wgpu::Features::PASSTHROUGH_SHADERS);
        let info = device.adapter_info();
        let seal = sealable.then_some(SealOptions {
            controls: facts.controls,
            version: facts.spirv,
            zeroes: if facts.zeroes_workgroup_memory { Zeroes::Driver } else { Zeroes::Kernel },
            driver_bounds: driver_bounds && facts.bounds_buffers,
            indices: Indices::Clamped,
            contract_fma: false,
            keep_loops: info.device_type == wgpu::DeviceType::Cpu,
            features,
        });
        let alive = Arc::new(Alive::new(&device, &queue));
        faults.feel_pulse(&device);
        Self {
            info,
            features,
            limits: device.limits(),
            facts,
            faults,
            keep_subnormals: true,
            fma: None,
            subgroups: None,
            pool_bytes: None,
            missing: wgpu::Features::empty(),
            seal,
            alive,
            device,
            queue,
        }
    }

    /// Instructions that a kernel may have, with all functions written out, where the driver fails in silence on longer ones.
    pub(crate) fn longest_kernel(&self) -> Option<u64> {
        (self.info.vendor == GOOGLE && self.info.device_type == wgpu::DeviceType::Cpu).then_some(LONGEST_OF_SWIFTSHADER)
    }

    /// Bytes of device memory that are free, where the driver tells.
    pub(crate) fn available_bytes(&self) -> Option<u64> {
        driver::available_bytes(&self.device)
    }

    /// Whether parameters can travel with the dispatch itself (push constants).
    pub(crate) fn immediates(&self) -> u32 {
        if self.features.contains(wgpu::Features::IMMEDIATES) { self.limits.max_immediate_size } else { 0 }
    }
}
