//! `isowarp run`: patterns over NumPy files.

mod check;
mod execute;
mod plan;

use crate::args::{NumericsArg, RunArgs};
use crate::failure::{Failure, Result};
use crate::npy::{self, Array};
use crate::output::Output;
use crate::progress::Progress;
use crate::{device, stats};
use isowarp::backend::Backend as _;
use isowarp::caps::Numerics;
use isowarp::dynamic::DynBuffer;

/// Reads, computes, writes; in that order of what can be found wrong first: the request, the output's place, the inputs, the operator, the device.
pub(crate) fn run(args: &RunArgs) -> Result {
    check::check(args)?;
    device::check_name(&args.device.backend)?;
    let output = Output::new(&args.output)?;
    let runs = args.lengths.as_deref().or(args.keys_out.as_deref()).or(args.indices.as_deref()).map(Output::new).transpose()?;
    let arrays = read_inputs(args)?;
    let plan = plan::Plan::new(args, &arrays)?;
    let numerics = match args.numerics {
        NumericsArg::Strict => Numerics::Strict,
        NumericsArg::Fast => Numerics::Fast,
    };
    let progress = Progress::new("opening a device", 0);
    let device = device::open(&args.device.backend, numerics)?;
    progress.say(format!("computing on {}", device::label(device.caps())));
    let inputs = arrays.iter().map(|a| DynBuffer::upload(&device, a.dtype, &a.bytes)).collect::<isowarp::Result<Vec<_>>>()?;
    let (result, found) = execute::execute(&device, &plan, &inputs)?;
    let array = execute::download(&plan, &result)?;
    let boolean = args.keys_out.is_some() && arrays.first().is_some_and(|keys| keys.boolean);
    let found = found.as_ref().map(|found| execute::download_runs(found, boolean)).transpose()?;
    drop(progress);
    npy::write(&output, &array)?;
    if let (Some(output), Some(found)) = (&runs, &found) {
        npy::write(output, found)?;
    }
    if args.stats {
        let elements = arrays.first().map_or(result.len(), Array::len);
        let bytes = inputs.iter().map(DynBuffer::size_bytes).sum::<u64>() + result.size_bytes();
        let mut again = || execute::repeat(&device, &plan, &inputs, &result);
        stats::report(&device, plan.name, (elements, bytes), (args.json, output.is_stdout()), &mut again)?;
    }
    Ok(())
}

fn read_inputs(args: &RunArgs) -> Result<Vec<Array>> {
    // Weights and edges come behind the elements that are counted.
    let files = args.inputs.iter().chain(&args.weights).chain(&args.edges);
    if files.clone().filter(|p| p.as_os_str() == "-").count() > 1 {
        return Err(Failure::usage("standard input can be one input only", "name files for the others"));
    }
    let arrays = files.map(|p| npy::read(p)).collect::<Result<Vec<_>>>()?;
    if let Some(first) = arrays.first().filter(|_| !args.pattern.mixes_shapes()) {
        for (array, path) in arrays.iter().zip(&args.inputs).skip(1) {
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
    Ok(arrays)
}
