//! `isowarp run`: patterns over NumPy files.

mod check;
mod chunks;
mod curves;
mod distances;
mod elements;
mod fortran;
pub(crate) mod help;
mod options;
mod plan;
pub(crate) mod registry;
mod save;
mod verbs;

use crate::args::NumericsArg;
use crate::failure::{Failure, Result};
use crate::npy::{Array, Reader};
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::{device, screen, stats};
use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::caps::Numerics;
use isowarp::dynamic::DynBuffer;
pub(crate) use options::RunArgs;
use plan::{Part, Plan};
use save::Saved;
use std::path::PathBuf;

/// Reads, computes, writes; in that order of what can be found wrong first: the request, the output's place, the inputs, the operator, the device.
pub(crate) fn run(args: &RunArgs) -> Result {
    check::check(args)?;
    device::check_name(&args.device.backend)?;
    if let Some(report) = verbs::report(args.verb.name) {
        if args.output.as_os_str().is_empty() {
            return report(args);
        }
        Outputs::new(args)?;
        report(args)?;
    }
    let outputs = Outputs::new(args)?;
    chunks::folder(args, &outputs.result)?;
    let inputs = open_inputs(args)?;
    if !args.verb.takes("chunk-size") {
        let fortran: Vec<Option<usize>> = inputs.iter().map(Reader::fortran_axes).collect();
        let arrays = read(inputs)?;
        let plan = (args.verb.plan)(args, &arrays)?;
        let device = open(args)?;
        let in_order = |(a, fortran)| match fortran {
            Some(axes) => fortran::in_c_order(&device, a, axes),
            None => Ok(a),
        };
        let arrays = arrays.into_iter().zip(fortran).map(in_order);
        let mut arrays = arrays.collect::<Result<Vec<_>>>()?;
        let on_device = upload(&device, &arrays)?;
        // On the device they are, once.
        arrays.iter_mut().for_each(|a| a.bytes = Vec::new());
        return whole(args, &device, &plan, (&arrays, on_device), &outputs);
    }
    // Whether the array is read at once is for the device's memory to say.
    let heads: Vec<Array> = inputs.iter().map(|r| r.head().clone()).collect();
    let plan = (args.verb.plan)(args, &heads)?;
    if let Some(size) = &args.chunk_size {
        chunks::check_turned(size, &inputs)?;
        chunks::give_back_at_once();
    }
    let device = open(args)?;
    // Another order needs the whole array.
    let in_order = |r: Reader| match r.fortran_axes() {
        Some(axes) => fortran::in_c_order(&device, r.all()?, axes).map(Reader::from),
        None => Ok(r),
    };
    let inputs = inputs.into_iter().map(in_order).collect::<Result<Vec<_>>>()?;
    if let Some(chunk) = chunks::wanted(args, &device, &plan, &heads)? {
        return chunks::run(args, &device, &plan, inputs, chunk, &outputs);
    }
    let arrays = read(inputs)?;
    let half = heads.first().map_or(1, |a| a.len().div_ceil(2).max(1));
    let on_device = upload(&device, &arrays).map_err(Failure::from);
    match on_device.and_then(|on_device| whole(args, &device, &plan, (&arrays, on_device), &outputs)) {
        // There is less memory than the device has.
        Err(failure) if chunks::may_fit(&device, &plan, half, &failure) => {
            chunks::run(args, &device, &plan, arrays.into_iter().map(Reader::from).collect(), half, &outputs)
        }
        done => done,
    }
}

/// Fails where the arguments make no sense, by themselves or for inputs like these.
pub(crate) fn plan(args: &RunArgs, inputs: &[Array]) -> Result {
    check::check(args)?;
    (args.verb.plan)(args, inputs).map(drop)
}

/// Where results go.
struct Outputs {
    result: Output,
    beside: Vec<(Part, Output)>,
}

impl Outputs {
    /// Looks whether all of them can be written, each to a place of its own.
    fn new(args: &RunArgs) -> Result<Self> {
        let result = Output::new(&args.output)?;
        let beside = [
            (Part::Lengths, &args.lengths),
            (Part::Keys, &args.keys_out),
            (Part::Indices, &args.indices),
            (Part::Count, &args.count),
            (Part::Permutation, &args.permutation),
            (Part::Status, &args.status),
        ];
        let named = beside.into_iter().filter_map(|(what, path)| path.as_deref().map(|path| (what, path)));
        let beside = named.map(|(what, path)| Ok((what, Output::new(path)?))).collect::<Result<Vec<_>>>()?;
        let all: Vec<&Output> = std::iter::once(&result).chain(beside.iter().map(|b| &b.1)).collect();
        output::apart(&all)?;
        Ok(Self { result, beside })
    }

    /// Where this goes, if it is wanted.
    fn of(&self, what: Part) -> Option<&Output> {
        self.beside.iter().find(|b| b.0 == what).map(|b| &b.1)
    }
}

pub(super) fn open(args: &RunArgs) -> Result<Device> {
    let numerics = match args.numerics {
        NumericsArg::Strict => Numerics::Strict,
        NumericsArg::Fast => Numerics::Fast,
    };
    let _progress = Progress::new("opening a device", 0);
    device::open(&args.device.backend, numerics)
}

fn read(inputs: Vec<Reader>) -> Result<Vec<Array>> {
    inputs.into_iter().map(Reader::all).collect()
}

fn upload(device: &Device, arrays: &[Array]) -> isowarp::Result<Vec<DynBuffer<Device>>> {
    let _progress = Progress::new("uploading", 0);
    arrays.iter().map(|a| DynBuffer::upload(device, a.dtype, &a.bytes)).collect()
}

/// Computes and writes the result of arrays that are on the device.
fn whole(args: &RunArgs, device: &Device, plan: &Plan, (arrays, inputs): (&[Array], Vec<DynBuffer<Device>>), outputs: &Outputs) -> Result {
    let progress = Progress::new(format!("computing on {}", device::label(device.caps())), 0);
    let (result, found) = plan.execute(device, &inputs)?;
    drop(progress);
    let read = inputs.iter().map(DynBuffer::size_bytes).sum::<u64>();
    // Nobody needs them any more, unless everything is measured again.
    let inputs = if args.stats { inputs } else { Vec::new() };
    let head = plan.head(&result);
    // Of merged keys both arrays are truth values, or neither counts as such.
    let keys = arrays.iter().step_by(2).take(args.verb.inputs.keyed / 2);
    let boolean = keys.clone().next().is_some() && keys.clone().all(|keys| keys.boolean);
    let shape = head.shape.clone();
    let mut all = vec![Saved { device, output: &outputs.result, head, elements: &result, complex: plan.complex }];
    for (what, elements) in &found {
        if let Some(output) = outputs.of(*what) {
            all.push(Saved { device, output, head: plan::head_beside(*what, elements, &shape, boolean), elements, complex: false });
        }
    }
    save::save(&all)?;
    if let Some((_, words)) = found.iter().find(|f| f.0 == Part::Distances) {
        distances::say(result.len(), &words.read_blocking()?, outputs.result.is_stdout())?;
    }
    if let Some((_, status)) = found.iter().find(|f| f.0 == Part::Status && outputs.of(f.0).is_none()) {
        let failed = status.read_blocking()?.chunks_exact(4).filter(|word| word.iter().any(|&byte| byte != 0)).count();
        if failed > 0 {
            let of = status.len();
            screen::complain(format!(
                "warning: {failed} of {of} matrices had no pivot at some step (singular, or for cholesky not positive definite), so that these results may mean nothing; --status FILE says which"
            ));
        }
    }
    if args.stats {
        let mut parts = Vec::new();
        for (_, count) in found.iter().filter(|f| f.0 == Part::Count) {
            parts.extend(count.read_blocking()?.chunks_exact(4).map(|b| u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))));
        }
        let elements = arrays.first().map_or(result.len(), Array::len);
        let written: u64 = [&result].into_iter().chain(found.iter().map(|f| &f.1)).map(DynBuffer::size_bytes).sum();
        let bytes = read + written;
        let mut again = || plan.repeat(device, &inputs, &result);
        stats::report(device, args.verb.name, (elements, bytes, parts), (args.json, outputs.result.is_stdout()), &mut again)?;
    }
    Ok(())
}

/// Reads the inputs' headers, and compares their shapes.
fn open_inputs(args: &RunArgs) -> Result<Vec<Reader>> {
    // Weights and edges come behind the elements that are counted.
    let files = args.inputs.iter().chain(&args.weights).chain(&args.edges);
    if files.clone().filter(|p| p.as_os_str() == "-").count() > 1 {
        return Err(Failure::usage("standard input can be one input only", "name files for the others"));
    }
    let complex = args.verb.takes("inverse") && (args.inverse || !args.real);
    let read = |path: &PathBuf| Reader::open(path).and_then(|r| if complex { Ok(r) } else { r.numbers() });
    let mut inputs = files.map(read).collect::<Result<Vec<_>>>()?;
    if args.has_one_nan() {
        // By key, values come after keys.
        inputs = inputs.into_iter().enumerate().map(|(k, r)| if args.by_key && k % 2 == 1 { r } else { r.with_one_nan() }).collect();
    }
    let (heads, paths): (Vec<&Array>, Vec<&PathBuf>) = inputs.iter().map(Reader::head).zip(&args.inputs).unzip();
    // Where shapes may differ, those of keys and of the values that travel with them are still the same.
    let alike = match (args.by_key, args.verb.inputs.own_shapes) {
        (true, true) => 2,
        (false, true) => 1,
        (_, false) => heads.len().max(1),
    };
    for (heads, paths) in heads.chunks(alike).zip(paths.chunks(alike)) {
        if let Some((array, path)) = heads.iter().zip(paths).find(|(array, _)| array.shape != heads[0].shape) {
            let ((first, found), (of, with)) = ((paths[0].display(), path.display()), (heads[0].shape_text(), array.shape_text()));
            let message = format!("the inputs' shapes differ: {first} is {of}, {found} is {with}");
            return Err(Failure::failed(message, "the inputs need the same shape"));
        }
    }
    Ok(inputs)
}
