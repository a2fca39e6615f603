//! What is measured: every pattern of `isowarp run`, and some of what its expressions and the image filters make.

use super::job::{Host, Job, into, made, part, several};
use isowarp::prelude::*;
use isowarp::{Device, Result};

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Whether it is measured where no pattern is named.
    pub(crate) usual: bool,
    /// Whether it takes square images, so that the number of elements is a square.
    pub(crate) square: bool,
    /// Bytes read and written, at most where how many are written depends on the elements.
    pub(crate) bytes: fn(u64) -> u64,
    /// Brings the inputs to a device and makes room for the outputs.
    pub(crate) make: fn(&Device, &Host) -> Result<Job>,
}

/// Every case, in the order of the table. Floats where floats are usual, else u32.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = elementwise();
    all.extend(combined());
    all.extend(moved());
    all.extend(ordered());
    all.extend(found());
    all.extend(segmented());
    all.extend(filtered());
    all
}

fn usual(name: &'static str, bytes: fn(u64) -> u64, make: fn(&Device, &Host) -> Result<Job>) -> Case {
    Case { name, usual: true, square: false, bytes, make }
}

fn other(name: &'static str, bytes: fn(u64) -> u64, make: fn(&Device, &Host) -> Result<Job>) -> Case {
    Case { usual: false, ..usual(name, bytes, make) }
}

fn of_square(case: Case) -> Case {
    Case { square: true, ..case }
}

/// Elements read and written, four bytes each.
const ONE: fn(u64) -> u64 = |n| 4 * n;
const TWO: fn(u64) -> u64 = |n| 8 * n;
const THREE: fn(u64) -> u64 = |n| 12 * n;

fn elementwise() -> Vec<Case> {
    vec![
        usual("copy", TWO, |d, h| into(d, h.floats(), h.n, Map::copy_into)),
        usual("map", TWO, |d, h| into(d, h.floats(), h.n, |d, x, y: &Buffer<Device, f32>| d.map_into(x, |x| x * 2.0 + 1.0, y))),
        usual("exp", TWO, |d, h| into(d, h.floats(), h.n, |d, x, y: &Buffer<Device, f32>| d.map_into(x, Expr::<f32>::exp, y))),
        usual("axpy", THREE, |d, h| {
            let y = d.upload(h.floats())?;
            into(d, h.floats(), h.n, move |d, x, z: &Buffer<Device, f32>| d.map_into((scalar(0.5f32), x, &y), |(a, x, y)| a * x + y, z))
        }),
        other("zip", THREE, |d, h| {
            let y = d.upload(h.floats())?;
            into(d, h.floats(), h.n, move |d, x, z: &Buffer<Device, f32>| d.map_into((x, &y), |(x, y)| x * y, z))
        }),
        other("generate", ONE, |d, h| {
            let n = h.n;
            // Nothing is read; the input is there for the sake of the form.
            into(d, &[0u32], n, move |d, _, y: &Buffer<Device, u32>| d.generate_into(n, index(), |i| i * 2_654_435_761, y))
        }),
    ]
}

fn combined() -> Vec<Case> {
    vec![
        usual("reduce", ONE, |d, h| into(d, h.floats(), 1, |d, x, y| d.reduce(x, Sum).write_to(y))),
        other("argmin", ONE, |d, h| into(d, h.floats(), 1, |d, x, y| d.reduce(x, Min).index().write_to(y))),
        usual("argmax", ONE, |d, h| into(d, h.floats(), 1, |d, x, y| d.reduce(x, Max).index().write_to(y))),
        other("dot", TWO, |d, h| {
            let y = d.upload(h.floats())?;
            into(d, h.floats(), 1, move |d, x, z| d.reduce((x, &y).map(|(x, y)| x * y), Sum).write_to(z))
        }),
        other("norm", ONE, |d, h| into(d, h.floats(), 1, |d, x, y| d.reduce(x.map(|x| x * x), Sum).finish(Expr::sqrt).write_to(y))),
        other("mean", ONE, |d, h| into(d, h.floats(), 1, |d, x, y| d.reduce(x, Sum).finish(|sum| sum / x.len() as f32).write_to(y))),
        other("count", ONE, |d, h| made(d, h.words(), |d, x| Ok(d.count(x, |x| (x >> 31).eq(0))?.buffer().clone()))),
        // All of these go to the end.
        other("any", ONE, |d, h| made(d, h.words(), |d, x| Ok(d.any(x, |x| x.lt(0))?.buffer().clone()))),
        other("all", ONE, |d, h| made(d, h.words(), |d, x| Ok(d.all(x, |x| x.ge(0))?.buffer().clone()))),
        other("find", ONE, |d, h| made(d, h.words(), |d, x| Ok(d.find_if(x, |x| x.lt(0)).run()?.buffer().clone()))),
        other("is-sorted", ONE, |d, h| made(d, h.rising(), |d, x| Ok(d.is_sorted(x).run()?.buffer().clone()))),
        usual("scan", TWO, |d, h| into(d, h.floats(), h.n, |d, x, y| d.scan(x, Sum).write_to(y))),
    ]
}

/// Elements read and written of as many as are a power of two, which Morton order asks for.
const OF_POWER: fn(u64) -> u64 = |n| 8 << n.max(1).ilog2();

/// As many elements, and two sides of an array of them.
fn sides(n: u64) -> (u64, [u64; 2]) {
    let bits = n.max(1).ilog2();
    (1 << bits, [1 << (bits / 2), 1 << (bits - bits / 2)])
}

fn moved() -> Vec<Case> {
    vec![
        other("gather", THREE, |d, h| {
            let at = d.upload(h.places())?;
            into(d, h.floats(), h.n, move |d, x, y| d.gather(x, &at).write_to(y))
        }),
        other("scatter", THREE, |d, h| {
            let at = d.upload(h.places())?;
            into(d, h.floats(), h.n, move |d, x, y| d.scatter(x, &at).write_to(y))
        }),
        of_square(other("transpose", TWO, |d, h| {
            let side = h.side().into();
            into(d, h.floats(), h.n, move |d, x, y| d.transpose(x, side, side).write_to(y))
        })),
        other("layout", TWO, |d, h| {
            // Planes of four channels become pixels.
            let channels = if h.n.is_multiple_of(4) { 4 } else { 1 };
            let sizes = [1, channels, 1, h.n / channels];
            into(d, h.floats(), h.n, move |d, x, y| d.convert_layout(x, sizes, ImageLayout::Nchw, ImageLayout::Nhwc).write_to(y))
        }),
        other("to-morton", OF_POWER, |d, h| {
            let (n, shape) = sides(h.n);
            into(d, &h.floats()[..n as usize], n, move |d, x, y| d.to_morton(x, &shape).write_to(y))
        }),
        other("from-morton", OF_POWER, |d, h| {
            let (n, shape) = sides(h.n);
            into(d, &h.floats()[..n as usize], n, move |d, x, y| d.from_morton(x, &shape).write_to(y))
        }),
        other("reverse", TWO, |d, h| into(d, h.floats(), h.n, |d, x, out| d.reverse(x).write_to(out))),
        other("rotate", TWO, |d, h| {
            let by = h.n as i64 / 3;
            into(d, h.floats(), h.n, move |d, x, y| d.rotate(x, by).write_to(y))
        }),
    ]
}

fn ordered() -> Vec<Case> {
    use SortOrder::Ascending as UP;
    vec![
        usual("sort", TWO, |d, h| into(d, h.words(), h.n, |d, x, y| d.sort(x).order(UP).write_to(y))),
        other("argsort", TWO, |d, h| into(d, h.words(), h.n, |d, x, y| d.argsort(x).order(UP).write_to(y))),
        other("topk", ONE, |d, h| {
            let (k, places) = (h.n.min(1000), d.buffer::<u32>(h.n.min(1000))?);
            into(d, h.words(), k, move |d, x, y| d.top_k(x, k).order(UP).with_indices().write_to((y, &places)))
        }),
        usual("merge", TWO, |d, h| {
            let half = h.n / 2;
            into(d, h.halves(), h.n, move |d, x, y| d.merge(&x.slice(..half)?, &x.slice(half..)?).write_to(y))
        }),
        other(
            "co-ranks",
            |n| 8 * n.div_ceil(1024),
            |d, h| {
                let (half, cuts) = (h.n / 2, (0..h.n).step_by(1024).map(|k| k as u32).collect::<Vec<_>>());
                let (x, ranks) = (d.upload(h.halves())?, cuts.len() as u64);
                into(d, &cuts, ranks, move |d, k, y: &Buffer<Device, u32>| d.co_ranks(&x.slice(..half)?, &x.slice(half..)?, k).write_to(y))
            },
        ),
        other("search", THREE, |d, h| {
            let sorted = d.upload(h.rising())?;
            into(d, h.words(), h.n, move |d, x, y: &Buffer<Device, u32>| d.lower_bound(&sorted, x).write_to(y))
        }),
        other("union", TWO, |d, h| {
            let half = h.n / 2;
            part(d, h.halves(), move |d, x, y, count| d.union(&x.slice(..half)?, &x.slice(half..)?).write_to((y, count)))
        }),
        other("intersection", TWO, |d, h| {
            let half = h.n / 2;
            part(d, h.halves(), move |d, x, y, count| d.intersection(&x.slice(..half)?, &x.slice(half..)?).write_to((y, count)))
        }),
        other("difference", TWO, |d, h| {
            let half = h.n / 2;
            part(d, h.halves(), move |d, x, y, count| d.difference(&x.slice(..half)?, &x.slice(half..)?).write_to((y, count)))
        }),
        other("symmetric-difference", TWO, |d, h| {
            let half = h.n / 2;
            part(d, h.halves(), move |d, x, y, count| d.symmetric_difference(&x.slice(..half)?, &x.slice(half..)?).write_to((y, count)))
        }),
    ]
}

fn found() -> Vec<Case> {
    vec![
        usual("select", TWO, |d, h| part(d, h.words(), |d, x, y, count| d.select(x, |x| (x >> 31).eq(0)).write_to((y, count)))),
        other("partition", TWO, |d, h| part(d, h.words(), |d, x, y, count| d.partition(x, |x| (x >> 31).eq(0)).write_to((y, count)))),
        other("unique", TWO, |d, h| part(d, h.runs(), |d, x, y, count| d.unique(x).write_to((y, count)))),
        other("rle", THREE, |d, h| {
            several(d, h.runs(), |d, x, (y, lengths), count| d.run_length_encode(x).write_to(((y, lengths), count)))
        }),
        other("rle-decode", ONE, |d, h| {
            // Runs of four.
            let (runs, n) = (h.n.div_ceil(4), h.n);
            let (lengths, count) = (d.upload(&vec![4u32; runs as usize])?, d.upload_scalar(runs as u32)?);
            made(d, &h.words()[..runs as usize], move |d, x| d.run_length_decode(x, &lengths, n).length(&count).run())
        }),
        usual("histogram", ONE, |d, h| {
            into(d, h.words(), 256, |d, x, y: &Buffer<Device, u32>| d.histogram(even(x, 0, u32::MAX, 256)).write_to(y))
        }),
        // A bit to an element.
        other(
            "ballot",
            |n| 4 * n + 4 * n.div_ceil(32),
            |d, h| into(d, h.words(), h.n.div_ceil(32), |d, x, y| d.group_ballot(x.map(|x| (x >> 31).eq(0)), 32).write_to(y)),
        ),
        other("match", THREE, |d, h| several(d, h.words(), |d, x, out, _| d.group_match(x.map(|x| x >> 28), 32).write_to(out))),
        other("tickets", THREE, |d, h| several(d, h.words(), |d, x, out, _| d.tickets(x.map(|x| x >> 12)).write_to(out))),
    ]
}

fn segmented() -> Vec<Case> {
    use SortOrder::Ascending as UP;
    vec![
        other(
            "reduce-by-key",
            |n| 16 * n,
            |d, h| {
                let values = d.upload(h.words())?;
                several(d, h.runs(), move |d, x, out, count| d.reduce(&values, Sum).by_key(x).write_to((out, count)))
            },
        ),
        other("segmented-reduce", ONE, |d, h| {
            let offsets = d.upload(h.offsets())?;
            into(d, h.floats(), h.offsets().len() as u64 - 1, move |d, x, y| d.reduce(x, Sum).segments(&offsets).write_to(y))
        }),
        other("segmented-argmin", ONE, |d, h| {
            let offsets = d.upload(h.offsets())?;
            made(d, h.words(), move |d, x| d.reduce(x, Min).segments(&offsets).index().run())
        }),
        other("segmented-argmax", ONE, |d, h| {
            let offsets = d.upload(h.offsets())?;
            made(d, h.words(), move |d, x| d.reduce(x, Max).segments(&offsets).index().run())
        }),
        other("segmented-scan", TWO, |d, h| {
            let offsets = d.upload(h.offsets())?;
            into(d, h.floats(), h.n, move |d, x, y| d.scan(x, Sum).segments(&offsets).write_to(y))
        }),
        other("segmented-sort", TWO, |d, h| {
            let offsets = d.upload(h.offsets())?;
            into(d, h.words(), h.n, move |d, x, y| d.sort(x).segments(&offsets).order(UP).write_to(y))
        }),
        other("segmented-argsort", TWO, |d, h| {
            let offsets = d.upload(h.offsets())?;
            into(d, h.words(), h.n, move |d, x, y| d.argsort(x).segments(&offsets).order(UP).write_to(y))
        }),
        other("adjacent-difference", TWO, |d, h| into(d, h.words(), h.n, |d, x, y| d.adjacent_difference(x).write_to(y))),
    ]
}

fn filtered() -> Vec<Case> {
    let case = |name, make| of_square(usual(name, TWO, make));
    vec![
        case("gaussian5", |d, h| filter(d, h, FilterKind::gaussian5)),
        case("sobel", |d, h| filter(d, h, || FilterKind::Sobel)),
        case("median", |d, h| filter(d, h, || FilterKind::Median3)),
    ]
}

fn filter(device: &Device, host: &Host, kind: fn() -> FilterKind) -> Result<Job> {
    let side = host.side();
    into(device, host.floats(), host.n, move |d, x, y| {
        let image = |b: &Buffer<Device, f32>| Image::new(b.clone(), side, side, 1);
        d.filter_into(&image(x)?, kind(), Border::Clamp, &image(y)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Pattern;
    use clap::ValueEnum as _;

    #[test]
    fn every_pattern_that_can_be_run_can_be_measured() {
        let names: Vec<&str> = cases().iter().map(|c| c.name).collect();
        for pattern in Pattern::value_variants() {
            assert!(names.contains(&pattern.name()), "{} is not measured", pattern.name());
        }
    }

    #[test]
    fn every_case_runs_at_every_size() {
        let device = Device::open(isowarp::Selector::Cpu).expect("the CPU");
        for n in [1u64, 2, 31, 1000] {
            for case in cases() {
                let host = Host::new(if case.square { n.isqrt().pow(2) } else { n });
                let run = || {
                    let mut job = (case.make)(&device, &host)?;
                    (job.run)()?;
                    (job.read)()
                };
                run().unwrap_or_else(|e| panic!("{} of {n}: {e}", case.name));
            }
        }
    }
}
