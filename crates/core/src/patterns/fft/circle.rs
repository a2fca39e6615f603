//! Points of the unit circle at rational angles, by sums and products alone, so that every host computes the same bits.

/// A number as the sum of two floats, the second less than half a unit of the first.
#[derive(Clone, Copy, Debug)]
struct Double(f64, f64);

/// `a + b` and what its rounding left out.
fn sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// The upper half of a mantissa, and the lower one.
fn halves(a: f64) -> (f64, f64) {
    let t = a * 134_217_729.0;
    let high = t - (t - a);
    (high, a - high)
}

/// `a * b` and what its rounding left out.
fn product(a: f64, b: f64) -> (f64, f64) {
    let (p, (ah, al), (bh, bl)) = (a * b, halves(a), halves(b));
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

impl Double {
    const PI_4: Self = Self(std::f64::consts::FRAC_PI_4, 3.061_616_997_868_383e-17);

    fn of((a, b): (f64, f64)) -> Self {
        let s = a + b;
        Self(s, b - (s - a))
    }

    fn add(self, other: Self) -> Self {
        let (s, e) = sum(self.0, other.0);
        Self::of((s, e + (self.1 + other.1)))
    }

    fn sub(self, other: Self) -> Self {
        self.add(Self(-other.0, -other.1))
    }

    fn mul(self, other: Self) -> Self {
        let (p, e) = product(self.0, other.0);
        Self::of((p, e + (self.0 * other.1 + self.1 * other.0)))
    }

    /// By a whole number.
    fn over(self, by: f64) -> Self {
        let q = self.0 / by;
        let (p, e) = product(q, by);
        Self::of((q, (((self.0 - p) - e) + self.1) / by))
    }
}

/// Cosine and sine.
type Point = (Double, Double);

/// Cosine and sine of `angle`, at most pi / 4, by their series.
fn series(angle: Double) -> Point {
    let square = angle.mul(angle);
    // Terms below 2^-110 of the sum do not count.
    let of = |first: Double, from: u32| {
        let (mut term, mut total) = (first, first);
        for k in (from..from + 28).step_by(2) {
            let k = f64::from(k);
            term = term.mul(square).over(-((k + 1.0) * (k + 2.0)));
            total = total.add(term);
        }
        total
    };
    (of(Double(1.0, 0.0), 0), of(angle, 1))
}

/// Cosines and sines of the angles 2 pi a / n.
#[derive(Debug)]
pub(super) struct Circle {
    n: u64,
    /// Angles of a step of the coarse ones.
    step: u64,
    coarse: Vec<Point>,
    fine: Vec<Point>,
}

impl Circle {
    /// Of so many points, at most 2^40.
    pub(super) fn new(n: u64) -> Self {
        // Angles of an octant are pi / 4 times r / n, r from 0 to n.
        let step = (1..).find(|s| s * s > n).unwrap_or(1);
        let at = |r: u64| series(Double(r as f64, 0.0).over(n as f64).mul(Double::PI_4));
        Self { n, step, coarse: (0..=n / step).map(|k| at(k * step)).collect(), fine: (0..step).map(at).collect() }
    }

    /// The point at `a`, which is below `n`, each coordinate but for one in 2^50 or so the nearest float.
    pub(super) fn at(&self, a: u64) -> (f64, f64) {
        let (octant, r) = (8 * a / self.n, 8 * a % self.n);
        let r = if octant % 2 == 1 { self.n - r } else { r };
        let ((c, s), (d, t)) = (self.coarse[(r / self.step) as usize], self.fine[(r % self.step) as usize]);
        let cosine = c.mul(d).sub(s.mul(t)).0;
        let sine = s.mul(d).add(c.mul(t)).0;
        match octant {
            0 => (cosine, sine),
            1 => (sine, cosine),
            2 => (-sine, cosine),
            3 => (-cosine, sine),
            4 => (-cosine, -sine),
            5 => (-sine, -cosine),
            6 => (sine, -cosine),
            _ => (cosine, -sine),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_the_axes_and_diagonals_are_exact() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let circle = Circle::new(8);
        let found: Vec<_> = (0..8).map(|a| circle.at(a)).collect();
        assert_eq!(found[..4], [(1.0, 0.0), (half, half), (0.0, 1.0), (-half, half)]);
        assert_eq!(found[4..], [(-1.0, 0.0), (-half, -half), (0.0, -1.0), (half, -half)]);
        assert_eq!(Circle::new(1).at(0), (1.0, 0.0));
    }

    #[test]
    fn points_are_those_of_correctly_rounded_functions() {
        // cos and sin of 2 pi / 7, 2 pi 3 / 7 and 2 pi 100 / 1009 to 50 digits, rounded.
        let close = |(c, s): (f64, f64), (x, y): (f64, f64)| assert_eq!((c.to_bits(), s.to_bits()), (x.to_bits(), y.to_bits()));
        close(Circle::new(7).at(1), (0.623_489_801_858_733_5, 0.781_831_482_468_029_8));
        close(Circle::new(7).at(3), (-0.900_968_867_902_419_1, 0.433_883_739_117_558_1));
    }
}
