//! Kernels of a crate that is none of the library's: on every device that they have code for, cut into windows, with choices, and refused elsewhere.

use crate::common::{cpu, each};
use isowarp::backend::Backend as _;
use isowarp::caps::Capability;
use isowarp::launch::{
    Array, Binding, Code, CudaEntry, Face, HostLaunch, Image, Kernel, KernelSpec, Launcher, Operators, Reach, Shader, Template, Work,
};
use isowarp::prelude::*;
use isowarp::{Device, Error, Result, ir};

isowarp::kernel_params! {
    /// A multiple, and what is added.
    Scaled("scaled") {
        /// The multiple.
        by: i32,
        /// The summand, of two words, of which the kernel takes the low one.
        add: u64,
    }
}

const WGSL: &str = "
@compute @workgroup_size(256)
fn scaled(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = ((group.z * grid.y + group.y) * grid.x + group.x) * 256u + lane;
    if (i < args.n) {
        y[args.skip_y + i] = (x[args.skip_x + i] * args.by + args.add) {% if flipped == 1 %}^ 7u{% endif %};
    }
}";

/// Entries `scaled` and `scaled_flipped`, which joins with 7.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64

.visible .entry scaled(
	.param .align 8 .b8 args[272]
)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	cvt.u64.u32 %rd1, %r2;
	mad.wide.u32 %rd1, %r1, 256, %rd1;
	ld.param.u64 %rd2, [args+160];
	setp.ge.u64 %p1, %rd1, %rd2;
	@%p1 bra DONE;
	ld.param.u64 %rd3, [args];
	ld.param.u64 %rd4, [args+128];
	ld.param.u32 %r3, [args+200];
	ld.param.u32 %r4, [args+208];
	shl.b64 %rd1, %rd1, 2;
	add.s64 %rd3, %rd3, %rd1;
	add.s64 %rd4, %rd4, %rd1;
	ld.global.u32 %r5, [%rd3];
	mad.lo.u32 %r5, %r5, %r3, %r4;
	st.global.u32 [%rd4], %r5;
DONE:
	ret;
}

.visible .entry scaled_flipped(
	.param .align 8 .b8 args[272]
)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	cvt.u64.u32 %rd1, %r2;
	mad.wide.u32 %rd1, %r1, 256, %rd1;
	ld.param.u64 %rd2, [args+160];
	setp.ge.u64 %p1, %rd1, %rd2;
	@%p1 bra DONE;
	ld.param.u64 %rd3, [args];
	ld.param.u64 %rd4, [args+128];
	ld.param.u32 %r3, [args+200];
	ld.param.u32 %r4, [args+208];
	shl.b64 %rd1, %rd1, 2;
	add.s64 %rd3, %rd3, %rd1;
	add.s64 %rd4, %rd4, %rd1;
	ld.global.u32 %r5, [%rd3];
	mad.lo.u32 %r5, %r5, %r3, %r4;
	xor.b32 %r5, %r5, 7;
	st.global.u32 [%rd4], %r5;
DONE:
	ret;
}
";

fn on_the_cpu(launch: &mut HostLaunch<'_>) -> Result<()> {
    let (Scaled { by, add }, flipped) = (launch.params(), launch.choice("flipped"));
    let [x, y] = launch.arrays()?;
    let scaled = |x: &u32| x.wrapping_mul(by as u32).wrapping_add(add as u32) ^ (7 * flipped);
    y.write::<u32>()?.iter_mut().zip(x.read().iter().map(scaled)).for_each(|(y, x)| *y = x);
    Ok(())
}

const ARRAYS: &[Face] = &[Face::read("x", Reach::Along(1)), Face::write("y", Reach::Along(1))];
const SHADER: Shader =
    Shader::new("scaled", WGSL, &[Binding::new("x", "read", "array<u32>"), Binding::new("y", "read_write", "array<u32>")]);
const ENTRY: CudaEntry = CudaEntry::new(Image(PTX), "scaled{flipped:|_flipped}", 256, 1);

static SCALED: Kernel<Scaled> = Kernel::new("scaled", ARRAYS).wgsl(SHADER).cuda(ENTRY).host(on_the_cpu);
static ON_WGPU: Kernel<Scaled> = Kernel::new("scaled", ARRAYS).wgsl(SHADER);
static ON_CUDA: Kernel<Scaled> = Kernel::new("scaled", ARRAYS).cuda(ENTRY);
static ON_THE_CPU: Kernel<Scaled> = Kernel::new("scaled", ARRAYS).of_pattern("scaling").host(on_the_cpu);
static BROKEN: Kernel<Scaled> = Kernel::new("broken", ARRAYS)
    .wgsl(Shader { template: Template { text: "this is no WGSL", ..SHADER.template }, ..SHADER })
    .cuda(CudaEntry { name: "no_entry", ..ENTRY });

fn scaled(d: &Device, kernel: &'static Kernel<Scaled>, flipped: u32, x: &Buffer<Device, u32>, y: &Buffer<Device, u32>) -> Result<()> {
    let params = Scaled { by: -3, add: 1 << 40 | 11 };
    let arrays = [Array::buffer(d, x, "x")?, Array::buffer(d, y, "y")?];
    d.launch(&KernelSpec::new(kernel, &params, &[("flipped", flipped)], &arrays), Work::elements(x.len(), 1))
}

#[test]
fn a_kernel_of_another_crate_gives_its_definition_on_every_device() {
    each(|d| {
        for n in [0u32, 1, 255, 256, 257, 70_001] {
            for flipped in [0, 1] {
                let (x, y) = (d.iota(n.into(), 5u32, 7).unwrap(), d.upload(&vec![9u32; n as usize + 4]).unwrap());
                scaled(d, &SCALED, flipped, &x, &y.slice(3..u64::from(n) + 3).unwrap()).unwrap();
                let y = y.read_blocking().unwrap();
                let of = |i: u32| (i * 7 + 5).wrapping_mul(3u32.wrapping_neg()).wrapping_add(11) ^ (7 * flipped);
                assert!(y[3..n as usize + 3].iter().copied().eq((0..n).map(of)), "{n} {flipped}");
                assert!(y[..3].iter().chain(&y[n as usize + 3..]).all(|&y| y == 9), "neighbours stay");
            }
        }
    });
}

#[test]
fn a_kernel_without_code_for_a_device_is_refused_and_nothing_is_written() {
    each(|d| {
        let (x, y) = (d.upload(&[1u32; 4]).unwrap(), d.upload(&[7u32; 4]).unwrap());
        for (kernel, code) in [(&ON_WGPU, Code::Wgsl), (&ON_CUDA, Code::Ptx), (&ON_THE_CPU, Code::Rust)] {
            let found = scaled(d, kernel, 0, &x, &y);
            if d.code() == code {
                found.unwrap();
                d.fill(&y, 7).unwrap();
                continue;
            }
            let Err(Error::Unsupported { pattern, capability, .. }) = found else { panic!("{found:?}") };
            assert_eq!(capability, Capability::Kernel { name: "scaled", code: d.code() });
            assert_eq!(pattern, if code == Code::Rust { "scaling" } else { "scaled" });
            assert_eq!(y.read_blocking().unwrap(), [7; 4]);
        }
        if d.code() != Code::Rust {
            let broken = scaled(d, &BROKEN, 0, &x, &y);
            assert!(matches!(broken, Err(Error::Compile { .. })), "{broken:?}");
            assert_eq!(y.read_blocking().unwrap(), [7; 4]);
        }
        d.synchronize().unwrap();
    });
}

#[test]
fn buffers_of_another_device_and_operators_on_the_processor_are_refused() {
    let d = cpu();
    let x = d.upload(&[1u32; 4]).unwrap();
    each(|other| {
        if other.code() != Code::Rust {
            assert!(matches!(Array::buffer(other, &x, "x"), Err(Error::WrongDevice { what: "x" })));
        }
    });
    let body = ir::trace(|x: Expr<u32>| x).unwrap();
    let arrays = [Array::buffer(&d, &x, "x").unwrap(); 2];
    let spec = KernelSpec::new(&SCALED, &Scaled::default(), &[], &arrays).with(Operators::Body(&body), Numerics::Strict, &[], &[]);
    assert!(matches!(d.launch(&spec, Work::elements(4, 1)), Err(Error::InvalidArgument { .. })));
}
