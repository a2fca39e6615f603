//! The definition of a transform: levels of butterflies, every product and sum rounded by itself.

use super::FftScalar;

type Pair<T> = [T; 2];

fn add<T: FftScalar>(a: Pair<T>, b: Pair<T>) -> Pair<T> {
    [a[0] + b[0], a[1] + b[1]]
}

fn sub<T: FftScalar>(a: Pair<T>, b: Pair<T>) -> Pair<T> {
    [a[0] - b[0], a[1] - b[1]]
}

/// `a - i b`.
fn sub_turned<T: FftScalar>(a: Pair<T>, b: Pair<T>) -> Pair<T> {
    [a[0] + b[1], a[1] - b[0]]
}

/// `a + i b`.
fn add_turned<T: FftScalar>(a: Pair<T>, b: Pair<T>) -> Pair<T> {
    [a[0] - b[1], a[1] + b[0]]
}

fn scale<T: FftScalar>(by: f64, a: Pair<T>) -> Pair<T> {
    let by = T::rounded(by);
    [by * a[0], by * a[1]]
}

/// The product of two complex numbers.
pub(super) fn mul<T: FftScalar>(a: Pair<T>, b: Pair<T>) -> Pair<T> {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// Cosines of 2 pi k / n, for n of 3, 5 and 7, and sines: those of their kernels too.
mod constants {
    pub(super) const S3: f64 = 0.866_025_403_784_438_6;
    pub(super) const C5: [f64; 2] = [0.309_016_994_374_947_45, -0.809_016_994_374_947_5];
    pub(super) const S5: [f64; 2] = [0.951_056_516_295_153_5, 0.587_785_252_292_473_1];
    pub(super) const C7: [f64; 3] = [0.623_489_801_858_733_5, -0.222_520_933_956_314_4, -0.900_968_867_902_419_1];
    pub(super) const S7: [f64; 3] = [0.781_831_482_468_029_8, 0.974_927_912_181_823_6, 0.433_883_739_117_558_1];
}

/// A butterfly: its points become their transform.
fn butterfly<T: FftScalar>(a: &mut [Pair<T>]) {
    use constants::{C5, C7, S3, S5, S7};
    match *a {
        [x, y] => a.copy_from_slice(&[add(x, y), sub(x, y)]),
        [x, y, z] => {
            let (s, d) = (add(y, z), sub(y, z));
            let (m, e) = (add(x, scale(-0.5, s)), scale(S3, d));
            a.copy_from_slice(&[add(x, s), sub_turned(m, e), add_turned(m, e)]);
        }
        [x, y, z, w] => {
            let (s, d, t, e) = (add(x, z), sub(x, z), add(y, w), sub(y, w));
            a.copy_from_slice(&[add(s, t), sub_turned(d, e), sub(s, t), add_turned(d, e)]);
        }
        [x, a1, a2, a3, a4] => {
            let (s1, d1, s2, d2) = (add(a1, a4), sub(a1, a4), add(a2, a3), sub(a2, a3));
            let m1 = add(add(x, scale(C5[0], s1)), scale(C5[1], s2));
            let m2 = add(add(x, scale(C5[1], s1)), scale(C5[0], s2));
            let e1 = add(scale(S5[0], d1), scale(S5[1], d2));
            let e2 = sub(scale(S5[1], d1), scale(S5[0], d2));
            a.copy_from_slice(&[add(add(x, s1), s2), sub_turned(m1, e1), sub_turned(m2, e2), add_turned(m2, e2), add_turned(m1, e1)]);
        }
        [x, a1, a2, a3, a4, a5, a6] => {
            let (s1, s2, s3) = (add(a1, a6), add(a2, a5), add(a3, a4));
            let (d1, d2, d3) = (sub(a1, a6), sub(a2, a5), sub(a3, a4));
            let m = |c1, c2, c3| add(add(add(x, scale(c1, s1)), scale(c2, s2)), scale(c3, s3));
            let (m1, m2, m3) = (m(C7[0], C7[1], C7[2]), m(C7[1], C7[2], C7[0]), m(C7[2], C7[0], C7[1]));
            let e1 = add(add(scale(S7[0], d1), scale(S7[1], d2)), scale(S7[2], d3));
            let e2 = sub(sub(scale(S7[1], d1), scale(S7[2], d2)), scale(S7[0], d3));
            let e3 = add(sub(scale(S7[2], d1), scale(S7[0], d2)), scale(S7[1], d3));
            a.copy_from_slice(&[
                add(add(add(x, s1), s2), s3),
                sub_turned(m1, e1),
                sub_turned(m2, e2),
                sub_turned(m3, e3),
                add_turned(m3, e3),
                add_turned(m2, e2),
                add_turned(m1, e1),
            ]);
        }
        _ => {}
    }
}

/// Transforms a line of as many points as the table is of. Both vectors are as long; the result is in the first one.
#[doc(hidden)]
pub fn transform<T: FftScalar>(radices: &[u32], table: &[T], x: &mut Vec<[T; 2]>, y: &mut Vec<[T; 2]>) {
    let (n, mut l) = (x.len(), 1);
    for &radix in radices {
        let r = radix as usize;
        let of = n / r;
        let mut a = [[T::rounded(0.0); 2]; 7];
        let a = &mut a[..r];
        for i in 0..of {
            let k = i % l;
            for (j, a) in a.iter_mut().enumerate() {
                *a = x[i + j * of];
                if j > 0 && l > 1 {
                    let t = 2 * (j * l + k);
                    *a = mul(*a, [table[t], table[t + 1]]);
                }
            }
            butterfly(a);
            let to = (i - k) * r + k;
            for (j, &a) in a.iter().enumerate() {
                y[to + j * l] = a;
            }
        }
        std::mem::swap(x, y);
        l *= r;
    }
}
