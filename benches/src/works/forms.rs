//! Patterns that the tables of peers have no row for: further forms of selections, searches, sorts of rows, and moves of whole arrays.

use super::{Work, counted, counted_of, halves, into, one, random, random_indices, results, rising, two, work, zeroed};
use isowarp::Device;
use isowarp::element::DType;
use isowarp::ir::Expr;
use isowarp::minifloat::E4M3;
use isowarp::prelude::*;
use isowarp::random::{Halton, Mrg32k3a, PoissonTable, Sobol, Xorwow};

pub(super) fn works() -> Vec<Work> {
    [statistics(), draws(), windows(), selections(), runs(), orders(), moves()].concat()
}

fn statistics() -> Vec<Work> {
    vec![
        work("map/generate", DType::U32, 4, |d, s| {
            one::<u32>(d, s, |d, x, out| d.generate_into(x.len(), index(), |i| i * 2_654_435_761, out))
        }),
        work("map/encode", DType::F32, 5, |d, s| {
            let x = random::<f32>(d, s.n * s.copies, s.seed)?;
            into(d, s, x, s.n, |d, x, out| d.map_into(x, |x| E4M3.encode(x).store_as::<u8>(), out))
        }),
        work("map/decode_sum", DType::U8, 1, |d, s| {
            let codes = random::<u8>(d, s.n * s.copies, s.seed)?;
            into(d, s, codes, 1, |d, codes, out: &Buffer<Device, f32>| d.reduce(codes.map(|c| E4M3.decode(c)), Sum).write_to(out))
        }),
        work("exact/sum", DType::F32, 4, |d, s| one::<f32>(d, s, |d, x, out| d.exact_sum(x).write_to(&out.slice(..1)?))),
        work("exact/sum", DType::F64, 8, |d, s| one::<f64>(d, s, |d, x, out| d.exact_sum(x).write_to(&out.slice(..1)?))),
        work("exact/dot", DType::F64, 16, |d, s| {
            let y = random::<f64>(d, s.n, !s.seed)?;
            one::<f64>(d, s, move |d, x, out| d.exact_dot((x, &y)).write_to(&out.slice(..1)?))
        }),
        work("ordered_sum/pairwise", DType::F32, 4, |d, s| {
            one::<f32>(d, s, |d, x, out| d.ordered_sum(x, SumOrder::Pairwise).write_to(&out.slice(..1)?))
        }),
        work("ordered_sum/kahan_columns", DType::F32, 4, |d, s| {
            let [rows, columns] = [s.n >> 10, s.n.min(1 << 10)];
            one::<f32>(d, s, move |d, x, out| {
                let matrix = x.slice(..rows * columns)?;
                d.ordered_sum(&matrix, SumOrder::Kahan).axis(&[rows, columns], 0).write_to(&out.slice(..columns)?)
            })
        }),
        work("ulp/distances", DType::F32, 8, |d, s| two(d, s, |d, x, y, _| d.ulp(x, y).map(drop))),
        work("reduce/dot", DType::F32, 8, |d, s| two(d, s, |d, x, y, out| d.reduce((x, y).map(|(x, y)| x * y), Sum).write_to(out))),
        work("reduce/norm", DType::F32, 4, |d, s| {
            one::<f32>(d, s, |d, x, out| d.reduce(x.map(|x| x * x), Sum).finish(Expr::sqrt).write_to(out))
        }),
        work("reduce/mean", DType::F32, 4, |d, s| {
            one::<f32>(d, s, |d, x, out| d.reduce(x, Sum).finish(|sum| sum / x.len() as f32).write_to(out))
        }),
    ]
}

/// Bytes are those of a stored draw, also where none is.
fn draws() -> Vec<Work> {
    const FROM: Random = Random::new(1);
    vec![
        work("random/bits", DType::U32, 4, |d, s| one::<u32>(d, s, |d, x, out| d.map_into(FROM.uniform::<u32>(x.len()), |x| x, out))),
        work("random/uniform", DType::F32, 4, |d, s| one::<f32>(d, s, |d, x, out| d.map_into(FROM.uniform::<f32>(x.len()), |x| x, out))),
        work("random/normal", DType::F32, 4, |d, s| one::<f32>(d, s, |d, x, out| d.map_into(FROM.normal(x.len(), 0.0, 1.0), |x| x, out))),
        work("random/normal", DType::F64, 8, |d, s| {
            one::<f64>(d, s, |d, x, out| d.map_into(FROM.normal_f64(x.len(), 0.0, 1.0), |x| x, out))
        }),
        work("random/poisson_4", DType::U32, 4, |d, s| one::<u32>(d, s, |d, x, out| d.map_into(FROM.poisson(x.len(), 4.0), |x| x, out))),
        work("random/poisson_100", DType::U32, 4, |d, s| {
            one::<u32>(d, s, |d, x, out| d.map_into(FROM.poisson(x.len(), 100.0), |x| x, out))
        }),
        work("random/poisson_table_4", DType::U32, 4, |d, s| {
            let table = PoissonTable::new(d, 4.0)?;
            one::<u32>(d, s, move |d, x, out| d.map_into(FROM.poisson_table(x.len(), &table), |x| x, out))
        }),
        work("random/poisson_table_100", DType::U32, 4, |d, s| {
            let table = PoissonTable::new(d, 100.0)?;
            one::<u32>(d, s, move |d, x, out| d.map_into(FROM.poisson_table(x.len(), &table), |x| x, out))
        }),
        work("random/uniform_sum", DType::F32, 4, |d, s| {
            one::<f32>(d, s, |d, x, out| d.reduce(FROM.uniform::<f32>(x.len()), Sum).write_to(out))
        }),
        work("random/sobol", DType::F32, 4, |d, s| {
            let points = Sobol::new(d, 1)?;
            one::<f32>(d, s, move |d, x, out| d.map_into(points.uniform::<f32>(x.len()), |x| x, out))
        }),
        work("random/halton", DType::F32, 4, |d, s| {
            let points = Halton::new(d, 1)?;
            one::<f32>(d, s, move |d, x, out| d.map_into(points.uniform::<f32>(x.len()), |x| x, out))
        }),
        work("random/mrg32k3a", DType::F32, 4, |d, s| {
            let r = Mrg32k3a::new(d, [12_345; 6])?;
            one::<f32>(d, s, move |d, x, out| d.map_into(r.uniform::<f32>(x.len()), |x| x, out))
        }),
        work("random/xorwow", DType::F32, 4, |d, s| {
            let r = Xorwow::new(d, 0)?;
            one::<f32>(d, s, move |d, x, out| d.map_into(r.uniform::<f32>(x.len())?, |x| x, out))
        }),
        work("random/permutation", DType::U32, 4, |d, s| one::<u32>(d, s, |d, x, _| d.permutation(FROM, x.len()).map(drop))),
    ]
}

/// The name says how many elements a window has.
fn windows() -> Vec<Work> {
    vec![
        work("window/sum", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.window(x, 8, Sum).write_to(out))),
        work("window/sum_100", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.window(x, 100, Sum).write_to(out))),
        work("window/max_100", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.window(x, 100, Max).write_to(out))),
        work("window/max_10000", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.window(x, 10_000, Max).write_to(out))),
    ]
}

fn selections() -> Vec<Work> {
    vec![
        work("select/flagged", DType::U32, 10, |d, s| {
            let flags = d.map(&random::<u32>(d, s.n, !s.seed)?, |x| x >> 31)?;
            counted::<u32>(d, s, move |d, x, out, count| d.select_flagged(x, &flags).write_to((out, count)))
        }),
        work("select/three_ways", DType::U32, 8, |d, s| {
            let counts = zeroed::<u32>(d, 2)?;
            one::<u32>(d, s, move |d, x, out| d.partition_three(x, |x| (x >> 30).min(2u32)).write_to((out, &counts)))
        }),
        work("select/unique_by_key", DType::U32, 14, |d, s| {
            let (keys, values) = (zeroed::<u32>(d, s.n)?, random::<u32>(d, s.n, !s.seed)?);
            counted::<u32>(d, s, move |d, x, out, count| {
                d.unique((x, &values).map(|(x, value)| (x >> 30, value))).by(|a, b| a.0.eq(b.0)).write_to(((&keys, out), count))
            })
        }),
        work("select/find", DType::U32, 4, |d, s| results::<u32>(d, s, 1, |d, x, out| d.find_if(x, |x| x.eq(1)).write_to(out))),
        work("select/any", DType::U32, 4, |d, s| {
            results::<u32>(d, s, 1, |d, x, out| d.reduce(x.map(|x| x.eq(1).cast::<u32>()), Or).write_to(out))
        }),
        work("select/all_of", DType::U32, 4, |d, s| {
            results::<u32>(d, s, 1, |d, x, out| d.reduce(x.map(|x| x.ne(1).cast::<u32>()), And).write_to(out))
        }),
        work("select/count", DType::U32, 4, |d, s| {
            results::<u32>(d, s, 1, |d, x, out| d.reduce(x.map(|x| (x >> 31).eq(0).cast::<u32>()), Sum).write_to(out))
        }),
        work("histogram/edges", DType::F32, 4, |d, s| {
            let all: Vec<f32> = (0..=256u16).map(|k| f32::from(k) / 256.0).collect();
            let (edges, counts) = (Edges::new(d, &all)?, zeroed::<u32>(d, 256)?);
            one::<f32>(d, s, move |d, x, _| d.histogram(bins_between(x, &edges)).write_to(&counts))
        }),
        work("histogram/own", DType::U32, 4, |d, s| {
            let counts = zeroed::<u32>(d, 33)?;
            one::<u32>(d, s, move |d, x, _| d.histogram(binned(x, 33, Expr::leading_zeros)).write_to(&counts))
        }),
        work("histogram/channels", DType::U8, 1, |d, s| {
            let counts = zeroed::<u32>(d, 3 * 256)?;
            one::<u8>(d, s, move |d, x, _| {
                // Whole pixels of four channels, of which three are counted.
                d.histogram(channels_alike(&x.slice(..x.len() / 4 * 4)?, (4, 3), 0, 256, 256)).write_to(&counts)
            })
        }),
        // A weight of 32 bits to a pixel of four bytes.
        work("histogram/channels_weighted", DType::U8, 2, |d, s| {
            let weights = random::<u32>(d, s.n / 4, !s.seed)?;
            results::<u8>(d, s, 3 * 256, move |d, x, sums| {
                d.histogram(channels_alike(&x.slice(..x.len() / 4 * 4)?, (4, 3), 0, 256, 256)).weighted(&weights).write_to(sums)
            })
        }),
        work("histogram/two_dimensions", DType::F32, 8, |d, s| {
            let (y, counts) = (random::<f32>(d, s.n, !s.seed)?, zeroed::<u32>(d, 64 * 64)?);
            one::<f32>(d, s, move |d, x, _| d.histogram((even_bins(x, 0.0, 1.0, 64), even_bins(&y, 0.0, 1.0, 64))).write_to(&counts))
        }),
    ]
}

/// Runs of four elements in the middle.
fn run_of(x: Expr<u32>) -> Expr<u32> {
    x >> 30
}

fn runs() -> Vec<Work> {
    vec![
        work("select/runs", DType::U32, 10, |d, s| {
            let lengths = zeroed::<u32>(d, s.n)?;
            counted::<u32>(d, s, move |d, x, out, count| d.run_length_encode(x.map(run_of)).write_to(((out, &lengths), count)))
        }),
        work("select/decode", DType::U32, 10, |d, s| {
            // Half as many runs, of one to three elements.
            let half = (s.n / 2).max(1);
            let lengths = d.map(&random::<u32>(d, half, !s.seed)?, |x| x % 3 + 1)?;
            let runs = d.upload_scalar(half as u32)?;
            one::<u32>(d, s, move |d, x, out| d.run_length_decode(&x.slice(..half)?, &lengths, out.len()).length(&runs).write_to(out))
        }),
        work("scan/by_key", DType::F32, 12, |d, s| {
            let keys = d.map(&random::<u32>(d, s.n, !s.seed)?, |x| x >> 28)?;
            one::<f32>(d, s, move |d, x, out| d.scan(x, Sum).by_key(&keys).write_to(out))
        }),
        work("segmented/argmin", DType::F32, 4, |d, s| {
            let offsets = d.generate(s.n / 1000 + 1, index(), |k| k * 1000)?;
            results::<f32>(d, s, s.n / 1000, move |d, x, out| d.reduce(x, Min).segments(&offsets).index().write_to(out))
        }),
        work("segmented/argmax", DType::F32, 4, |d, s| {
            let offsets = d.generate(s.n / 1000 + 1, index(), |k| k * 1000)?;
            results::<f32>(d, s, s.n / 1000, move |d, x, out| d.reduce(x, Max).segments(&offsets).index().write_to(out))
        }),
        work("segmented/scan", DType::F32, 8, |d, s| {
            let offsets = d.generate(s.n / 1000 + 1, index(), |k| k * 1000)?;
            one::<f32>(d, s, move |d, x, out| d.scan(x, Sum).segments(&offsets).write_to(out))
        }),
        work("segmented/argsort", DType::U32, 8, |d, s| {
            let offsets = d.generate(s.n / 1000 + 1, index(), |k| k * 1000)?;
            one::<u32>(d, s, move |d, x, out| d.argsort(x).segments(&offsets).write_to(out))
        }),
        work("segmented/adjacent_difference", DType::U32, 8, |d, s| one::<u32>(d, s, |d, x, out| d.adjacent_difference(x).write_to(out))),
    ]
}

fn orders() -> Vec<Work> {
    vec![
        work("sort/keys", DType::U8, 2, |d, s| one::<u8>(d, s, |d, x, out| d.sort(x).write_to(out))),
        work("sort/keys", DType::I16, 4, |d, s| one::<i16>(d, s, |d, x, out| d.sort(x).write_to(out))),
        work("sort/rows", DType::U32, 8, |d, s| {
            let whole = s.n / 256 * 256;
            one::<u32>(d, s, move |d, x, out| d.sort(&x.slice(..whole)?).axis(&[whole / 256, 256], 1).write_to(&out.slice(..whole)?))
        }),
        work("sort/top_k_rows", DType::F32, 4, |d, s| {
            let (whole, places) = (s.n / 1024 * 1024, zeroed::<u32>(d, s.n / 1024 * 8)?);
            one::<f32>(d, s, move |d, x, out| {
                d.top_k(&x.slice(..whole)?, 8).axis(&[whole / 1024, 1024], 1).with_indices().write_to((&out.slice(..whole / 128)?, &places))
            })
        }),
        work("sort/is_sorted", DType::U32, 4, |d, s| {
            let x = rising::<u32>(d, s, s.copies, false)?;
            into(d, s, x, 1, |d, x, out: &Buffer<Device, u32>| d.is_sorted(x).write_to(out))
        }),
        work("merge/co_ranks", DType::U32, 8, |d, s| {
            let ranks = d.generate(s.n / 2048 + 1, index(), |k| k * 2048)?;
            let many = ranks.len();
            halves::<u32>(d, s, move |d, a, b, out| d.co_ranks(a, b, &ranks).write_to(&out.slice(..many.min(out.len()))?))
        }),
        work("merge/from", DType::U32, 8, |d, s| halves::<u32>(d, s, |d, a, b, out| d.merge(a.map(|x| x), b.map(|x| x)).write_to(out))),
        work("merge/by", DType::U32, 8, |d, s| halves::<u32>(d, s, |d, a, b, out| d.merge(a, b).by(Expr::lt).write_to(out))),
        work("merge/lower_bound_by", DType::U32, 12, |d, s| {
            let array = rising::<u32>(d, s, 1, false)?;
            one::<u32>(d, s, move |d, x, out| d.lower_bound(&array, x).by(Expr::lt).write_to(out))
        }),
        work("merge/intersection", DType::U32, 8, |d, s| {
            let (x, half) = (rising::<u32>(d, s, s.copies, true)?, s.n / 2);
            counted_of(d, s, x, move |d, x, out, count| d.intersection(&x.slice(..half)?, &x.slice(half..)?).write_to((out, count)))
        }),
        work("merge/difference", DType::U32, 8, |d, s| {
            let (x, half) = (rising::<u32>(d, s, s.copies, true)?, s.n / 2);
            counted_of(d, s, x, move |d, x, out, count| d.difference(&x.slice(..half)?, &x.slice(half..)?).write_to((out, count)))
        }),
        work("merge/symmetric_difference", DType::U32, 8, |d, s| {
            let (x, half) = (rising::<u32>(d, s, s.copies, true)?, s.n / 2);
            counted_of(d, s, x, move |d, x, out, count| d.symmetric_difference(&x.slice(..half)?, &x.slice(half..)?).write_to((out, count)))
        }),
    ]
}

/// The sides of a box of at most so many elements, each a multiple of four, as far as there are that many.
fn sides(n: u64) -> [u64; 3] {
    let side = (1..).take_while(|k| (4 * k) * (4 * k) * (4 * k) <= n).last().map_or(1, |k| 4 * k);
    [n / (side * side), side, side]
}

fn moves() -> Vec<Work> {
    vec![
        work("move/transpose_batched", DType::F32, 8, |d, s| {
            let matrices = (s.n / 4096).max(1);
            let (rows, columns) = if s.n < 4096 { (1, s.n) } else { (64, 64) };
            let whole = matrices * rows * columns;
            one::<f32>(d, s, move |d, x, out| d.transpose(&x.slice(..whole)?, rows, columns).batch(matrices).write_to(out))
        }),
        work("move/axes", DType::F32, 8, |d, s| {
            let sides = sides(s.n);
            let whole = sides.iter().product::<u64>();
            one::<f32>(d, s, move |d, x, out| d.permute_axes(&x.slice(..whole)?, &sides, &[2, 0, 1]).write_to(out))
        }),
        work("move/pitched", DType::F32, 8, |d, s| {
            let side = s.n.isqrt();
            one::<f32>(d, s, move |d, x, out| d.copy_2d_into((x, side), (out, side), side - side / 8, side))
        }),
        work("move/rotate", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.rotate(x, 12_345).write_to(out))),
        work("move/reverse", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.reverse(x).write_to(out))),
        work("move/morton", DType::F32, 8, |d, s| {
            // A square whose side is a power of two.
            let side = 1u64 << (s.n.max(1).ilog2() / 2);
            one::<f32>(d, s, move |d, x, out| d.to_morton(&x.slice(..side * side)?, &[side, side]).write_to(out))
        }),
        work("move/from_morton", DType::F32, 8, |d, s| {
            let side = 1u64 << (s.n.max(1).ilog2() / 2);
            one::<f32>(d, s, move |d, x, out| d.from_morton(&x.slice(..side * side)?, &[side, side]).write_to(out))
        }),
        // Of several sources of one place the last stays.
        work("move/scatter", DType::F32, 12, |d, s| {
            let at = random_indices(d, s)?;
            one::<f32>(d, s, move |d, x, out| d.scatter(x, &at).write_to(out))
        }),
        work("move/pack", DType::U32, 5, |d, s| one::<u32>(d, s, |d, x, out| d.pack_u8(x).write_to(out))),
        work("move/layout", DType::F32, 8, |d, s| {
            // Images of 64 x 64 and three channels.
            let images = s.n / (3 * 4096);
            let shape = if images == 0 { [1, 1, 1, s.n] } else { [images, 3, 64, 64] };
            let whole = shape.iter().product::<u64>();
            one::<f32>(d, s, move |d, x, out| {
                d.convert_layout(&x.slice(..whole)?, shape, ImageLayout::Nchw, ImageLayout::Nhwc).write_to(out)
            })
        }),
    ]
}
