//! P06 histogram: one dispatch to a window of the inputs and one of the output.

use super::Launch;
use super::operands::{Operands, Signature, Span};
use super::place::{Place, most};
use super::program::{Operators, Program, Writer, member, value_params};
use super::select::words_of;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Func;
use isowarp_core::patterns::{HistogramSum, HistogramTask};
use isowarp_shaders::kernels::HISTOGRAM;
use std::fmt::Write as _;

/// Words of results that an invocation holds, four elements to a row, and its rows of elements that are words themselves.
const WORDS: u32 = 8;
const ROWS_OF_WORDS: u32 = 4;
/// Words of shared memory that every adapter has: 16 KiB.
pub(super) const LEAST_CELLS: u32 = 4096;
/// Copies of a bin, at most: lanes of a subgroup.
const MOST_COPIES: u64 = 32;

/// Where bins are while they are added to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// In so many words of shared memory.
    Shared(u32),
    /// The first ones that ask in so many words, the others in the output.
    Cached(u32),
    /// In the output.
    Output,
}

/// Parameters of a kernel's text besides the task.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Invocations of a workgroup.
    pub(super) threads: u32,
    pub(super) rows: u32,
    pub(super) home: Home,
    /// Whether there is a bin more for what is in none.
    pub(super) spare: bool,
    /// log2 of the copies of a bin, where no sample can be in none: all that an element's place in shared memory is made of is in the text, so that
    /// a driver sees for itself that it lies inside.
    pub(super) shift: Option<u32>,
    /// Words of a bin of the output.
    pub(super) out_words: u64,
}

impl Home {
    /// For bins of so many words together, on an adapter with this many of shared memory.
    fn of(sum: HistogramSum, words: u64, cells: u32) -> Self {
        // Workgroups beside each other are worth more than copies.
        if words <= u64::from(LEAST_CELLS) {
            Self::Shared(LEAST_CELLS)
        } else if words <= u64::from(cells) {
            Self::Shared(cells)
        } else if matches!(sum, HistogramSum::Count | HistogramSum::Word) {
            Self::Cached(LEAST_CELLS / 2)
        } else {
            Self::Output
        }
    }

    fn cells(self) -> u32 {
        match self {
            Self::Shared(cells) | Self::Cached(cells) => cells,
            Self::Output => 0,
        }
    }
}

/// Words of a bin in shared memory.
fn own_words(sum: HistogramSum) -> u64 {
    sum.words(4)
}

impl Run<HistogramTask> for Wgpu {
    fn run(&self, task: &HistogramTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "histogram", reason: "it has one output".to_owned() });
        };
        if task.clears {
            task.clear(self, out)?;
        }
        let limits = self.window_limits();
        let operands = Operands::plan(limits, &task.func.params, leaves, &[], true, false, task.n)?;
        let out_words = task.sum.words(out.dtype.size_bytes());
        // Bins as elements of the output, whose windows are of whole ones.
        let place = Place { raw: &out.raw, offset: out.offset * out.dtype.size_bytes() / 4, size: 4 };
        let room = (most(limits, 4) / out_words).max(1).min(task.bins);
        let tuning = self.tuning();
        let words = room * own_words(task.sum);
        let has_room = |cells: u32| self.limits().max_compute_workgroup_storage_size / 4 >= cells + MOST_COPIES as u32;
        let cells = if has_room(tuning.histogram_cells) { tuning.histogram_cells } else { LEAST_CELLS };
        let home = Home::of(task.sum, words, cells);
        let narrow = |leaf: &Leaf<Buffer>| !matches!(leaf, Leaf::Elements { dtype, .. } if dtype.size_bytes() > 1);
        let most_rows = if leaves.iter().all(narrow) { WORDS } else { ROWS_OF_WORDS };
        let most_rows = most_rows.min(WORDS / task.func.result_words() as u32).max(1);
        let alone = matches!(home, Home::Shared(_)) && own_words(task.sum) == 1;
        let spare = alone && matches!(home, Home::Shared(cells) if has_room(cells));
        let threads = self.threads(tuning.histogram_threads);
        let copies = match home {
            Home::Shared(cells) => (u64::from(cells) / words).clamp(1, MOST_COPIES),
            _ => 1,
        };
        let shift = (alone && room == task.bins && all_in_bins(task, leaves)).then(|| copies.ilog2());
        let rows = tuning.rows(1 << most_rows.ilog2(), task.func.weight());
        let form = Form { threads, rows, home, spare: spare && shift.is_none(), shift, out_words };
        let holes = holes(task, form);
        let kernel = self.program("histogram", &program(task, &operands.signature, &holes))?;
        let step = operands.span(limits, task.n, 1024, false);
        for at in (0..task.n).step_by(step as usize) {
            let span = Span::of(at, step.min(task.n - at));
            let block = u64::from(4 * threads * form.rows);
            // Clearing and adding up a cell costs about as much as an element.
            let groups = span.len.div_ceil(block.max(home.cells().into())).min(tuning.histogram_groups);
            for first in (0..task.bins).step_by(room as usize) {
                let bins = room.min(task.bins - first);
                let (w, binding) = place.bind(limits, first * out_words, bins * out_words)?;
                let words = [span.len, groups, first, bins, copies.ilog2().into(), w.skip].map(|w| w as u32);
                let mut launch = Launch::new(at, &words);
                operands.bind(limits, span, span, &mut launch.bindings, &mut launch.args)?;
                launch.bindings.push(binding);
                self.launch(&kernel, &launch, groups)?;
            }
        }
        Ok(())
    }
}

/// Whether no sample can be in no bin, whatever the elements are.
fn all_in_bins(task: &HistogramTask, leaves: &[Leaf<Buffer>]) -> bool {
    let of_leaf = |p: u16| match leaves.get(usize::from(p)) {
        Some(Leaf::Elements { dtype: DType::U8, .. }) => u64::from(u8::MAX),
        Some(Leaf::Elements { dtype: DType::U16, .. }) => u64::from(u16::MAX),
        _ => u64::MAX,
    };
    (0..task.bins_of_each()).all(|k| task.func.greatest(k, of_leaf) < task.bins)
}

pub(super) fn holes(task: &HistogramTask, form: Form) -> [(&'static str, u32); 12] {
    [
        ("threads", form.threads),
        ("rows", form.rows),
        ("cells", form.home.cells()),
        ("spare", form.spare.into()),
        ("all", form.shift.is_some().into()),
        ("shift", form.shift.unwrap_or(0)),
        ("cached", matches!(form.home, Home::Cached(_)).into()),
        ("cell_shift", 32 - form.home.cells().max(2).ilog2()),
        ("sum", task.sum as u32),
        ("words", task.func.result_words() as u32),
        ("bins", task.bins_of_each() as u32),
        ("out_words", form.out_words as u32),
    ]
}

pub(super) fn program<'a>(task: &'a HistogramTask, signature: &'a Signature, holes: &'a [(&'static str, u32)]) -> Program<'a> {
    Program {
        template: HISTOGRAM,
        entry: "histogram",
        constants: holes,
        operators: Operators::Words(&task.func),
        signature,
        numerics: task.numerics,
        first: false,
    }
}

impl Writer<'_> {
    /// `load1` and `load4`: the words of an operator's results, and those of four neighbours.
    pub(super) fn words_of_elements(&mut self, f: &Func) {
        let types = f.result_types();
        let array = format!("array<u32, {}>", f.result_words());
        self.leaves(f, "op_load");
        self.function(f, "op_load");
        let item = |result: &dyn Fn(usize) -> String| {
            let words: Vec<String> = types.iter().enumerate().flat_map(|(r, &ty)| words_of(ty, &result(r))).collect();
            format!("{array}({})", words.join(", "))
        };
        let args: Vec<String> = value_params(f).map(|k| format!("leaf{k}_1(i)")).collect();
        let _ = writeln!(self.text, "fn load1(i: u32) -> {array} {{\n    let v = op_load({});", args.join(", "));
        let _ = writeln!(self.text, "    return {};\n}}", item(&|r| member("v", r, types.len())));
        self.load_four(f, &array, item);
    }
}
