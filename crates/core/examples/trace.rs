//! Cost of tracing: every call of a pattern traces its closure, so this is on the path of each launch.
//!
//! `cargo run --release -p isowarp-core --example trace`

use isowarp_core::ir::{Expr, Func, OpError, trace};
use std::hint::black_box;
use std::time::Instant;

fn measure(name: &str, build: impl Fn() -> Result<Func, OpError>) -> Result<(), OpError> {
    let nodes = build()?.nodes.len();
    // Many short batches: the fastest one was not interrupted.
    let rounds = (300 / nodes).max(1);
    let best = (0..3000)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..rounds {
                let _ = black_box(build());
            }
            start.elapsed().as_secs_f64() / rounds as f64
        })
        .fold(f64::INFINITY, f64::min);
    println!("{name:<32} {nodes:>5} nodes {:>9.0} ns", best * 1e9);
    Ok(())
}

fn main() -> Result<(), OpError> {
    measure("x + y", || trace(|(x, y): (Expr<f32>, Expr<f32>)| x + y))?;
    measure("x * 2 + 1", || trace(|x: Expr<f32>| x * 2.0 + 1.0))?;
    measure("exp(-x²) / 2 + y", || trace(|(x, y): (Expr<f32>, Expr<f32>)| (-(x * x)).exp() * 0.5 + y))?;
    for degree in [30, 300, 3000] {
        let name = format!("a polynomial of degree {degree}");
        measure(&name, || trace(|x: Expr<f32>| (0..degree).fold(x, |sum, k| sum * x + (k as f32 + 0.5))))?;
    }
    Ok(())
}
