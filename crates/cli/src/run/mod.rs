//! `isowarp run`: patterns over NumPy files.

mod check;
mod chunks;
mod execute;
mod plan;

use crate::args::{NumericsArg, RunArgs};
use crate::failure::{Failure, Result};
use crate::npy::{self, Array, Reader};
use crate::output::Output;
use crate::progress::Progress;
use crate::{device, stats};
use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::caps::Numerics;
use isowarp::dynamic::DynBuffer;
use plan::Plan;

/// Reads, computes, writes; in that order of what can be found wrong first: the request, the output's place, the inputs, the operator, the device.
pub(crate) fn run(args: &RunArgs) -> Result {
    check::check(args)?;
    device::check_name(&args.device.backend)?;
    let output = Output::new(&args.output)?;
    let runs = args.lengths.as_deref().or(args.keys_out.as_deref()).or(args.indices.as_deref()).map(Output::new).transpose()?;
    chunks::folder(args, &output)?;
    let inputs = open_inputs(args)?;
    if !chunks::may_take(args.pattern) {
        let arrays = read(inputs)?;
        let plan = Plan::new(args, &arrays)?;
        let device = open(args)?;
        return whole(args, &device, &plan, &arrays, (&output, runs.as_ref()));
    }
    // Whether the array is read at once is for the device's memory to say.
    let heads: Vec<Array> = inputs.iter().map(|r| r.head().clone()).collect();
    let plan = Plan::new(args, &heads)?;
    let device = open(args)?;
    if let Some(chunk) = chunks::wanted(args, &device, &plan, &heads)? {
        return chunks::run(args, &device, &plan, inputs, chunk, &output);
    }
    let arrays = read(inputs)?;
    match whole(args, &device, &plan, &arrays, (&output, runs.as_ref())) {
        // There is less memory than the device has.
        Err(failure) if chunks::may_fit(&device, &plan, &failure) => {
            let half = heads.first().map_or(1, |a| a.len().div_ceil(2).max(1));
            chunks::run(args, &device, &plan, arrays.into_iter().map(Reader::from).collect(), half, &output)
        }
        done => done,
    }
}

fn open(args: &RunArgs) -> Result<Device> {
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

/// Computes and writes the result of arrays that are in memory.
fn whole(args: &RunArgs, device: &Device, plan: &Plan, arrays: &[Array], (output, runs): (&Output, Option<&Output>)) -> Result {
    let progress = Progress::new(format!("computing on {}", device::label(device.caps())), 0);
    let inputs = arrays.iter().map(|a| DynBuffer::upload(device, a.dtype, &a.bytes)).collect::<isowarp::Result<Vec<_>>>()?;
    let (result, found) = execute::execute(device, plan, &inputs)?;
    let array = execute::download(plan, &result)?;
    let boolean = args.keys_out.is_some() && arrays.first().is_some_and(|keys| keys.boolean);
    let found = found.as_ref().map(|found| execute::download_runs(plan, found, boolean)).transpose()?;
    drop(progress);
    npy::write(output, &array)?;
    if let (Some(output), Some(found)) = (runs, &found) {
        npy::write(output, found)?;
    }
    if args.stats {
        let elements = arrays.first().map_or(result.len(), Array::len);
        let bytes = inputs.iter().map(DynBuffer::size_bytes).sum::<u64>() + result.size_bytes();
        let mut again = || execute::repeat(device, plan, &inputs, &result);
        stats::report(device, plan.name, (elements, bytes), (args.json, output.is_stdout()), &mut again)?;
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
    let inputs = files.map(|p| Reader::open(p)).collect::<Result<Vec<_>>>()?;
    if let Some(first) = inputs.first().map(Reader::head).filter(|_| !args.pattern.mixes_shapes()) {
        for (array, path) in inputs.iter().map(Reader::head).zip(&args.inputs).skip(1) {
            if array.shape != first.shape {
                return Err(Failure::failed(
                    format!(
                        "the inputs' shapes differ: {} is {}, {} is {}",
                        args.inputs[0].display(),
                        first.shape_text(),
                        path.display(),
                        array.shape_text()
                    ),
                    "the inputs need the same shape",
                ));
            }
        }
    }
    Ok(inputs)
}
