//! Simulations: spins of Ising lattices, and prices of options.

use super::super::curves;
use crate::args::{OptionKind, StartArg};
use crate::failure::{Failure, Result};
use crate::image::grey_png;
use crate::npy::Array;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::run::open;
use crate::run::options::{self, RunArgs};
use crate::run::plan::Plan;
use crate::run::registry::{Inputs, Verb};
use crate::{screen, table};
use isowarp::Device;
use isowarp::dynamic::{Call, Simulation};
use isowarp::monte_carlo::{Acceptance, Average, Barrier, Contract, Estimate, Ising, Kind, MonteCarlo as _, Right, Start};
use isowarp::random::Random;
use std::io::Write;

pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "ising",
        about: "Spins of an Ising lattice, 1 and -1, after sweeps of Metropolis's algorithm; means of states where --measure says how many",
        example: "--shape 256,256 --temperatures 1.8:2.8:11 --sweeps 200 --measure 400 --seed 1 --plot curves.svg --csv curves.csv --png spins.png",
        inputs: Inputs::NONE,
        options: &[
            options::needed_shape,
            options::beta,
            options::temperatures,
            options::sweeps,
            options::measure,
            options::every,
            options::start,
            options::seed,
            options::stream,
            options::png,
            options::plot,
            options::csv,
        ],
        plan: spins,
        bench: "ising/2d",
    },
    Verb {
        name: "price",
        about: "The price of an option by simulation, with its error, beside the closed form; --out gets what each path pays at its end",
        example: "--kind european --spot 100 --strike 105 --rate 0.03 --volatility 0.2 --years 1 --n 4000000 --seed 1",
        inputs: Inputs::NONE,
        options: &[
            options::kind,
            options::put,
            options::geometric,
            options::barrier,
            options::spot,
            options::strike,
            options::rate,
            options::volatility,
            options::years,
            options::steps,
            options::paths,
            options::seed,
            options::stream,
        ],
        plan: payments,
        bench: "price/european",
    },
];

fn from(args: &RunArgs) -> Random {
    Random::new(args.seed.unwrap_or(0)).stream(args.stream.unwrap_or(0))
}

/// Temperatures and their thresholds, each with a stream.
fn temperatures(args: &RunArgs) -> Result<Vec<(f64, Acceptance, Random)>> {
    let wrong = |text: &str| {
        Failure::usage(format!("--temperatures {text} is no temperature, and no FROM:TO:N"), "such as --temperatures 2.0:2.6:13")
    };
    let all = match (args.beta, args.temperatures.as_deref()) {
        (Some(beta), _) => vec![(1.0 / beta, Acceptance::at_beta(beta)?)],
        (None, None) => return Err(Failure::usage("ising needs --beta or --temperatures", "add one, such as --temperatures 2.2")),
        (None, Some(text)) => {
            let parts: Vec<&str> = text.split(':').collect();
            let number = |part: &str| crate::number::number::<f64>(part).map_err(|_| wrong(text));
            let each = match parts[..] {
                [one] => vec![number(one)?],
                [from, to, n] => {
                    let (from, to) = (number(from)?, number(to)?);
                    let n = n.trim().parse::<u32>().ok().filter(|n| (2..=10_000).contains(n)).ok_or_else(|| wrong(text))?;
                    (0..n).map(|k| from + (to - from) * f64::from(k) / f64::from(n - 1)).collect()
                }
                _ => return Err(wrong(text)),
            };
            each.into_iter().map(|t| Ok((t, Acceptance::at_temperature(t)?))).collect::<Result<_>>()?
        }
    };
    let first = from(args);
    Ok((0..).zip(all).map(|(k, (t, at))| (t, at, first.stream(first.stream.wrapping_add(k)))).collect())
}

fn sides(args: &RunArgs) -> Result<Vec<u32>> {
    let side = |&side: &u64| u32::try_from(side).map_err(|_| Failure::usage(format!("a side of {side}"), "ask for a smaller lattice"));
    args.shape.iter().flatten().map(side).collect()
}

fn start(args: &RunArgs) -> Start {
    if args.start == Some(StartArg::Hot) { Start::Hot } else { Start::Cold }
}

/// Sweeps before the first measurement, measurements, and sweeps before each.
fn lengths(args: &RunArgs) -> (u64, u64, u64) {
    (args.sweeps.unwrap_or(100), args.measure.unwrap_or(0), args.every.unwrap_or(1))
}

/// The spins after all sweeps of the last temperature.
fn spins(args: &RunArgs, _: &[Array]) -> Result<Plan> {
    let ((before, measured, every), shape) = (lengths(args), sides(args)?);
    let sweeps = measured.checked_mul(every).and_then(|n| n.checked_add(before));
    let sweeps = sweeps.ok_or_else(|| Failure::usage("there are more than 2^64 sweeps", "ask for fewer"))?;
    let all = temperatures(args)?;
    let Some(&(_, at, from)) = all.last() else { return Err(Failure::defect("there is no temperature")) };
    let file = shape.iter().map(|&side| side.into()).collect();
    Ok(Plan::new(Call::Simulate(Simulation::Ising { shape, start: start(args), from, at, sweeps }), file))
}

const CSV_HEADER: &str = "temperature,magnetisation,magnetisation_error,energy,energy_error,binder,binder_error,heat_capacity,heat_capacity_error,\
susceptibility,susceptibility_error\n";

/// Prints means over the states that are measured, and draws.
pub(super) fn ising(args: &RunArgs) -> Result {
    spins(args, &[])?;
    let (before, measured, every) = lengths(args);
    let [png, plot, csv] = [&args.png, &args.plot, &args.csv].map(|path| path.as_deref().map(Output::new).transpose());
    let (png, plot, csv) = (png?, plot?, csv?);
    let spins = Some(&args.output).filter(|path| !path.as_os_str().is_empty()).map(|path| Output::new(path)).transpose()?;
    let all: Vec<&Output> = [&png, &plot, &csv, &spins].into_iter().flatten().collect();
    output::apart(&all)?;
    let beside = all.iter().any(|output| output.is_stdout());
    if measured == 0 && png.is_none() {
        if args.output.as_os_str().is_empty() {
            return Err(Failure::usage("ising has nothing to do", "add --measure, --png or --out"));
        }
        return Ok(());
    }
    let (device, all, sides) = (open(args)?, temperatures(args)?, sides(args)?);
    let progress = Progress::new("sweeping", all.len() as u64);
    let (mut rows, mut points, mut last) = (Vec::new(), Vec::new(), None);
    let mut lines = String::from(CSV_HEADER);
    for &(t, at, from) in &all {
        let mut spins = Ising::new(&device, &sides, start(args), from)?;
        spins.sweep(at, before)?;
        let series = spins.series(at, measured, every)?;
        if measured > 0 {
            let found = [series.magnetisation(), series.energy(), series.binder()];
            let more = [series.heat_capacity(1.0 / t), series.susceptibility(1.0 / t)];
            rows.push(std::iter::once(format!("{t:.5}")).chain(found.iter().chain(&more).map(with_error)).collect::<Vec<_>>());
            let numbers = found.iter().chain(&more).map(|of| format!(",{},{}", of.mean, of.standard_error));
            lines.extend(std::iter::once(t.to_string()).chain(numbers).chain(["\n".to_owned()]));
            points.push((t, found));
        }
        last = Some(spins);
        progress.advance(1);
    }
    drop(progress);
    if measured > 0 {
        let header = ["temperature", "|magnetisation|", "energy", "Binder's cumulant", "heat capacity", "susceptibility"];
        tell(beside, &table::table(&header, &[0, 1, 2, 3, 4, 5], &rows))?;
    }
    let drawn = plot.as_ref().map(|_| curves::svg(&points)).transpose()?.unwrap_or_default();
    let seen = last.filter(|_| png.is_some()).map(|spins| picture(&spins)).transpose()?.unwrap_or_default();
    let [mut of_plot, mut of_csv, mut of_png] =
        [drawn.as_bytes(), lines.as_bytes(), &seen].map(|bytes| move |w: &mut dyn Write| w.write_all(bytes));
    let all: [(&Option<Output>, &mut output::Body<'_>); 3] = [(&plot, &mut of_plot), (&csv, &mut of_csv), (&png, &mut of_png)];
    let mut all: Vec<_> = all.into_iter().filter_map(|(output, body)| Some((output.as_ref()?, body))).collect();
    output::write_all(&mut all)
}

/// Prints a table, beside a result where that goes to standard output.
fn tell(beside: bool, text: &str) -> Result {
    if beside { screen::say_beside(text) } else { screen::say(text) }
}

/// The mean, and its error in units of its last two digits.
fn with_error(of: &Estimate) -> String {
    if !of.standard_error.is_finite() || of.standard_error <= 0.0 {
        return format!("{:.6}", of.mean);
    }
    let digits = (1.0 - of.standard_error.log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{:.digits$}({:.0})", of.mean, of.standard_error * 10f64.powi(digits as i32))
}

/// The first plane: spins that are up are white.
fn picture(spins: &Ising<Device>) -> Result<Vec<u8>> {
    let shape = spins.shape();
    let [rows, columns] = [shape[shape.len() - 2], shape[shape.len() - 1]];
    let plane = spins.spins()?.slice(..rows * columns)?.read_blocking()?;
    grey_png(columns as u32, rows as u32, plane.into_iter().map(|spin| if spin > 0 { 255 } else { 0 }).collect())
}

/// The option of the arguments.
fn contract(args: &RunArgs) -> Result<Contract> {
    let steps = args.steps.unwrap_or(252);
    let kind = args.kind.unwrap_or(OptionKind::European);
    let is_barrier = !matches!(kind, OptionKind::European | OptionKind::Asian);
    let given = [
        (args.steps.is_some() && kind == OptionKind::European, "--steps is not for european options"),
        (args.geometric && kind != OptionKind::Asian, "--geometric is for asian options"),
        (args.barrier.is_some() && !is_barrier, "--barrier is not for this kind of option"),
    ];
    if let Some((_, message)) = given.into_iter().find(|(is_wrong, _)| *is_wrong) {
        return Err(Failure::usage(message, "leave it out, or see isowarp run price --help"));
    }
    let beyond = |barrier: Barrier| {
        let level = args.barrier.ok_or_else(|| Failure::usage("this kind of option needs --barrier", "add it, such as --barrier 90"))?;
        Ok::<_, Failure>(Kind::Barrier(barrier, level, steps))
    };
    let kind = match kind {
        OptionKind::European => Kind::European,
        OptionKind::Asian => Kind::Asian(if args.geometric { Average::Geometric } else { Average::Arithmetic }, steps),
        OptionKind::DownAndOut => beyond(Barrier::DownAndOut)?,
        OptionKind::DownAndIn => beyond(Barrier::DownAndIn)?,
        OptionKind::UpAndOut => beyond(Barrier::UpAndOut)?,
        OptionKind::UpAndIn => beyond(Barrier::UpAndIn)?,
    };
    let right = if args.put { Right::Put } else { Right::Call };
    let number = |x: Option<f64>, without: f64| x.unwrap_or(without);
    let (spot, strike) = (number(args.spot, 0.0), number(args.strike, 0.0));
    let (rate, volatility, years) = (number(args.rate, 0.0), number(args.volatility, 0.0), number(args.years, 1.0));
    Ok(Contract { kind, right, spot, strike, rate, volatility, years })
}

fn paths(args: &RunArgs) -> u64 {
    args.n.unwrap_or(1_000_000)
}

/// Payoffs of paths.
fn payments(args: &RunArgs, _: &[Array]) -> Result<Plan> {
    let (of, paths) = (contract(args)?, paths(args));
    of.closed_form()?;
    Ok(Plan::new(Call::Simulate(Simulation::Payments { of, paths, from: from(args) }), vec![paths]))
}

/// Prints the price.
pub(super) fn price(args: &RunArgs) -> Result {
    let of = contract(args)?;
    let exact = of.closed_form()?;
    let device = open(args)?;
    let progress = Progress::new("simulating", 0);
    let found = device.price(&of, paths(args), from(args))?;
    drop(progress);
    let row = |what: &str, price: f64, error: String| vec![what.to_owned(), format!("{price:.6}"), error];
    let mut rows = vec![row("simulation", found.mean, format!("{:.6}", found.standard_error))];
    if let Some(exact) = exact {
        let name = if matches!(of.kind, Kind::Barrier(..)) { "formula, approximate for steps" } else { "formula" };
        rows.push(row(name, exact, String::new()));
    }
    let beside = !args.output.as_os_str().is_empty() && Output::new(&args.output)?.is_stdout();
    tell(beside, &table::table(&["", "price", "standard error"], &[1, 2], &rows))
}
