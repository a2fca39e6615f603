//! Several threads on one device, with handles and streams of their own: what each gets is what it would get alone.

use super::input;
use crate::case::{Cases, Outputs as _, Target};
use crate::data::Fill;
use isowarp::patterns::ProductOrder;
use isowarp::prelude::*;
use isowarp::{Error, Result};
use std::thread;

/// Threads of a case.
const THREADS: u64 = 4;
/// Times that each does its work.
const ROUNDS: u64 = 3;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    c.add("concurrency/shared_handle", |d| together(d, chain)).full();
    c.add("concurrency/cloned_handles", |d| together(d, |d, k| chain(&d.clone(), k))).full();
    c.add("concurrency/streams", |d| together(d, |d, k| chain(&d.new_stream()?, k))).full();
    several_launches(c);
    // One input for all, made on another stream: its maker's mark is what each waits for.
    c.add("concurrency/shared_input", |d| {
        let x = input::<B, f32>(d, Fill::Cancel, 100_003, "x")?;
        let ready = d.record()?;
        together(d, |d, k| {
            let own = d.new_stream()?;
            own.wait(&ready)?;
            let y = own.map((&x, scalar(k as f32)), |(x, k)| x * k + 1.0)?;
            let (sum, scanned) = (own.sum(&y)?, own.scan(&y, Max).exclusive().run()?);
            let out = own.map((&scanned, &sum), |(s, sum)| s.bitcast::<u32>() ^ sum.bitcast::<u32>())?;
            own.synchronize()?;
            Ok(out)
        })
    })
    .full();
}

/// Patterns of several launches, whose scratch a stream may keep: no thread's may stand between those of another.
fn several_launches<B: Target>(c: &mut Cases<B>) {
    let mut add = |name: &str, work: fn(&B, u64) -> Result<Buffer<B, u32>>| {
        c.add(format!("concurrency/several_launches/{name}"), move |d| {
            together(d, |d, k| {
                for _ in 0..3 {
                    work(d, k)?;
                }
                work(d, k)
            })
        })
        .full();
    };
    add("sort", |d, k| d.sort(&input::<B, u32>(d, Fill::Bits, 70_000 + 9000 * k, "x")?).run());
    add("sort_by", |d, k| d.sort(&input::<B, u32>(d, Fill::Bits, 20_000 + 9000 * k, "x")?).by(|a, b| (a >> 4).lt(b >> 4)).run());
    add("argsort_rows", |d, k| d.argsort(&input::<B, f32>(d, Fill::Cancel, 3000 * (20 + k), "x")?).axis(&[20 + k, 3000], 1).run());
    add("columns", |d, k| {
        let sums = d.reduce(&input::<B, f32>(d, Fill::Cancel, 30 * (9000 + k), "x")?, Sum).axis(&[9000 + k, 30], 0).run()?;
        d.map(&sums, Expr::bitcast::<u32>)
    });
    add("fixed", |d, k| {
        let (a, b) = (input::<B, f32>(d, Fill::Plain, (40 + k) * 300, "a")?, input::<B, f32>(d, Fill::Plain, 300 * 50, "b")?);
        let product = d.gemm(matrix(&a, 40 + k, 300), matrix(&b, 300, 50)).order(ProductOrder::Fixed30).run()?;
        d.map(&product, Expr::bitcast::<u32>)
    });
    add("bytes", |d, k| {
        let (a, b) = (input::<B, u8>(d, Fill::Bits, (90 + k) * 300, "a")?, input::<B, u8>(d, Fill::Bits, 300 * 70, "b")?);
        d.gemm(matrix(&a, 90 + k, 300), matrix(&b, 300, 70)).run()
    });
    add("split", |d, k| {
        let (a, b) = (input::<B, f32>(d, Fill::Plain, (20 + k) * 2000, "a")?, input::<B, f32>(d, Fill::Plain, 2000 * 30, "b")?);
        d.map(&d.gemm(matrix(&a, 20 + k, 2000), matrix(&b, 2000, 30)).run()?, Expr::bitcast::<u32>)
    });
}

/// Results that every thread got in every round, in order; and each thread's rounds are equal.
fn together<B: Target>(device: &B, work: impl Fn(&B, u64) -> Result<Buffer<B, u32>> + Sync) -> Result<Vec<Buffer<B, u32>>> {
    let rounds = |k: u64| -> Result<Vec<Buffer<B, u32>>> {
        (0..ROUNDS)
            .map(|_| {
                let out = work(device, k)?;
                // Read here, while the others work.
                out.outputs()?;
                Ok(out)
            })
            .collect()
    };
    let results = thread::scope(|s| {
        let rounds = &rounds;
        let started: Vec<_> = (0..THREADS).map(|k| s.spawn(move || rounds(k))).collect();
        started.into_iter().map(|t| t.join().unwrap_or_else(|_| Err(lost()))).collect::<Result<Vec<_>>>()
    })?;
    Ok(results.into_iter().flatten().collect())
}

fn lost() -> Error {
    Error::Driver { call: "thread", message: "a thread of the case panicked".to_owned() }
}

/// Patterns that depend on each other, over as many tiles as threads differ by.
fn chain<B: Target>(d: &B, k: u64) -> Result<Buffer<B, u32>> {
    let x = input::<B, f32>(d, Fill::Cancel, 20_000 + 8192 * k, "x")?;
    let y = d.scan(&x, Sum).run()?;
    let greatest = d.reduce(&y, Max).run()?;
    let z = d.map((&y, &greatest, index()), |(y, t, i)| y * 0.5 + t * (i % 7).cast::<f32>())?;
    let least = d.argmin(&z)?;
    let out = d.map((&z, &least), |(z, k)| z.bitcast::<u32>() ^ k)?;
    d.synchronize()?;
    Ok(out)
}
