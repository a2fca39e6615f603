//! Capabilities of the device that core is told.

use super::Report;
use crate::context::{Context, kind};
use isowarp_core::caps::Caps;
use isowarp_core::element::DType;
use std::sync::OnceLock;

/// Returns the capabilities of the device that core is told.
pub(crate) fn caps(context: &Context, report: &Report) -> Caps {
    let limits = &context.limits;
    let mut dtypes = vec![DType::F32, DType::I32, DType::U32];
    // Kernels take f64 apart in 64-bit integers.
    if report.f64.is_some() && report.int64 == Some(true) {
        dtypes.push(DType::F64);
    }
    if report.int64 == Some(true) {
        dtypes.extend([DType::I64, DType::U64]);
    }
    dtypes.extend(DType::STORED);
    let subgroup = match &report.subgroup {
        Some(s) if s.works => (context.info.subgroup_min_size, context.info.subgroup_max_size),
        _ => (1, 1),
    };
    let driver = [context.info.backend.to_str(), &context.info.driver, &context.info.driver_info];
    Caps {
        backend: "wgpu",
        device: context.device_name(),
        driver: driver.iter().filter(|s| !s.is_empty()).copied().collect::<Vec<_>>().join(" "),
        kind: kind(context.info.device_type),
        dtypes,
        subgroup,
        compute_units: context.facts.compute_units,
        l2_bytes: 0,
        memory_bytes: context.facts.memory_bytes,
        max_buffer_bytes: limits.max_buffer_size,
        max_binding_bytes: limits.max_storage_buffer_binding_size,
        max_storage_buffers: limits.max_storage_buffers_per_shader_stage.min(crate::binds::MAX_BINDINGS as u32),
        workgroup_memory_bytes: limits.max_compute_workgroup_storage_size,
        max_workgroup_size: limits.max_compute_invocations_per_workgroup,
        max_groups_per_dim: limits.max_compute_workgroups_per_dimension,
        numerics: report.numerics.clone(),
        unproven: report.unproven.clone(),
        // Mesa's software rasteriser ends all loops of an invocation after 65,535 turns in all, without a word; four elements may have a loop each.
        kernel_instructions: context.longest_kernel(),
        loop_turns: context.info.name.starts_with("llvmpipe").then_some(1 << 13),
        fma: report.fma,
        timestamps: context.features.contains(wgpu::Features::TIMESTAMP_QUERY),
        chosen: OnceLock::new(),
    }
}
