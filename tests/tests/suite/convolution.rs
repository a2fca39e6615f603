//! Convolutions: products of filters and windows, SciPy and NumPy, plain loops, filters that shift, transposes, transforms, what is refused.

use crate::common::{bits, each, each_with, uniform};
use isowarp::buffer::Buffer;
use isowarp::element::DType;
use isowarp::patterns::{Grid, ProductOrder};
use isowarp::prelude::*;
use isowarp::{Device, Error};
use serde_json::Value;

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../../data/convolutions.json")).expect("the fixtures are JSON")
}

fn cases(of: &Value, name: &str) -> Vec<Value> {
    of[name].as_array().expect("a list").clone()
}

fn numbers(of: &Value, name: &str) -> Vec<u64> {
    of[name].as_array().expect("numbers").iter().map(|n| n.as_u64().expect("a number")).collect()
}

fn floats(of: &Value, name: &str) -> Vec<f64> {
    of[name].as_array().expect("floats").iter().map(|n| n.as_f64().expect("a float")).collect()
}

fn integers(of: &Value, name: &str) -> Vec<i32> {
    of[name].as_array().expect("integers").iter().map(|n| n.as_i64().expect("an integer") as i32).collect()
}

/// Bytes and taps of `convolutions.py`, as integers.
fn whole(n: u64, seed: u32, of: fn(f32) -> f32) -> Vec<i32> {
    uniform(n, seed).into_iter().map(|x| of(x).floor() as i32).collect()
}

fn byte(x: f32) -> f32 {
    (x + 1.0) * 128.0
}

fn tap(x: f32) -> f32 {
    x * 16.0
}

fn elements(extents: &[u64]) -> u64 {
    extents.iter().product()
}

fn border(name: &str) -> Border {
    Border::ALL.into_iter().find(|b| format!("{b:?}").to_lowercase() == name).expect("a border")
}

/// Images and filters as plain numbers, and the elements of windows by plain loops.
#[derive(Clone)]
struct Layer {
    batch: u64,
    channels: u64,
    image: Vec<u64>,
    filters: u64,
    groups: u64,
    taps: Vec<u64>,
    stride: Vec<u64>,
    dilation: Vec<u64>,
    padding: Vec<u64>,
    border: Border,
}

impl Layer {
    fn plain(image: &[u64], taps: &[u64]) -> Self {
        let [ones, zeros] = [1, 0].map(|n| vec![n; image.len()]);
        let (image, taps, dilation) = (image.to_vec(), taps.to_vec(), ones.clone());
        Self { batch: 1, channels: 1, image, filters: 1, groups: 1, taps, stride: ones, dilation, padding: zeros, border: Border::Zero }
    }

    fn points(&self) -> u64 {
        self.batch * self.channels * elements(&self.image)
    }

    fn weights(&self) -> u64 {
        self.filters * self.channels / self.groups * elements(&self.taps)
    }

    fn out(&self) -> Vec<u64> {
        let axis = |k: usize| (self.image[k] + 2 * self.padding[k] - self.dilation[k] * (self.taps[k] - 1) - 1) / self.stride[k] + 1;
        (0..self.image.len()).map(axis).collect()
    }

    /// Digits of a number, the last axis fastest.
    fn digits(mut i: u64, sizes: &[u64]) -> Vec<u64> {
        let mut found: Vec<u64> = sizes
            .iter()
            .rev()
            .map(|&n| {
                let digit = i % n;
                i /= n;
                digit
            })
            .collect();
        found.reverse();
        found
    }

    /// The windows of a group of an image as a matrix: a row to each channel and tap, a column to each window.
    fn columns<T: Copy + Default>(&self, x: &[T], image: u64, group: u64) -> Vec<T> {
        let (out, of_group) = (self.out(), self.channels / self.groups);
        let mut all = Vec::new();
        for channel in 0..of_group {
            let plane = (image * self.channels + group * of_group + channel) * elements(&self.image);
            for t in 0..elements(&self.taps) {
                let t = Self::digits(t, &self.taps);
                for o in 0..elements(&out) {
                    let o = Self::digits(o, &out);
                    let at = (0..o.len()).try_fold(0u64, |at, k| {
                        let position = (o[k] * self.stride[k] + t[k] * self.dilation[k]) as i64 - self.padding[k] as i64;
                        let inside = self.border.index(position, self.image[k] as i64)?;
                        Some(at * self.image[k] + inside as u64)
                    });
                    all.push(at.map_or_else(T::default, |at| x[(plane + at) as usize]));
                }
            }
        }
        all
    }

    fn image<I>(&self, x: I) -> Grid<I> {
        grid(x, &self.image).channels(self.channels).batch(self.batch)
    }

    fn filter<I>(&self, x: I) -> Grid<I> {
        grid(x, &self.taps).channels(self.channels / self.groups).batch(self.filters)
    }
}

fn layers() -> Vec<Layer> {
    let two = |layer: Layer, stride: [u64; 2], dilation: [u64; 2], padding: [u64; 2]| Layer {
        stride: stride.to_vec(),
        dilation: dilation.to_vec(),
        padding: padding.to_vec(),
        ..layer
    };
    let channels = |batch, channels, filters, groups, layer: Layer| Layer { batch, channels, filters, groups, ..layer };
    vec![
        Layer::plain(&[500], &[33]),
        Layer::plain(&[1400], &[33]),
        Layer { padding: vec![2, 1, 3], border: Border::Mirror, ..Layer::plain(&[5, 9, 70], &[3, 4, 5]) },
        Layer { padding: vec![1, 0, 2], ..channels(2, 4, 6, 2, Layer::plain(&[3, 5, 66], &[2, 2, 3])) },
        channels(1, 30, 3, 1, Layer::plain(&[8, 72], &[4, 5])),
        channels(10, 30, 3, 1, Layer::plain(&[8, 72], &[4, 5])),
        channels(2, 4, 16, 1, Layer::plain(&[7, 68], &[3, 3])),
        Layer { padding: vec![20], border: Border::Mirror, ..Layer::plain(&[1100], &[130]) },
        Layer { padding: vec![390], border: Border::Wrap, ..Layer::plain(&[1300], &[384]) },
        channels(3, 2, 2, 2, Layer::plain(&[2100], &[50])),
        channels(5, 1, 1, 1, Layer { padding: vec![3], border: Border::Clamp, ..Layer::plain(&[160], &[9]) }),
        Layer::plain(&[40, 300], &[3, 3]),
        Layer::plain(&[70, 90], &[33, 31]),
        Layer { padding: vec![40, 40], border: Border::Mirror, ..Layer::plain(&[20, 270], &[25, 23]) },
        Layer { padding: vec![7, 2], border: Border::Wrap, ..Layer::plain(&[5, 80], &[4, 5]) },
        Layer { padding: vec![1, 9], border: Border::Clamp, ..Layer::plain(&[13, 300], &[2, 17]) },
        Layer { padding: vec![3, 3], ..Layer::plain(&[33, 260], &[7, 7]) },
        two(Layer::plain(&[41, 300], &[5, 4]), [2, 3], [3, 1], [1, 5]),
        channels(2, 6, 16, 1, Layer::plain(&[14, 14], &[5, 5])),
        channels(3, 8, 12, 4, two(Layer::plain(&[9, 20], &[3, 3]), [2, 1], [1, 2], [1, 2])),
        channels(1, 80, 4, 1, Layer::plain(&[10, 11], &[3, 3])),
        Layer { padding: vec![1, 0, 2], ..channels(2, 3, 2, 1, Layer::plain(&[5, 6, 7], &[3, 2, 3])) },
    ]
}

#[test]
fn a_convolution_is_the_product_of_its_filters_and_the_matrix_of_its_windows() {
    each(|d| {
        for (k, layer) in layers().into_iter().enumerate() {
            let (x, w) = (uniform(layer.points(), 1), uniform(layer.weights(), 2));
            let windows = elements(&layer.out());
            let terms = layer.channels / layer.groups * elements(&layer.taps);
            let (image, filter) = (d.upload(&x).unwrap(), d.upload(&w).unwrap());
            for order in [ProductOrder::Blocks, ProductOrder::Chain, ProductOrder::Fixed30] {
                let call = d.convolve(layer.image(&image), layer.filter(&filter)).groups(layer.groups).order(order);
                let call = call.stride(&layer.stride).dilation(&layer.dilation).padding(&layer.padding).border(layer.border);
                assert_eq!(call.extents().unwrap(), layer.out());
                let found = bits(&call.run().unwrap());
                let mut expected = Vec::new();
                for (at, group) in (0..layer.batch).flat_map(|at| (0..layer.groups).map(move |group| (at, group))) {
                    let columns = d.upload(&layer.columns(&x, at, group)).unwrap();
                    let rows = layer.filters / layer.groups;
                    let of_group = filter.slice(group * rows * terms..(group + 1) * rows * terms).unwrap();
                    let (a, b) = (matrix(&of_group, rows, terms), matrix(&columns, terms, windows));
                    expected.extend(bits(&d.gemm(a, b).order(order).run().unwrap()));
                }
                assert!(found == expected, "layer {k}, {order:?}");
            }
        }
    });
}

#[test]
fn convolutions_of_whole_numbers_are_scipys_with_every_border_and_numpys_with_every_modifier() {
    let of = fixtures();
    each(|d| {
        for case in cases(&of, "borders") {
            let (image, taps) = (numbers(&case, "image"), numbers(&case, "taps"));
            let (x, w) = (whole(elements(&image), 1, byte), whole(elements(&taps), 2, tap));
            let expected = integers(&case, "y");
            let border = border(case["border"].as_str().unwrap());
            let (a, b) = (d.upload(&x).unwrap(), d.upload(&w).unwrap());
            let found = d.convolve(grid(&a, &image), grid(&b, &taps)).same().border(border).run().unwrap();
            assert_eq!(found.read_blocking().unwrap(), expected, "{image:?} {taps:?} {border:?}");
            // Exact in f32, in bytes, and backwards by a filter that is backwards.
            let found = d.convolve(grid(a.map(Expr::cast::<f32>), &image), grid(b.map(Expr::cast::<f32>), &taps));
            let found = found.same().border(border).run().unwrap().read_blocking().unwrap();
            assert!(found.iter().zip(&expected).all(|(&y, &e)| y == e as f32));
            let found = d.convolve(grid(&a, &image), grid(b.reversed(), &taps)).same().flipped().border(border).run().unwrap();
            assert_eq!(found.read_blocking().unwrap(), expected);
        }
        for case in cases(&of, "layers") {
            let n = |name: &str| case[name].as_u64().unwrap();
            let list = |name: &str| numbers(&case, name);
            let (batch, channels, filters, groups) = (n("batch"), n("channels"), n("filters"), n("groups"));
            let (image, taps) = (list("image"), list("taps"));
            let x = whole(batch * channels * elements(&image), 3, byte);
            let w = whole(filters * channels / groups * elements(&taps), 4, tap);
            let (a, b) = (d.upload(&x).unwrap(), d.upload(&w).unwrap());
            let found =
                d.convolve(grid(&a, &image).channels(channels).batch(batch), grid(&b, &taps).channels(channels / groups).batch(filters));
            let found = found.groups(groups).stride(&list("stride")).dilation(&list("dilation")).padding(&list("padding"));
            assert_eq!(found.run().unwrap().read_blocking().unwrap(), integers(&case, "y"));
        }
    });
}

#[test]
fn convolutions_of_floats_are_as_near_to_scipys_long_double_as_blocks_of_chains_are() {
    let of = fixtures();
    for case in cases(&of, "floats") {
        let (image, taps) = (numbers(&case, "image"), numbers(&case, "taps"));
        let (x, w) = (uniform(elements(&image), 5), uniform(elements(&taps), 6));
        let (expected, bound) = (floats(&case, "y"), case["bound"].as_f64().unwrap());
        let worst = |y: Vec<f64>| y.iter().zip(&expected).map(|(y, e)| (y - e).abs()).fold(0.0, f64::max);
        each(|d| {
            let (a, b) = (d.upload(&x).unwrap(), d.upload(&w).unwrap());
            let found = d.convolve(grid(&a, &image), grid(&b, &taps)).run().unwrap().read_blocking().unwrap();
            let worst = worst(found.into_iter().map(f64::from).collect());
            assert!(worst <= bound, "{image:?} {taps:?}: {worst:e} of at most {bound:e}");
        });
        each_with(&[DType::F64], |d| {
            let [a, b] = [&x, &w].map(|of| d.upload(&of.iter().map(|&x| f64::from(x)).collect::<Vec<_>>()).unwrap());
            let found = d.convolve(grid(&a, &image), grid(&b, &taps)).run().unwrap().read_blocking().unwrap();
            // The fixtures are rounded to f64 themselves.
            let worst =
                found.iter().zip(&expected).map(|(y, e): (&f64, &f64)| (y - e).abs() - e.abs() * 2f64.powi(-53)).fold(0.0, f64::max);
            assert!(worst <= bound * 2f64.powi(-29), "{image:?} {taps:?}: {worst:e}");
        });
    }
}

#[test]
fn filters_of_one_weight_shift_images_exactly() {
    each(|d| {
        let (h, w) = (23u64, 290u64);
        let x = uniform(h * w, 3);
        let image = d.upload(&x).unwrap();
        for (taps, at) in [([5u64, 7u64], [0u64, 0u64]), ([5, 7], [4, 6]), ([5, 7], [2, 1]), ([23, 20], [20, 19])] {
            let mut filter = vec![0.0f32; elements(&taps) as usize];
            filter[(at[0] * taps[1] + at[1]) as usize] = 1.0;
            let found = d.convolve(grid(&image, &[h, w]), grid(&d.upload(&filter).unwrap(), &taps)).run().unwrap().read_blocking().unwrap();
            let columns = w - taps[1] + 1;
            let shifted = |i: u64| x[((i / columns + at[0]) * w + i % columns + at[1]) as usize];
            assert!(found.iter().enumerate().all(|(i, y)| *y == shifted(i as u64)), "{taps:?} {at:?}");
        }
    });
}

#[test]
fn zeros_around_an_image_are_multiplied_as_other_elements_are() {
    each(|d| {
        let x = d.upload(&[1.0f32, -0.0, 2.0]).unwrap();
        let of = |taps: &[f32]| {
            let filter = d.upload(taps).unwrap();
            bits(&d.convolve(grid(&x, &[3]), grid(&filter, &[taps.len() as u64])).padding(&[1]).run().unwrap())
        };
        let (inf, nan) = (f32::INFINITY.to_bits(), 0x7fc0_0000);
        assert_eq!(of(&[f32::INFINITY, 0.0]), [nan, inf, nan, inf]);
        assert_eq!(of(&[-1.0, -1.0]), [-1.0f32, -1.0, -2.0, -2.0].map(f32::to_bits));
        assert_eq!(of(&[f32::NAN, 1.0]), [nan; 4]);
    });
}

/// The transpose of a convolution of `out` elements, tap by tap.
fn scattered(y: &[i32], w: &[i32], [n, taps, out]: [u64; 3], [stride, dilation, padding]: [u64; 3]) -> Vec<i32> {
    let mut x = vec![0i32; out as usize];
    for (i, t) in (0..n).flat_map(|i| (0..taps).map(move |t| (i, t))) {
        if let Some(to) = (i * stride + t * dilation).checked_sub(padding).and_then(|at| x.get_mut(at as usize)) {
            *to = to.wrapping_add(y[i as usize].wrapping_mul(w[t as usize]));
        }
    }
    x
}

#[test]
fn a_transposed_convolution_takes_results_back_to_the_image() {
    each(|d| {
        for (n, taps, stride, dilation, padding, more) in [
            (7u64, 3u64, 1u64, 1u64, 0u64, 0u64),
            (5, 4, 3, 1, 0, 0),
            (6, 3, 2, 3, 2, 1),
            (4, 5, 4, 2, 9, 3),
            (1, 1, 5, 1, 0, 4),
            (9, 2, 1, 4, 6, 0),
            (600, 4, 2, 1, 1, 0),
            (301, 9, 4, 1, 3, 2),
        ] {
            let (y, w) = (whole(n, 5, byte), whole(taps, 6, tap));
            let out = (n - 1) * stride + dilation * (taps - 1) + 1 - 2 * padding + more;
            let (a, b) = (d.upload(&y).unwrap(), d.upload(&w).unwrap());
            let call = d.convolve(grid(&a, &[n]), grid(&b, &[taps])).stride(&[stride]).dilation(&[dilation]).padding(&[padding]);
            let call = if more == 0 { call.transposed() } else { call.transposed_to(&[out]) };
            let expected = scattered(&y, &w, [n, taps, out], [stride, dilation, padding]);
            assert_eq!(call.run().unwrap().read_blocking().unwrap(), expected, "{n} {taps} {stride} {dilation} {padding}");
        }
        for (channels, filters, size) in [(3, 4, [5, 6]), (2, 3, [7, 40]), (1, 1, [30, 43])] {
            transposed_floats(d, channels, filters, size);
        }
    });
}

/// Of floats the transpose is the convolution of the image with zeros between its elements and around, by flipped filters.
fn transposed_floats(d: &Device, channels: u64, filters: u64, size: [u64; 2]) {
    let taps = [3u64, 2u64];
    let (x, w) = (uniform(2 * filters * elements(&size), 7), uniform(filters * channels * elements(&taps), 8));
    let wide = [size[0] * 2 - 1, size[1] * 3 - 2];
    let mut spread = vec![0.0f32; (2 * filters * elements(&wide)) as usize];
    for (i, &value) in x.iter().enumerate() {
        let (plane, row, column) = (i as u64 / elements(&size), i as u64 / size[1] % size[0], i as u64 % size[1]);
        spread[((plane * wide[0] + 2 * row) * wide[1] + 3 * column) as usize] = value;
    }
    // The filters of the other direction: channels and filters change places.
    let at = |o: u64, c: u64, t: u64| w[((c * channels + o) * elements(&taps) + t) as usize];
    let turned: Vec<f32> = (0..channels)
        .flat_map(|o| (0..filters).flat_map(move |c| (0..elements(&taps)).map(move |t| (o, c, t))))
        .map(|(o, c, t)| at(o, c, t))
        .collect();
    let [a, b, spread, turned] = [&x, &w, &spread, &turned].map(|of| d.upload(of).unwrap());
    let call = d.convolve(grid(&a, &size).channels(filters).batch(2), grid(&b, &taps).channels(channels).batch(filters));
    let found = bits(&call.stride(&[2, 3]).padding(&[1, 0]).transposed().run().unwrap());
    let call = d.convolve(grid(&spread, &wide).channels(filters).batch(2), grid(&turned, &taps).channels(filters).batch(channels));
    assert_eq!(found, bits(&call.flipped().padding(&[1, 1]).run().unwrap()));
}

#[test]
fn separable_filters_are_two_convolutions_and_scipys() {
    let of = fixtures();
    let (x, across, down) = (uniform(15 * 22, 11), uniform(5, 12), uniform(3, 13));
    each(|d| {
        let (a, b, c) = (d.upload(&x).unwrap(), d.upload(&across).unwrap(), d.upload(&down).unwrap());
        for case in cases(&of, "separable") {
            let border = border(case["border"].as_str().unwrap());
            let found = d.separable(grid(&a, &[15, 22]), grid(&b, &[5]), grid(&c, &[3])).same().border(border).run().unwrap();
            let first = d.convolve(grid(&a, &[15, 22]), grid(&b, &[1, 5])).same().border(border).run().unwrap();
            let second = d.convolve(grid(&first, &[15, 22]), grid(&c, &[3, 1])).same().border(border).run().unwrap();
            assert_eq!(bits(&found), bits(&second));
            let near = |(y, e): (f32, f64)| (f64::from(y) - e).abs() < 2e-6;
            assert!(found.read_blocking().unwrap().into_iter().zip(floats(&case, "y")).all(near), "{border:?}");
        }
        // Written over the image.
        let image = d.upload(&x).unwrap();
        d.separable(grid(&image, &[15, 22]), grid(&b, &[5]), grid(&c, &[3])).same().write_to(&image).unwrap();
        let apart = d.separable(grid(&a, &[15, 22]), grid(&b, &[5]), grid(&c, &[3])).same().run().unwrap();
        assert_eq!(bits(&image), bits(&apart));
    });
}

#[test]
fn convolutions_by_transforms_are_near_to_scipys_and_whole_numbers_round_to_theirs() {
    let of = fixtures();
    for case in cases(&of, "fourier") {
        let (image, taps, norms) = (numbers(&case, "image"), numbers(&case, "taps"), case["norms"].as_f64().unwrap());
        let (x, w) = (uniform(elements(&image), 7), uniform(elements(&taps), 8));
        let (n, t) = (whole(elements(&image), 9, byte), whole(elements(&taps), 10, tap));
        let expected = floats(&case, "full");
        let worst = |y: Vec<f64>| y.iter().zip(&expected).map(|(y, e)| (y - e).abs()).fold(0.0, f64::max) / norms;
        each(|d| {
            let (a, b) = (d.upload(&x).unwrap(), d.upload(&w).unwrap());
            let found = d.fft_convolve(grid(&a, &image), grid(&b, &taps)).run().unwrap().read_blocking().unwrap();
            let worst = worst(found.into_iter().map(f64::from).collect());
            assert!(worst < 8.0 * 2f64.powi(-24), "{image:?}: {worst:e}");
            let (a, b) = (d.upload(&n).unwrap(), d.upload(&t).unwrap());
            let call = || d.fft_convolve(grid(a.map(Expr::cast::<f32>), &image), grid(b.map(Expr::cast::<f32>), &taps));
            let rounded = |y: Buffer<Device, f32>| -> Vec<i32> {
                y.read_blocking().unwrap().into_iter().map(|y| y.round_ties_even() as i32).collect()
            };
            assert_eq!(rounded(call().run().unwrap()), integers(&case, "whole_full"));
            assert_eq!(rounded(call().same().run().unwrap()), integers(&case, "whole_same"));
            assert_eq!(rounded(call().valid().run().unwrap()), integers(&case, "whole_valid"));
        });
        each_with(&[DType::F64], |d| {
            let [a, b] = [&x, &w].map(|of| d.upload(&of.iter().map(|&x| f64::from(x)).collect::<Vec<_>>()).unwrap());
            let worst = worst(d.fft_convolve(grid(&a, &image), grid(&b, &taps)).run().unwrap().read_blocking().unwrap());
            assert!(worst < 8.0 * 2f64.powi(-53), "{image:?}: {worst:e}");
        });
    }
}

#[test]
fn channels_and_images_are_transformed_each_by_itself() {
    each(|d| {
        let (x, w) = (uniform(6 * 9 * 10, 1), uniform(12, 2));
        let (a, b) = (d.upload(&x).unwrap(), d.upload(&w).unwrap());
        let all = bits(&d.fft_convolve(grid(&a, &[9, 10]).channels(3).batch(2), grid(&b, &[3, 4])).run().unwrap());
        let plane = |k: u64| {
            let of_plane = a.slice(k * 90..(k + 1) * 90).unwrap();
            bits(&d.fft_convolve(grid(&of_plane, &[9, 10]), grid(&b, &[3, 4])).run().unwrap())
        };
        let apart: Vec<u32> = (0..6).flat_map(plane).collect();
        assert_eq!(all, apart);
    });
}

fn invalid<T>(result: Result<T, Error>) -> &'static str {
    match result {
        Err(Error::InvalidArgument { what, .. }) => what,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it is taken"),
    }
}

#[test]
fn convolutions_that_do_not_fit_are_refused_and_nothing_is_written() {
    each(|d| {
        let (x, w) = (d.upload(&[1.0f32; 24]).unwrap(), d.upload(&[1.0f32; 24]).unwrap());
        let out = d.upload(&[5.0f32; 24]).unwrap();
        let image = grid(&x, &[4, 6]);
        let (six_taps, three_taps) = (w.slice(..6).unwrap(), w.slice(..3).unwrap());
        let filter = || grid(&six_taps, &[2, 3]);
        let call = || d.convolve(image, filter());
        assert_eq!(invalid(call().stride(&[0, 1]).write_to(&out)), "stride");
        assert_eq!(invalid(call().dilation(&[1, 0]).write_to(&out)), "dilation");
        assert_eq!(invalid(call().stride(&[1]).write_to(&out)), "stride");
        assert_eq!(invalid(call().padding(&[1, 1, 1]).write_to(&out)), "padding");
        assert_eq!(invalid(call().groups(0).write_to(&out)), "groups");
        assert_eq!(invalid(call().dilation(&[4, 1]).write_to(&out)), "filter");
        assert_eq!(invalid(d.convolve(image, grid(&w, &[24])).write_to(&out)), "filter");
        assert_eq!(invalid(d.convolve(image, grid(&w, &[6, 4])).write_to(&out)), "filter");
        assert_eq!(invalid(d.convolve(grid(&x, &[]), grid(&w, &[])).write_to(&out)), "image");
        assert_eq!(invalid(d.convolve(grid(&x, &[1, 1, 4, 6]), grid(&w, &[1, 1, 4, 6])).write_to(&out)), "image");
        assert_eq!(invalid(d.convolve(grid(&x, &[0, 24]), filter()).write_to(&out)), "image");
        assert_eq!(invalid(d.convolve(image.channels(0), filter()).write_to(&out)), "image");
        assert_eq!(invalid(d.convolve(image, grid(&w, &[0])).write_to(&out)), "filter");
        let six = grid(&x, &[4]).channels(6);
        assert_eq!(invalid(d.convolve(six, grid(&w, &[2]).channels(2).batch(4)).groups(4).write_to(&out)), "groups");
        assert_eq!(invalid(d.convolve(six, grid(&w, &[2]).channels(3).batch(3)).groups(2).write_to(&out)), "groups");
        let lengths = |result: Result<(), Error>| match result {
            Err(Error::LengthMismatch { expected, found, .. }) => (expected, found),
            other => panic!("{other:?}"),
        };
        assert_eq!(lengths(d.convolve(six, grid(&w, &[2]).channels(4).batch(3)).write_to(&out)), (6, 4));
        assert_eq!(lengths(d.convolve(grid(&x, &[5, 5]), filter()).write_to(&out)), (25, 24));
        assert_eq!(lengths(d.convolve(image, grid(&w, &[2, 3])).write_to(&out)), (6, 24));
        assert_eq!(lengths(d.convolve(image, grid(&w, &[2, 3]).batch(3)).write_to(&out)), (18, 24));
        assert_eq!(lengths(d.convolve(six, grid(&w, &[2]).channels(4).batch(3)).transposed().write_to(&out)), (6, 3));
        assert_eq!(invalid(call().transposed().border(Border::Wrap).write_to(&out)), "border");
        assert_eq!(invalid(call().transposed().padding(&[3, 0]).write_to(&out)), "padding");
        assert_eq!(invalid(call().stride(&[2, 2]).transposed_to(&[8, 17]).write_to(&out)), "extents of the result");
        assert!(matches!(call().write_to(&out.slice(..11).unwrap()), Err(Error::BufferTooSmall { required: 12, available: 11, .. })));
        assert!(matches!(call().write_to(&x.slice(12..).unwrap()), Err(Error::Aliasing { .. })));
        assert!(matches!(call().write_to(&w), Err(Error::Aliasing { .. })));
        assert!(matches!(call().padding(&[1 << 40, 0]).write_to(&out), Err(Error::TooLarge { .. })));
        assert!(matches!(call().padding(&[1 << 20, 1 << 20]).write_to(&out), Err(Error::TooLarge { .. } | Error::BufferTooSmall { .. })));
        // Indices of a long axis and its mirror image would leave 32 bits.
        let one = d.upload(&[1u32]).unwrap();
        let long = |n| {
            let counted = d.convolve(grid(counting(n), &[n]), grid(&one, &[1]));
            counted.border(Border::Mirror).padding(&[1]).stride(&[50_000_001]).run()
        };
        let found = long(1_400_000_001).unwrap().read_blocking().unwrap();
        assert_eq!(found, [vec![1], (1..=27).map(|k| k * 50_000_001 - 1).collect()].concat());
        assert!(matches!(long(1_500_000_000), Err(Error::TooLarge { .. })));
        // Separable filters and transforms.
        let line = || grid(&three_taps, &[3]);
        assert_eq!(invalid(d.separable(image, line(), filter()).write_to(&out)), "filter");
        assert_eq!(invalid(d.separable(grid(&x, &[24]), line(), line()).write_to(&out)), "image");
        assert_eq!(invalid(d.separable(grid(&x, &[12, 2]), line(), line()).write_to(&out)), "filter");
        assert!(matches!(d.separable(image, line(), line()).write_to(&out.slice(..7).unwrap()), Err(Error::BufferTooSmall { .. })));
        assert_eq!(invalid(d.fft_convolve(image, line()).write_to(&out)), "filter");
        assert_eq!(invalid(d.fft_convolve(image, filter().batch(2)).write_to(&out)), "filter");
        assert_eq!(invalid(d.fft_convolve(image, grid(&w, &[6, 4])).valid().write_to(&out)), "filter");
        assert_eq!(lengths(d.fft_convolve(image, grid(&w, &[2, 3])).valid().write_to(&out)), (6, 24));
        assert!(matches!(d.fft_convolve(image, filter()).valid().write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.fft_convolve(image, filter()).write_to(&out), Err(Error::BufferTooSmall { required: 40, .. })));
        assert_eq!(out.read_blocking().unwrap(), [5.0; 24]);
        assert_eq!((x.read_blocking().unwrap(), w.read_blocking().unwrap()), (vec![1.0; 24], vec![1.0; 24]));
    });
}
