//! Whether an elementary function keeps its bits over an `fma` that flushes subnormal numbers, on every f32 or a stride of them.
//!
//! `cargo run --release -p isowarp-core --example flush -- all --stride 31`
//!
//! Functions of two arguments, and `div`, take 2^33 / stride pairs: random bits, and bits near the ends of the exponent's range.
//! `sqrt` and `div` are the soft ones.

#[path = "../src/numerics/tests/flushing.rs"]
mod flushing;

use std::process::ExitCode;

use flushing::Flushing;
use isowarp_core::numerics::{Arith, Func, Native, soft_div, soft_sqrt};
use rayon::prelude::*;

/// The number of evaluations that one task does.
const BLOCK: u64 = 1 << 20;

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Operation to evaluate.
#[derive(Clone, Copy)]
enum What {
    Func(Func),
    Div,
    Sqrt,
}

impl What {
    fn of<A: Arith>(self, args: [A::F; 2]) -> A::F {
        match self {
            Self::Func(f) => f.apply::<A>(&args),
            Self::Div => soft_div::<A>(args[0], args[1]),
            Self::Sqrt => soft_sqrt::<A>(args[0]),
        }
    }

    fn differs(self, args: [f32; 2]) -> bool {
        let exact = self.of::<Native>(args);
        !(same(self.of::<Flushing<true>>(args), exact) && same(self.of::<Flushing<false>>(args), exact))
    }

    fn pairs(self) -> bool {
        match self {
            Self::Func(f) => f.arity() == 2,
            Self::Div => true,
            Self::Sqrt => false,
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let stride = args.iter().skip_while(|a| *a != "--stride").nth(1).map_or(Some(1), |s| s.parse::<u64>().ok());
    let (Some(wanted), Some(stride @ 1..)) = (args.first(), stride) else {
        eprintln!("usage: flush <function>|all [--stride N]");
        return ExitCode::FAILURE;
    };
    let functions = Func::ALL.iter().map(|&f| (f.name(), What::Func(f)));
    for (name, what) in functions.chain([("sqrt", What::Sqrt), ("div", What::Div)]) {
        if wanted != "all" && !wanted.split(',').any(|w| w == name) {
            continue;
        }
        let count = (1_u64 << if what.pairs() { 33 } else { 32 }) / stride;
        let (wrong, other, first) = (0..count.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let inputs = (block * BLOCK..count.min((block + 1) * BLOCK))
                    .map(|i| if what.pairs() { pair(i) } else { [f32::from_bits((i * stride) as u32), 0.0] });
                inputs
                    .filter(|&x| what.differs(x))
                    .fold((0_u64, 0_u64, None), |(n, other, first), x| (n + 1, other + u64::from(!x[0].is_subnormal()), first.or(Some(x))))
            })
            .reduce(|| (0, 0, None), |a, b| (a.0 + b.0, a.1 + b.1, a.2.or(b.2)));
        let witness = first.map(|x| format!(", first at {x:?} ({:#010x}, {:#010x})", x[0].to_bits(), x[1].to_bits()));
        println!("{name}: {wrong} of {count} differ, {other} where the first argument is not subnormal{}", witness.unwrap_or_default());
    }
    ExitCode::SUCCESS
}

/// Two floats from a counter, by the mixing function of Steele, Lea and Flood's SplitMix64.
fn pair(i: u64) -> [f32; 2] {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let z = mix(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let choice = mix(z);
    let one = |bits: u32, choice: u64| {
        let near = |low: u32, span: u32| (bits & 0x807f_ffff) | ((low + (choice >> 8) as u32 % span) << 23);
        f32::from_bits(match choice % 8 {
            0 => bits & 0x80ff_ffff,
            1 => near(0, 30),
            2 => near(90, 60),
            3 => near(110, 20),
            4 => 0x3f80_0000_u32.wrapping_add_signed((bits as i32) >> 12),
            5 => near(220, 35),
            _ => bits,
        })
    };
    let (x, y) = (one(z as u32, choice), one((z >> 32) as u32, choice >> 32));
    // Every fourth pair lands where results of powers and quotients become subnormal.
    let low = f64::from(((choice >> 20) & 0xffff) as u32) / 65536.0 * 40.0 - 155.0;
    match choice >> 60 {
        0 | 1 => [x, (low / f64::from(x.abs()).log2()) as f32],
        2 | 3 => [(f64::from(y) * low.exp2()) as f32, y],
        _ => [x, y],
    }
}
