//! Patterns over run-time types give the bits of the typed ones, and check what those check.

use half::f16;
use isowarp::dynamic::{self, DynBuffer, Norm, Operator};
use isowarp::element::{DType, Element, Ty};
use isowarp::ir::{Expr, OpError, trace};
use isowarp::prelude::*;
use isowarp::{Cpu, Error, expression};

fn values<T: Element>(b: &DynBuffer<Cpu>) -> Vec<T> {
    b.typed::<T>().expect("the type").read_blocking().expect("a read-back")
}

fn noise(n: u32) -> Vec<f32> {
    (0..n).map(|i| (i.wrapping_mul(2_654_435_761) as f32 / 1e9 - 2.0).powi(3)).collect()
}

fn named(name: &str) -> Operator {
    Operator::named(name).expect("a name")
}

#[test]
fn sums_scans_and_norms_are_the_typed_ones_bit_for_bit() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let typed = dev.upload(&noise(20_000))?;
    let x = DynBuffer::from(typed.clone());
    let bits = |v: f32| v.to_bits();
    assert_eq!(bits(values::<f32>(&dynamic::reduce(&dev, &x, &named("sum"))?)[0]), bits(dev.sum(&typed)?.read_blocking()?));
    assert_eq!(bits(values::<f32>(&dynamic::norm(&dev, &x, Norm::Two)?)[0]), bits(dev.norm2(&typed)?.read_blocking()?));
    assert_eq!(bits(values::<f32>(&dynamic::mean(&dev, &x)?)[0]), bits(dev.mean(&typed)?.read_blocking()?));
    assert_eq!(bits(values::<f32>(&dynamic::dot(&dev, &x, &x)?)[0]), bits(dev.dot(&typed, &typed)?.read_blocking()?));
    let scanned = values::<f32>(&dynamic::scan(&dev, &x, &named("sum"), true)?);
    assert_eq!(scanned, dev.scan(&typed, Sum).exclusive().run()?.read_blocking()?);
    let lines = values::<f32>(&dynamic::reduce_axis(&dev, &x, &[100, 200], 0, &named("max"))?);
    assert_eq!(lines, dev.reduce(&typed, Max).axis(&[100, 200], 0).run()?.read_blocking()?);
    Ok(())
}

#[test]
fn operators_with_branches_can_be_mapped() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let x = DynBuffer::from(dev.upload(&[-4.0f32, 0.0, 9.0])?);
    let f = trace(|x: Expr<f32>| branch(x.lt(0.0), || (-x).sqrt() + 1.0, || branch(x.eq(0.0), || lit(7.0), || x.sqrt())))?;
    assert_eq!(values::<f32>(&dynamic::map(&dev, &f, &[&x], DType::F32)?), [3.0, 7.0, 3.0]);
    Ok(())
}

#[test]
fn narrow_elements_are_combined_wide_and_narrowed_at_the_end() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let bytes = DynBuffer::upload(&dev, DType::U8, &[200, 100, 7])?;
    assert_eq!(values::<u8>(&dynamic::reduce(&dev, &bytes, &named("sum"))?), [51]);
    assert_eq!(values::<u8>(&dynamic::scan(&dev, &bytes, &named("min"), true)?), [255, 200, 100]);
    assert_eq!(values::<u32>(&dynamic::reduce(&dev, &bytes, &named("count"))?), [3]);
    assert_eq!(values::<u32>(&dynamic::argmin(&dev, &bytes)?), [2]);
    // What narrows to the greatest value of their own, not of the type that computes.
    let signed = DynBuffer::from(dev.upload(&[-100i8, 100, -7])?);
    assert_eq!(values::<i8>(&dynamic::reduce(&dev, &signed, &named("product"))?), [(-100i32 * 100 * -7) as i8]);
    assert_eq!(values::<i8>(&dynamic::scan(&dev, &signed, &named("min"), true)?), [127, -100, -100]);
    assert_eq!(values::<i8>(&dynamic::scan_axis(&dev, &signed, &[3, 1], 0, &named("max"), true)?), [-128, -100, 100]);
    let (short, offsets) = (DynBuffer::from(dev.upload(&[-300i16, 5])?), DynBuffer::from(dev.upload(&[0u32, 2, 2])?));
    assert_eq!(values::<i16>(&dynamic::segmented_reduce(&dev, &short, &offsets, &named("min"))?), [-300, i16::MAX]);
    assert_eq!(values::<i16>(&dynamic::segmented_reduce(&dev, &short, &offsets, &named("and"))?), [-300 & 5, -1]);
    // 2048 + 1 + 1 in f16 steps would stay 2048.
    let halves = DynBuffer::from(dev.upload(&[2048.0, 1.0, 1.0].map(f16::from_f32))?);
    assert_eq!(values::<f16>(&dynamic::reduce(&dev, &halves, &named("sum"))?), [f16::from_f32(2050.0)]);
    Ok(())
}

#[test]
fn values_are_converted_to_the_type_asked_for() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let x = DynBuffer::from(dev.upload(&[1.9f32, -1.9, f32::NAN, 3e9])?);
    assert_eq!(values::<i32>(&dynamic::cast(&dev, &x, DType::I32)?), [1, -1, 0, i32::MAX]);
    let truth = expression::parse("x > 0", &[Ty::F32], None, None)?;
    assert_eq!(values::<u8>(&dynamic::map(&dev, &truth, &[&x], DType::U8)?), [1, 0, 0, 1]);
    let index = expression::parse("i * 3", &[], Some(Ty::U32), None)?;
    assert_eq!(values::<f64>(&dynamic::generate(&dev, 3, &index, &[], DType::F64)?), [0.0, 3.0, 6.0]);
    Ok(())
}

#[test]
fn no_check_is_skipped() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let x = DynBuffer::from(dev.upload(&noise(8))?);
    let short = DynBuffer::from(dev.upload(&noise(3))?);
    let words = DynBuffer::from(dev.upload(&[1u32; 8])?);
    let sum = expression::parse("x + y", &[Ty::F32, Ty::F32], None, None)?;
    assert!(matches!(dynamic::map(&dev, &sum, &[&x, &short], DType::F32), Err(Error::LengthMismatch { expected: 8, found: 3, .. })));
    assert!(matches!(dynamic::map(&dev, &sum, &[&x, &words], DType::F32), Err(Error::Op(OpError::Signature { .. }))));
    assert!(matches!(dynamic::map(&dev, &sum, &[&x], DType::F32), Err(Error::Op(OpError::Signature { .. }))));
    assert!(matches!(dynamic::map(&dev, &sum, &[&x, &x, &x], DType::F32), Err(Error::Op(OpError::Signature { .. }))));
    assert!(matches!(dynamic::map_into(&dev, &sum, &[&x, &x], &short), Err(Error::BufferTooSmall { .. })));
    assert!(matches!(dynamic::scan_into(&dev, &x, &named("sum"), false, &x), Err(Error::Aliasing { .. })));
    dynamic::map_into(&dev, &sum, &[&x, &x], &x)?;
    assert!(matches!(x.typed::<u32>(), Err(Error::InvalidArgument { .. })));
    assert!(matches!(DynBuffer::upload(&dev, DType::F32, &[0; 7]), Err(Error::InvalidArgument { .. })));
    assert!(matches!(DynBuffer::from_raw(&dev, x.raw().clone(), DType::F32, 7, 2), Err(Error::OutOfRange { .. })));
    assert!(matches!(dynamic::reduce(&dev, &x, &named("xor")), Err(Error::Op(OpError::Parse { .. }))));
    assert!(matches!(dynamic::scan(&dev, &x, &Operator::custom("x * y", None), true), Err(Error::InvalidArgument { .. })));
    assert!(matches!(dynamic::norm(&dev, &words, Norm::One), Err(Error::InvalidArgument { .. })));
    let empty = DynBuffer::new(&dev, DType::F32, 0)?;
    assert!(matches!(dynamic::argmin(&dev, &empty), Err(Error::Empty { pattern: "argmin" })));
    assert!(matches!(dynamic::reduce(&dev, &empty, &named("min")), Err(Error::Empty { pattern: "min" })));
    assert_eq!(values::<f32>(&dynamic::reduce(&dev, &empty, &named("product"))?), [1.0]);
    Ok(())
}

#[test]
fn orders_moves_and_selections_are_the_typed_ones_bit_for_bit() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let typed = dev.upload(&noise(1000))?;
    let x = DynBuffer::from(typed.clone());
    let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let read = |b: Buffer<Cpu, f32>| b.read_blocking().map(bits);
    let up = SortOrder::Ascending;
    assert_eq!(bits(values(&dynamic::sort(&dev, &x, 250, up)?)), read(dev.sort(&typed).axis(&[typed.len() / 250, 250], 1).run()?)?);
    let order = dev.argsort(&typed).descending().run()?;
    assert_eq!(values::<u32>(&dynamic::argsort(&dev, &x, 1000, SortOrder::Descending)?), order.read_blocking()?);
    let at = DynBuffer::from(order.clone());
    assert_eq!(bits(values(&dynamic::gather(&dev, &x, &at)?)), read(dev.gather(&typed, &order).run()?)?);
    let out = dev.copy(&typed)?;
    dev.scatter(&typed, &order).write_to(&out)?;
    assert_eq!(bits(values(&dynamic::scatter(&dev, &x, &at, ScatterOp::Store, &x)?)), read(out)?);
    assert_eq!(bits(values(&dynamic::permute_axes(&dev, &x, &[20, 50], &[1, 0])?)), read(dev.transpose(&typed, 20, 50).run()?)?);
    assert_eq!(bits(values(&dynamic::reverse(&dev, &x)?)), read(dev.reverse(&typed).run()?)?);
    assert_eq!(bits(values(&dynamic::rotate(&dev, &x, -7)?)), read(dev.rotate(&typed, -7).run()?)?);
    let positive = expression::parse("x > 0 && i % 3 != 1", &[Ty::F32], Some(Ty::U32), None)?;
    let kept = dev.select((&typed, index()), |(x, i)| x.gt(0.0) & (i % 3).ne(1)).finish(|(x, _)| x).run()?;
    assert_eq!(bits(values(&dynamic::select(&dev, &x, &positive)?.trimmed()?)), bits(kept.read_blocking()?));
    let parts = dynamic::partition(&dev, &x, &positive)?;
    assert_eq!(parts.len_blocking()?, kept.len_blocking()?);
    assert_eq!(bits(values::<f32>(&parts.values)[..kept.len_blocking()? as usize].to_vec()), bits(kept.read_blocking()?));
    let words = DynBuffer::from(dev.upload(&[7u8, 7, 1, 1, 1, 7])?);
    assert_eq!(values::<u8>(&dynamic::unique(&dev, &words)?.trimmed()?), [7, 1, 7]);
    let runs = dynamic::run_length_encode(&dev, &words)?;
    assert_eq!(values::<u32>(&dynamic::first(&runs.values.1, &runs.count)?), [2, 3, 1]);
    Ok(())
}

#[test]
fn no_check_of_orders_moves_and_selections_is_skipped() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let x = DynBuffer::from(dev.upload(&noise(8))?);
    let at = |v: &[i64]| dev.upload(v).map(DynBuffer::from);
    assert!(matches!(dynamic::sort(&dev, &x, 3, SortOrder::Ascending), Err(Error::LengthMismatch { .. })));
    assert!(matches!(dynamic::sort_into(&dev, &x, 8, SortOrder::Ascending, &x), Err(Error::Aliasing { .. })));
    // An index of i64 is reported as it stands, though it travels as a u64.
    assert!(matches!(dynamic::gather(&dev, &x, &at(&[0, -3])?), Err(Error::IndexOutOfRange { position: 1, index: -3, limit: 8, .. })));
    assert!(matches!(dynamic::gather(&dev, &x, &x), Err(Error::InvalidArgument { what: "indices", .. })));
    let scatter = |op| dynamic::scatter(&dev, &x, &at(&[0; 8])?, op, &x).map(drop);
    assert!(matches!(scatter(ScatterOp::Xor), Err(Error::InvalidArgument { what: "operator", .. })));
    let signed = DynBuffer::from(dev.upload(&[-1i8; 8])?);
    let sum = dynamic::scatter(&dev, &signed, &at(&[0; 8])?, ScatterOp::Sum, &signed).map(drop);
    assert!(matches!(sum, Err(Error::InvalidArgument { what: "operator", .. })));
    scatter(ScatterOp::Store)?;
    assert!(matches!(dynamic::permute_axes(&dev, &x, &[2, 4], &[1]), Err(Error::InvalidArgument { .. })));
    let of_two = expression::parse("x > y", &[Ty::F32, Ty::F32], None, None)?;
    assert!(matches!(dynamic::select(&dev, &x, &of_two), Err(Error::Op(OpError::Signature { .. }))));
    let words = expression::parse("x > 0", &[Ty::U32], None, None)?;
    assert!(matches!(dynamic::partition(&dev, &x, &words), Err(Error::Op(OpError::Signature { .. }))));
    Ok(())
}

#[test]
fn values_travel_with_keys_as_the_typed_patterns_move_them() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let keys = dev.upload(&noise(3000).iter().map(|x| (x * 4.0) as i32).collect::<Vec<i32>>())?;
    let load: Vec<u64> = (0..3000u64).map(|k| k << 40 | k).collect();
    let typed = dev.upload(&load)?;
    let (k, v) = (DynBuffer::from(keys.clone()), DynBuffer::from(typed.clone()));
    let (sorted, carried) = dev.sort(&keys).with_values(&typed).descending().run()?;
    let found = dynamic::sort_pairs(&dev, &k, &v, 3000, SortOrder::Descending)?;
    assert_eq!((values::<i32>(&found.0), values::<u64>(&found.1)), (sorted.read_blocking()?, carried.read_blocking()?));
    let before = expression::parse("x % 8 < y % 8", &[Ty::I32, Ty::I32], None, None)?;
    let (by, moved) = dev.sort(&keys).with_values(&typed).by(|a, b| (a % 8).lt(b % 8)).run()?;
    let found = dynamic::sort_pairs_by(&dev, &k, &v, &before)?;
    assert_eq!((values::<i32>(&found.0), values::<u64>(&found.1)), (by.read_blocking()?, moved.read_blocking()?));
    let (a, b) = ((&sorted, &carried), (&sorted.slice(7..500)?, &typed.slice(..493)?));
    let (merged, with) = dev.merge(a.0, b.0).descending().with_values(a.1, b.1).run()?;
    let [x, y] = [a, b].map(|(k, v)| (DynBuffer::from(k.clone()), DynBuffer::from(v.clone())));
    let found = dynamic::merge_pairs(&dev, (&x.0, &x.1), (&y.0, &y.1), SortOrder::Descending)?;
    assert_eq!((values::<i32>(&found.0), values::<u64>(&found.1)), (merged.read_blocking()?, with.read_blocking()?));
    let first = dev.unique(&carried).by_key(&sorted).run()?;
    let n = first.len_blocking()? as usize;
    let found = dynamic::unique_by_key(&dev, &x.0, &x.1)?;
    assert_eq!(found.len_blocking()?, n as u64);
    assert_eq!(values::<u64>(&found.values.1)[..n], first.values.1.read_blocking()?[..n]);
    let scanned = dev.scan(&keys, Max).by_key(&sorted).exclusive().run()?.read_blocking()?;
    assert_eq!(values::<i32>(&dynamic::scan_by_key(&dev, &x.0, &k, &named("max"), true)?), scanned);
    Ok(())
}

#[test]
fn values_that_do_not_fit_their_keys_are_named() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let (keys, few) = (DynBuffer::from(dev.upload(&[1u32, 2, 3])?), DynBuffer::from(dev.upload(&[1.0f32, 2.0])?));
    let differ =
        |result: isowarp::Result<()>| assert!(matches!(result, Err(Error::LengthMismatch { what: "values", expected: 3, found: 2 })));
    let (up, before) = (SortOrder::Ascending, expression::parse("x < y", &[Ty::U32, Ty::U32], None, None)?);
    differ(dynamic::sort_pairs(&dev, &keys, &few, 3, up).map(drop));
    differ(dynamic::sort_pairs_by(&dev, &keys, &few, &before).map(drop));
    differ(dynamic::merge_pairs(&dev, (&keys, &few), (&keys, &keys), up).map(drop));
    differ(dynamic::merge_pairs_by(&dev, (&keys, &keys), (&keys, &few), &before).map(drop));
    differ(dynamic::unique_by_key(&dev, &keys, &few).map(drop));
    differ(dynamic::top_k_pairs(&dev, &keys, &few, (3, 1), up).map(drop));
    differ(dynamic::scan_by_key(&dev, &keys, &few, &named("sum"), false).map(drop));
    let floats = DynBuffer::from(dev.upload(&[1.0f32; 3])?);
    let mixed = dynamic::merge_pairs(&dev, (&keys, &keys), (&keys, &floats), up);
    assert!(matches!(mixed, Err(Error::InvalidArgument { what: "values", .. })));
    Ok(())
}

#[test]
fn questions_parts_runs_and_cuts_are_those_of_the_typed_patterns() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let typed = dev.upload(&noise(2000))?;
    let (x, flags) =
        (DynBuffer::from(typed.clone()), DynBuffer::from(dev.upload(&(0..2000u32).map(|k| (k % 3) as u8).collect::<Vec<u8>>())?));
    let high = expression::parse("x > 4", &[Ty::F32], None, Some(Ty::Bool))?;
    let answers = [dynamic::find_if, dynamic::any, dynamic::all, dynamic::count].map(|ask| ask(&dev, &high, &[&x])?.read_blocking());
    let wanted = [dev.find_if(&typed, |x| x.gt(4.0)).run()?, dev.any(&typed, |x| x.gt(4.0))?, dev.all(&typed, |x| x.gt(4.0))?];
    for (found, wanted) in answers.into_iter().zip(wanted.into_iter().chain([dev.count(&typed, |x| x.gt(4.0))?])) {
        assert_eq!(found?, wanted.read_blocking()?);
    }
    let flagged = expression::parse("y != 0 && x < 1", &[Ty::F32, Ty::U32], None, Some(Ty::Bool))?;
    let kept = dynamic::select_with_indices(&dev, &x, &flagged, &[&x, &flags])?;
    let meant = |k: &u32| !k.is_multiple_of(3) && noise(2000)[*k as usize] < 1.0;
    let places: Vec<u32> = (0..2000).filter(meant).collect();
    assert_eq!(values::<u32>(&dynamic::first(&kept.values.1, &kept.count)?), places);
    assert_eq!(values::<f32>(&dynamic::select_from(&dev, &x, &flagged, &[&x, &flags])?.trimmed()?).len(), places.len());
    assert_eq!(dynamic::partition_from(&dev, &x, &flagged, &[&x, &flags])?.len_blocking()?, places.len() as u64);
    let low = expression::parse("x < 0", &[Ty::F32], None, Some(Ty::Bool))?;
    let (parts, counts) = dynamic::partition_three(&dev, &x, (&high, &low), &[&x])?;
    let (wanted, sizes) = dev.partition(&typed, |x| x.gt(4.0)).three_way(|x| x.lt(0.0)).run()?;
    assert_eq!((values::<f32>(&parts), values::<u32>(&counts)), (wanted.read_blocking()?, sizes.read_blocking()?));
    let (up, sorted) = (SortOrder::Ascending, dynamic::sort(&dev, &x, 2000, SortOrder::Ascending)?);
    assert_eq!([&x, &sorted].map(|b| dynamic::is_sorted(&dev, b, up).and_then(|s| s.read_blocking())), [Ok(0), Ok(1)]);
    let ranks = DynBuffer::from(dev.upload(&[0i64, 17, 4000])?);
    assert_eq!(values::<u64>(&dynamic::co_ranks(&dev, &sorted, &sorted, up, &ranks)?), [0, 9, 2000]);
    let cuts = dev.upload(&[0u32, 3, 3, 1999])?;
    let ends = dynamic::segmented_argmin(&dev, &x, &DynBuffer::from(cuts.clone()))?;
    assert_eq!(values::<u32>(&ends), dev.reduce(&typed, Min).segments(&cuts).index().run()?.read_blocking()?);
    let lengths = DynBuffer::from(dev.upload(&[2i64, 0, 3])?);
    let decoded = dynamic::run_length_decode(&dev, &DynBuffer::from(dev.upload(b"abc")?), &lengths)?;
    assert_eq!(values::<u8>(&decoded), *b"aaccc");
    Ok(())
}

#[test]
fn lengths_ranks_and_flags_that_do_not_fit_are_named() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let (x, up) = (DynBuffer::from(dev.upload(&[1u32, 2, 3])?), SortOrder::Ascending);
    let of = |v: &[i32]| dev.upload(v).map(DynBuffer::from);
    let decode = |lengths: &DynBuffer<Cpu>| dynamic::run_length_decode(&dev, &x, lengths).map(drop);
    assert!(matches!(decode(&of(&[1, 2])?), Err(Error::LengthMismatch { what: "lengths", expected: 3, found: 2 })));
    assert!(matches!(decode(&of(&[1, 2, -1])?), Err(Error::InvalidArgument { what: "lengths", .. })));
    assert!(matches!(decode(&of(&[i32::MAX; 3])?), Err(Error::TooLarge { requested: 6_442_450_941, .. })));
    assert!(matches!(decode(&DynBuffer::from(dev.upload(&[1.0f32; 3])?)), Err(Error::InvalidArgument { what: "lengths", .. })));
    let cut = |ranks: &DynBuffer<Cpu>| dynamic::co_ranks(&dev, &x, &x, up, ranks).map(drop);
    assert!(matches!(cut(&of(&[0, 7])?), Err(Error::IndexOutOfRange { pattern: "co_ranks", position: 1, index: 7, limit: 7 })));
    assert!(matches!(cut(&of(&[-1])?), Err(Error::IndexOutOfRange { index: -1, .. })));
    let (falling, ranks) = (of(&[3, 2, 1])?, of(&[0])?);
    assert!(matches!(dynamic::co_ranks(&dev, &falling, &falling, up, &ranks), Err(Error::NotSorted { .. })));
    let flagged = expression::parse("y != 0", &[Ty::U32, Ty::I32], None, Some(Ty::Bool))?;
    assert!(matches!(dynamic::select_from(&dev, &x, &flagged, &[&x, &of(&[1, 2])?]), Err(Error::LengthMismatch { .. })));
    assert!(matches!(dynamic::partition_three(&dev, &x, (&flagged, &flagged), &[&x]), Err(Error::Op(OpError::Signature { .. }))));
    Ok(())
}
