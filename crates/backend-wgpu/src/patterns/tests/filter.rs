//! P13.

use super::{Sample, both, device, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use crate::probe::Seeds;
use isowarp_core::buffer::Memory as _;
use isowarp_core::caps::FmaKind;
use isowarp_core::patterns::filter::Pixel;
use isowarp_core::patterns::{Border, Filter, FilterKind, Image};
use isowarp_cpu::Cpu;

fn kinds() -> Vec<FilterKind> {
    let uneven = (0..25).map(|k| (k as f32 - 11.3) / 7.0).collect();
    vec![
        FilterKind::gaussian3(),
        FilterKind::laplacian(),
        FilterKind::Weighted { size: 5, weights: uneven },
        FilterKind::Sobel,
        FilterKind::Median3,
    ]
}

fn check<T: Sample + Pixel>(gpu: &Wgpu, sizes: &[(u32, u32)], offset: u64) {
    for &(width, height) in sizes {
        for channels in [1, 3, 4] {
            let n = u64::from(width * height * channels);
            let (cx, gx) = both(gpu, &T::samples((n + 16) as usize, 31));
            let (cy, gy) = both(gpu, &T::samples((n + 16) as usize, 32));
            let range = offset..offset + n;
            for kind in kinds() {
                for border in Border::ALL {
                    let image = |b: &isowarp_core::buffer::Buffer<Cpu, T>| {
                        Image::new(b.slice(range.clone()).expect("slice"), width, height, channels).expect("image")
                    };
                    Cpu::new().filter_into(&image(&cx), kind.clone(), border, &image(&cy)).expect("cpu");
                    let image = |b: &isowarp_core::buffer::Buffer<Wgpu, T>| {
                        Image::new(b.slice(range.clone()).expect("slice"), width, height, channels).expect("image")
                    };
                    gpu.filter_into(&image(&gx), kind.clone(), border, &image(&gy)).expect("gpu");
                    let what = format!("{kind:?} {border:?} {} {width}x{height}x{channels} at {offset}", T::DTYPE);
                    same_bits(&what, &cy, &gy);
                }
            }
        }
    }
}

const SIZES: [(u32, u32); 8] = [(1, 1), (2, 2), (3, 1), (1, 5), (4, 4), (17, 9), (64, 33), (131, 20)];

#[test]
fn bytes_of_every_size_and_border() {
    check::<u8>(device(), &SIZES, 0);
    check::<u8>(device(), &[(17, 9), (64, 7)], 3);
}

#[test]
fn floats_of_every_size_and_border() {
    check::<f32>(device(), &SIZES, 0);
    check::<f32>(device(), &[(17, 9), (64, 7)], 1);
}

fn over_flushing_fma(gpu: &Wgpu, data: &[f32], width: u32) {
    let (cx, gx) = both(gpu, data);
    for (kind, channels) in
        [(FilterKind::gaussian3(), 1), (FilterKind::laplacian(), 4), (FilterKind::gaussian5(), 1), (FilterKind::Sobel, 3)]
    {
        let (width, height) = (width / channels, data.len() as u32 / width);
        let ci = Image::new(cx.slice(0..u64::from(width * height * channels)).expect("slice"), width, height, channels).expect("image");
        let gi = Image::new(gx.slice(0..u64::from(width * height * channels)).expect("slice"), width, height, channels).expect("image");
        let expected = Cpu::new().filter(&ci, kind.clone(), Border::Clamp).expect("cpu");
        let found = gpu.filter(&gi, kind.clone(), Border::Clamp).expect("gpu");
        same_bits(&format!("{kind:?} with {:e}", data[5]), expected.buffer(), found.buffer());
    }
}

/// Images of numbers that an `fma` which flushes gets wrong, a few of them among many that it does not.
#[test]
fn floats_over_a_flushing_fma() {
    let close = Seeds { reciprocal: None, root: true, byte_root: true };
    let gpus = [Seeds::NONE, close].map(|seeds| {
        let gpu = own_device(&Options::default());
        gpu.emulate(FmaKind::Guarded, seeds);
        gpu
    });
    let (width, height) = (96, 80);
    for exponent in (-149..=-20).step_by(2) {
        let mut data = f32::samples((width * height) as usize, 34);
        let tiny = 2.0_f32.powi(exponent / 2) * 2.0_f32.powi(exponent - exponent / 2);
        for (i, v) in data.iter_mut().enumerate() {
            // Alone, next to another of its kind, among large ones, and in a crowd that all but cancels.
            *v = match (i % 96, i % 997) {
                (32..40, _) => tiny * (1.0 + (i * 7 % 3) as f32 * f32::EPSILON),
                (48.., 5) | (..32, 5 | 6 | 103 | 301) => tiny * (1.0 + (i % 5) as f32 / 8.0 + (i % 3) as f32 * f32::EPSILON),
                (..48, _) => 0.0,
                _ => (i % 13) as f32 / 8.0 - 0.5,
            };
        }
        over_flushing_fma(&gpus[exponent.rem_euclid(4) as usize / 2], &data, width);
    }
    gpus.iter().for_each(|gpu| over_flushing_fma(gpu, &f32::samples((width * height) as usize, 35), width));
}

#[test]
fn images_above_the_binding_limit_are_cut() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(20_000);
    check::<f32>(&gpu, &[(100, 90), (33, 200)], 0);
    check::<u8>(&gpu, &[(301, 70), (400, 80)], 1);
}

#[test]
fn a_large_image_takes_strips() {
    let gpu = device();
    let (width, height) = (1600, 1100);
    let data = u8::samples((width * height) as usize, 33);
    let (cx, gx) = both(gpu, &data);
    let (ci, gi) = (Image::new(cx, width, height, 1).expect("image"), Image::new(gx, width, height, 1).expect("image"));
    let expected = Cpu::new().filter(&ci, FilterKind::gaussian5(), Border::Clamp).expect("cpu");
    let found = gpu.filter(&gi, FilterKind::gaussian5(), Border::Clamp).expect("gpu");
    same_bits("gaussian", expected.buffer(), found.buffer());
    assert!(gpu.upload(&data).is_ok());
}
