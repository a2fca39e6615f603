//! Operations that compilers like to fold: zeros that have a sign, and comparisons that NaN fails. Bit by bit against the CPU.

use isowarp_core::buffer::Memory as _;
use isowarp_core::ir::{Expr, select};
use isowarp_core::patterns::Map;
use isowarp_cpu::Cpu;
use isowarp_wgpu::Wgpu;
use std::sync::OnceLock;

/// One device for all tests: drivers deadlock where many are closed by many threads at once.
fn device() -> &'static Wgpu {
    static DEVICE: OnceLock<Wgpu> = OnceLock::new();
    DEVICE.get_or_init(|| Wgpu::new_blocking().expect("an adapter"))
}

const VALUES: [f32; 11] = [0.0, -0.0, 1.0, -1.0, 2.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, f32::MAX, f32::MIN_POSITIVE];

/// All pairs of values.
fn pairs() -> (Vec<f32>, Vec<f32>) {
    VALUES.iter().flat_map(|&x| VALUES.iter().map(move |&y| (x, y))).unzip()
}

macro_rules! same {
    ($x:expr, $y:expr, $op:expr) => {{
        let cpu = Cpu::new();
        let on_cpu = cpu.map((&cpu.upload($x).expect("upload"), &cpu.upload($y).expect("upload")), $op).expect("cpu");
        let gpu = device();
        let on_gpu = gpu.map((&gpu.upload($x).expect("upload"), &gpu.upload($y).expect("upload")), $op).expect("gpu");
        let bits = |v: Vec<u32>| v;
        let expected = bits(on_cpu.read_blocking().expect("read"));
        let found = bits(on_gpu.read_blocking().expect("read"));
        for (i, (e, f)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(e, f, "{} of {:?}, {:?}: expected {e:#x}, found {f:#x}", stringify!($op), $x[i], $y[i]);
        }
    }};
}

#[test]
fn literal_zeros_have_a_sign_and_meet_nan_and_infinity() {
    let (x, y) = pairs();
    same!(&x, &y, |(x, _): (Expr<f32>, Expr<f32>)| (x + 0.0).bitcast::<u32>());
    same!(&x, &y, |(x, _): (Expr<f32>, Expr<f32>)| (x + -0.0).bitcast::<u32>());
    same!(&x, &y, |(x, _): (Expr<f32>, Expr<f32>)| (x - 0.0).bitcast::<u32>());
    same!(&x, &y, |(x, _): (Expr<f32>, Expr<f32>)| (Expr::from(0.0_f32) - x).bitcast::<u32>());
    same!(&x, &y, |(x, _): (Expr<f32>, Expr<f32>)| (x * 0.0).bitcast::<u32>());
    same!(&x, &y, |(x, _): (Expr<f32>, Expr<f32>)| (x * -0.0).bitcast::<u32>());
    same!(&x, &y, |(x, y): (Expr<f32>, Expr<f32>)| (x + select(y.lt(1.0), Expr::from(0.0_f32), y)).bitcast::<u32>());
    same!(&x, &y, |(x, y): (Expr<f32>, Expr<f32>)| x.mul_add(y, 0.0).bitcast::<u32>());
    same!(&x, &y, |(x, y): (Expr<f32>, Expr<f32>)| x.mul_add(0.0, y).bitcast::<u32>());
}

#[test]
fn comparisons_hold_what_ieee_says_of_nan() {
    let (x, y) = pairs();
    macro_rules! truth {
        ($op:expr) => {
            same!(&x, &y, |(x, y): (Expr<f32>, Expr<f32>)| select($op(x, y), 1_u32, 0_u32))
        };
    }
    truth!(|x: Expr<f32>, _| x.eq(x));
    truth!(|x: Expr<f32>, _| x.ne(x));
    truth!(|x: Expr<f32>, _| x.le(x));
    truth!(|x: Expr<f32>, _| x.lt(x));
    truth!(|x: Expr<f32>, y: Expr<f32>| x.eq(y));
    truth!(|x: Expr<f32>, y: Expr<f32>| x.ne(y));
    truth!(|x: Expr<f32>, y: Expr<f32>| x.lt(y));
    truth!(|x: Expr<f32>, y: Expr<f32>| x.le(y));
    truth!(|x: Expr<f32>, y: Expr<f32>| x.gt(y));
    truth!(|x: Expr<f32>, y: Expr<f32>| x.ge(y));
    truth!(|x: Expr<f32>, y: Expr<f32>| !x.lt(y));
    truth!(|x: Expr<f32>, y: Expr<f32>| !x.ne(y));
    // The same value by another way.
    truth!(|x: Expr<f32>, _| x.ne(x.bitcast::<u32>().bitcast::<f32>()));
    truth!(|x: Expr<f32>, _| x.ne(0.0));
    same!(&x, &y, |(x, y): (Expr<f32>, Expr<f32>)| select(x.lt(y), x, y).bitcast::<u32>());
    same!(&x, &y, |(x, y): (Expr<f32>, Expr<f32>)| select(y.lt(x), x, y).bitcast::<u32>());
    same!(&x, &y, |(x, y): (Expr<f32>, Expr<f32>)| select(x.ne(y), x + y, x).bitcast::<u32>());
}
