//! Patterns over run-time types give the bits of the typed ones, and check what those check.

use half::f16;
use isowarp::dynamic::{self, Call, DynBuffer, Norm, Operator, Order, Over, Question, Scattering, Sorted};
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

/// The results of a call, as many of their elements as there are.
fn all(dev: &Cpu, call: &Call, inputs: &[&DynBuffer<Cpu>]) -> isowarp::Result<Vec<DynBuffer<Cpu>>> {
    call.run(dev, inputs)?.trimmed()
}

/// The first of them.
fn one(dev: &Cpu, call: Call, inputs: &[&DynBuffer<Cpu>]) -> isowarp::Result<DynBuffer<Cpu>> {
    all(dev, &call, inputs).map(|mut found| found.swap_remove(0))
}

fn reduce(dev: &Cpu, x: &DynBuffer<Cpu>, op: Operator) -> isowarp::Result<DynBuffer<Cpu>> {
    one(dev, Call::Reduce { op, over: Over::Whole }, &[x])
}

fn scan(dev: &Cpu, x: &DynBuffer<Cpu>, op: Operator, exclusive: bool) -> isowarp::Result<DynBuffer<Cpu>> {
    one(dev, Call::Scan { op, over: Over::Whole, exclusive }, &[x])
}

fn sort(order: impl Into<Order>, over: Over, gives: Sorted) -> Call {
    Call::Sort { order: order.into(), over, gives }
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
    assert_eq!(bits(values::<f32>(&reduce(&dev, &x, named("sum"))?)[0]), bits(dev.sum(&typed)?.read_blocking()?));
    assert_eq!(bits(values::<f32>(&one(&dev, Call::Norm(Norm::Two), &[&x])?)[0]), bits(dev.norm2(&typed)?.read_blocking()?));
    assert_eq!(bits(values::<f32>(&one(&dev, Call::Mean, &[&x])?)[0]), bits(dev.mean(&typed)?.read_blocking()?));
    assert_eq!(bits(values::<f32>(&one(&dev, Call::Dot, &[&x, &x])?)[0]), bits(dev.dot(&typed, &typed)?.read_blocking()?));
    let scanned = values::<f32>(&scan(&dev, &x, named("sum"), true)?);
    assert_eq!(scanned, dev.scan(&typed, Sum).exclusive().run()?.read_blocking()?);
    let lines = values::<f32>(&one(&dev, Call::Reduce { op: named("max"), over: Over::Axis(vec![100, 200], 0) }, &[&x])?);
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
    assert_eq!(values::<u8>(&reduce(&dev, &bytes, named("sum"))?), [51]);
    assert_eq!(values::<u8>(&scan(&dev, &bytes, named("min"), true)?), [255, 200, 100]);
    assert_eq!(values::<u32>(&reduce(&dev, &bytes, named("count"))?), [3]);
    assert_eq!(values::<u32>(&one(&dev, Call::Argmin(Over::Whole), &[&bytes])?), [2]);
    // Identities of narrow types are the limits of their own type, not of the type that computes.
    let signed = DynBuffer::from(dev.upload(&[-100i8, 100, -7])?);
    assert_eq!(values::<i8>(&reduce(&dev, &signed, named("product"))?), [(-100i32 * 100 * -7) as i8]);
    assert_eq!(values::<i8>(&scan(&dev, &signed, named("min"), true)?), [127, -100, -100]);
    assert_eq!(
        values::<i8>(&one(&dev, Call::Scan { op: named("max"), over: Over::Axis(vec![3, 1], 0), exclusive: true }, &[&signed])?),
        [-128, -100, 100]
    );
    let (short, offsets) = (DynBuffer::from(dev.upload(&[-300i16, 5])?), DynBuffer::from(dev.upload(&[0u32, 2, 2])?));
    assert_eq!(values::<i16>(&one(&dev, Call::Reduce { op: named("min"), over: Over::Segments }, &[&short, &offsets])?), [-300, i16::MAX]);
    assert_eq!(values::<i16>(&one(&dev, Call::Reduce { op: named("and"), over: Over::Segments }, &[&short, &offsets])?), [-300 & 5, -1]);
    // 2048 + 1 + 1 in f16 steps would stay 2048.
    let halves = DynBuffer::from(dev.upload(&[2048.0, 1.0, 1.0].map(f16::from_f32))?);
    assert_eq!(values::<f16>(&reduce(&dev, &halves, named("sum"))?), [f16::from_f32(2050.0)]);
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
    assert_eq!(values::<f64>(&one(&dev, Call::Map { func: index, n: 3, dtype: DType::F64 }, &[])?), [0.0, 3.0, 6.0]);
    Ok(())
}

#[test]
fn no_check_is_skipped() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let x = DynBuffer::from(dev.upload(&noise(8))?);
    let short = DynBuffer::from(dev.upload(&noise(3))?);
    let words = DynBuffer::from(dev.upload(&[1u32; 8])?);
    let sum = expression::parse("x + y", &[Ty::F32, Ty::F32], None, None)?;
    let add = |n: u64| Call::Map { func: sum.clone(), n, dtype: DType::F32 };
    assert!(matches!(dynamic::map(&dev, &sum, &[&x, &short], DType::F32), Err(Error::LengthMismatch { expected: 8, found: 3, .. })));
    assert!(matches!(dynamic::map(&dev, &sum, &[&x, &words], DType::F32), Err(Error::Op(OpError::Signature { .. }))));
    assert!(matches!(dynamic::map(&dev, &sum, &[&x], DType::F32), Err(Error::Op(OpError::Signature { .. }))));
    assert!(matches!(dynamic::map(&dev, &sum, &[&x, &x, &x], DType::F32), Err(Error::Op(OpError::Signature { .. }))));
    assert!(matches!(add(8).write_to(&dev, &[&x, &x], &short), Err(Error::BufferTooSmall { .. })));
    assert!(matches!(
        Call::Scan { op: named("sum"), over: Over::Whole, exclusive: false }.write_to(&dev, &[&x], &x),
        Err(Error::Aliasing { .. })
    ));
    add(8).write_to(&dev, &[&x, &x], &x)?;
    assert!(matches!(x.typed::<u32>(), Err(Error::InvalidArgument { .. })));
    assert!(matches!(DynBuffer::upload(&dev, DType::F32, &[0; 7]), Err(Error::InvalidArgument { .. })));
    assert!(matches!(DynBuffer::from_raw(&dev, x.raw().clone(), DType::F32, 7, 2), Err(Error::OutOfRange { .. })));
    assert!(matches!(reduce(&dev, &x, named("xor")), Err(Error::Op(OpError::Parse { .. }))));
    assert!(matches!(scan(&dev, &x, Operator::custom("x * y", None), true), Err(Error::InvalidArgument { .. })));
    assert!(matches!(one(&dev, Call::Norm(Norm::One), &[&words]), Err(Error::InvalidArgument { .. })));
    let empty = DynBuffer::new(&dev, DType::F32, 0)?;
    assert!(matches!(one(&dev, Call::Argmin(Over::Whole), &[&empty]), Err(Error::Empty { pattern: "argmin" })));
    let columns = Over::Axis(vec![0, 3], 0);
    assert!(matches!(one(&dev, Call::Argmin(columns), &[&empty]), Err(Error::Empty { pattern: "argmin" })));
    assert!(matches!(reduce(&dev, &empty, named("min")), Err(Error::Empty { pattern: "min" })));
    assert_eq!(values::<f32>(&reduce(&dev, &empty, named("product"))?), [1.0]);
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
    assert_eq!(
        bits(values(&one(&dev, sort(up, Over::rows(1000, 250), Sorted::Keys), &[&x])?)),
        read(dev.sort(&typed).axis(&[typed.len() / 250, 250], 1).run()?)?
    );
    let order = dev.argsort(&typed).descending().run()?;
    assert_eq!(values::<u32>(&one(&dev, sort(SortOrder::Descending, Over::Whole, Sorted::Indices), &[&x])?), order.read_blocking()?);
    let at = DynBuffer::from(order.clone());
    assert_eq!(bits(values(&one(&dev, Call::Gather(Over::Whole), &[&x, &at])?)), read(dev.gather(&typed, &order).run()?)?);
    let out = dev.copy(&typed)?;
    dev.scatter(&typed, &order).write_to(&out)?;
    assert_eq!(bits(values(&one(&dev, Call::Scatter(Scattering::By(ScatterOp::Store)), &[&x, &at, &x])?)), read(out)?);
    assert_eq!(bits(values(&one(&dev, Call::PermuteAxes(vec![20, 50], vec![1, 0]), &[&x])?)), read(dev.transpose(&typed, 20, 50).run()?)?);
    assert_eq!(bits(values(&one(&dev, Call::Reverse, &[&x])?)), read(dev.reverse(&typed).run()?)?);
    assert_eq!(bits(values(&one(&dev, Call::Rotate(-7), &[&x])?)), read(dev.rotate(&typed, -7).run()?)?);
    let positive = expression::parse("x > 0 && i % 3 != 1", &[Ty::F32], Some(Ty::U32), None)?;
    let kept = dev.select((&typed, index()), |(x, i)| x.gt(0.0) & (i % 3).ne(1)).finish(|(x, _)| x).run()?;
    assert_eq!(bits(values(&one(&dev, Call::Select { keep: positive.clone(), indices: false }, &[&x])?)), bits(kept.read_blocking()?));
    let parts = all(&dev, &Call::Partition(positive, None), &[&x])?;
    assert_eq!(u64::from(values::<u32>(&parts[1])[0]), kept.len_blocking()?);
    assert_eq!(bits(values::<f32>(&parts[0])[..kept.len_blocking()? as usize].to_vec()), bits(kept.read_blocking()?));
    let words = DynBuffer::from(dev.upload(&[7u8, 7, 1, 1, 1, 7])?);
    assert_eq!(values::<u8>(&one(&dev, Call::Unique, &[&words])?), [7, 1, 7]);
    assert_eq!(values::<u32>(&all(&dev, &Call::RunLengthEncode, &[&words])?[1]), [2, 3, 1]);
    Ok(())
}

#[test]
fn no_check_of_orders_moves_and_selections_is_skipped() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let x = DynBuffer::from(dev.upload(&noise(8))?);
    let at = |v: &[i64]| dev.upload(v).map(DynBuffer::from);
    let sort = |n: u64| sort(SortOrder::Ascending, Over::rows(8, n), Sorted::Keys);
    assert!(matches!(one(&dev, sort(3), &[&x]), Err(Error::LengthMismatch { .. })));
    assert!(matches!(sort(8).write_to(&dev, &[&x], &x), Err(Error::Aliasing { .. })));
    assert!(matches!(sort(8).write_to(&dev, &[&x], &at(&[0; 8])?), Err(Error::InvalidArgument { .. })));
    assert!(matches!(Call::Tickets.write_to(&dev, &[&x], &x), Err(Error::InvalidArgument { what: "the output", .. })));
    assert!(matches!(one(&dev, sort(8), &[&x, &x]), Err(Error::InvalidArgument { what: "inputs", .. })));
    let by_bits = Order::Values(SortOrder::Ascending.bits(0..8));
    assert!(matches!(one(&dev, Call::Merge(by_bits), &[&x, &x]), Err(Error::InvalidArgument { what: "the order", .. })));
    // An index of i64 is reported as it stands, though it travels as a u64.
    assert!(matches!(
        one(&dev, Call::Gather(Over::Whole), &[&x, &at(&[0, -3])?]),
        Err(Error::IndexOutOfRange { position: 1, index: -3, limit: 8, .. })
    ));
    assert!(matches!(one(&dev, Call::Gather(Over::Whole), &[&x, &x]), Err(Error::InvalidArgument { what: "indices", .. })));
    let scatter = |op| one(&dev, Call::Scatter(Scattering::By(op)), &[&x, &at(&[0; 8])?, &x]).map(drop);
    assert!(matches!(scatter(ScatterOp::Xor), Err(Error::InvalidArgument { what: "operator", .. })));
    let signed = DynBuffer::from(dev.upload(&[-1i8; 8])?);
    let sum = one(&dev, Call::Scatter(Scattering::By(ScatterOp::Sum)), &[&signed, &at(&[0; 8])?, &signed]).map(drop);
    assert!(matches!(sum, Err(Error::InvalidArgument { what: "operator", .. })));
    scatter(ScatterOp::Store)?;
    assert!(matches!(one(&dev, Call::PermuteAxes(vec![2, 4], vec![1]), &[&x]), Err(Error::InvalidArgument { .. })));
    let of_two = expression::parse("x > y", &[Ty::F32, Ty::F32], None, None)?;
    assert!(matches!(one(&dev, Call::Select { keep: of_two, indices: false }, &[&x]), Err(Error::Op(OpError::Signature { .. }))));
    let words = expression::parse("x > 0", &[Ty::U32], None, None)?;
    assert!(matches!(one(&dev, Call::Partition(words, None), &[&x]), Err(Error::Op(OpError::Signature { .. }))));
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
    let sorts = |order: Order| sort(order, Over::Whole, Sorted::KeysAndValues);
    let found = all(&dev, &sorts(SortOrder::Descending.into()), &[&k, &v])?;
    assert_eq!((values::<i32>(&found[0]), values::<u64>(&found[1])), (sorted.read_blocking()?, carried.read_blocking()?));
    let before = expression::parse("x % 8 < y % 8", &[Ty::I32, Ty::I32], None, None)?;
    let (by, moved) = dev.sort(&keys).with_values(&typed).by(|a, b| (a % 8).lt(b % 8)).run()?;
    let found = all(&dev, &sorts(Order::Own(before)), &[&k, &v])?;
    assert_eq!((values::<i32>(&found[0]), values::<u64>(&found[1])), (by.read_blocking()?, moved.read_blocking()?));
    let (a, b) = ((&sorted, &carried), (&sorted.slice(7..500)?, &typed.slice(..493)?));
    let (merged, with) = dev.merge(a.0, b.0).descending().with_values(a.1, b.1).run()?;
    let [x, y] = [a, b].map(|(k, v)| (DynBuffer::from(k.clone()), DynBuffer::from(v.clone())));
    let found = all(&dev, &Call::Merge(SortOrder::Descending.into()), &[&x.0, &x.1, &y.0, &y.1])?;
    assert_eq!((values::<i32>(&found[0]), values::<u64>(&found[1])), (merged.read_blocking()?, with.read_blocking()?));
    let first = dev.unique(&carried).by_key(&sorted).run()?;
    let n = first.len_blocking()? as usize;
    let found = all(&dev, &Call::Unique, &[&x.0, &x.1])?;
    assert_eq!(values::<u64>(&found[1]), first.values.1.read_blocking()?[..n]);
    let scanned = dev.scan(&keys, Max).by_key(&sorted).exclusive().run()?.read_blocking()?;
    assert_eq!(values::<i32>(&one(&dev, Call::Scan { op: named("max"), over: Over::Keys, exclusive: true }, &[&x.0, &k])?), scanned);
    Ok(())
}

#[test]
fn values_that_do_not_fit_their_keys_are_named() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let (keys, few) = (DynBuffer::from(dev.upload(&[1u32, 2, 3])?), DynBuffer::from(dev.upload(&[1.0f32, 2.0])?));
    let differ =
        |result: isowarp::Result<()>| assert!(matches!(result, Err(Error::LengthMismatch { what: "values", expected: 3, found: 2 })));
    let (up, before) = (SortOrder::Ascending, expression::parse("x < y", &[Ty::U32, Ty::U32], None, None)?);
    for order in [Order::from(up), Order::Own(before)] {
        differ(one(&dev, sort(order.clone(), Over::Whole, Sorted::KeysAndValues), &[&keys, &few]).map(drop));
        differ(one(&dev, Call::Merge(order.clone()), &[&keys, &few, &keys, &keys]).map(drop));
        differ(one(&dev, Call::Merge(order), &[&keys, &keys, &keys, &few]).map(drop));
    }
    differ(one(&dev, Call::Unique, &[&keys, &few]).map(drop));
    differ(one(&dev, Call::TopK { k: 1, by: up.into(), over: Over::Whole }, &[&keys, &few]).map(drop));
    differ(one(&dev, Call::Scan { op: named("sum"), over: Over::Keys, exclusive: false }, &[&keys, &few]).map(drop));
    let floats = DynBuffer::from(dev.upload(&[1.0f32; 3])?);
    let mixed = one(&dev, Call::Merge(up.into()), &[&keys, &keys, &keys, &floats]);
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
    let answers = [Question::First, Question::Any, Question::All, Question::Count]
        .map(|question| one(&dev, Call::Ask(question, high.clone()), &[&x]).map(|answer| values::<u32>(&answer)[0]));
    let wanted = [dev.find_if(&typed, |x| x.gt(4.0)).run()?, dev.any(&typed, |x| x.gt(4.0))?, dev.all(&typed, |x| x.gt(4.0))?];
    for (found, wanted) in answers.into_iter().zip(wanted.into_iter().chain([dev.count(&typed, |x| x.gt(4.0))?])) {
        assert_eq!(found?, wanted.read_blocking()?);
    }
    let flagged = expression::parse("y != 0 && x < 1", &[Ty::F32, Ty::U32], None, Some(Ty::Bool))?;
    let kept = |indices| Call::Select { keep: flagged.clone(), indices };
    let meant = |k: &u32| !k.is_multiple_of(3) && noise(2000)[*k as usize] < 1.0;
    let places: Vec<u32> = (0..2000).filter(meant).collect();
    assert_eq!(values::<u32>(&all(&dev, &kept(true), &[&x, &flags])?[1]), places);
    assert_eq!(values::<f32>(&one(&dev, kept(false), &[&x, &flags])?).len(), places.len());
    assert_eq!(values::<u32>(&all(&dev, &Call::Partition(flagged.clone(), None), &[&x, &flags])?[1]), [places.len() as u32]);
    let low = expression::parse("x < 0", &[Ty::F32], None, Some(Ty::Bool))?;
    let parts = all(&dev, &Call::Partition(high, Some(low)), &[&x])?;
    let (wanted, sizes) = dev.partition(&typed, |x| x.gt(4.0)).three_way(|x| x.lt(0.0)).run()?;
    assert_eq!((values::<f32>(&parts[0]), values::<u32>(&parts[1])), (wanted.read_blocking()?, sizes.read_blocking()?));
    let (up, sorted) = (SortOrder::Ascending, one(&dev, sort(SortOrder::Ascending, Over::Whole, Sorted::Keys), &[&x])?);
    assert_eq!([&x, &sorted].map(|b| one(&dev, Call::IsSorted(up.into()), &[b]).map(|s| values::<u32>(&s)[0])), [Ok(0), Ok(1)]);
    let ranks = DynBuffer::from(dev.upload(&[0i64, 17, 4000])?);
    assert_eq!(values::<u64>(&one(&dev, Call::CoRanks(up), &[&sorted, &sorted, &ranks])?), [0, 9, 2000]);
    let cuts = dev.upload(&[0u32, 3, 3, 1999])?;
    let ends = one(&dev, Call::Argmin(Over::Segments), &[&x, &DynBuffer::from(cuts.clone())])?;
    assert_eq!(values::<u32>(&ends), dev.reduce(&typed, Min).segments(&cuts).index().run()?.read_blocking()?);
    let lengths = DynBuffer::from(dev.upload(&[2i64, 0, 3])?);
    let decoded = one(&dev, Call::RunLengthDecode, &[&DynBuffer::from(dev.upload(b"abc")?), &lengths])?;
    assert_eq!(values::<u8>(&decoded), *b"aaccc");
    Ok(())
}

#[test]
fn lengths_ranks_and_flags_that_do_not_fit_are_named() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let (x, up) = (DynBuffer::from(dev.upload(&[1u32, 2, 3])?), SortOrder::Ascending);
    let of = |v: &[i32]| dev.upload(v).map(DynBuffer::from);
    let decode = |lengths: &DynBuffer<Cpu>| one(&dev, Call::RunLengthDecode, &[&x, lengths]).map(drop);
    assert!(matches!(decode(&of(&[1, 2])?), Err(Error::LengthMismatch { what: "lengths", expected: 3, found: 2 })));
    assert!(matches!(decode(&of(&[1, 2, -1])?), Err(Error::InvalidArgument { what: "lengths", .. })));
    assert!(matches!(decode(&of(&[i32::MAX; 3])?), Err(Error::TooLarge { requested: 6_442_450_941, .. })));
    assert!(matches!(decode(&DynBuffer::from(dev.upload(&[1.0f32; 3])?)), Err(Error::InvalidArgument { what: "lengths", .. })));
    let cut = |ranks: &DynBuffer<Cpu>| one(&dev, Call::CoRanks(up), &[&x, &x, ranks]).map(drop);
    assert!(matches!(cut(&of(&[0, 7])?), Err(Error::IndexOutOfRange { pattern: "co_ranks", position: 1, index: 7, limit: 7 })));
    assert!(matches!(cut(&of(&[-1])?), Err(Error::IndexOutOfRange { index: -1, .. })));
    let (falling, ranks) = (of(&[3, 2, 1])?, of(&[0])?);
    assert!(matches!(one(&dev, Call::CoRanks(up), &[&falling, &falling, &ranks]), Err(Error::NotSorted { .. })));
    let flagged = expression::parse("y != 0", &[Ty::U32, Ty::I32], None, Some(Ty::Bool))?;
    assert!(matches!(
        one(&dev, Call::Select { keep: flagged.clone(), indices: false }, &[&x, &of(&[1, 2])?]),
        Err(Error::LengthMismatch { .. })
    ));
    assert!(matches!(one(&dev, Call::Partition(flagged.clone(), Some(flagged)), &[&x]), Err(Error::Op(OpError::Signature { .. }))));
    Ok(())
}

#[test]
fn a_scatter_that_is_refused_leaves_the_output_as_it_was() -> isowarp::Result<()> {
    let dev = Cpu::new();
    let (x, target) = (DynBuffer::from(dev.upload(&[1.5f32, 2.0, 3.0])?), DynBuffer::from(dev.upload(&[0f32; 4])?));
    let (two, three, far) = (dev.upload(&[0u32, 1])?, dev.upload(&[0u32, 1, 2])?, dev.upload(&[0u32, 1, 4])?);
    let out = DynBuffer::from(dev.upload(&[7f32; 4])?);
    let write = |how: &Scattering, at: &Buffer<Cpu, u32>, out: &DynBuffer<Cpu>| {
        Call::Scatter(how.clone()).write_to(&dev, &[&x, &DynBuffer::from(at.clone()), &target], out)
    };
    let (store, sum, ordered) = (Scattering::By(ScatterOp::Store), Scattering::By(ScatterOp::Sum), Scattering::InOrder(named("sum")));
    for how in [&store, &sum, &ordered] {
        assert!(matches!(write(how, &two, &out), Err(Error::LengthMismatch { .. })), "{how:?}");
        assert!(matches!(write(how, &far, &out), Err(Error::IndexOutOfRange { position: 2, index: 4, limit: 4, .. })), "{how:?}");
        assert!(matches!(write(how, &three, &target), Err(Error::Aliasing { .. })), "{how:?}");
    }
    assert!(matches!(write(&Scattering::By(ScatterOp::And), &three, &out), Err(Error::InvalidArgument { what: "operator", .. })));
    assert!(matches!(write(&store, &three, &DynBuffer::from(dev.upload(&[7f32; 3])?)), Err(Error::LengthMismatch { .. })));
    assert_eq!(values::<f32>(&out), [7.0; 4]);
    for how in [store, sum, ordered] {
        write(&how, &three, &out)?;
        assert_eq!(values::<f32>(&out), [1.5, 2.0, 3.0, 0.0]);
    }
    Ok(())
}
