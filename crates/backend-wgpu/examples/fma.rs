//! Ways to compute `fma` on this adapter: the probe's choice, whether each way is exact in every shape of code, and the cost of a map of
//! `exp` with it.
//!
//! Arguments: triples of the survey, elements of the map.

use isowarp_core::backend::Backend;
use isowarp_core::caps::FmaKind;
use isowarp_wgpu::{Binding, KernelSource, Options, Wgpu, fold};
use std::collections::BTreeSet;

fn exp_seconds(device: &Wgpu, fma: &str, n: u64) -> f64 {
    let calls = BTreeSet::from(["iw_exp".to_owned()]);
    let resolve = &mut |name: &str| (name == "iw_fma").then(|| (fma.to_owned(), BTreeSet::new()));
    let prelude = isowarp_shaders::prelude(&calls, resolve).expect("the prelude has iw_exp");
    let head = format!(
        "{prelude}
struct Params {{ n: u32 }}
var<immediate> p: Params;
@group(0) @binding(0) var<storage, read_write> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) l: u32) {{
    let i = ((g.z * groups.y + g.y) * groups.x + g.x) * 256u + l;
    if i >= p.n {{ return; }}
"
    );
    let fill = "let h = (vec4<u32>(i * 4u) + vec4<u32>(0u, 1u, 2u, 3u)) * 2654435761u;\n    x[i] = (vec4<f32>(h) * 2.3283064e-10 - 0.5) * 160.0;\n}";
    let exp = "let v = x[i];\n    y[i] = vec4<f32>(iw_exp(v.x), iw_exp(v.y), iw_exp(v.z), iw_exp(v.w));\n}";
    let kernel = |body| device.kernel(&KernelSource { name: "exp", wgsl: &format!("{head}{body}"), entry: "main" }).expect("compiles");
    let (fill, exp) = (kernel(fill), kernel(exp));
    let x = device.allocate_bytes(n * 4).expect("memory");
    let y = device.allocate_bytes(n * 4).expect("memory");
    let bindings = [&x, &y].map(|buffer| Binding { buffer, offset_bytes: 0, size_bytes: n * 4 });
    let grid = fold((n / 4).div_ceil(256), device.caps().max_groups_per_dim).expect("fits");
    let params = ((n / 4) as u32).to_le_bytes();
    device.dispatch(&fill, &bindings, &params, grid).expect("dispatch");
    let times = (0..10).map(|_| device.time(&mut || device.dispatch(&exp, &bindings, &params, grid)).expect("timed"));
    times.flatten().fold(f64::INFINITY, f64::min)
}

fn main() {
    let argument = |k, default: u64| std::env::args().nth(k).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (triples, n) = (argument(1, 1 << 17) as usize, argument(2, 1 << 22));
    for fma in
        [None, Some(FmaKind::Native), Some(FmaKind::Contracted), Some(FmaKind::Guarded), Some(FmaKind::ViaF64), Some(FmaKind::ViaInteger)]
    {
        let start = std::time::Instant::now();
        let device = match pollster::block_on(Wgpu::with_options(&Options { fma, ..Options::default() })) {
            Ok(device) => device,
            Err(error) => {
                println!("asked for {fma:?}: {error}");
                continue;
            }
        };
        let report = device.report();
        println!("asked for {fma:?}: {:?}, {}; probe {:?} of {:?}", report.fma, device.caps().numerics, report.elapsed, start.elapsed());
        if fma.is_none() {
            println!("{report:#?}");
        }
        // The integer emulation, 50 times in one kernel, takes compilers minutes; it is one function that nothing changes.
        if !matches!(fma, Some(FmaKind::ViaInteger | FmaKind::Guarded)) {
            for s in device.survey_fma(triples).expect("survey").iter().filter(|s| s.wrong + s.wrong_at_edges > 0) {
                println!("  {}: {} + {} wrong of {triples}: {}", s.shape, s.wrong, s.wrong_at_edges, s.witness.as_deref().unwrap_or(""));
            }
        }
        let seconds = exp_seconds(&device, device.fma_prelude(), n);
        println!("  exp: {:.1} us, {:.0} GB/s", seconds * 1e6, n as f64 * 8e-9 / seconds);
    }
}
