//! Launches of the plans that all GPUs share: holes lowered to WGSL, operands bound, what a binding cannot hold cut into windows.

use super::Launch;
use super::accumulator::Accumulator;
use super::operands::{Args, Limits, MAX, Operands, Signature, Span};
use super::place::{Place, most};
use super::program::{self, Operators, Program, SUBGROUPS, Source, Writer};
use super::reduce::chunks;
use super::scan::push_bits;
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use crate::pipeline::Kernel;
use arrayvec::ArrayVec;
use isowarp_core::backend::{Backend as _, RawBuffer as _};
use isowarp_core::caps::{DeviceKind, FmaKind, Numerics};
use isowarp_core::element::Ty;
use isowarp_core::error::{Error, Result};
use isowarp_core::launch::{
    self, Access, Array, Choice, Code, Def, Face, Groups, Items, KernelSpec, Launcher, MatrixFactors, MatrixInstructions, MatrixShape,
    Piece, Reach, Shader, WgslCode, Work,
};
use isowarp_shaders::kernels::shared;
use std::sync::Arc;

/// Choices of a plan, and those of this device's table.
const CHOICES: usize = 16;
/// The most groups of a launch whose groups take several parts.
const MAX_STRIDED: u64 = 2048;
/// Workgroup memory of a product of few columns whose rows lie along k: a line of a cache of 256 rows, 512 vectors of columns, and a flag.
pub(super) const ALONG_BYTES: u32 = 256 * 128 + 512 * 16 + 16;

/// Operators and forms that the text of a plan's kernel depends on, beside its choices and operands.
#[derive(Clone, Copy)]
pub(super) struct Planned<'a> {
    pub(super) def: &'static Def,
    pub(super) operators: launch::Operators<'a>,
    /// Whether outputs beyond a window's elements are written.
    pub(super) room: bool,
    /// Axes with steps.
    pub(super) axes: usize,
}

impl<'a> Planned<'a> {
    pub(super) fn hash(&self, h: &mut impl std::hash::Hasher) {
        use std::hash::Hash;
        (self.def.identity(), self.room, self.axes).hash(h);
        match self.operators {
            launch::Operators::Nothing => {}
            launch::Operators::Body(f) | launch::Operators::Words(f) => f.hash128().hash(h),
            launch::Operators::Functions(all) => all.iter().for_each(|(name, f)| (name, f.hash128()).hash(h)),
            launch::Operators::Tree { load, combine, finish, from_partials, to_results, first, .. } => {
                (from_partials, to_results, first.is_some()).hash(h);
                (!from_partials).then(|| load.hash128()).hash(h);
                combine.hash128().hash(h);
                (!to_results).then(|| finish.hash128()).hash(h);
            }
            launch::Operators::Product { a, b, finish, .. } => [a, b, finish].iter().for_each(|f| f.hash128().hash(h)),
        }
    }

    fn face(&self, name: &str) -> Option<&'static Face> {
        self.def.arrays.iter().find(|face| face.name == name)
    }

    /// Arrays of accumulators that it binds before the template's own.
    pub(super) fn accumulators(&self) -> impl Iterator<Item = &'static str> + use<> {
        let (from, to) = match self.operators {
            launch::Operators::Tree { from_partials, to_results, .. } => (from_partials, to_results),
            _ => (false, false),
        };
        [(from, "partials"), (to, "results")].into_iter().filter(|(bound, _)| *bound).map(|(_, name)| name)
    }

    /// Writes what the template calls. What is returned are members of `args` before the operands' own; `names` are the template's bindings.
    pub(super) fn write<'n>(
        &self,
        w: &mut Writer<'_>,
        arrays: &mut Vec<(&'static str, &'static str)>,
        names: impl Iterator<Item = &'n str>,
    ) -> Vec<String> {
        let mut first_value = Vec::new();
        match self.operators {
            launch::Operators::Nothing => {}
            launch::Operators::Body(f) => w.body(f),
            launch::Operators::Words(f) => w.words_of_elements(f),
            launch::Operators::Product { a, b, finish, .. } => w.product(a, b, finish),
            launch::Operators::Functions(all) => {
                all.iter().for_each(|(name, f)| w.function(f, name));
                if self.def.items == Items::Guarded {
                    w.native_fma();
                }
            }
            launch::Operators::Tree { load, combine, finish, from_partials, to_results, first, .. } => {
                let acc = Accumulator::new(combine.result_types());
                let source = if from_partials { Source::Partials } else { Source::Leaves(load) };
                let sink = if to_results { program::Sink::Results } else { program::Sink::Outs(finish) };
                first_value = w.all_of_tree(source, combine, sink, &acc, first.is_some(), arrays);
            }
        }
        let mut members: Vec<String> = ["n", "groups", "steps_before"].map(str::to_owned).into();
        members.extend(launch::params::word_names(self.def.members));
        let bound: Vec<&Face> = arrays.iter().map(|(name, _)| *name).chain(names).filter_map(|name| self.face(name)).collect();
        members.extend(bound.iter().filter(|face| face.access != Access::Scratch).map(|face| format!("skip_{}", face.name)));
        if bound.iter().any(|face| face.reach == Reach::Swept) {
            members.extend(["first", "len"].map(str::to_owned));
        }
        members.extend((0..self.axes).flat_map(|k| [format!("from{k}"), format!("to{k}")]));
        members.extend(self.room.then(|| "room".to_owned()));
        members.extend(first_value);
        members
    }
}

/// A plan's kernel before it is text.
pub(super) struct Shared<'a> {
    planned: Planned<'a>,
    numerics: Numerics,
    shader: Shader,
    constants: ArrayVec<Choice, CHOICES>,
}

impl<'a> Shared<'a> {
    pub(super) fn of<'c>(planned: Planned<'a>, numerics: Numerics, choices: impl Iterator<Item = &'c Choice>) -> Result<Self> {
        let shader = match planned.def.wgsl {
            WgslCode::Own(shader) => Some(shader),
            WgslCode::Library => shared(planned.def.name),
            WgslCode::Missing => None,
        };
        let Some(shader) = shader else {
            return Err(Error::Compile { kernel: planned.def.name.to_owned(), log: "there is no such template".to_owned() });
        };
        let mut constants = ArrayVec::new();
        for &choice in choices.chain(shader.holes) {
            let (requested, limit) = (constants.len() as u64 + 1, CHOICES as u64);
            constants.try_push(choice).map_err(|_| Error::TooLarge { what: "choices of a kernel", requested, limit })?;
        }
        Ok(Self { planned, numerics, shader, constants })
    }

    pub(super) fn program<'b>(&'b self, signature: &'b Signature) -> Program<'b> {
        let Self { planned, numerics, shader: Shader { template, entry, .. }, ref constants } = *self;
        Program { template, entry, constants, operators: Operators::Planned(planned), signature, numerics, first: false }
    }
}

/// Launch shape of a kernel on a device of this table: elements of a workgroup's 256 invocations, or of as many as it has, and holes.
pub(super) struct Shape {
    threads: u64,
    items: u64,
    pub(super) holes: ArrayVec<Choice, 8>,
}

impl Wgpu {
    /// Rows and columns of a product that an invocation takes, of sums of 32 bits and of 64.
    fn product_shape(&self) -> [[u32; 2]; 2] {
        let of = |ty| if self.product_is_rolled(ty) { [4, 4] } else { [8, 4] };
        [of(0), [4, 4]]
    }

    /// Whether the steps of a product stand in loops: where `fma` takes a hundred instructions, and on processors, whose compilers take long.
    fn product_is_rolled(&self, ty: u32) -> bool {
        let dialect = self.dialect();
        let emulated = match ty {
            0 => !matches!(dialect.fma, FmaKind::Native | FmaKind::Guarded | FmaKind::Contracted),
            1 => !dialect.native_fma64,
            _ => false,
        };
        emulated || !dialect.repairs.is_empty() || self.caps().kind == DeviceKind::Cpu
    }

    fn shape(&self, spec: &KernelSpec<'_, Buffer>) -> Shape {
        let weight = match spec.operators {
            launch::Operators::Body(f) | launch::Operators::Words(f) => f.weight(),
            _ => 0,
        };
        let mut holes = ArrayVec::new();
        let (threads, items) = match spec.kernel.items {
            Items::Each(items) => (256, items),
            Items::Guarded => {
                let narrow = spec.choice("wide") == 0;
                holes.push(("guarded", (narrow && self.dialect().fma == FmaKind::Guarded).into()));
                holes.push((SUBGROUPS, (narrow && self.tuning().scan_in_subgroups).into()));
                holes.push(("rolled", self.product_is_rolled((!narrow).into()).into()));
                (256, 1)
            }
            Items::Word => (256, if let size @ 1..4 = spec.choice("size") { 4 / size } else { 4 }),
            Items::Dense => (256, if spec.choice("atomic") == 0 && spec.choice("size") < 4 { 4 / spec.choice("size").max(1) } else { 1 }),
            Items::Bytes(bytes) => (256, (bytes / spec.choice("size").max(1)).min(16)),
            Items::Rows(most) => {
                let rows = self.tuning().rows(most, weight);
                holes.push(("rows", rows));
                (256, 4 * rows)
            }
            Items::Contract => {
                let ty = spec.choice("type");
                let small = spec.kernel.name == "contract_small";
                let [rm, rn] = if small { [4, 4] } else { self.product_shape()[usize::from(ty == 1)] };
                let (side, rolled) = (if small { 8 } else { 16 }, self.product_is_rolled(ty));
                let guarded = ty == 0 && !rolled && self.dialect().fma == FmaKind::Guarded;
                let tk = if rm == 8 || ty == 1 || small { 8 } else { 16 };
                holes.extend([("side", side), ("rm", rm), ("rn", rn), ("tk", tk), ("rolled", rolled.into()), ("guarded", guarded.into())]);
                if spec.kernel.name == "contract_thin" {
                    // Whether elements of A are those of an array, and not computed.
                    let streams = matches!(spec.operators, launch::Operators::Product { a, .. } if a.weight() == 0);
                    let streams = ty == 0 && !rolled && streams;
                    // Rows that lie along k come by workgroup memory, where there is enough of it.
                    let along = streams && spec.choice("reads") == 1 && self.limits().max_compute_workgroup_storage_size >= ALONG_BYTES;
                    holes.extend([("streams", streams.into()), ("along", along.into())]);
                }
                (side * side, 1)
            }
            Items::Map => {
                let (threads, groups) = self.map_shape(weight);
                holes.extend([("groups", groups), ("threads", threads)]);
                (threads, 4 * groups)
            }
        };
        Shape { threads: threads.into(), items: items.into(), holes }
    }
}

/// A plan's kernel, and which of its arrays are bound, in the order of their bindings.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    kernel: Arc<Kernel>,
    bound: ArrayVec<u8, MAX>,
}

impl Wgpu {
    fn planned(&self, pattern: &'static str, program: &Program<'_>, planned: &Planned<'_>) -> Result<Ready> {
        let key = super::key(program);
        if let Some(ready) = self.patterns().planned.lock().get(&key).filter(|ready| !ready.kernel.failed()) {
            return Ok(ready.clone());
        }
        let place = |name: &str| {
            let found = planned.def.arrays.iter().position(|face| face.name == name);
            found.map(|k| k as u8).ok_or_else(|| Error::Compile { kernel: program.entry.to_owned(), log: format!("no array `{name}`") })
        };
        let (requested, limit) = ((planned.accumulators().count() + program.extra().count()) as u64, MAX as u64);
        if requested > limit {
            return Err(Error::TooLarge { what: "arrays of a kernel", requested, limit });
        }
        let bound = planned.accumulators().chain(program.extra().map(|b| b.name)).map(place).collect::<Result<_>>()?;
        let ready = Ready { kernel: self.program(pattern, program)?, bound };
        self.patterns().planned.lock().insert(key, ready.clone());
        Ok(ready)
    }
}

/// Values that the dispatches of a launch share.
struct Windows<'a> {
    limits: Limits,
    spec: &'a KernelSpec<'a, Buffer>,
    operands: Operands<'a>,
    work: Work<'a>,
    shape: Shape,
    ready: Ready,
}

impl<'a> Windows<'a> {
    /// The arrays that are bound.
    fn arrays(&self) -> impl Iterator<Item = (&'static Face, Array<'a, Buffer>)> + '_ {
        let (faces, arrays) = (self.spec.kernel.arrays, self.spec.arrays);
        self.ready.bound.iter().map(move |&k| (&faces[usize::from(k)], arrays.get(usize::from(k)).copied().unwrap_or(Array::NONE)))
    }

    /// The most elements of the work that one dispatch sees.
    fn span(&self) -> u64 {
        let n = self.work.n;
        let Some(step) = self.work.step else { return n };
        let mut span = self.operands.span(self.limits, n, step, true);
        for (face, array) in self.arrays() {
            if let Reach::Along(per) = face.reach
                && let most = most(self.limits, array.size) * per
                && most < n
            {
                span = span.min((most / step * step).max(step));
            }
        }
        span
    }

    /// Enqueues the dispatch that sees these elements, and this part of the array that is swept.
    fn dispatch(&self, wgpu: &Wgpu, span: Span, swept: Option<Span>) -> Result<()> {
        let (mut args, mut bindings, mut lead) = (Args::default(), ArrayVec::<Binding<'_>, MAX>::new(), 0);
        for (face, array) in self.arrays() {
            let of = match (face.reach, swept) {
                (Reach::Along(per), _) => Span::of(span.first / per, span.len.div_ceil(per)),
                (Reach::Swept, Some(part)) => part,
                _ => Span::of(0, array.len),
            };
            let Some(raw) = array.raw else {
                return Err(Error::InvalidArgument { what: "a plan", reason: format!("it has no array `{}`", face.name) });
            };
            if face.access == Access::Scratch {
                // From its start on, and as long as a binding may be.
                let size_bytes = (array.len * array.size).next_multiple_of(4);
                bindings.push(Binding { buffer: raw, offset_bytes: array.offset * array.size, size_bytes });
                continue;
            }
            let (window, binding) = Place { raw, offset: array.offset, size: array.size }.bind(self.limits, of.first, of.len)?;
            bindings.push(binding);
            args.push((window.skip + array.origin) as u32);
            if face.access == Access::Write && array.size < 4 && face.reach != Reach::Swept {
                // Invocations own whole words of the output.
                lead = window.skip % (4 / array.size);
            }
        }
        if let Some(part) = swept {
            args.push(part.first as u32);
            args.push(part.len as u32);
        }
        // Steps are modulo 2^32, as kernels compute.
        self.spec.steps.iter().flat_map(|&(from, to)| [from, to]).for_each(|step| args.push(step as u32));
        // Outputs that a window of the elements writes.
        let room = (span.len + self.work.overhang).min(self.work.n - span.first);
        if self.work.overhang > 0 {
            args.push(room as u32);
        }
        if let launch::Operators::Tree { finish, first: Some(first), .. } = self.spec.operators {
            let parts: ArrayVec<Ty, MAX> = finish.params.iter().map(|param| param.ty()).collect();
            push_bits(&mut args, first, &parts);
        }
        let Shape { threads, items, .. } = self.shape;
        let groups = match self.work.groups {
            Groups::Elements(whole) => (lead + span.len).div_ceil(threads / whole * whole * items),
            Groups::Strided => span.len.div_ceil(threads * items).min(MAX_STRIDED),
            Groups::Of(groups) => groups(span.len),
        };
        let steps_before = span.first / self.work.step.unwrap_or(1);
        let mut launch = Launch::new(span.first, &[span.len as u32, groups as u32, steps_before as u32]);
        self.spec.params.iter().for_each(|&word| launch.args.push(word));
        launch.args.extend(&args);
        let outputs = self.work.results.map_or(Span::of(span.first, room), |results| Span::of(0, results));
        // An epilogue's inputs have the indices of outputs.
        let inputs = if matches!(self.spec.operators, launch::Operators::Product { .. }) { outputs } else { span };
        self.operands.bind(self.limits, inputs, outputs, &mut launch.bindings, &mut launch.args)?;
        launch.bindings.extend(bindings);
        Wgpu::launch(wgpu, &self.ready.kernel, &launch, groups)
    }
}

impl Launcher for Wgpu {
    fn code(&self) -> Code {
        Code::Wgsl
    }

    fn launch(&self, spec: &KernelSpec<'_, Buffer>, work: Work<'_>) -> Result<()> {
        self.check_kernel(spec.kernel)?;
        let limits = self.window_limits();
        let (leaves, outs) = match spec.operators {
            launch::Operators::Tree { from_partials, to_results, .. } => {
                (if from_partials { &[] } else { spec.leaves }, if to_results { &[] } else { spec.outs })
            }
            _ => (spec.leaves, spec.outs),
        };
        let operands = match spec.operators {
            launch::Operators::Product { a, b, extents, .. } => {
                Operands::plan_product(limits, (a, b), leaves, (outs, spec.writes_single), extents)?
            }
            _ => Operands::plan(limits, spec.operators.params(), leaves, outs, true, spec.writes_single, work.n)?,
        };
        let shape = self.shape(spec);
        let planned = Planned { def: spec.kernel, operators: spec.operators, room: work.overhang > 0, axes: spec.steps.len() };
        let shared = Shared::of(planned, spec.numerics, spec.choices.iter().chain(&shape.holes))?;
        let ready = self.planned(spec.kernel.pattern, &shared.program(&operands.signature), &planned)?;
        let windows = Windows { limits, spec, operands, work, shape, ready };
        let swept = windows.arrays().find(|(face, _)| face.reach == Reach::Swept).map(|(_, array)| array);
        chunks(work.n, windows.span(), |first, len| {
            let span = Span::of(first, len);
            match swept {
                Some(array) if array.len > 0 => {
                    chunks(array.len, most(limits, array.size), |at, part| windows.dispatch(self, span, Some(Span::of(at, part))))
                }
                nothing => windows.dispatch(self, span, nothing.map(|_| Span::of(0, 0))),
            }
        })
    }

    fn scratch(&self, bytes: &[u64]) -> Result<Vec<Piece<Buffer>>> {
        let limit = self.caps().max_binding_bytes;
        let piece = |&bytes: &u64| {
            if bytes > limit {
                return Err(Error::TooLarge { what: "bytes of a pattern's scratch", requested: bytes, limit });
            }
            let raw = self.allocate_bytes(bytes)?;
            Ok(Piece { bytes: raw.size_bytes(), raw, offset: 0 })
        };
        bytes.iter().map(piece).collect()
    }

    fn phase(&self, _: &Buffer, offset_bytes: u64) -> Result<u64> {
        // Bindings begin at multiples of more.
        Ok(offset_bytes % 16)
    }

    fn elements_of_group(&self, kernel: &Def) -> u64 {
        256 * if let Items::Each(items) = kernel.items { u64::from(items) } else { 1 }
    }

    fn accumulator_bytes(&self, parts: &[Ty]) -> u64 {
        Accumulator::new(parts.to_vec()).stride()
    }

    fn tuning(&self) -> launch::Tuning {
        let limits = self.window_limits();
        launch::Tuning {
            window_bytes: limits.window_bytes.min(1 << 31).saturating_sub(limits.align + 32),
            numbered: u32::MAX.into(),
            wide_extremes: false,
            stores_narrow: false,
            top_k_samples: 4096,
            shared_bytes: self.limits().max_compute_workgroup_storage_size.into(),
            matrix_instructions: MatrixInstructions::None,
            product: self.product_shape(),
        }
    }

    fn matrix_shape(&self, factors: MatrixFactors) -> Option<MatrixShape> {
        self.patterns().matrices.shape(self.context(), factors)
    }
}

isowarp_core::run_planned!(Wgpu);
