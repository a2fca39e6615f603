//! The errors of what `Numerics::Fast` takes from the hardware, over every f32 at which docs/numerics.md states a bound: normal arguments with
//! normal results, and as many pseudo-random quotients.
//!
//! `cargo run --release -p isowarp-conformance --example fast -- cuda`
//!
//! `... --example fast -- wgpu --stride 64 --only division`

use isowarp::backend::Backend as _;
use isowarp::prelude::*;
use isowarp::{Result, Selector};
use rayon::prelude::*;
use std::process::ExitCode;

/// Evaluations of one launch.
const CHUNK: u64 = 1 << 24;

type Unary = fn(Expr<f32>) -> Expr<f32>;
type Reference = fn(f64) -> f64;

/// Functions, with the largest argument that is worth giving to each.
const FUNCTIONS: [(&str, Unary, Reference, f32); 6] = [
    ("exp", Expr::exp, f64::exp, 89.0),
    ("exp2", Expr::exp2, f64::exp2, 128.0),
    ("log", Expr::ln, f64::ln, f32::MAX),
    ("log2", Expr::log2, f64::log2, f32::MAX),
    ("sqrt", Expr::sqrt, f64::sqrt, f32::MAX),
    ("rsqrt", Expr::rsqrt, |x| 1.0 / x.sqrt(), f32::MAX),
];

/// The largest errors of a part of the arguments, each with the argument.
#[derive(Clone, Copy, Default)]
struct Worst {
    ulp: (f64, f32),
    relative: (f64, f32),
    absolute: (f64, f32),
}

impl Worst {
    fn of(x: f32, found: f32, exact: f64) -> Self {
        let error = (f64::from(found) - exact).abs();
        // A result that is no number must not count as none.
        let error = if error.is_nan() { f64::INFINITY } else { error };
        let size = (exact as f32).abs();
        let ulp = f64::from(size.next_up()) - f64::from(size);
        Self { ulp: (error / ulp, x), relative: (error / exact.abs(), x), absolute: (error, x) }
    }

    fn join(self, other: Self) -> Self {
        let larger = |a: (f64, f32), b: (f64, f32)| if b.0 > a.0 { b } else { a };
        Self {
            ulp: larger(self.ulp, other.ulp),
            relative: larger(self.relative, other.relative),
            absolute: larger(self.absolute, other.absolute),
        }
    }

    fn print(self, name: &str, part: &str) {
        let Self { ulp, relative, absolute } = self;
        println!(
            "{name} {part}: {:.4} ULP at {:e}, relative 2^{:.3} at {:e}, absolute 2^{:.3} at {:e}",
            ulp.0,
            ulp.1,
            relative.0.log2(),
            relative.1,
            absolute.0.log2(),
            absolute.1
        );
    }
}

/// Parts of the arguments that are told apart: exponentials by the binade of the argument, logarithms near 1.
const PARTS: usize = 16;

fn part(name: &str, x: f32) -> usize {
    match name {
        "exp" | "exp2" => (x.abs().log2().floor().clamp(-4.0, 7.0) + 4.0) as usize,
        "log" | "log2" => usize::from((0.5..=2.0).contains(&x)),
        _ => 0,
    }
}

fn part_name(name: &str, part: usize) -> String {
    match (name, part) {
        ("exp" | "exp2", 0) => "below 2^-3".to_owned(),
        ("exp" | "exp2", k) => format!("from 2^{}", k as i32 - 4),
        ("log" | "log2", 1) => "from 1/2 to 2".to_owned(),
        _ => "all".to_owned(),
    }
}

/// The worst of each part, of arguments with what was found and the exact results.
fn worst(name: &str, results: impl ParallelIterator<Item = (f32, f32, f64)>) -> [Worst; PARTS] {
    let none = || [Worst::default(); PARTS];
    let add = |mut all: [Worst; PARTS], (x, found, exact): (f32, f32, f64)| {
        if (exact as f32).is_normal() || exact == 0.0 && found != 0.0 {
            let at = &mut all[part(name, x)];
            *at = at.join(Worst::of(x, found, exact));
        }
        all
    };
    let both = |mut a: [Worst; PARTS], b: [Worst; PARTS]| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a = a.join(b));
        a
    };
    results.fold(none, add).reduce(none, both)
}

fn print(name: &str, all: [Worst; PARTS]) {
    for (k, worst) in all.iter().enumerate().filter(|(_, w)| w.relative.0 > 0.0) {
        worst.print(name, &part_name(name, k));
    }
}

fn function(fast: &Device, (name, f, reference, most): (&str, Unary, Reference, f32), stride: u64) -> Result<()> {
    let signs: &[u32] = if name.starts_with("exp") { &[0, 1 << 31] } else { &[0] };
    let (first, last) = (u64::from(f32::MIN_POSITIVE.to_bits()), u64::from(most.to_bits()));
    let mut all = [Worst::default(); PARTS];
    for &sign in signs {
        let mut start = first;
        while start <= last {
            let count = ((last - start) / stride + 1).min(CHUNK);
            let x: Vec<f32> = (0..count).into_par_iter().map(|i| f32::from_bits(sign | (start + i * stride) as u32)).collect();
            let found = fast.map(&fast.upload(&x)?, f)?.read_blocking()?;
            let these = worst(name, x.par_iter().zip(&found).map(|(&x, &found)| (x, found, reference(f64::from(x)))));
            all.iter_mut().zip(these).for_each(|(a, b)| *a = a.join(b));
            start += count * stride;
        }
    }
    print(name, all);
    Ok(())
}

/// 2^32 / stride pairs from a counter, mixed as by Steele, Lea and Flood's SplitMix64.
fn division(fast: &Device, stride: u64) -> Result<()> {
    let normal = |bits: u32| f32::from_bits((bits & 0x8000_0000) | ((bits & 0x7fff_ffff) % 0x7f00_0000 + 0x0080_0000));
    let pair = |i: u64| {
        let z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let z = z ^ (z >> 31);
        (normal(z as u32), normal((z >> 32) as u32))
    };
    let divisors = 2f32.powi(-126)..=2f32.powi(126);
    let mut all = [Worst::default(); PARTS];
    for chunk in 0..((1u64 << 32) / stride).div_ceil(CHUNK) {
        let (x, y): (Vec<f32>, Vec<f32>) = (0..CHUNK).into_par_iter().map(|i| pair((chunk * CHUNK + i) * stride + 1)).unzip();
        let found = fast.map((&fast.upload(&x)?, &fast.upload(&y)?), |(x, y)| x / y)?.read_blocking()?;
        let pairs = x.par_iter().zip(&y).zip(&found).filter(|((_, y), _)| divisors.contains(&y.abs()));
        let these = worst("division", pairs.map(|((&x, &y), &found)| (y, found, f64::from(x) / f64::from(y))));
        all.iter_mut().zip(these).for_each(|(a, b)| *a = a.join(b));
    }
    print("division", all);
    Ok(())
}

fn run(backend: &str, stride: u64, only: Option<&str>) -> Result<()> {
    let fast = Device::open(backend.parse::<Selector>()?)?.with_numerics(Numerics::Fast);
    println!("{}: {}", fast.caps().backend, fast.caps().device);
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    for each in FUNCTIONS.into_iter().filter(|f| wanted(f.0)) {
        function(&fast, each, stride)?;
    }
    if wanted("division") { division(&fast, stride) } else { Ok(()) }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| args.iter().skip_while(|a| *a != name).nth(1);
    let stride = option("--stride").map_or(Some(1), |s| s.parse::<u64>().ok().filter(|s| *s > 0));
    let (Some(backend), Some(stride)) = (args.first(), stride) else {
        eprintln!("usage: fast <backend> [--stride N] [--only FUNCTION]");
        return ExitCode::FAILURE;
    };
    match run(backend, stride, option("--only").map(String::as_str)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}
