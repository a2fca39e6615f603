//! From WGSL text to a shader module whose arithmetic no compiler may rearrange.
//!
//! Every kernel is parsed and validated by naga, on every adapter, so that a faulty one is a typed error with naga's message. On
//! Vulkan it is then written as SPIR-V here rather than by wgpu, decorated (`words`), and passed through; passing through skips
//! wgpu's own checks, so who keeps bounds and zeroes workgroup memory is said here.

pub(crate) mod matrices;
pub(crate) mod words;

#[cfg(test)]
pub(crate) use words::instructions;

use isowarp_core::error::{Error, Result};
use matrices::Matrices;
use naga::back::spv::ZeroInitializeWorkgroupMemoryMode as Zero;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// The float controls that an adapter reports (`VkPhysicalDeviceFloatControlsProperties`), as far as sealing asks for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FloatControls {
    /// Subnormal f16 can be kept.
    pub denorm_preserve_16: bool,
    /// Subnormal f32 can be kept.
    pub denorm_preserve_32: bool,
    /// Subnormal f64 can be kept.
    pub denorm_preserve_64: bool,
    /// Signed zeros, infinities and NaN of f16 can be kept.
    pub signed_zero_inf_nan_16: bool,
    /// Signed zeros, infinities and NaN of f32 can be kept.
    pub signed_zero_inf_nan_32: bool,
    /// Signed zeros, infinities and NaN of f64 can be kept.
    pub signed_zero_inf_nan_64: bool,
}

impl FloatControls {
    #[cfg(test)]
    pub(crate) const ALL: Self = Self {
        denorm_preserve_16: true,
        denorm_preserve_32: true,
        denorm_preserve_64: true,
        signed_zero_inf_nan_16: true,
        signed_zero_inf_nan_32: true,
        signed_zero_inf_nan_64: true,
    };
}

/// Options with which a module is sealed.
#[derive(Clone, Copy, Debug)]
pub struct SealOptions {
    /// Execution modes to ask for.
    pub controls: FloatControls,
    /// SPIR-V version to write.
    pub version: (u8, u8),
    /// Who zeroes workgroup memory.
    pub zeroes: Zeroes,
    /// Whether the driver bounds storage buffers, so that the kernel need not: reads past the end then give zero and writes vanish,
    /// instead of being clamped to the last element.
    pub driver_bounds: bool,
    /// Who keeps indices inside arrays of fixed size.
    pub indices: Indices,
    /// Whether f32 `fma` is written as an open product and sum, for the driver's compiler to fuse.
    pub contract_fma: bool,
    /// Whether the driver is asked to leave loops as they are: one that compiles for the host's processor spends on the copies of a loop's body
    /// more than they save.
    pub keep_loops: bool,
    /// Whether the module may use 16-bit and 64-bit types and subgroups (what the device was opened with).
    pub features: wgpu::Features,
}

impl Default for SealOptions {
    fn default() -> Self {
        Self {
            controls: FloatControls::default(),
            version: (1, 3),
            zeroes: Zeroes::Kernel,
            driver_bounds: false,
            indices: Indices::Clamped,
            contract_fma: false,
            keep_loops: false,
            features: wgpu::Features::empty(),
        }
    }
}

/// Who zeroes workgroup memory before a kernel begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Zeroes {
    /// The driver.
    Driver,
    /// The kernel's first invocation, at some cost.
    Kernel,
    /// Nobody: the kernel's author has shown that it writes what it reads.
    Nobody,
}

/// Who keeps indices inside arrays of fixed size: those in workgroup memory, and an invocation's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indices {
    /// The kernel: an index past the end becomes the last one.
    Clamped,
    /// Its author, who has shown that none is past the end: a comparison less to each access.
    Trusted,
    /// Nobody may be past the end, and who is goes so far that the driver stops the program: how tests of trusted kernels show it.
    Trapped,
}

/// Use of one storage buffer of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
}

/// Properties of an entry point that a host has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Storage buffers of group 0, by binding number.
    pub bindings: Vec<Access>,
    /// Bytes of the parameter block (`var<immediate>`), 0 without one.
    pub params_bytes: u32,
    /// Invocations per workgroup.
    pub workgroup_size: [u32; 3],
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
}

/// A kernel that naga has accepted.
#[derive(Debug)]
pub struct Parsed {
    name: String,
    module: naga::Module,
    info: ModuleInfo,
    matrices: Option<Matrices>,
}

/// The naga capabilities that a device with these features has.
pub fn capabilities(features: wgpu::Features) -> Capabilities {
    use wgpu::Features as F;
    let mut out = Capabilities::empty();
    for (feature, capability) in [
        (F::IMMEDIATES, Capabilities::IMMEDIATES),
        (F::SHADER_F64, Capabilities::FLOAT64),
        (F::SHADER_F16, Capabilities::SHADER_FLOAT16),
        (F::SHADER_INT64, Capabilities::SHADER_INT64),
        (F::SHADER_INT64_ATOMIC_MIN_MAX, Capabilities::SHADER_INT64_ATOMIC_MIN_MAX),
        (F::SHADER_INT64_ATOMIC_ALL_OPS, Capabilities::SHADER_INT64_ATOMIC_ALL_OPS),
        (F::SUBGROUP, Capabilities::SUBGROUP),
        (F::SUBGROUP_BARRIER, Capabilities::SUBGROUP_BARRIER),
        (F::MEMORY_DECORATION_COHERENT, Capabilities::MEMORY_DECORATION_COHERENT),
        (F::MEMORY_DECORATION_VOLATILE, Capabilities::MEMORY_DECORATION_VOLATILE),
        (F::EXPERIMENTAL_COOPERATIVE_MATRIX, Capabilities::COOPERATIVE_MATRIX),
    ] {
        out.set(capability, features.contains(feature));
    }
    // `unpack2x16float`; only downlevel adapters lack it.
    out | Capabilities::SHADER_FLOAT16_IN_FLOAT32
}

/// Parses and validates WGSL.
///
/// # Errors
/// [`Error::Compile`] with naga's rendered message.
pub fn parse(name: &str, source: &str, capabilities: Capabilities) -> Result<Parsed> {
    let compile = |log: String| Error::Compile { kernel: name.to_owned(), log };
    let mut front = naga::front::wgsl::Frontend::new_with_options(naga::front::wgsl::Options { parse_doc_comments: false, capabilities });
    let module = front.parse(source).map_err(|e| compile(e.emit_to_string_with_path(source, name)))?;
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .subgroup_stages(naga::valid::ShaderStages::COMPUTE)
        .subgroup_operations(subgroup_operations(capabilities))
        .validate(&module)
        .map_err(|e| compile(e.emit_to_string_with_path(source, name)))?;
    Ok(Parsed { name: name.to_owned(), module, info, matrices: Matrices::of_text(source) })
}

fn subgroup_operations(capabilities: Capabilities) -> naga::valid::SubgroupOperationSet {
    if capabilities.contains(Capabilities::SUBGROUP) {
        naga::valid::SubgroupOperationSet::all()
    } else {
        naga::valid::SubgroupOperationSet::empty()
    }
}

impl Parsed {
    fn compile_error(&self, log: impl Into<String>) -> Error {
        Error::Compile { kernel: self.name.clone(), log: log.into() }
    }

    /// Reads off what the entry point binds.
    ///
    /// # Errors
    /// [`Error::Compile`] for an entry that is not there, and for globals other than storage buffers 0, 1, 2, ... of group 0 and one
    /// parameter block.
    pub fn interface(&self, entry: &str) -> Result<Interface> {
        let index = self
            .module
            .entry_points
            .iter()
            .position(|e| e.name == entry && e.stage == naga::ShaderStage::Compute)
            .ok_or_else(|| self.compile_error(format!("no compute entry point `{entry}`")))?;
        let uses = self.info.get_entry_point(index);
        let mut found: Vec<Option<Access>> = Vec::new();
        let (mut params_bytes, mut workgroup_bytes) = (0, 0u32);
        for (handle, variable) in self.module.global_variables.iter() {
            // All bindings count, used or not, so that one bind group fits every entry of a file; parameters only where used.
            match (variable.space, &variable.binding) {
                (naga::AddressSpace::Storage { access }, Some(binding)) if binding.group == 0 && binding.binding < 64 => {
                    let slot = binding.binding as usize;
                    if found.len() <= slot {
                        found.resize(slot + 1, None);
                    }
                    let writes = access.contains(naga::StorageAccess::STORE);
                    found[slot] = Some(if writes { Access::ReadWrite } else { Access::Read });
                }
                (naga::AddressSpace::Immediate, None) => {
                    if !uses[handle].is_empty() {
                        params_bytes = self.module.types[variable.ty].inner.size(self.module.to_ctx());
                    }
                }
                (naga::AddressSpace::Uniform, Some(binding)) if (binding.group, binding.binding) == (1, 0) => {
                    if !uses[handle].is_empty() {
                        params_bytes = self.module.types[variable.ty].inner.size(self.module.to_ctx());
                    }
                }
                (naga::AddressSpace::WorkGroup, None) => {
                    if !uses[handle].is_empty() {
                        // As wgpu counts it.
                        let bytes = self.module.types[variable.ty].inner.size(self.module.to_ctx()).next_multiple_of(16);
                        workgroup_bytes = workgroup_bytes.saturating_add(bytes);
                    }
                }
                (naga::AddressSpace::Private, None) => {}
                _ => {
                    let name = variable.name.as_deref().unwrap_or("?");
                    return Err(self.compile_error(format!("`{name}` is neither a storage buffer of group 0 nor the parameter block")));
                }
            }
        }
        let bindings: Option<Vec<Access>> = found.iter().copied().collect();
        let bindings = bindings.ok_or_else(|| self.compile_error("binding numbers of group 0 have a gap"))?;
        Ok(Interface { bindings, params_bytes, workgroup_size: self.module.entry_points[index].workgroup_size, workgroup_bytes })
    }

    /// Writes one entry point as sealed SPIR-V.
    ///
    /// # Errors
    /// [`Error::Compile`] where naga cannot write the module.
    pub fn seal(&self, entry: &str, options: &SealOptions) -> Result<Vec<u32>> {
        let spirv = naga::back::spv::Options {
            lang_version: options.version,
            flags: naga::back::spv::WriterFlags::empty(),
            fake_missing_bindings: true,
            capabilities: Some(allowed(options.features)),
            bounds_check_policies: BoundsCheckPolicies {
                index: if options.indices == Indices::Trusted { BoundsCheckPolicy::Unchecked } else { BoundsCheckPolicy::Restrict },
                buffer: if options.driver_bounds { BoundsCheckPolicy::Unchecked } else { BoundsCheckPolicy::Restrict },
                image_load: BoundsCheckPolicy::Restrict,
                binding_array: BoundsCheckPolicy::Unchecked,
            },
            zero_initialize_workgroup_memory: match options.zeroes {
                Zeroes::Driver => Zero::Native,
                Zeroes::Kernel => Zero::Polyfill,
                Zeroes::Nobody => Zero::None,
            },
            // Kernels are this library's own and every loop in them ends; the counter would cost registers.
            force_loop_bounding: false,
            use_storage_input_output_16: false,
            ..Default::default()
        };
        let pipeline = naga::back::spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: entry.to_owned() };
        let words =
            naga::back::spv::write_vec(&self.module, &self.info, &spirv, Some(&pipeline)).map_err(|e| self.compile_error(e.to_string()))?;
        let mut words = words::seal(&words, options.controls, options.contract_fma);
        if let Some(matrices) = &self.matrices {
            words = matrices.write(&words);
        }
        if options.keep_loops {
            words::keep_loops(&mut words);
        }
        if options.indices == Indices::Trapped {
            words = words::trap_indices(&words);
        }
        Ok(words)
    }
}

/// The SPIR-V capabilities that a device with these features has, as wgpu-hal enables them.
fn allowed(features: wgpu::Features) -> naga::FastHashSet<naga::back::spv::Capability> {
    use naga::back::spv::Capability as C;
    use wgpu::Features as F;
    let mut out: naga::FastHashSet<C> = [C::Shader, C::Matrix].into_iter().collect();
    let mut add = |on: bool, capabilities: &[C]| {
        if on {
            out.extend(capabilities.iter().copied());
        }
    };
    add(features.contains(F::SHADER_F64), &[C::Float64]);
    add(features.contains(F::SHADER_INT64), &[C::Int64]);
    add(features.contains(F::SHADER_F16), &[C::Float16, C::StorageBuffer16BitAccess, C::UniformAndStorageBuffer16BitAccess]);
    add(features.contains(F::EXPERIMENTAL_COOPERATIVE_MATRIX), &[C::CooperativeMatrixKHR, C::VulkanMemoryModel]);
    add(features.intersects(F::SHADER_INT64_ATOMIC_ALL_OPS | F::SHADER_INT64_ATOMIC_MIN_MAX), &[C::Int64Atomics]);
    add(
        features.contains(F::SUBGROUP),
        &[
            C::GroupNonUniform,
            C::GroupNonUniformVote,
            C::GroupNonUniformArithmetic,
            C::GroupNonUniformBallot,
            C::GroupNonUniformShuffle,
            C::GroupNonUniformShuffleRelative,
            C::GroupNonUniformQuad,
        ],
    );
    out
}
