//! The largest error of an elementary function, over every f32 or a stride of them, on all cores.
//!
//! `cargo run --release -p isowarp-core --example ulp -- exp --stride 1`
//!
//! `... --example ulp -- erf --from 0.5 --to 2`
//!
//! Functions of one argument run over every `stride`-th bit pattern, of all 2^32 or of those between two floats of one
//! sign. Functions of two arguments, and `div`, take
//! pseudo-random pairs, 2^32 / stride of them. `sqrt` and `div` are the soft ones.

#[path = "../src/numerics/tests/reference.rs"]
mod reference;

use std::process::ExitCode;

use isowarp_core::numerics::{Func, Native, soft_div, soft_sqrt};
use rayon::prelude::*;
use reference::{reference, ulp_error};

/// The number of evaluations that one task does.
const BLOCK: u64 = 1 << 20;

/// A bit pattern to evaluate at, and the error found there.
#[derive(Clone, Copy)]
struct Worst {
    error: f64,
    x: f32,
    y: f32,
}

/// Bit patterns to run over: `count` of them from `first` on, `stride` apart.
#[derive(Clone, Copy)]
struct Range {
    first: u32,
    count: u64,
    stride: u64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (Some(name), Some(range)) = (args.first(), range(&args)) else {
        eprintln!("usage: ulp <function> [--stride N] [--from X --to X]");
        return ExitCode::FAILURE;
    };
    let Some(worst) = measure(name, range) else {
        eprintln!("no function {name}");
        return ExitCode::FAILURE;
    };
    let Worst { error, x, y } = worst;
    println!("{name}: {error:.4} ULP at {x:e} ({:#010x}), second argument {y:e} ({:#010x})", x.to_bits(), y.to_bits());
    ExitCode::SUCCESS
}

fn range(args: &[String]) -> Option<Range> {
    let option = |name: &str| args.iter().skip_while(|a| *a != name).nth(1);
    let stride = option("--stride").map_or(Some(1), |s| s.parse::<u64>().ok())?.max(1);
    let (Some(from), Some(to)) = (option("--from"), option("--to")) else {
        return Some(Range { first: 0, count: (1 << 32) / stride, stride });
    };
    let (first, last) = (from.parse::<f32>().ok()?.to_bits(), to.parse::<f32>().ok()?.to_bits());
    Some(Range { first, count: u64::from(last.checked_sub(first)?) / stride, stride })
}

fn measure(name: &str, range: Range) -> Option<Worst> {
    if name == "sqrt" {
        return Some(search(name, range, false, |x, _| soft_sqrt::<Native>(x)));
    }
    if name == "div" {
        return Some(search(name, range, true, soft_div::<Native>));
    }
    let func = Func::ALL.iter().copied().find(|f| f.name() == name)?;
    Some(search(name, range, func.arity() == 2, |x, y| func.eval2(x, y)))
}

fn search(name: &str, range: Range, pairs: bool, eval: impl Fn(f32, f32) -> f32 + Sync) -> Worst {
    let Range { first, count, stride } = range;
    let at = |i: u64| {
        let (x, y) = if pairs { random_pair(name, i) } else { (f32::from_bits(first + (i * stride) as u32), 0.0) };
        let want = reference(name, f64::from(x), f64::from(y));
        Worst { error: ulp_error(eval(x, y), want), x, y }
    };
    let none = Worst { error: -1.0, x: 0.0, y: 0.0 };
    let worse = |a: Worst, b: Worst| if b.error > a.error { b } else { a };
    let block = |n: u32| {
        let start = u64::from(n) * BLOCK;
        (start..count.min(start + BLOCK)).map(at).fold(none, worse)
    };
    (0..count.div_ceil(BLOCK) as u32).into_par_iter().map(block).reduce(|| none, worse)
}

/// Two floats from a counter, by the mixing function of Steele, Lea and Flood's SplitMix64.
///
/// Three of four pairs are made to land where a random one rarely does: powers in range, quotients near 1, and of these one where the largest errors
/// were found, great and small powers of numbers whose logarithm is the least exact, and angles just beyond an eighth of a turn.
fn random_pair(name: &str, i: u64) -> (f32, f32) {
    let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let (x, y) = (f32::from_bits(z as u32), f32::from_bits((z >> 32) as u32));
    if i & 1 == 0 {
        return (x, y);
    }
    let unit = (z >> 32) as f64 / 2f64.powi(32);
    match (name, i & 3) {
        ("pow", 3) => {
            let x = f32::from_bits(0x3fac_0000 + (z as u32 & 0x0001_ffff));
            let exponent = if z >> 63 == 0 { 120.0 + 16.0 * unit } else { -118.0 - 16.0 * unit };
            return (x, (exponent / f64::from(x).log2()) as f32);
        }
        ("atan2", 3) => return (near_one(x), (f64::from(near_one(x)) / (1.0 + unit / 32.0)) as f32),
        _ => {}
    }
    if name == "pow" {
        let exponent = unit * 280.0 - 151.0;
        return (x.abs(), (exponent / f64::from(x.abs()).log2()) as f32);
    }
    (near_one(x), near_one(y))
}

fn near_one(x: f32) -> f32 {
    f32::from_bits(x.to_bits() & 0x81ff_ffff | 0x3e00_0000)
}
