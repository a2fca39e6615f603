//! Functions of `f64` that distributions are made of, as graphs of operations with one rounding each.
//!
//! | function | method | largest error, ULP | measured over |
//! |---|---|---:|---|
//! | [`ln`] of (0, 1] | x = 2^k (1 + f), polynomial of degree 22, sum in two floats | 0.866 | 60,000 words, and near the ends of f |
//! | [`sine_of_turns`] | reflection to an eighth of a turn, polynomials of degree 15 and 14 | 1.043 | 60,000 words, and near an eighth of a turn |
//! | [`quantile`] | Wichura's rational functions (AS 241) | 5.83 | 6,000,000 words, between 0.15 and 0.26 from the middle |
//!
//! Errors are those against mpmath with 160 bits, of uniform words and of words with ever more zeros before their first one.

use super::Random;
use super::draws::{DrawsOf, power64};
use super::words::{Block, Each, Words as DrawnWords};
use crate::input::{HostScalar, Source as _, scalar};
use crate::ir::{Expr, select};

type Wide = Expr<f64>;
/// The high and the low word of 64 bits.
type Words = (Expr<u32>, Expr<u32>);

/// (ln(1 + f) - f) / f² on 0.7071 ≤ 1 + f ≤ 1.4142, the highest power first; relative error of the fit 2^-56.4.
const LOG: [f64; 21] = [
    -0.024_330_861_543_099_4,
    0.056_483_814_248_074_284,
    -0.062_075_439_788_550_11,
    0.054_079_534_761_369_54,
    -0.053_491_835_498_841_3,
    0.058_250_936_152_708_92,
    -0.062_668_816_587_387_82,
    0.066_737_450_575_873_44,
    -0.071_421_771_836_474_34,
    0.076_918_462_806_430_6,
    -0.083_333_419_091_078_15,
    0.090_909_265_202_274_76,
    -0.100_000_002_921_664_61,
    0.111_111_107_299_150_75,
    -0.124_999_999_882_545_34,
    0.142_857_142_902_272_9,
    -0.166_666_666_668_089_4,
    0.199_999_999_999_755_3,
    -0.249_999_999_999_994_37,
    0.333_333_333_333_333_7,
    -0.5,
];

/// (sin(2 pi y) / y - 2 pi) / y² in y², on |y| ≤ 1/8, likewise; 2^-66 of the sine.
const SIN: [f64; 7] = [
    -0.712_444_062_678_319_3,
    3.819_830_743_980_016_3,
    -15.094_641_279_579_799,
    42.058_693_937_805_7,
    -76.705_859_753_042_92,
    81.605_249_276_075_04,
    -41.341_702_240_399_76,
];

/// (cos(2 pi y) - 1) / y², likewise; 2^-62.
const COS: [f64; 7] = [
    -1.699_034_394_066_063_7,
    7.903_206_911_569_678,
    -26.426_253_275_854_723,
    60.244_641_352_702_01,
    -85.456_817_206_643_8,
    64.939_394_022_668_24,
    -19.739_208_802_178_716,
];

/// Numerators and denominators of Wichura's AS 241, the highest power first: of the middle, of tails, and of tails below e^-25.
const QUANTILE: [[[f64; 8]; 2]; 3] = [
    [
        [
            2_509.080_928_730_122_7,
            33_430.575_583_588_13,
            67_265.770_927_008_7,
            45_921.953_931_549_87,
            13_731.693_765_509_46,
            1_971.590_950_306_551_3,
            133.141_667_891_784_38,
            3.387_132_872_796_366_5,
        ],
        [
            5_226.495_278_852_854,
            28_729.085_735_721_943,
            39_307.895_800_092_71,
            21_213.794_301_586_597,
            5_394.196_021_424_751,
            687.187_007_492_057_9,
            42.313_330_701_600_91,
            1.0,
        ],
    ],
    [
        [
            0.000_774_545_014_278_341_4,
            0.022_723_844_989_269_184,
            0.241_780_725_177_450_6,
            1.270_458_252_452_368_4,
            3.647_848_324_763_204_5,
            5.769_497_221_460_691,
            4.630_337_846_156_546,
            1.423_437_110_749_683_5,
        ],
        [
            1.050_750_071_644_416_9e-9,
            0.000_547_593_808_499_534_5,
            0.015_198_666_563_616_457,
            0.148_103_976_427_480_08,
            0.689_767_334_985_1,
            1.676_384_830_183_803_8,
            2.053_191_626_637_759,
            1.0,
        ],
    ],
    [
        [
            2.010_334_399_292_288_1e-7,
            2.711_555_568_743_487_6e-5,
            0.001_242_660_947_388_078_4,
            0.026_532_189_526_576_124,
            0.296_560_571_828_504_87,
            1.784_826_539_917_291_3,
            5.463_784_911_164_114,
            6.657_904_643_501_103,
        ],
        [
            2.044_263_103_389_939_7e-15,
            1.421_511_758_316_446e-7,
            1.846_318_317_510_054_8e-5,
            0.000_786_869_131_145_613_3,
            0.014_875_361_290_850_615,
            0.136_929_880_922_735_8,
            0.599_832_206_555_888,
            1.0,
        ],
    ],
];

/// ln 2 in two numbers, of which the first has 33 bits.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
/// 2 pi in two numbers.
const TURN: [f64; 2] = [core::f64::consts::TAU, 2.449_293_598_294_706_4e-16];
/// Mantissas are taken from here, 0.7071, to its double.
const LOWEST: u64 = 0x3fe6_a090_0000_0000;

fn polynomial(x: Wide, highest_first: &[f64]) -> Wide {
    let (first, rest) = highest_first.split_first().map_or((0.0, &[][..]), |(first, rest)| (*first, rest));
    rest.iter().fold(first.into(), |sum: Wide, &c| sum.mul_add(x, c))
}

/// `(word + 1/2) 2^-64`, rounded: from 2^-65 to 1.
pub(super) fn above_zero((high, low): Words) -> Wide {
    high.cast::<f64>().mul_add(power64(-32), low.cast::<f64>().mul_add(power64(-64), power64(-65)))
}

/// The word as a signed one, as so much of a turn, from -1/2 to 1/2.
pub(super) fn turns((high, low): Words) -> Wide {
    high.bitcast::<i32>().cast::<f64>().mul_add(power64(-32), low.cast::<f64>() * power64(-64))
}

/// The natural logarithm of a normal number above zero: the reduction of Cody and Waite, as that of `f32` in [`numerics`](crate::numerics).
pub(super) fn ln(x: Wide) -> Wide {
    let bits = x.bitcast::<u64>();
    let k = ((bits - LOWEST).bitcast::<i64>() >> 52u32).cast::<i32>();
    let f = (bits - (k.cast::<i64>().bitcast::<u64>() << 52u32)).bitcast::<f64>() - 1.0;
    let k = k.cast::<f64>();
    let sum = k.mul_add(LN_2[0], f);
    let lost = f - (-k).mul_add(LN_2[0], sum);
    sum + f.mul_rn(f).mul_add(polynomial(f, &LOG), k.mul_add(LN_2[1], lost))
}

/// The sine of so much of a turn, from -1/2 to 1/2.
pub(super) fn sine_of_turns(t: Wide) -> Wide {
    // Beyond a quarter the difference to a half, and beyond an eighth the cosine of that to a quarter: both are exact.
    let size = t.abs();
    let y = size.min(0.5 - size);
    let far = y.gt(0.125);
    let x = select(far, 0.25 - y, y);
    let square = x.mul_rn(x);
    let rest = SIN.iter().zip(&COS).map(|(&sine, &cosine)| select(far, cosine, Wide::from(sine)));
    let rest = rest.reduce(|sum, c| sum.mul_add(square, c)).unwrap_or(square);
    let sine = x.mul_add(TURN[0], x.mul_rn(square.mul_add(rest, TURN[1])));
    let sine = select(far, square.mul_add(rest, 1.0), sine);
    select(t.lt(0.0), -sine, sine)
}

/// The standard normal quantile of `(word + 1/2) 2^-64`. The distance to the middle and that to the nearer end are both taken of the word, so that neither
/// loses digits.
pub(super) fn quantile((high, low): Words) -> Wide {
    let upper = high.ge(1u32 << 31);
    let end = above_zero((select(upper, !high, high), select(upper, !low, low)));
    let from_middle = turns((high ^ (1u32 << 31), low)) + power64(-65);
    let root = ln(end).abs().sqrt();
    let (near, tail) = (from_middle.abs().le(0.425), root.le(5.0));
    let x = select(near, 0.180_625 - from_middle.mul_rn(from_middle), root - select(tail, 1.6, 5.0));
    let [value, by] = [0, 1].map(|part| {
        let coefficient =
            |k: usize| select(near, QUANTILE[0][part][k], select(tail, Wide::from(QUANTILE[1][part][k]), QUANTILE[2][part][k]));
        (1..8).fold(coefficient(0), |sum, k| sum.mul_add(x, coefficient(k)))
    });
    let ratio = value / by;
    select(near, from_middle * ratio, select(upper, ratio, -ratio))
}

/// A draw with two parameters.
type Scaled = DrawsOf<(HostScalar<f64>, HostScalar<f64>), (Expr<f64>, Expr<f64>), Expr<f64>>;

/// A quarter of a turn.
const QUARTER: u32 = 1 << 30;

/// Box and Muller's pair: the first two words are a radius, the others an angle; the even element is the cosine's, the odd one the sine's.
fn box_muller(block: Block) -> Wide {
    let [a, b, c, d] = block.words();
    let radius = (ln(above_zero((a, b))).abs() * 2.0).sqrt();
    radius * sine_of_turns(turns((c + select(block.is_odd(), 0u32, QUARTER), d)))
}

impl Random {
    /// `n` normal numbers in `f64`, of two words each: as [`normal`](Self::normal) of pairs of words, and up to 9.5 deviations from the mean.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.map(Random::new(0).normal_f64(2, 0.0, 1.0), |x| x)?.read_blocking()?;
    /// assert!((x[0] + 0.121_517_975_953_081_36).abs() < 1e-15 && (x[1] + 1.350_032_659_857_655).abs() < 1e-15);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn normal_f64(self, n: u64, mean: f64, deviation: f64) -> Scaled {
        self.scaled_f64(n, mean, deviation, |(block, (mean, deviation))| box_muller(block).mul_add(deviation, mean))
    }

    /// The same by the quantile function: a monotone function of 64 bits, and up to 9.2 deviations from the mean.
    #[must_use]
    pub fn normal_by_quantile_f64(self, n: u64, mean: f64, deviation: f64) -> Scaled {
        self.scaled_f64(n, mean, deviation, |(block, (mean, deviation))| quantile(block.pair()).mul_add(deviation, mean))
    }

    /// `n` exponential numbers of this mean in `f64`, of two words each: up to 45.1 times the mean.
    #[must_use]
    pub fn exponential_f64(self, n: u64, mean: f64) -> DrawsOf<HostScalar<f64>, Expr<f64>, Expr<f64>> {
        let holds = mean.is_finite() && mean >= 0.0;
        let words = DrawnWords::new(self, n, Each::Two).require(holds, "mean", "it is negative or not finite");
        (words, scalar(mean)).map(|(block, mean)| ln(above_zero(block.pair())).abs().mul_rn(mean))
    }

    fn scaled_f64(self, n: u64, mean: f64, deviation: f64, f: fn((Block, (Wide, Wide))) -> Wide) -> Scaled {
        let holds = deviation.is_finite() && deviation >= 0.0;
        let words = DrawnWords::new(self, n, Each::Two).require(mean.is_finite(), "mean", "it is not finite").require(
            holds,
            "deviation",
            "it is negative or not finite",
        );
        (words, (scalar(mean), scalar(deviation))).map(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Evaluator, trace};

    fn function(f: impl FnOnce(Words) -> Wide) -> impl FnMut(u64) -> f64 {
        let traced = trace(f).expect("an operator");
        move |x| {
            let mut evaluator = Evaluator::new(&traced);
            evaluator.eval_one(&[x >> 32, x & 0xffff_ffff]);
            f64::from_bits(evaluator.result(0)[0])
        }
    }

    /// Uniform words, and those with ever more zeros before the first one.
    fn words(n: u64) -> impl Iterator<Item = u64> {
        let word = |k: u64| {
            let word = (k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        };
        (0..n).map(move |k| if k % 2 == 0 { word(k) } else { word(k) >> (k / 2 % 64) })
    }

    fn distance(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn logarithms_and_sines_are_within_a_unit_of_the_last_place() {
        let (mut unit, mut log, mut turn, mut sine) =
            (function(above_zero), function(|w| ln(above_zero(w))), function(turns), function(|w| sine_of_turns(turns(w))));
        for x in words(20_000).chain([0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 62, 3 << 62]) {
            // Rust's logarithm has an error of its own.
            let (u, t) = (unit(x), turn(x));
            assert!(u > 0.0 && u <= 1.0 && distance(log(x), u.ln()) <= 1, "{x:x}: {} of {u}", log(x));
            assert!((sine(x) - (t * core::f64::consts::TAU).sin()).abs() < 4e-16, "{x:x}: {} of {t}", sine(x));
        }
    }
    /// Of mpmath, with 300 bits.
    #[test]
    fn values_are_those_of_mpmath() {
        let known: [(u64, f64, f64, f64); 15] = [
            (0x0000_0000_0000_0000, 45.054_566_736_396_445, 0.0, -9.155_293_772_686_072),
            (0x0000_0000_0000_0001, 43.955_954_447_728_34, 3.406_121_580_086_554_5e-19, -9.035_918_848_571_939),
            (0x0000_0000_0000_3039, 34.940_372_652_649_79, 4.204_857_090_616_851e-15, -7.990_998_506_785_588),
            (0x0000_0100_0000_0000, 16.635_532_333_438_23, 3.745_070_282_923_841_3e-07, -5.294_704_084_854_515),
            (0x6c32_47d3_81df_2495, 0.861_229_271_955_970_5, 0.467_139_895_844_185_47, -0.195_138_604_728_479_6),
            (0xeab1_569b_7ed4_837c, 0.086_900_327_300_295_55, -0.499_445_956_893_612_6, 1.383_658_441_959_631_2),
            (0x97bc_d714_20a3_2ee3, 0.523_024_356_633_369_9, -0.550_205_028_693_682_5, 0.234_560_905_454_382_24),
            (0x1333_3333_3333_3333, 2.590_267_165_445_826_7, 0.453_990_499_739_546_8, -1.439_531_470_938_456),
            (0x7fff_ffff_ffff_ffff, core::f64::consts::LN_2, 3.406_121_580_086_554_5e-19, -6.794_229_552_421_306e-20),
            (0x8000_0000_0000_0000, core::f64::consts::LN_2, -4.932_425_739_284_2e-91, 6.794_229_552_421_306e-20),
            (0xff05_8924_3805_2b82, 0.003_829_103_454_007_520_3, -0.024_010_655_493_026_52, 2.667_421_971_683_803),
            (0x7be2_226c_1a8d_ecb1, 0.725_837_146_386_602_2, 0.100_866_269_544_191_13, -0.040_319_288_713_924_88),
            (0x6328_ff6b_c4f4_a400, 0.948_441_250_678_288_1, 0.650_191_513_120_110_7, -0.286_247_387_216_503_56),
            (0xffff_ffff_ffef_ffff, 5.684_344_596_586_394e-14, -3.571_580_748_082_419_4e-13, 7.423_939_748_863_402),
            (0xffff_ffff_ffff_ffff, 2.710_505_431_213_761e-20, -3.406_121_580_086_554_5e-19, 9.155_293_772_686_072),
        ];
        let (mut log, mut sine, mut normal) = (function(|w| ln(above_zero(w))), function(|w| sine_of_turns(turns(w))), function(quantile));
        for (x, of_log, of_sine, of_quantile) in known {
            // Of words near 2^64 the fraction is rounded to 1, of turns near a half to that.
            assert!((-log(x) - of_log).abs() <= of_log * 3e-16 + 1.2e-16, "{x:x}: {}", log(x));
            assert!((sine(x) - of_sine).abs() <= of_sine.abs() * 3e-16 + 2e-16, "{x:x}: {}", sine(x));
            assert!((normal(x) - of_quantile).abs() <= of_quantile.abs() * 1e-15, "{x:x}: {}", normal(x));
        }
    }
}
