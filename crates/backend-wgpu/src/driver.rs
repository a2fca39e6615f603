//! Facts that the Vulkan driver tells and wgpu does not: float controls, compute units, memory.

use crate::seal::FloatControls;

/// Facts read from the raw device; zeros and defaults where the driver is not Vulkan or does not tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DriverFacts {
    /// Whether the device speaks Vulkan.
    pub(crate) vulkan: bool,
    /// SPIR-V version that the device takes.
    pub(crate) spirv: (u8, u8),
    /// Execution modes that it honours.
    pub(crate) controls: FloatControls,
    /// Whether the driver zeroes workgroup memory itself (as wgpu then enables it).
    pub(crate) zeroes_workgroup_memory: bool,
    /// Whether the driver bounds every access of a storage buffer (`robustBufferAccess2`, as wgpu then enables it).
    pub(crate) bounds_buffers: bool,
    /// Streaming multiprocessors or compute units.
    pub(crate) compute_units: u32,
    /// Bytes of the largest device-local heap.
    pub(crate) memory_bytes: u64,
    /// Rows, columns and terms of a subgroup's matrix instructions, by [`MatrixFactors`](isowarp_core::launch::MatrixFactors).
    pub(crate) matrices: [Option<[u32; 3]>; 3],
}

#[cfg(not(any(target_family = "wasm", target_vendor = "apple")))]
mod vulkan {
    use super::{DriverFacts, FloatControls};
    use ash::vk;

    type Api = wgpu::hal::api::Vulkan;

    pub(crate) fn facts(device: &wgpu::Device) -> DriverFacts {
        // SAFETY: the guard lives for this function and nothing reached through it is destroyed.
        let Some(hal) = (unsafe { device.as_hal::<Api>() }) else { return DriverFacts::default() };
        let physical = hal.raw_physical_device();
        let instance = hal.shared_instance().raw_instance();
        // SAFETY: `physical` was enumerated from `instance`, and both outlive the guard.
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        let version = properties.api_version;
        let mut out = DriverFacts { vulkan: true, spirv: spirv_version(version), ..DriverFacts::default() };
        // SAFETY: as above.
        let extensions = unsafe { instance.enumerate_device_extension_properties(physical) }.unwrap_or_default();
        let has = |name| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name));

        let mut controls = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut nvidia = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
        let mut amd = vk::PhysicalDeviceShaderCorePropertiesAMD::default();
        let mut chain = vk::PhysicalDeviceProperties2::default();
        // SPIR-V may name float controls where the device has them in core: wgpu enables no extension for them.
        if version >= vk::API_VERSION_1_2 {
            chain = chain.push_next(&mut controls);
        }
        if has(ash::nv::shader_sm_builtins::NAME) {
            chain = chain.push_next(&mut nvidia);
        }
        if has(ash::amd::shader_core_properties::NAME) {
            chain = chain.push_next(&mut amd);
        }
        if version >= vk::API_VERSION_1_1 {
            // SAFETY: the chain holds structures that the device's version or extensions define, and they outlive the call.
            unsafe { instance.get_physical_device_properties2(physical, &mut chain) };
        }
        out.controls = float_controls(&controls);
        out.compute_units =
            nvidia.shader_sm_count.max(amd.shader_engine_count * amd.shader_arrays_per_engine_count * amd.compute_units_per_shader_array);

        let enabled = |name| hal.enabled_device_extensions().contains(&name);
        if version >= vk::API_VERSION_1_3 || enabled(ash::khr::zero_initialize_workgroup_memory::NAME) {
            let mut zero = vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures::default();
            let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut zero);
            // SAFETY: the version or the enabled extension defines the chained structure, which outlives the call.
            unsafe { instance.get_physical_device_features2(physical, &mut chain) };
            out.zeroes_workgroup_memory = zero.shader_zero_initialize_workgroup_memory != 0;
        }

        if enabled(ash::ext::robustness2::NAME) {
            let mut robust = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
            let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut robust);
            // SAFETY: the enabled extension defines the chained structure, which outlives the call.
            unsafe { instance.get_physical_device_features2(physical, &mut chain) };
            out.bounds_buffers = robust.robust_buffer_access2 != 0;
        }

        if enabled(ash::khr::cooperative_matrix::NAME) {
            out.matrices = matrices(hal.shared_instance().entry(), instance, physical);
        }

        // SAFETY: as for the properties.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        out.memory_bytes = local_heaps(&memory).map(|(_, size)| size).max().unwrap_or(0);
        out
    }

    /// Sizes of matrices of halves, signed and unsigned bytes: of those that a subgroup multiplies the ones next to 16 rows and columns.
    fn matrices(entry: &ash::Entry, instance: &ash::Instance, physical: vk::PhysicalDevice) -> [Option<[u32; 3]>; 3] {
        use vk::ComponentTypeKHR as Type;
        let extension = ash::khr::cooperative_matrix::Instance::new(entry, instance);
        // SAFETY: the extension is enabled, so that its functions are loaded, and `physical` is of `instance`.
        let all = unsafe { extension.get_physical_device_cooperative_matrix_properties(physical) }.unwrap_or_default();
        let types = [(Type::FLOAT16, Type::FLOAT32), (Type::SINT8, Type::SINT32), (Type::UINT8, Type::UINT32)];
        types.map(|(factor, sum)| {
            let fits = |p: &&vk::CooperativeMatrixPropertiesKHR<'_>| {
                let is_typed = [p.a_type, p.b_type] == [factor; 2] && [p.c_type, p.result_type] == [sum; 2];
                is_typed && p.scope == vk::ScopeKHR::SUBGROUP && p.saturating_accumulation == 0
            };
            let shapes = all.iter().filter(fits).map(|p| [p.m_size, p.n_size, p.k_size]);
            shapes.min_by_key(|&[m, n, _]| m.abs_diff(16) + n.abs_diff(16))
        })
    }

    /// Bytes of device-local memory that are free for this process, where the driver keeps a budget.
    pub(crate) fn available_bytes(device: &wgpu::Device) -> Option<u64> {
        // SAFETY: the guard lives for this function and nothing reached through it is destroyed.
        let hal = unsafe { device.as_hal::<Api>() }?;
        if !hal.enabled_device_extensions().contains(&ash::ext::memory_budget::NAME) {
            return None;
        }
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut chain = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: the extension that defines the chained structure is enabled, and the chain outlives the call.
        unsafe {
            hal.shared_instance().raw_instance().get_physical_device_memory_properties2(hal.raw_physical_device(), &mut chain);
        }
        let memory = chain.memory_properties;
        local_heaps(&memory).map(|(i, _)| budget.heap_budget[i].saturating_sub(budget.heap_usage[i])).max()
    }

    fn local_heaps(memory: &vk::PhysicalDeviceMemoryProperties) -> impl Iterator<Item = (usize, u64)> {
        memory
            .memory_heaps_as_slice()
            .iter()
            .enumerate()
            .filter(|(_, heap)| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
            .map(|(i, heap)| (i, heap.size))
    }

    fn spirv_version(api: u32) -> (u8, u8) {
        match api {
            vk::API_VERSION_1_3.. => (1, 6),
            vk::API_VERSION_1_2.. => (1, 5),
            vk::API_VERSION_1_1.. => (1, 3),
            _ => (1, 0),
        }
    }

    fn float_controls(p: &vk::PhysicalDeviceFloatControlsProperties<'_>) -> FloatControls {
        let mut out = FloatControls {
            denorm_preserve_16: p.shader_denorm_preserve_float16 != 0,
            denorm_preserve_32: p.shader_denorm_preserve_float32 != 0,
            denorm_preserve_64: p.shader_denorm_preserve_float64 != 0,
            signed_zero_inf_nan_16: p.shader_signed_zero_inf_nan_preserve_float16 != 0,
            signed_zero_inf_nan_32: p.shader_signed_zero_inf_nan_preserve_float32 != 0,
            signed_zero_inf_nan_64: p.shader_signed_zero_inf_nan_preserve_float64 != 0,
        };
        // Widths that cannot be set apart from each other are left to their default, which for f64 keeps subnormals everywhere.
        if p.denorm_behavior_independence != vk::ShaderFloatControlsIndependence::ALL {
            let joint = out.denorm_preserve_16 && out.denorm_preserve_64;
            out.denorm_preserve_16 &= joint;
            out.denorm_preserve_64 &= joint;
        }
        out
    }
}

#[cfg(not(any(target_family = "wasm", target_vendor = "apple")))]
pub(crate) use vulkan::{available_bytes, facts};

/// Bytes of device-local memory that are free, where the driver tells.
#[cfg(any(target_family = "wasm", target_vendor = "apple"))]
pub(crate) fn available_bytes(_: &wgpu::Device) -> Option<u64> {
    None
}

/// Facts read from the raw device.
#[cfg(any(target_family = "wasm", target_vendor = "apple"))]
pub(crate) fn facts(_: &wgpu::Device) -> DriverFacts {
    DriverFacts::default()
}
