//! Kernels: compiled pipelines with what the host has to know to launch them, made once per text.

use crate::context::Context;
use crate::lifetime::{Alive, Held};
use crate::probe::web_time;
use crate::seal::{self, Access, Indices, Interface, SealOptions, Zeroes};
use isowarp_core::caps::Capability;
use isowarp_core::error::{Error, Result};
use isowarp_core::host::{Soon, threads};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use xxhash_rust::xxh3::Xxh3;

/// A complete WGSL text and the entry point to compile.
///
/// Storage buffers are `@group(0) @binding(0..)`. Parameters are one block, written `var<immediate> p: Params;`; where the adapter has
/// no immediates, or the block is too long for them, the text is rewritten to bind it as a uniform buffer, so it holds scalars
/// and 16-byte vectors only.
#[derive(Clone, Copy, Debug)]
pub struct KernelSource<'a> {
    /// For error messages and debuggers.
    pub name: &'a str,
    /// WGSL.
    pub wgsl: &'a str,
    /// The entry point.
    pub entry: &'a str,
}

/// Way in which a kernel's parameters reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParamsVia {
    /// Takes it that there are none.
    Nothing,
    /// Push constants.
    Immediates,
    /// A slot of the uniform arena, bound with a dynamic offset.
    Uniform,
}

/// A pipeline that the driver may still be compiling, on a thread of its own: a call of several kernels waits for the longest of them.
#[derive(Debug)]
pub(crate) struct Pipeline(Soon<Held<wgpu::ComputePipeline>>);

// Said here, so that nobody who shares a device between threads has the compiler follow wgpu's types from the device down, which has a limit.
const _: () = {
    const fn can_be_shared<T: Send + Sync>() {}
    can_be_shared::<Soon<Held<wgpu::ComputePipeline>>>();
};
// SAFETY: its one field can be sent, as is shown above.
unsafe impl Send for Pipeline {}
// SAFETY: its one field can be shared, as is shown above.
unsafe impl Sync for Pipeline {}

impl Pipeline {
    /// The pipeline, when it is compiled.
    pub(crate) fn wait(&self) -> Result<&Held<wgpu::ComputePipeline>> {
        self.0.wait()
    }

    /// Whether there is nothing to wait for.
    pub(crate) fn is_ready(&self) -> bool {
        self.0.is_ready()
    }
}

/// Starts the work on a thread, or does it here, where the driver's calls take turns.
fn start(work: Work) -> Pipeline {
    let here = crate::faults::takes_turns() || crate::faults::tested();
    Pipeline(if here { Soon::from(work()) } else { Soon::start(|| crate::faults::apart(work)) })
}

/// A kernel, which the driver may still be compiling.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) layout: Arc<Layout>,
    pub(crate) params: ParamsVia,
    interface: Interface,
    name: String,
    wgsl: String,
    entry: String,
    indices: Indices,
    aliased: OnceLock<Arc<Kernel>>,
    _alive: Arc<Alive>,
}

impl Kernel {
    /// Describes what it binds.
    #[must_use]
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the driver has refused it; it is compiled anew then.
    pub(crate) fn failed(&self) -> bool {
        self.pipeline.0.failed()
    }
}

/// A bind group layout and the number it goes by in the bind-group cache.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) id: u32,
    pub(crate) handle: Held<wgpu::BindGroupLayout>,
}

/// Work that makes a pipeline.
type Work = Box<dyn FnOnce() -> Result<Held<wgpu::ComputePipeline>> + Send>;

/// All kernels of a device. There is no cache of the driver's among them: NVIDIA's looks into one for one pipeline after the other, 1 ms each, where its
/// own on the disk answers threads at the same time.
#[derive(Debug, Default)]
pub(crate) struct Pipelines {
    kernels: Mutex<HashMap<u128, Arc<Kernel>>>,
    layouts: Mutex<HashMap<Vec<Access>, Arc<Layout>>>,
    params_layout: OnceLock<Held<wgpu::BindGroupLayout>>,
}

impl Pipelines {
    /// The kernel of a text, compiled at the first call. Two threads that ask at once may both compile; one result is kept.
    pub(crate) fn get(&self, context: &Context, source: &KernelSource<'_>) -> Result<Arc<Kernel>> {
        let kernel = self.find(context, source, Indices::Clamped, |work| Pipeline(Soon::from(work())))?;
        kernel.pipeline.wait()?;
        Ok(kernel)
    }

    /// The same, of one whose indices somebody sees to. The driver may still be compiling it, and report its errors where it is waited for.
    pub(crate) fn get_soon(&self, context: &Context, source: &KernelSource<'_>, indices: Indices) -> Result<Arc<Kernel>> {
        self.find(context, source, indices, start)
    }

    fn find(
        &self,
        context: &Context,
        source: &KernelSource<'_>,
        indices: Indices,
        start: impl FnOnce(Work) -> Pipeline,
    ) -> Result<Arc<Kernel>> {
        let key = key(source, indices);
        if let Some(kernel) = self.kernels.lock().get(&key).filter(|kernel| !kernel.failed()) {
            return Ok(Arc::clone(kernel));
        }
        let kernel = Arc::new(self.compile(context, source, indices, start)?);
        let mut kernels = self.kernels.lock();
        let kept = kernels.entry(key).or_insert_with(|| Arc::clone(&kernel));
        if kept.failed() {
            *kept = kernel;
        }
        Ok(Arc::clone(kept))
    }

    /// Compiles kernels at the same time, so that [`Self::get`] finds them. One that fails is compiled again there, and reported.
    pub(crate) fn prepare(&self, context: &Context, sources: &[KernelSource<'_>]) {
        self.prepare_beside(context, sources, &[]);
    }

    /// The same, with other work for the threads that have no kernel left: a driver may take kernels one after the other.
    pub(crate) fn prepare_beside(&self, context: &Context, sources: &[KernelSource<'_>], other: &[&(dyn Fn() + Sync)]) {
        let Some((first, others)) = sources.split_first() else { return };
        let count = others.len();
        let work = |n: usize| {
            move || match others.get(n) {
                Some(source) => drop(self.get(context, source)),
                None => other[n - count](),
            }
        };
        beside((0..count + other.len()).map(work), || drop(self.get(context, first)));
    }

    /// The twin of a kernel in which every buffer is `read_write`: wgpu refuses one buffer as both read-only and writable in a
    /// dispatch, even where the parts do not overlap.
    pub(crate) fn aliased(&self, context: &Context, kernel: &Kernel) -> Result<Arc<Kernel>> {
        if let Some(twin) = kernel.aliased.get().filter(|twin| !twin.failed()) {
            return Ok(Arc::clone(twin));
        }
        let wgsl = kernel.wgsl.replace("var<storage, read>", "var<storage, read_write>");
        let twin = self.get_soon(context, &KernelSource { name: &kernel.name, wgsl: &wgsl, entry: &kernel.entry }, kernel.indices)?;
        // Another thread may have set it, to the same kernel; one that failed is found by its text from then on.
        let _ = kernel.aliased.set(Arc::clone(&twin));
        Ok(twin)
    }

    fn compile(
        &self,
        context: &Context,
        source: &KernelSource<'_>,
        indices: Indices,
        start: impl FnOnce(Work) -> Pipeline,
    ) -> Result<Kernel> {
        let clock = web_time();
        let capabilities = seal::capabilities(context.features);
        let as_uniform = || Cow::Owned(source.wgsl.replace("var<immediate>", "@group(1) @binding(0) var<uniform>"));
        let mut text = if context.immediates() == 0 { as_uniform() } else { Cow::Borrowed(source.wgsl) };
        let mut parsed = seal::parse(source.name, &text, capabilities)?;
        let mut interface = parsed.interface(source.entry)?;
        if context.immediates() > 0 && interface.params_bytes > context.immediates() {
            text = as_uniform();
            parsed = seal::parse(source.name, &text, capabilities)?;
            interface = parsed.interface(source.entry)?;
        }
        let params = match interface.params_bytes {
            0 => ParamsVia::Nothing,
            n if n <= context.immediates() => ParamsVia::Immediates,
            _ => ParamsVia::Uniform,
        };
        self.check_limits(context, &interface)?;

        let parsed_in = clock();
        let layout = self.layout(context, &interface.bindings)?;
        let of_params = (params == ParamsVia::Uniform).then(|| self.params_layout(&context.device).clone());
        let (name, entry, text) = (source.name.to_owned(), source.entry.to_owned(), text.into_owned());
        let own = indices != Indices::Clamped;
        let immediates = if params == ParamsVia::Immediates { interface.params_bytes } else { 0 };
        let (context_of, layout_of) = (context.clone(), Arc::clone(&layout));
        let size = interface.workgroup_size;
        let of_text = (name.clone(), entry.clone());
        let sealed = move |context: &Context| {
            let (name, entry) = &of_text;
            let seal = context.seal.as_ref().map(|options| SealOptions {
                indices,
                driver_bounds: own && options.driver_bounds,
                zeroes: if own { Zeroes::Nobody } else { options.zeroes },
                ..*options
            });
            let words = seal.map(|options| parsed.seal(entry, &options)).transpose()?;
            if let (Some(limit), Some(words)) = (context.longest_kernel(), &words) {
                let needed = seal::words::written_out(words);
                log::debug!("{name} has {needed} instructions, written out");
                if needed > limit {
                    let capability = Capability::Instructions { needed, limit };
                    return Err(Error::Unsupported { pattern: "kernel", capability, device: context.device_name() });
                }
            }
            Ok(words)
        };
        // A refusal for its length is an error of the call itself, which does nothing then.
        let measured = context.longest_kernel().map(|_| sealed(context)).transpose()?;
        let work = move || {
            let context = context_of;
            let words = measured.map_or_else(|| sealed(&context), Ok)?;
            let sealed_in = clock();
            let pipeline = context
                .guarded("create_compute_pipeline", 0, || {
                    let device = &context.device;
                    let module = shader_module(device, &KernelSource { name: &name, wgsl: &text, entry: &entry }, words.as_deref(), size);
                    let groups = [Some(&*layout_of.handle), of_params.as_ref()];
                    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                        label: Some(&name),
                        bind_group_layouts: if of_params.is_some() { &groups } else { &groups[..1] },
                        immediate_size: immediates,
                    });
                    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                        label: Some(&name),
                        layout: Some(&pipeline_layout),
                        module: &module,
                        entry_point: Some(&entry),
                        compilation_options: wgpu::PipelineCompilationOptions {
                            zero_initialize_workgroup_memory: !own,
                            ..Default::default()
                        },
                        cache: None,
                    });
                    Held::new(pipeline)
                })
                .map_err(|error| match error {
                    Error::Driver { message, .. } => Error::Compile { kernel: name.clone(), log: message },
                    other => other,
                })?;
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            log::debug!(
                "compiled {name} in {:.1} ms: {:.1} parsing and validating, {:.1} writing {} bytes of SPIR-V, {:.1} in the driver",
                ms(clock()),
                ms(parsed_in),
                ms(sealed_in - parsed_in),
                words.as_ref().map_or(0, |w| w.len() * 4),
                ms(clock() - sealed_in)
            );
            Ok(pipeline)
        };
        Ok(Kernel {
            pipeline: Arc::new(start(Box::new(work))),
            layout,
            params,
            interface,
            name: source.name.to_owned(),
            wgsl: source.wgsl.to_owned(),
            entry: source.entry.to_owned(),
            indices,
            aliased: OnceLock::new(),
            _alive: Arc::clone(&context.alive),
        })
    }

    fn check_limits(&self, context: &Context, interface: &Interface) -> Result<()> {
        let limits = &context.limits;
        let [x, y, z] = interface.workgroup_size;
        let invocations = [x, y, z].iter().fold(1, |all: u32, &n| all.saturating_mul(n));
        let sides = [limits.max_compute_workgroup_size_x, limits.max_compute_workgroup_size_y, limits.max_compute_workgroup_size_z];
        let too_long = [x, y, z].into_iter().zip(sides).find(|(n, limit)| n > limit);
        let (buffers, bindings) = (limits.max_storage_buffers_per_shader_stage, interface.bindings.len() as u32);
        let capability = if bindings > buffers {
            Capability::StorageBuffers(bindings)
        } else if invocations > limits.max_compute_invocations_per_workgroup {
            Capability::WorkgroupSize { needed: invocations, limit: limits.max_compute_invocations_per_workgroup }
        } else if let Some((needed, limit)) = too_long {
            Capability::WorkgroupSize { needed, limit }
        } else if interface.workgroup_bytes > limits.max_compute_workgroup_storage_size {
            Capability::WorkgroupMemory { needed: interface.workgroup_bytes, limit: limits.max_compute_workgroup_storage_size }
        } else {
            return Ok(());
        };
        Err(Error::Unsupported { pattern: "kernel", capability, device: context.device_name() })
    }

    fn layout(&self, context: &Context, bindings: &[Access]) -> Result<Arc<Layout>> {
        if let Some(layout) = self.layouts.lock().get(bindings) {
            return Ok(Arc::clone(layout));
        }
        let entries: Vec<wgpu::BindGroupLayoutEntry> = bindings
            .iter()
            .zip(0..)
            .map(|(&access, binding)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: access == Access::Read },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        // Not under the lock: another thread may hold the driver and want the lock.
        let handle = context.guarded("create_bind_group_layout", 0, || {
            Held::new(context.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries }))
        })?;
        let mut layouts = self.layouts.lock();
        let id = layouts.len() as u32;
        let layout = layouts.entry(bindings.to_vec()).or_insert_with(|| Arc::new(Layout { id, handle }));
        Ok(Arc::clone(layout))
    }

    /// The layout of group 1: one uniform block with a dynamic offset.
    pub(crate) fn params_layout(&self, device: &wgpu::Device) -> &wgpu::BindGroupLayout {
        self.params_layout.get_or_init(|| {
            Held::new(device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("params"),
                entries: &[wgpu::BindGroupLayoutEntry {
                    binding: 0,
                    visibility: wgpu::ShaderStages::COMPUTE,
                    ty: wgpu::BindingType::Buffer {
                        ty: wgpu::BufferBindingType::Uniform,
                        has_dynamic_offset: true,
                        min_binding_size: None,
                    },
                    count: None,
                }],
            }))
        })
    }

    /// Counts the kernels that have been compiled.
    pub(crate) fn len(&self) -> usize {
        self.kernels.lock().len()
    }
}

fn shader_module(device: &wgpu::Device, source: &KernelSource<'_>, words: Option<&[u32]>, size: [u32; 3]) -> wgpu::ShaderModule {
    let Some(words) = words else {
        return device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(source.name),
            source: wgpu::ShaderSource::Wgsl(source.wgsl.into()),
        });
    };
    let entry = wgpu::PassthroughShaderEntryPoint { name: source.entry.into(), workgroup_size: (size[0], size[1], size[2]) };
    let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
        label: Some(source.name),
        entry_points: std::slice::from_ref(&entry).into(),
        spirv: Some(words.into()),
        ..Default::default()
    };
    // SAFETY: naga validated the module and wrote these words with bounds checks on, but for storage buffers that the driver bounds and for indices into
    // arrays of fixed size that this library's own kernels answer for; sealing adds decorations, and execution modes that the device reports. The
    // pipeline layout is built from the module's own bindings.
    unsafe { device.create_shader_module_passthrough(descriptor) }
}

/// Runs the `others` on further threads beside `own`, on as many as there are processors, and addresses for them where these are limited. Without further
/// threads (one processor, no room, a browser, a driver whose calls take turns) the `others` are left out.
pub(crate) fn beside<T>(others: impl ExactSizeIterator<Item: FnOnce() + Send> + Send, own: impl FnOnce() -> T) -> T {
    // This one is the first of them.
    let more = others.len().min(threads().saturating_sub(1));
    if more == 0 || crate::faults::takes_turns() {
        return own();
    }
    let others = Mutex::new(others);
    let next = || others.lock().next();
    let rest = || {
        while let Some(work) = next() {
            work();
        }
    };
    std::thread::scope(|scope| {
        let spawn = |_: &usize| std::thread::Builder::new().name("isowarp compiles".to_owned()).spawn_scoped(scope, rest).is_ok();
        let spawned = (0..more).take_while(spawn).count();
        let made = own();
        if spawned > 0 {
            rest();
        }
        made
    })
}

fn key(source: &KernelSource<'_>, indices: Indices) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&[indices as u8]);
    hash.update(source.entry.as_bytes());
    hash.update(&[0]);
    hash.update(source.wgsl.as_bytes());
    hash.digest128()
}
