//! Rows of kernels: names, parameters, arrays, and the code for each kind of device. The rows of this library are [`kernels`](super::kernels); any crate may
//! have rows of its own.

use super::host::HostKernel;
use super::params::{Member, Params};
use super::{Choice, Code};
use core::fmt;
use core::marker::PhantomData;

/// PTX text of the kernels of a source file, which may have holes. A build for a compute capability runs on that and on later ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Image(pub &'static str);

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({} bytes)", self.0.len())
    }
}

/// An entry of CUDA kernels, and its blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CudaEntry {
    /// Its name, with choices in braces: `{size}` is the number, `{index:u32|i32|u64}` the name that stands at its place.
    pub name: &'static str,
    /// Threads of a block.
    pub threads: u32,
    /// Elements of a thread.
    pub items: Items,
    /// Threads that share what goes together.
    pub unit: u32,
    /// Image that it stands in; `None`: among the library's.
    pub image: Option<Image>,
}

impl CudaEntry {
    /// An entry of an image of the caller's, whose threads take so many elements each.
    #[must_use]
    pub const fn new(image: Image, name: &'static str, threads: u32, items: u32) -> Self {
        Self { name, threads, items: Items::Each(items), unit: threads, image: Some(image) }
    }
}

/// A kernel's code for CUDA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CudaCode {
    /// There is none.
    Missing,
    /// The kernel launched before it does its work.
    Before,
    /// An entry of PTX.
    Entry(CudaEntry),
}

/// A storage buffer of a WGSL template beside those of the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Binding {
    /// Its variable: the name of one of the kernel's [arrays](Def::arrays).
    pub name: &'static str,
    /// `read` or `read_write`.
    pub access: &'static str,
    /// Its type.
    pub ty: &'static str,
    /// The hole that has to be 1 for the buffer to be there, or an expression of holes that has to be true.
    pub when: Option<&'static str>,
}

impl Binding {
    /// A buffer that is always there.
    #[must_use]
    pub const fn new(name: &'static str, access: &'static str, ty: &'static str) -> Self {
        Self { name, access, ty, when: None }
    }

    /// The same where a condition of holes is true.
    #[must_use]
    pub const fn when(self, condition: &'static str) -> Self {
        Self { when: Some(condition), ..self }
    }
}

/// WGSL with holes in Jinja's syntax: `{{ rows }}` is a number, `{% for r in range(rows) %}` repeats lines, `{% if exclusive %}` chooses between forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Template {
    /// The file's name.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// The parameters it takes after `base` and `base_high` and before the operands', where no [row](Def) declares them.
    pub args: &'static [&'static str],
    /// Its buffers after the operands', in the order of their bindings.
    pub bindings: &'static [Binding],
}

/// A kernel of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shader {
    /// The template.
    pub template: Template,
    /// Its entry.
    pub entry: &'static str,
    /// Holes that tell it from other kernels of the template.
    pub holes: &'static [Choice],
}

impl Shader {
    /// The entry `name` of a text.
    #[must_use]
    pub const fn new(entry: &'static str, text: &'static str, bindings: &'static [Binding]) -> Self {
        Self { template: Template { name: entry, text, args: &[], bindings }, entry, holes: &[] }
    }
}

/// A kernel's code for WebGPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WgslCode {
    /// There is none.
    Missing,
    /// A template of the library's, by the kernel's name.
    Library,
    /// The row's own.
    Own(Shader),
}

/// Elements of a thread, or of an invocation of a WGSL kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Items {
    /// So many.
    Each(u32),
    /// One, by a template that has forms of `f32` for an `fma` which flushes and for subgroups: the holes `guarded` and `subgroups`.
    Guarded,
    /// A word of narrow elements, else four.
    Word,
    /// A word of narrow elements, unless they take turns at words (the choice `atomic`); else one.
    Dense,
    /// As many as have so many bytes, 16 at most.
    Bytes(u32),
    /// Vectors of four, so many at most, fewer of operators that take long to compile: the hole `rows`.
    Rows(u32),
    /// As the device's table says for maps: the holes `groups` and `threads`.
    Map,
    /// A tile of a product of matrices, as the device's table says: the holes `rm` and `rn`, elements of an invocation along rows and columns.
    Contract,
}

/// Access of a kernel to an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Access {
    /// Reads it.
    Read,
    /// Writes it, and may read it.
    Write,
    /// Reads and writes memory of the plan's own, from its start on.
    Scratch,
}

/// Reach: elements of an array that a launch over some elements of the work sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Reach {
    /// Elements at the same indices, one to so many of the work.
    Along(u64),
    /// All.
    Whole,
    /// All, where need be in several launches, each of which sees a window: the kernel's `first` and `len`.
    Swept,
}

/// An array that a kernel reaches itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Face {
    /// Its name in WGSL, where a kernel binds it if its template does; in CUDA it has its place among those with the same access.
    pub name: &'static str,
    /// Access to it.
    pub access: Access,
    /// Part of it that a launch sees.
    pub reach: Reach,
}

impl Face {
    /// An array that is read.
    #[must_use]
    pub const fn read(name: &'static str, reach: Reach) -> Self {
        Self { name, access: Access::Read, reach }
    }

    /// An array that is written.
    #[must_use]
    pub const fn write(name: &'static str, reach: Reach) -> Self {
        Self { name, access: Access::Write, reach }
    }

    /// Memory of the plan's own.
    #[must_use]
    pub const fn scratch(name: &'static str) -> Self {
        Self { name, access: Access::Scratch, reach: Reach::Whole }
    }
}

/// A kernel, whatever its parameters. Its address is its identity.
#[derive(Clone, Copy, Debug)]
pub struct Def {
    /// The pattern, for errors.
    pub pattern: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Name of the parameters.
    pub params: &'static str,
    /// Its parameters.
    pub members: &'static [Member],
    /// Its arrays.
    pub arrays: &'static [Face],
    /// Elements of an invocation of 256 in WGSL.
    pub items: Items,
    /// Its code for WebGPU.
    pub wgsl: WgslCode,
    /// Its code for CUDA.
    pub cuda: CudaCode,
    /// Its definition in Rust, which the processor runs.
    pub host: Option<HostKernel>,
}

impl Def {
    /// The CUDA entry, where it has one.
    #[must_use]
    pub const fn entry(&self) -> Option<CudaEntry> {
        if let CudaCode::Entry(entry) = self.cuda { Some(entry) } else { None }
    }

    /// Its identity: no two rows have one address.
    #[must_use]
    pub fn identity(&'static self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Whether it has code of this kind.
    #[must_use]
    pub const fn has(&self, code: Code) -> bool {
        match code {
            Code::Wgsl => !matches!(self.wgsl, WgslCode::Missing),
            Code::Ptx => !matches!(self.cuda, CudaCode::Missing),
            Code::Rust => self.host.is_some(),
        }
    }
}

/// A kernel with these parameters: a `static` of the crate that has the kernel. A device runs it where there is code of its kind, and says so where there is
/// none ([`Capability::Kernel`](crate::caps::Capability::Kernel)).
///
/// ```
/// use isowarp_core::launch::{Binding, Face, HostLaunch, Kernel, Reach, Shader};
///
/// isowarp_core::kernel_params! {
///     /// A shift.
///     Shift("shift") {
///         /// By so many bits.
///         bits: u32,
///     }
/// }
///
/// fn on_the_processor(launch: &mut HostLaunch<'_>) -> isowarp_core::Result<()> {
///     let Shift { bits } = launch.params();
///     let [x] = launch.arrays()?;
///     x.write::<u32>()?.iter_mut().for_each(|x| *x >>= bits);
///     Ok(())
/// }
///
/// static SHIFT: Kernel<Shift> = Kernel::new("shift", &[Face::write("x", Reach::Along(1))])
///     .wgsl(Shader::new(
///         "shift",
///         "@compute @workgroup_size(256)
///          fn shift(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
///              let i = ((group.z * grid.y + group.y) * grid.x + group.x) * 256u + lane;
///              if (i < args.n) {
///                  x[args.skip_x + i] >>= args.bits;
///              }
///          }",
///         &[Binding::new("x", "read_write", "array<u32>")],
///     ))
///     .host(on_the_processor);
/// assert_eq!(SHIFT.def().name, "shift");
/// ```
#[derive(Debug)]
pub struct Kernel<P> {
    def: Def,
    params: PhantomData<fn(P)>,
}

impl<P: Params> Kernel<P> {
    /// A kernel over these arrays, each invocation of which takes one element, without code.
    pub const fn new(name: &'static str, arrays: &'static [Face]) -> Self {
        let (wgsl, cuda, host) = (WgslCode::Missing, CudaCode::Missing, None);
        Self::of(Def { pattern: name, name, params: P::NAME, members: P::MEMBERS, arrays, items: Items::Each(1), wgsl, cuda, host })
    }

    const fn of(def: Def) -> Self {
        Self { def, params: PhantomData }
    }

    /// A kernel of the library's.
    pub(super) const fn library(
        (pattern, name): (&'static str, &'static str),
        cuda: CudaCode,
        items: Items,
        arrays: &'static [Face],
    ) -> Self {
        Self::of(Def { pattern, items, cuda, wgsl: WgslCode::Library, ..Self::new(name, arrays).def })
    }

    /// The same as part of a pattern, which errors name.
    #[must_use]
    pub const fn of_pattern(self, pattern: &'static str) -> Self {
        Self::of(Def { pattern, ..self.def })
    }

    /// The same with other numbers of elements of an invocation.
    #[must_use]
    pub const fn items(self, items: Items) -> Self {
        Self::of(Def { items, ..self.def })
    }

    /// The same with code for WebGPU.
    #[must_use]
    pub const fn wgsl(self, shader: Shader) -> Self {
        Self::of(Def { wgsl: WgslCode::Own(shader), ..self.def })
    }

    /// The same with code for CUDA.
    #[must_use]
    pub const fn cuda(self, entry: CudaEntry) -> Self {
        Self::of(Def { cuda: CudaCode::Entry(entry), ..self.def })
    }

    /// The same with a definition for the processor.
    #[must_use]
    pub const fn host(self, define: HostKernel) -> Self {
        Self::of(Def { host: Some(define), ..self.def })
    }

    /// The kernel without the type of its parameters.
    pub const fn def(&self) -> &Def {
        &self.def
    }
}
