//! Bad input gets a clear error, and loses nothing: outputs are as they were. On every device.

use crate::common::{cpu, each, elsewhere, is_elsewhere};
use isowarp::backend::Backend as _;
use isowarp::caps::Capability;
use isowarp::element::{DType, Element};
use isowarp::ir::{ArrayExpr, OpError};
use isowarp::prelude::*;
use isowarp::{Device, Error, Selector};
use std::cell::Cell;

/// A buffer whose elements are all 7, to see that nobody writes to it.
fn sevens(d: &Device, n: usize) -> Buffer<Device, f32> {
    d.upload(&vec![7.0; n]).unwrap()
}

fn untouched(out: &Buffer<Device, f32>) {
    assert!(out.read_blocking().unwrap().iter().all(|v| *v == 7.0), "an output was changed by a call that failed");
}

#[test]
fn an_unknown_backend_is_named_with_the_known_ones() {
    let error = "metal2".parse::<Selector>().unwrap_err();
    assert_eq!(error, Error::UnknownBackend { name: "metal2".to_owned() });
    assert_eq!(error.to_string(), "unknown backend `metal2`; known: auto, cpu, wgpu, cuda");
}

#[cfg(feature = "wgpu")]
#[test]
fn without_vulkan_wgpu_is_unavailable_and_auto_falls_back_to_the_cpu() {
    if !is_elsewhere() {
        // Loaders that find no driver: the variables of today's Vulkan loaders, of older ones, and of OpenGL's, which wgpu falls back to.
        let nowhere = [
            ("VK_DRIVER_FILES", "/nonexistent/none.json"),
            ("VK_ICD_FILENAMES", "/nonexistent/none.json"),
            ("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent/none.json"),
            ("CUDA_VISIBLE_DEVICES", "-1"),
        ];
        elsewhere("bad_input::without_vulkan_wgpu_is_unavailable_and_auto_falls_back_to_the_cpu", &nowhere);
        return;
    }
    match Device::open(Selector::Wgpu) {
        Err(Error::Unavailable { backend: "wgpu", reason }) => assert!(!reason.is_empty()),
        other => panic!("{other:?}"),
    }
    let chosen = Device::choose().unwrap();
    assert!(chosen.why.contains("cuda: ") && chosen.why.contains("wgpu: backend `wgpu` is not available: "), "{chosen}");
    let auto = Device::auto().unwrap();
    assert_eq!(auto.caps().backend, "cpu");
    // The device itself says which it is and why, on every handle; one that nothing chose does not.
    assert!(auto.new_stream().unwrap().describe().ends_with(&format!(", numerics strict ({})", chosen.why)), "{}", auto.describe());
    assert!(Device::open(Selector::Cpu).unwrap().describe().ends_with(", numerics strict"));
    assert_eq!(auto.sum(&auto.upload(&[1u32, 2, 3]).unwrap()).unwrap().read_blocking().unwrap(), 6);
}

#[test]
fn the_environment_chooses_and_a_wrong_choice_is_an_error() {
    if !is_elsewhere() {
        let name = "bad_input::the_environment_chooses_and_a_wrong_choice_is_an_error";
        let chosen = elsewhere(name, &[("ISOWARP_BACKEND", "cpu")]);
        assert!(chosen.contains("chosen: cpu") && chosen.contains("(ISOWARP_BACKEND=cpu)"), "{chosen}");
        assert!(elsewhere(name, &[("ISOWARP_BACKEND", "abacus")]).contains("unknown backend `abacus`"));
        return;
    }
    match Device::choose() {
        Ok(choice) => println!("chosen: {choice}"),
        Err(e) => println!("{e}"),
    }
}

#[cfg(feature = "cuda")]
#[test]
fn cuda_is_there_or_says_why_not() {
    match isowarp::Cuda::new(0) {
        Ok(cuda) => assert_eq!(cuda.caps().backend, "cuda"),
        Err(Error::Unavailable { backend: "cuda", reason }) => assert!(!reason.is_empty()),
        Err(other) => panic!("{other:?}"),
    }
    assert!(isowarp::Cuda::new(1000).is_err());
}

#[test]
fn an_element_type_that_a_device_lacks_is_refused_with_its_name() {
    fn check<T: Element + Default>(d: &Device) {
        let buffer = d.buffer::<T>(4);
        if d.caps().supports(T::DTYPE) {
            assert!(buffer.is_ok());
        } else {
            let expected =
                Error::Unsupported { pattern: "buffer", capability: Capability::DType(T::DTYPE), device: d.caps().device.clone() };
            assert_eq!(buffer.unwrap_err(), expected);
        }
    }
    each(|d| {
        check::<f64>(d);
        check::<i64>(d);
        check::<u64>(d);
        check::<half::f16>(d);
        check::<u8>(d);
        check::<i8>(d);
        check::<i16>(d);
        check::<u16>(d);
        if !d.caps().supports(DType::F64) {
            let x = d.upload(&[1.0f32]).unwrap();
            assert!(
                matches!(d.map(&x, |x| x.cast::<f64>().sqrt().cast::<f32>()), Err(Error::Unsupported { .. })),
                "inside an operator too"
            );
        }
    });
}

/// The adapters of this machine without their optional features, in which 64-bit types are not to be had.
#[cfg(feature = "wgpu")]
#[test]
fn a_narrow_adapter_refuses_wide_types_by_name_and_goes_on() {
    if crate::common::gpus().iter().all(|d| d.caps().backend != "wgpu") {
        return;
    }
    let (all, _) = isowarp_conformance::present(&["wgpu".to_owned()], isowarp_conformance::Again::All).unwrap();
    let narrow: Vec<Device> = all.into_iter().filter(|p| p.form == "narrow").map(|p| p.device).collect();
    assert!(!narrow.is_empty());
    for d in &narrow {
        let refused = |error: Error, pattern: &str, dtype: DType| {
            let Error::Unsupported { pattern: found, capability: Capability::DType(t), device } = &error else { panic!("{error}") };
            assert_eq!((*found, *t, device), (pattern, dtype, &d.caps().device));
            let text = error.to_string();
            assert!(text.contains(&format!("`{pattern}` is not available on")) && text.contains(dtype.name()), "{text}");
            assert!(text.contains("\n  help: "), "{text}");
        };
        refused(d.upload(&[1.0f64]).unwrap_err(), "buffer", DType::F64);
        refused(d.buffer::<i64>(3).unwrap_err(), "buffer", DType::I64);
        refused(d.iota(3, 0u64, 1).unwrap_err(), "generate", DType::U64);
        let x = sevens(d, 4);
        refused(d.map(&x, |x| x.cast::<f64>().sqrt().cast::<f32>()).unwrap_err(), "map", DType::F64);
        refused(d.reduce(x.map(Expr::cast::<u64>), Sum).run().unwrap_err(), "buffer", DType::U64);
        assert_eq!(d.sum(&x).unwrap().read_blocking().unwrap(), 28.0, "the device still works");
    }
}

#[test]
fn lengths_that_differ_are_named_and_nothing_is_written() {
    each(|d| {
        let (x, y, out) = (sevens(d, 4), sevens(d, 5), sevens(d, 8));
        let expected = Error::LengthMismatch { what: "an input", expected: 4, found: 5 };
        assert_eq!(d.map((&x, &y), |(x, y)| x + y).unwrap_err(), expected);
        assert_eq!(d.map_into((&x, &y), |(x, y)| x * y, &out).unwrap_err(), expected);
        assert_eq!(d.dot(&x, &y).unwrap_err(), expected);
        assert!(matches!(d.copy_into(&x, &out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.reduce(&x, Sum).axis(&[2, 3], 0).run(), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scan(&x, Sum).axis(&[5], 0).run(), Err(Error::LengthMismatch { expected: 5, found: 4, .. })));
        assert!(matches!(d.reduce(&x, Sum).axis(&[5], 0).run(), Err(Error::LengthMismatch { expected: 5, found: 4, .. })));
        let flags = d.buffer::<u32>(5).unwrap();
        assert!(matches!(d.scan(&x, Sum).by_flags(&flags).write_to(&out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scan(&x, Sum).by_flags(&flags).exclusive().write_to(&out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scan(&x, Sum).by_key(&flags).write_to(&out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scan(&x, Sum).by_key(&flags).exclusive().write_to(&out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(Image::new(x.clone(), 3, 2, 1), Err(Error::LengthMismatch { .. })));
        let image = |b: &Buffer<Device, f32>, w: u32, h: u32| Image::new(b.slice(..u64::from(w * h)).unwrap(), w, h, 1).unwrap();
        let (from, to) = (image(&x, 2, 2), image(&out, 4, 1));
        assert!(matches!(d.filter_into(&from, FilterKind::Sobel, Border::Clamp, &to), Err(Error::LengthMismatch { .. })));
        untouched(&out);
    });
}

#[test]
fn more_elements_than_a_u32_counts_are_refused() {
    each(|d| {
        // One element, seen 2^32 times.
        let many = d.upload(&[1.0f32]).unwrap().strided(0, 1 << 32, 0).unwrap();
        let expected = Error::TooLarge { what: "elements to count", requested: 1 << 32, limit: u32::MAX.into() };
        assert_eq!(d.count(&many, |x| x.gt(0.0)).unwrap_err(), expected);
    });
}

#[test]
fn an_output_that_is_too_small_is_refused_with_both_sizes() {
    each(|d| {
        let (x, out) = (sevens(d, 100), sevens(d, 99));
        let expected = Error::BufferTooSmall { what: "the output", required: 100, available: 99 };
        assert_eq!(d.map_into(&x, |x| x + 1.0, &out).unwrap_err(), expected);
        assert_eq!(d.scan(&x, Sum).write_to(&out).unwrap_err(), expected);
        assert!(matches!(
            d.reduce(&x, Sum).write_to(&out.slice(..0).unwrap()),
            Err(Error::BufferTooSmall { required: 1, available: 0, .. })
        ));
        assert!(matches!(d.reduce(&x, Sum).axis(&[100, 1], 1).write_to(&out), Err(Error::BufferTooSmall { .. })));
        assert_eq!(d.scan(&x, Sum).axis(&[10, 10], 1).exclusive().write_to(&out).unwrap_err(), expected);
        assert_eq!(d.scan_by(&x, |a, b| a + b).write_to(&out).unwrap_err(), expected);
        assert_eq!(d.map_into(&x, |x| x, &out).unwrap_err(), expected);
        let (none, place) = (out.slice(..0).unwrap(), d.upload(&[7u32]).unwrap());
        assert!(matches!(
            d.reduce(&x, Sum).finish(|sum| sum / x.len() as f32).write_to(&none),
            Err(Error::BufferTooSmall { required: 1, .. })
        ));
        assert!(matches!(d.reduce(&x, Min).with_index().write_to((&none, &place)), Err(Error::BufferTooSmall { required: 1, .. })));
        assert!(matches!(d.simpson(0.0, 1.0, 2, |x| x).write_to(&none), Err(Error::BufferTooSmall { required: 1, .. })));
        assert_eq!(place.read_blocking().unwrap(), [7]);
        untouched(&out);
    });
}

#[test]
fn overlap_is_refused_except_element_for_element() {
    each(|d| {
        let x = sevens(d, 100);
        let (low, high) = (x.slice(..60).unwrap(), x.slice(40..).unwrap());
        assert!(matches!(d.map_into(&low, |x| x + 1.0, &high), Err(Error::Aliasing { .. })));
        assert!(matches!(d.map_into(low.reversed(), |x| x + 1.0, &low), Err(Error::Aliasing { .. })));
        assert!(matches!(
            d.map_into((array(&x), index()), |(x, i): (ArrayExpr<f32>, Expr<u32>)| x.at(i), &x),
            Err(Error::InvalidArgument { .. })
        ));
        assert!(matches!(d.generate_into(100, (array(&x), index()), |(x, i)| x.at(i + 1), &x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.map((&low, &low), |(a, _)| a).and(d.map_into(&low, |a| (a, a), (&high, &high))), Err(Error::Aliasing { .. })));
        assert!(matches!(d.scan(&x, Sum).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.reduce(&x, Sum).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.copy_into(&low, &high), Err(Error::Aliasing { .. })));
        let image = Image::new(x.clone(), 10, 10, 1).unwrap();
        assert!(matches!(d.filter_into(&image, FilterKind::Median3, Border::Clamp, &image), Err(Error::Aliasing { .. })));
        untouched(&x);
        d.map_into(&x, |x| x * 1.0, &x).unwrap();
        untouched(&x);
    });
}

#[test]
fn sorts_refuse_what_does_not_fit() {
    each(|d| {
        let x = sevens(d, 100);
        let (low, high) = (x.slice(..60).unwrap(), x.slice(40..).unwrap());
        assert!(matches!(d.sort(&low).write_to(&high), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).scratch(&x).write_to(&d.buffer(100).unwrap()), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).write_to(&d.buffer(99).unwrap()), Err(Error::BufferTooSmall { required: 100, available: 99, .. })));
        assert!(matches!(d.sort(&x).with_values(&low).run(), Err(Error::LengthMismatch { expected: 100, found: 60, .. })));
        assert!(matches!(d.sort(&x).axis(&[x.len() / 7, 7], 1).run(), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.sort(&x).axis(&[0, 0], 1).run(), Err(Error::InvalidArgument { what: "keys of a row", .. })));
        let said = d.argsort(&x).axis(&[0, 0], 1).run().unwrap_err().to_string();
        assert_eq!(said, "keys of a row: rows of none do not hold 100 keys");
        for bits in [0..33, 33..33, std::ops::Range { start: 4, end: 3 }] {
            assert!(matches!(d.sort(&x).bits(bits).run(), Err(Error::InvalidArgument { what: "bits", .. })));
        }
        untouched(&x);
        d.sort(&x).in_place().unwrap();
        untouched(&x);
    });
}

#[test]
fn more_of_the_first_keys_than_there_are_keys_is_refused() {
    each(|d| {
        let (x, out, places) = (sevens(d, 100), sevens(d, 200), d.upload(&[7u32; 200]).unwrap());
        assert!(matches!(d.top_k(&x, 101).smallest().with_indices().run(), Err(Error::TooLarge { requested: 101, limit: 100, .. })));
        assert!(matches!(d.top_k(&x, u64::MAX).smallest().run(), Err(Error::TooLarge { requested: u64::MAX, limit: 100, .. })));
        assert!(matches!(
            d.top_k(&x.slice(..0).unwrap(), 1).smallest().with_indices().run(),
            Err(Error::TooLarge { requested: 1, limit: 0, .. })
        ));
        assert!(matches!(
            d.top_k(&x, 101).smallest().with_indices().write_to((&out, &places)),
            Err(Error::TooLarge { requested: 101, limit: 100, .. })
        ));
        let (short, few) = (d.buffer(9).unwrap(), d.buffer(9).unwrap());
        assert!(matches!(
            d.top_k(&x, 10).smallest().with_indices().write_to((&out, &few)),
            Err(Error::BufferTooSmall { required: 10, available: 9, .. })
        ));
        assert!(matches!(d.top_k(&x, 10).smallest().write_to(&short), Err(Error::BufferTooSmall { required: 10, available: 9, .. })));
        assert!(matches!(d.top_k(&x, 10).smallest().write_to(&x.slice(50..).unwrap()), Err(Error::Aliasing { .. })));
        let bits = std::ops::Range { start: 0, end: 33 };
        assert!(matches!(d.top_k(&x, 10).smallest().bits(bits).write_to(&out), Err(Error::InvalidArgument { what: "bits", .. })));
        // Of rows k is of one, rows are whole, and there is room for all of them.
        assert!(matches!(
            d.top_k(&x, 11).smallest().axis(&[x.len() / 10, 10], 1).with_indices().run(),
            Err(Error::TooLarge { requested: 11, limit: 10, .. })
        ));
        assert!(matches!(
            d.top_k(&x, 1).smallest().axis(&[0, 0], 1).with_indices().run(),
            Err(Error::TooLarge { requested: 1, limit: 0, .. })
        ));
        assert!(matches!(d.top_k(&x, 1).smallest().axis(&[4, 30], 1).run(), Err(Error::LengthMismatch { expected: 120, found: 100, .. })));
        assert!(matches!(d.top_k(&x, 0).smallest().axis(&[0, 0], 1).run(), Err(Error::InvalidArgument { .. })));
        assert!(matches!(
            d.top_k(&x, 1).smallest().axis(&[x.len() / 10, 10], 1).with_indices().write_to((&out, &few)),
            Err(Error::BufferTooSmall { required: 10, available: 9, .. })
        ));
        assert!(matches!(
            d.top_k(&x, 2).smallest().axis(&[x.len() / 10, 10], 1).write_to(&x.slice(50..).unwrap()),
            Err(Error::Aliasing { .. })
        ));
        untouched(&x);
        untouched(&out);
        assert_eq!(places.read_blocking().unwrap(), [7; 200]);
        assert!(d.top_k(&x, 0).smallest().with_indices().run().unwrap().0.is_empty());
        assert!(d.top_k(&x, 0).smallest().axis(&[x.len() / 10, 10], 1).with_indices().run().unwrap().0.is_empty());
        assert!(d.top_k(&x.slice(..0).unwrap(), 3).smallest().axis(&[0, 10], 1).with_indices().run().unwrap().1.is_empty());
    });
}

#[test]
fn a_view_out_of_range_is_refused() {
    each(|d| {
        let x = sevens(d, 10);
        assert_eq!(x.slice(3..11).unwrap_err(), Error::OutOfRange { what: "slice", start: 3, end: 11, len: 10 });
        for (start, len, stride) in [(0, 11, 1), (9, 2, 1), (0, 2, -1), (10, 1, 0), (0, u64::MAX, 1), (5, 3, i64::MAX), (5, 3, i64::MIN)] {
            assert!(matches!(x.strided(start, len, stride), Err(Error::OutOfRange { .. })), "{start} {len} {stride}");
        }
        assert!(matches!(Buffer::<Device, f32>::from_raw(d, x.raw().clone(), 5, 6), Err(Error::OutOfRange { .. })));
        assert!(matches!(d.reduce(&x, Sum).axis(&[10], 1).run(), Err(Error::InvalidArgument { .. })));
        assert!(matches!(d.scan(&x, Sum).axis(&[u64::MAX, 10], 0).run(), Err(Error::InvalidArgument { .. })));
    });
}

#[test]
fn nothing_has_a_sum_and_prefixes_but_no_minimum() {
    each(|d| {
        let x = sevens(d, 0);
        assert_eq!(d.sum(&x).unwrap().read_blocking().unwrap().to_bits(), 0);
        assert_eq!(d.reduce(&x, Product).run().unwrap().read_blocking().unwrap(), 1.0);
        assert_eq!(d.cumsum(&x).unwrap().read_blocking().unwrap(), [0f32; 0]);
        assert_eq!(d.map(&x, |x| x).unwrap().len(), 0);
        assert_eq!(d.reduce(&x, Min).run().unwrap_err(), Error::Empty { pattern: "min" });
        assert!(matches!(d.argmin(&x), Err(Error::Empty { .. })));
        assert!(matches!(d.mean(&x), Err(Error::Empty { .. })));
        let out = sevens(d, 1);
        assert_eq!(d.reduce(&x, Max).write_to(&out).unwrap_err(), Error::Empty { pattern: "max" });
        untouched(&out);
    });
}

#[test]
fn more_memory_than_there_is_is_refused_with_sizes() {
    if !is_elsewhere() {
        // In a process of its own: while its addresses are at an end, drivers give up the devices of others.
        elsewhere("bad_input::more_memory_than_there_is_is_refused_with_sizes", &[]);
        return;
    }
    each(|d| {
        let kept = sevens(d, 100);
        for elements in [u64::MAX / 8, u64::MAX / 4, u64::MAX] {
            match d.buffer::<f32>(elements) {
                Err(Error::TooLarge { requested, limit, .. }) => assert!(requested > limit),
                Err(Error::OutOfMemory { requested, .. }) => assert!(requested >= elements),
                other => panic!("{other:?}"),
            }
        }
        if d.caps().backend != "cpu" {
            until_there_is_no_more(d);
        }
        untouched(&kept);
        assert_eq!(d.sum(&kept).unwrap().read_blocking().unwrap(), 700.0, "the device still works");
    });
}

/// Asks for as much as one buffer may have, again and again. A software adapter takes pages when they are written, so that its memory ends
/// with the addresses of a process: after 65,536 of 2 GiB.
fn until_there_is_no_more(d: &Device) {
    let largest = d.caps().max_buffer_bytes / 4;
    let mut held = Vec::new();
    let error = (0..1 << 17).find_map(|_| d.buffer::<f32>(largest).map(|b| held.push(b)).err());
    drop(held);
    let Some(Error::OutOfMemory { requested, available }) = error else { panic!("not refused: {error:?}") };
    assert!(requested >= 4 * largest, "{requested}");
    assert_eq!(available.is_some(), says_what_is_available(d));
    assert!(available.is_none_or(|bytes| bytes <= d.caps().memory_bytes), "{available:?}");
}

/// Whether a device's driver keeps count of its memory.
fn says_what_is_available(d: &Device) -> bool {
    match d {
        Device::Cpu(_) => true,
        #[cfg(feature = "wgpu")]
        Device::Wgpu(d) => d.available_bytes().is_some(),
        // CUDA's always does.
        _ => true,
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_cpu_says_how_much_memory_there_is_and_takes_no_more() {
    let d = cpu();
    let total = d.caps().memory_bytes;
    assert!(total > 0);
    match d.buffer::<u8>(2 * total) {
        Err(Error::OutOfMemory { requested, available: Some(available) }) => assert!(requested == 2 * total && available <= total),
        other => panic!("{other:?}"),
    }
    let text = d.buffer::<u8>(2 * total).unwrap_err().to_string();
    assert!(text.contains(&format!("{} bytes requested, ", 2 * total)) && text.ends_with(" available"), "{text}");
}

#[test]
fn a_value_of_another_operator_is_refused() {
    each(|d| {
        let (x, out) = (sevens(d, 4), sevens(d, 4));
        let escaped = Cell::new(None);
        d.map(&x, |v| {
            escaped.set(Some(v));
            v
        })
        .unwrap();
        let foreign: Expr<f32> = escaped.get().unwrap();
        assert_eq!(d.map(&x, |v| v + foreign).unwrap_err(), Error::Op(OpError::ForeignValue));
        assert_eq!(d.map_into(&x, |_| foreign * 2.0, &out).unwrap_err(), Error::Op(OpError::ForeignValue));
        assert_eq!(d.reduce(&x, Op::associative(0.0, |a, _| a + foreign)).run().unwrap_err(), Error::Op(OpError::ForeignValue));
        assert!(matches!(d.scan(&x, Op::associative(0.0, |a, _| a + foreign)).write_to(&out), Err(Error::Op(_))));
        untouched(&out);
    });
}

#[test]
fn operators_that_have_no_meaning_are_refused() {
    each(|d| {
        let x = sevens(d, 4);
        assert!(matches!(
            d.map(&x, isowarp::prelude::Expr::bitcast::<u64>),
            Err(Error::Op(OpError::Signature { what: "bitcast", .. })) | Err(Error::Unsupported { .. })
        ));
        assert!(matches!(d.map((scalar(1.0f32), index()), |(a, i)| a + i.cast::<f32>()), Err(Error::InvalidArgument { .. })), "no length");
        type Wide = (Expr<f32>, Expr<f32>, Expr<f32>, (Expr<f32>, Expr<f32>));
        let five = d.reduce_by(x.map(|v| (v, v, v, (v, v))), |a: Wide, _| a).finish(|a| a.0).run();
        assert!(matches!(five, Err(Error::TooLarge { requested: 5, limit: 4, .. })), "{five:?}");
    });
}

#[test]
fn filters_refuse_what_is_no_image_and_no_window() {
    each(|d| {
        let x = sevens(d, 12);
        assert!(matches!(Image::new(x.clone(), 3, 2, 2), Err(Error::InvalidArgument { what: "channels", .. })));
        assert!(matches!(FilterKind::sharpen(1.0), Err(Error::InvalidArgument { what: "alpha", .. })));
        let image = Image::new(x.clone(), 4, 3, 1).unwrap();
        for (size, weights) in [(3, 8), (4, 16), (5, 9), (0, 0)] {
            let kind = FilterKind::Weighted { size, weights: vec![1.0; weights] };
            assert!(matches!(d.filter(&image, kind, Border::Clamp), Err(Error::InvalidArgument { what: "weights", .. })));
        }
        assert!(matches!(d.trapezoid(0.0, 1.0, 0, |x| x).run(), Err(Error::InvalidArgument { .. })));
        assert!(matches!(d.simpson(0.0, 1.0, 3, |x| x).run(), Err(Error::InvalidArgument { .. })));
    });
}

#[test]
fn bytes_outside_a_buffer_are_not_moved() {
    each(|d| {
        let x = sevens(d, 4);
        assert!(d.write_bytes(x.raw(), 16, &[0; 4]).is_err());
        assert!(d.read_bytes_blocking(x.raw(), 12, 8).is_err());
        assert!(d.read_bytes_blocking(x.raw(), u64::MAX - 3, 4).is_err());
        let y = sevens(d, 2);
        assert!(d.copy_bytes(x.raw(), 0, y.raw(), 0, 12).is_err());
        untouched(&x);
        untouched(&y);
    });
    assert_eq!(cpu().caps().backend, "cpu");
}
