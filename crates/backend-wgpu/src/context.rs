//! Finding adapters and opening devices.

use crate::driver::{self, DriverFacts};
use crate::faults::Faults;
use crate::lifetime::Alive;
use crate::seal::{Indices, SealOptions, Zeroes};
use isowarp_core::caps::{DeviceKind, FmaKind};
use isowarp_core::error::{Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;

/// Which adapter to open, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Graphics APIs to look at. Default: Vulkan, Metal, DX12 and the browser's, and OpenGL only where none of them has an adapter.
    pub backends: wgpu::Backends,
    /// Part of the adapter's name, in any case of letters. Default: the best adapter.
    pub adapter: Option<String>,
    /// Whether to seal kernels (SPIR-V with NoContraction and kept subnormals) where the adapter allows it. Default: yes.
    pub seal: bool,
    /// Whether to keep subnormal numbers where the adapter's own `fma` flushes them but its sums and products can be made to keep them
    /// (NVIDIA on Vulkan): the verdict is then `Strict` instead of `StrictNormal`. An `fma` of an operator then costs some integer
    /// operations more; elementary functions call the adapter's own where that changes no bit. Default: yes.
    pub keep_subnormals: bool,
    /// How to compute `fma`, proven on the adapter or not: where it is not exact there, the verdict is `Unproven`. Default: the
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
    /// How kernels are sealed; `None` where they go through wgpu as WGSL.
    pub(crate) seal: Option<SealOptions>,
    pub(crate) alive: Arc<Alive>,
}

/// Every feature that some kernel has a faster or wider form for.
fn useful_features() -> wgpu::Features {
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
        | F::PIPELINE_CACHE
        | F::IMMEDIATES
        | F::MEMORY_DECORATION_COHERENT
        | F::MEMORY_DECORATION_VOLATILE
}

fn unavailable(reason: impl Into<String>) -> Error {
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
/// a kind.
pub async fn adapters(backends: wgpu::Backends) -> Vec<Adapter> {
    let mut found = enumerate(backends & !wgpu::Backends::GL).await;
    if found.is_empty() && backends.contains(wgpu::Backends::GL) {
        found = enumerate(wgpu::Backends::GL).await;
    }
    found.sort_by_key(|a| rank(&a.info));
    found
}

/// The instance for these backends, made at the first call and kept for the life of the process. It holds nothing but the loaded
/// drivers, and unloading them (when the last instance goes) while another thread loads them again deadlocks in NVIDIA's.
fn instance(backends: wgpu::Backends) -> wgpu::Instance {
    static INSTANCES: Mutex<Vec<(wgpu::Backends, wgpu::Instance)>> = Mutex::new(Vec::new());
    let mut instances = INSTANCES.lock();
    if let Some((_, instance)) = instances.iter().find(|(b, _)| *b == backends) {
        return instance.clone();
    }
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // The debug-build default turns on validation layers, which cost more than the kernels.
    descriptor.flags = wgpu::InstanceFlags::empty().with_env();
    let instance = wgpu::Instance::new(descriptor);
    instances.push((backends, instance.clone()));
    instance
}

async fn enumerate(backends: wgpu::Backends) -> Vec<Adapter> {
    let backends = backends & wgpu::Instance::enabled_backend_features();
    if backends.is_empty() {
        return Vec::new();
    }
    let handles = instance(backends).enumerate_adapters(backends).await;
    handles
        .into_iter()
        .filter(|a| a.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS))
        .map(|handle| Adapter { info: handle.get_info(), handle })
        .collect()
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
    /// Opens the adapter that `options` asks for.
    pub(crate) async fn open(options: &Options) -> Result<Self> {
        let mut found = adapters(options.backends).await;
        if found.is_empty() {
            return Err(unavailable("no adapter with compute shaders was found; is a Vulkan, Metal or DX12 driver installed?"));
        }
        if let Some(part) = &options.adapter {
            let part = part.to_lowercase();
            let names: Vec<String> = found.iter().map(|a| a.info.name.clone()).collect();
            found.retain(|a| a.info.name.to_lowercase().contains(&part));
            if found.is_empty() {
                return Err(unavailable(format!("no adapter is called `{part}`; there are: {}", names.join(", "))));
            }
        }
        let mut last = None;
        for adapter in found {
            match Self::from_adapter(&adapter, options).await {
                Ok(context) => return Ok(context),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| unavailable("no adapter could be opened")))
    }

    /// Opens one adapter with every useful feature and its full limits.
    pub(crate) async fn from_adapter(adapter: &Adapter, options: &Options) -> Result<Self> {
        let features = adapter.handle.features() & useful_features() & !options.without;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("isowarp"),
            required_features: features,
            required_limits: adapter.handle.limits(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
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
            ..Self::assemble(device, queue, faults, options.seal, options.driver_bounds)
        })
    }

    /// Shares an application's device: no feature is assumed but those that it was opened with, and its error handlers are left alone.
    pub(crate) fn from_device(device: wgpu::Device, queue: wgpu::Queue, seal: bool) -> Self {
        Self::assemble(device, queue, Arc::new(Faults::default()), seal, false)
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
        Self {
            info,
            features,
            limits: device.limits(),
            facts,
            faults,
            keep_subnormals: true,
            fma: None,
            subgroups: None,
            seal,
            alive,
            device,
            queue,
        }
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
