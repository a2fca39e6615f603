//! `isowarp devices`: what there is, and what it can do.

use crate::args::DevicesArgs;
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use crate::screen::say;
use crate::{device, stats, table};
use isowarp::Device;
use isowarp::backend::Backend as _;
use serde::Serialize;
use std::time::Duration;

/// Bytes that the measured copy moves, if the device has room for them.
const COPY_BYTES: u64 = 1 << 28;

#[derive(Serialize)]
struct Row {
    backend: &'static str,
    device: String,
    driver: String,
    kind: String,
    dtypes: Vec<&'static str>,
    subgroup: (u32, u32),
    compute_units: u32,
    l2_bytes: u64,
    memory_bytes: u64,
    max_buffer_bytes: u64,
    max_binding_bytes: u64,
    max_storage_buffers: u32,
    workgroup_memory_bytes: u32,
    max_workgroup_size: u32,
    max_groups_per_dim: u32,
    numerics: String,
    fma: String,
    timestamps: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy_gb_per_second: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    devices: Vec<Row>,
    /// Why other backends are not there.
    unavailable: Vec<String>,
}

/// Prints the devices.
pub(crate) fn devices(args: &DevicesArgs) -> Result {
    let progress = Progress::new("opening devices", 0);
    let (devices, refused) = device::all(None)?;
    let mut rows = Vec::new();
    for d in &devices {
        progress.say(format!("measuring {}", device::label(d.caps())));
        rows.push(row(d, args.measure)?);
    }
    drop(progress);
    let unavailable: Vec<String> = refused.iter().map(ToString::to_string).collect();
    if args.json {
        return say(table::json(&Report { devices: rows, unavailable })?);
    }
    say(overview(&rows, args.measure))?;
    say(limits(&rows))?;
    for e in refused {
        say(Failure::from(e).to_string().replacen("error: ", "not there: ", 1))?;
    }
    Ok(())
}

fn row(device: &Device, measured: bool) -> Result<Row> {
    let c = device.caps();
    let copy_gb_per_second = if measured {
        let bytes = COPY_BYTES.min(2 * c.max_buffer_bytes);
        Some(stats::copy_rate(device, bytes, Duration::from_millis(500))? / 1e9)
    } else {
        None
    };
    Ok(Row {
        backend: c.backend,
        device: c.device.clone(),
        driver: c.driver.clone(),
        kind: format!("{:?}", c.kind).to_lowercase(),
        dtypes: c.dtypes.iter().map(|d| d.name()).collect(),
        subgroup: c.subgroup,
        compute_units: c.compute_units,
        l2_bytes: c.l2_bytes,
        memory_bytes: c.memory_bytes,
        max_buffer_bytes: c.max_buffer_bytes,
        max_binding_bytes: c.max_binding_bytes,
        max_storage_buffers: c.max_storage_buffers,
        workgroup_memory_bytes: c.workgroup_memory_bytes,
        max_workgroup_size: c.max_workgroup_size,
        max_groups_per_dim: c.max_groups_per_dim,
        numerics: c.numerics.to_string(),
        fma: format!("{:?}", c.fma),
        timestamps: c.timestamps,
        copy_gb_per_second,
    })
}

fn overview(rows: &[Row], measured: bool) -> String {
    let mut header = vec!["backend", "device", "driver", "kind", "element types", "numerics", "fma", "clock"];
    if measured {
        header.push("copy GB/s");
    }
    let body: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            let clock = if r.timestamps { "yes" } else { "no" };
            let mut cells = vec![r.backend.to_owned(), r.device.clone(), r.driver.clone(), r.kind.clone(), r.dtypes.join(" ")];
            cells.extend([r.numerics.clone(), r.fma.clone(), clock.to_owned()]);
            cells.extend(r.copy_gb_per_second.map(|g| format!("{g:.1}")));
            cells
        })
        .collect();
    table::table(&header, &[8], &body)
}

fn limits(rows: &[Row]) -> String {
    let header = ["backend", "memory", "L2", "units", "subgroup", "buffer", "binding", "buffers", "workgroup", "shared", "groups"];
    let unlimited = |n: u64, limit: u64, text: String| if n >= limit { "any".to_owned() } else { text };
    let known = |n: u64, text: String| if n == 0 { "-".to_owned() } else { text };
    let count = |n: u32| unlimited(n.into(), u32::MAX.into(), n.to_string());
    let size = |n: u64| unlimited(n, isize::MAX as u64, table::bytes(n));
    let body: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            let (low, high) = r.subgroup;
            vec![
                r.backend.to_owned(),
                known(r.memory_bytes, table::bytes(r.memory_bytes)),
                known(r.l2_bytes, table::bytes(r.l2_bytes)),
                known(r.compute_units.into(), r.compute_units.to_string()),
                if low == high { low.to_string() } else { format!("{low}..{high}") },
                size(r.max_buffer_bytes),
                size(r.max_binding_bytes),
                count(r.max_storage_buffers),
                count(r.max_workgroup_size),
                known(r.workgroup_memory_bytes.into(), table::bytes(r.workgroup_memory_bytes.into())),
                count(r.max_groups_per_dim),
            ]
        })
        .collect();
    table::table(&header, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], &body)
}
