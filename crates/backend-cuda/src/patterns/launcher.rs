//! Launches of the plans that all GPUs share: the entry that choices name, its holes filled, arguments in their order.

use super::holes::{Holes, Shape, combine, looked_at, multiply};
use super::lines::room;
use super::scratch::Use;
use super::tuning::TUNING;
use super::{Key, bind, blocks};
use crate::backend::Cuda;
use crate::launch::{Grid, In, MAX_INPUTS, MAX_OUTPUTS, MAX_SCRATCH, MAX_WORDS};
use crate::memory::Buffer;
use crate::splice::{self, Fill, Site};
use isowarp_core::caps::{Capability, Numerics};
use isowarp_core::element::Ty;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Func;
use isowarp_core::launch::{
    self, Access, Code, CudaEntry, Def, Groups, Items, KernelSpec, Launcher, MatrixInstructions, Operators, Piece, Work,
};
use isowarp_kernels::Kernel;

/// An entry of PTX.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// One of the library's.
    Library(Kernel),
    /// One of an image of its row's: its name, and the text with it alone.
    Own(String, String),
}

impl Entry {
    /// Its name.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Library(kernel) => kernel.entry(),
            Self::Own(name, _) => name,
        }
    }

    /// Names of its holes.
    pub(super) fn holes(&self) -> Vec<&str> {
        match self {
            Self::Library(kernel) => kernel.holes().to_vec(),
            Self::Own(_, text) => splice::holes(text),
        }
    }

    /// The text that a device of this compute capability takes.
    pub(super) fn template(&self, capability: (u32, u32)) -> Result<&str> {
        match self {
            Self::Library(kernel) => library_text(*kernel, capability),
            Self::Own(_, text) => Ok(text),
        }
    }
}

/// The text of an entry of the library for a device of this compute capability.
pub(crate) fn library_text(kernel: Kernel, (major, minor): (u32, u32)) -> Result<&'static str> {
    let build = kernel.build(major, minor).ok_or_else(|| Error::Compile {
        kernel: kernel.entry().to_owned(),
        log: format!("there is no build for compute capability {major}.{minor}"),
    })?;
    Ok(build.template(kernel.entry()).unwrap_or_default())
}

/// The entry that a name with choices in braces stands for.
pub(super) fn entry(of: CudaEntry, choice: impl Fn(&str) -> u32) -> Result<Entry> {
    let mut name = String::new();
    for (k, part) in of.name.split(['{', '}']).enumerate() {
        if k % 2 == 0 {
            name.push_str(part);
            continue;
        }
        match part.split_once(':') {
            None => name.push_str(&choice(part).to_string()),
            Some((of, names)) => name.push_str(names.split('|').nth(choice(of) as usize).unwrap_or_default()),
        }
    }
    let found = match of.image {
        None => Kernel::named(&name).map(Entry::Library),
        Some(image) => splice::cut(image.0, &name).map(|text| Entry::Own(name.clone(), text)),
    };
    found.ok_or_else(|| Error::Compile { kernel: name, log: "there is no such kernel".to_owned() })
}

/// Calls `f` with what fills the kernel's holes.
pub(super) fn with_fills<R>(
    holes: &[&str],
    operators: &Operators<'_>,
    (leaves, outs): (&[Shape], &[Shape]),
    numerics: Numerics,
    f: impl FnOnce(&[Fill<'_>]) -> R,
) -> R {
    let body = |site: &Site<'_>| {
        let no_hole = || Err(Error::Compile { kernel: site.entry.to_owned(), log: format!("nothing fills the hole `{}`", site.name) });
        let holes = |load| Holes { load, leaves, outs, numerics };
        let of_some = |load: &Func, fill: &dyn Fn(Holes<'_>) -> Result<String>| {
            fill(Holes { load, leaves: &looked_at(load, leaves), outs, numerics })
        };
        match (*operators, site.name) {
            (Operators::Body(f), "body4") => holes(f).body(4, site),
            (Operators::Body(f), "body1") => holes(f).body(1, site),
            (Operators::Words(f) | Operators::Tree { load: f, .. }, "load4") => holes(f).load(4, site),
            (Operators::Words(f) | Operators::Tree { load: f, .. }, "load1") => holes(f).load(1, site),
            (Operators::Tree { combine: f, .. }, "combine") => combine(f, numerics, site),
            (Operators::Tree { load, finish, .. }, "store4") => holes(load).store(finish, &load.result_types(), 4, site),
            (Operators::Tree { load, finish, .. }, "store1" | "finish") => holes(load).store(finish, &load.result_types(), 1, site),
            (Operators::Product { a: f, .. }, "load_a1") | (Operators::Product { b: f, .. }, "load_b1") => {
                of_some(f, &|holes| holes.load(1, site))
            }
            (Operators::Product { a: f, .. }, "load_a4") | (Operators::Product { b: f, .. }, "load_b4") => {
                of_some(f, &|holes| holes.load(4, site))
            }
            (Operators::Product { packing: Some(packing), .. }, "multiply" | "multiply_lines") => multiply(packing, site),
            (Operators::Product { finish: f, .. }, "epilogue1") => of_some(f, &|holes| holes.epilogue(1, site)),
            (Operators::Product { finish: f, .. }, "epilogue4") => of_some(f, &|holes| holes.epilogue(4, site)),
            _ => no_hole(),
        }
    };
    let fills: Vec<Fill<'_>> = holes.iter().map(|&name| Fill { name, body: &body }).collect();
    f(&fills)
}

/// Adds what a kernel's text depends on, beside the shapes of its operands.
fn identity(mut key: Key, spec: &KernelSpec<'_, Buffer>) -> u128 {
    key = key.word(spec.kernel.identity() as u64).word(spec.numerics as u64);
    for &(_, number) in spec.choices {
        key = key.word(number.into());
    }
    match spec.operators {
        Operators::Nothing | Operators::Functions(_) => key,
        Operators::Body(f) | Operators::Words(f) => key.func(f),
        Operators::Tree { load, combine, finish, .. } => key.func(load).func(combine).func(finish),
        Operators::Product { a, b, finish, packing, .. } => {
            key.func(a).func(b).func(finish).word(packing.map_or(u64::MAX, |packing| packing as u64))
        }
    }
    .0
}

/// Elements of a map, at most, that may as well be computed one by one.
const FEW: u64 = 1024;

/// Blocks of a launch; `aligned`: a thread takes four elements of a map, and the last ones have a thread each; `most`: of blocks that take several parts.
fn count(entry: CudaEntry, spec: &KernelSpec<'_, Buffer>, work: Work<'_>, aligned: bool, most: u64) -> u64 {
    let threads = u64::from(entry.threads);
    let items = u64::from(match entry.items {
        Items::Bytes(bytes) => (bytes / spec.choice("size").max(1)).min(16),
        Items::Each(items) => items,
        Items::Word | Items::Dense | Items::Rows(_) | Items::Map => 4,
        Items::Contract | Items::Guarded => 1,
    });
    match work.groups {
        Groups::Of(groups) => groups(work.n),
        Groups::Strided => work.n.div_ceil(threads * items).min(most),
        Groups::Elements(_) if spec.kernel.items == Items::Map => {
            (if aligned { work.n / 4 + work.n % 4 } else { work.n }).div_ceil(threads)
        }
        Groups::Elements(whole) => {
            let unit = u64::from(entry.unit);
            work.n.div_ceil(threads / unit * items * (unit / whole * whole))
        }
    }
}

impl Launcher for Cuda {
    fn code(&self) -> Code {
        Code::Ptx
    }

    fn launch(&self, spec: &KernelSpec<'_, Buffer>, work: Work<'_>) -> Result<()> {
        self.check_kernel(spec.kernel)?;
        let Some(of) = spec.kernel.entry() else { return Ok(()) };
        let n = if let Operators::Tree { elements, .. } = spec.operators { elements } else { work.n };
        let mut bound = bind(self, (spec.kernel.pattern, n), spec.operators.params(), spec.leaves, spec.outs)?;
        let args = &mut bound.args;
        let (mut inputs, mut outs, mut scratch) = (spec.leaves.len(), spec.outs.len(), 0);
        let faces = |access| spec.kernel.arrays.iter().filter(|face| face.access == access).count();
        // Leaves alone may be packed, where one operator has them all.
        let reads = faces(Access::Read) + spec.steps.len();
        let apart = reads > 0 || matches!(spec.operators, Operators::Product { .. });
        if apart && inputs + reads > MAX_INPUTS {
            let capability = Capability::StorageBuffers((inputs + reads) as u32);
            return Err(Error::Unsupported { pattern: spec.kernel.pattern, capability, device: self.info().name.clone() });
        }
        let requests = [(outs + faces(Access::Write), MAX_OUTPUTS), (faces(Access::Scratch), MAX_SCRATCH)];
        if let Some(&(requested, limit)) = requests.iter().find(|(requested, limit)| requested > limit) {
            return Err(Error::TooLarge { what: "arrays of a kernel", requested: requested as u64, limit: limit as u64 });
        }
        for (face, array) in spec.kernel.arrays.iter().zip(spec.arrays) {
            let ptr = match array.raw {
                Some(raw) => {
                    self.address(raw, if face.access == Access::Write { "the output" } else { "an input" })?
                        + (array.offset + array.origin) * array.size
                }
                None => 0,
            };
            match face.access {
                Access::Read => {
                    args.inputs[inputs] = In { ptr, stride: array.len as i64 };
                    inputs += 1;
                }
                Access::Write => {
                    args.out[outs] = ptr;
                    outs += 1;
                }
                Access::Scratch => {
                    args.scratch[scratch] = ptr;
                    scratch += 1;
                }
            }
        }
        for (input, &(from, to)) in args.inputs.iter_mut().skip(inputs).zip(spec.steps) {
            *input = In { ptr: from as u64, stride: to };
        }
        // Parameters behind the sixteenth word are for languages that compute less of them.
        args.u.iter_mut().zip(&spec.params).for_each(|(to, &word)| *to = word);
        if let Operators::Tree { load, first: Some(first), .. } = spec.operators {
            let parts = load.results.len().min(first.len());
            let words = load
                .result_types()
                .into_iter()
                .zip(&first[..parts])
                .flat_map(|(ty, &bits)| [bits as u32, (bits >> 32) as u32].into_iter().take(ty.words()));
            args.u[spec.params.len().min(MAX_WORDS)..].iter_mut().zip(words).for_each(|(to, word)| *to = word);
        }
        // An operator that stands in the kernel five times, for four elements and one, takes the assembler five times as long.
        let once = work.n <= FEW && matches!(spec.operators, Operators::Body(f) if f.has_loops());
        let aligned = !once && bound.shapes.iter().any(|shape| matches!(shape, Shape::Vector(_)));
        let key = identity(bound.key, spec) ^ u128::from(once);
        let kernel = match self.planned_kernel(key) {
            Some(kernel) => kernel,
            None => {
                let choice = |name: &str| if name == "aligned" { aligned.into() } else { spec.choice(name) };
                let entry = entry(of, choice)?;
                let shapes = bound.shapes.split_at(spec.leaves.len());
                let template = entry.template(self.info().compute_capability)?;
                let build = |fills: &[Fill<'_>]| self.build_planned(key, (template, entry.name()), fills);
                with_fills(&entry.holes(), &spec.operators, shapes, spec.numerics, build)?
            }
        };
        let most = u64::from(self.info().multiprocessors * TUNING.top_k_blocks);
        let grid = Grid::linear(blocks(count(of, spec, work, aligned, most))?, of.threads).shared(work.shared_bytes as u32);
        // SAFETY: the plan's contract: views are inside their buffers and as long as the work, scratch is as large as the kernel says, and what a
        // kernel finds by an index it compares with what is there.
        unsafe { Self::launch(self, &kernel, grid, &bound.args) }
    }

    fn scratch(&self, bytes: &[u64]) -> Result<Vec<Piece<Buffer>>> {
        let aligned = |bytes: &u64| bytes.next_multiple_of(256);
        let raw = self.stream().scratch().buffer(self, Use::Partials, bytes.iter().map(aligned).sum())?;
        let begins = bytes.iter().scan(0, |next, bytes| Some(std::mem::replace(next, *next + aligned(bytes))));
        Ok(begins.zip(bytes).map(|(offset, &bytes)| Piece { raw: raw.clone(), offset, bytes }).collect())
    }

    fn phase(&self, raw: &Buffer, offset_bytes: u64) -> Result<u64> {
        Ok(((self.address(raw, "an operand")? + offset_bytes) | offset_bytes) % 16)
    }

    fn elements_of_group(&self, kernel: &Def) -> u64 {
        kernel.entry().map_or(1, |entry| u64::from(entry.threads) * if let Items::Each(items) = entry.items { items.into() } else { 1 })
    }

    fn accumulator_bytes(&self, parts: &[Ty]) -> u64 {
        4 * room(parts.iter().map(|ty| ty.words()).sum()) as u64
    }

    fn tuning(&self) -> launch::Tuning {
        launch::Tuning {
            window_bytes: u64::MAX,
            numbered: u64::MAX,
            wide_extremes: true,
            stores_narrow: true,
            top_k_samples: 16 * 1024,
            shared_bytes: self.info().shared_bytes.into(),
            matrix_instructions: match self.info().compute_capability {
                (9, 0) => MatrixInstructions::Warpgroup,
                capability if capability >= (8, 0) => MatrixInstructions::Warp,
                _ => MatrixInstructions::None,
            },
            product: [[4, 8], [4, 8]],
        }
    }
}

isowarp_core::run_planned!(Cuda);
