//! Loops in operators: bounds that are reached or not, lanes that leave at different turns, states of every type, and loops in what patterns combine, order
//! and fuse.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::{DType, Element, Int, Num};
use isowarp::prelude::*;

type F = Expr<f32>;
type U = Expr<u32>;

/// Elements of most cases: several workgroups, and a last one that is not full.
const N: u64 = 5003;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for turns in [0, 1, 2, 100] {
        c.add(format!("loops/turns/u32/{turns}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, N, "x")?;
            let collatz = |x: U| next_while(x.ne(1), select((x & 1).eq(0), x >> 1, x * 3 + 1));
            d.map((&x, index()), move |(x, i)| {
                let counted = repeat(turns, (x >> 20, lit(0u32)), |(x, k)| next_while(x.ne(1), (x * 5, k + 1)));
                (repeat(turns, x >> 20, collatz), counted.1, repeat(turns, i, |i| next_until((i & 31).eq(7), i + 1)))
            })
        });
    }
    c.add("loops/mandelbrot/f32", |d| {
        d.generate(130 * 97, index(), |i| {
            let (re, im) = ((i % 130).cast::<f32>() * 0.023 - 2.2, (i / 130).cast::<f32>() * 0.025 - 1.2);
            mandelbrot(re, im)
        })
    });
    c.add("loops/conditions_with_nan/f32", |d| {
        let (x, y) = super::pairs::<B, f32>(d, Fill::Bits, N, "x")?;
        d.map((&x, &y), |(x, y)| {
            let below = repeat(9, x, |x| next_while(x.lt(y), x + x));
            let not_above = repeat(9, (x, lit(0u32)), |(x, k)| next_until(x.gt(y), (x * 0.5, k + 1)));
            let other = repeat(9, (x, lit(0u32)), |(x, k)| next_while(x.ne(y), (x - y, k + 1)));
            (below, not_above.1, other.1, repeat(3, (x, y), |(x, y)| next_until(x.is_nan(), (y, x))).0)
        })
    });
    c.add("loops/products_are_rounded/f32", |d| {
        let (x, y) = super::pairs::<B, f32>(d, Fill::Bits, N, "x")?;
        d.map((&x, &y), |(x, y)| {
            let carried = repeat(3, (x * y, y), |(p, y)| (p * x, p + y));
            (carried.0 + y, carried.1, repeat(0, x * y, |p| p) - y, repeat(2, x, |p| next_until(p.lt(0.0), -p * y)) - x)
        })
    });
    // Kernels of their own: too many to compile in the quick run's minute.
    c.quick(false);
    bodies(c);
    greatest_divisors::<B, u32>(c);
    greatest_divisors::<B, i32>(c);
    greatest_divisors::<B, u64>(c);
    greatest_divisors::<B, i64>(c);
    greatest_divisors::<B, u8>(c);
    greatest_divisors::<B, i8>(c);
    states(c);
    in_patterns(c);
}

/// Turns until z² + c has left the circle of radius 2, and the last z.
fn mandelbrot(re: F, im: F) -> (U, F, F) {
    repeat(64, (lit(0u32), lit(0f32), lit(0f32)), |(k, x, y)| {
        let (xx, yy) = (x * x, y * y);
        next_while((xx + yy).le(4.0), (k + 1, xx - yy + re, x * y * 2.0 + im))
    })
}

/// Philox4x32-10 of a counter of two words.
fn philox(low: U, high: U, key: (u32, u32)) -> [U; 4] {
    let mut x = [low, high, lit(0), lit(0)];
    for round in 0..10u32 {
        let (k0, k1) = (key.0.wrapping_add(round.wrapping_mul(0x9E37_79B9)), key.1.wrapping_add(round.wrapping_mul(0xBB67_AE85)));
        let (a, b) = (0xD251_1F53, 0xCD9E_8D57);
        x = [x[2].mul_hi(b) ^ x[1] ^ k0, x[2] * b, x[0].mul_hi(a) ^ x[3] ^ k1, x[0] * a];
    }
    x
}

/// A number from 0 up to 1, which it is not.
fn uniform(bits: U) -> F {
    (bits >> 8).cast::<f32>() * 5.960_464_5e-8
}

/// A normal draw by rejection: the polar method, each attempt with two words of its own.
fn normal(stream: U) -> (F, U) {
    let draw = |attempt: U| {
        let [a, b, ..] = philox(attempt, stream, (7, 9));
        (uniform(a) * 2.0 - 1.0, uniform(b) * 2.0 - 1.0)
    };
    let (x, s, attempts) = repeat(40, (lit(0f32), lit(2f32), lit(0u32)), |(_, _, attempt)| {
        let (x, y) = draw(attempt);
        let s = x * x + y * y;
        next_until(s.lt(1.0) & s.gt(0.0), (x, s, attempt + 1))
    });
    (x * (s.ln() * -2.0 / s).sqrt(), attempts)
}

fn bodies<B: Target>(c: &mut Cases<B>) {
    c.add("loops/rejection/normal", |d| d.generate(N, index(), normal));
    c.add("loops/sequential_search/poisson", |d| {
        d.generate(N, index(), |i| {
            let u = uniform(philox(i, lit(0), (1, 2))[0]);
            let (k, p, _) = repeat(60, (lit(0u32), lit((-4f32).exp()), lit((-4f32).exp())), |(k, p, sum)| {
                let next = p * 4.0 / (k + 1).cast::<f32>();
                next_while(sum.le(u), (k + 1, next, sum + next))
            });
            (k, p)
        })
    });
    c.add("loops/walk/252", |d| {
        d.generate(300, index(), |i| {
            repeat(252, (lit(0u32), lit(100f32), lit(0f32)), |(day, price, highest)| {
                let [a, b, ..] = philox(day, i, (3, 4));
                let radius = ((uniform(a) + 5.960_464_5e-8).ln() * -2.0).sqrt();
                let next = price * (radius * (uniform(b) * 6.283_185_5).cos() * 0.0126 + 0.0001).exp();
                (day + 1, next, highest.max(next))
            })
        })
    });
    c.add("loops/functions/f32", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Bits, N, "x")?, input::<B, f32>(d, Fill::Wide, N, "y")?);
        d.map((&x, &y), |(x, y)| {
            let turn = |(a, b): (F, F)| next_while(a.abs().gt(0.01), (a.abs().ln() + b.sin(), (-a).exp() + b.sqrt()));
            (repeat(5, (x, y), turn), repeat(4, x.abs().min(9.0), |a| next_until(a.lt(0.1), a.tanh().powf(y.abs()))))
        })
    });
    c.add("loops/nested/u32", |d| {
        let x = input::<B, u32>(d, Fill::Plain, N, "x")?;
        d.map((&x, index()), |(x, i)| {
            // The number of the next prime, by trial division in a loop in a loop.
            let is_prime = |n: U| {
                let last = repeat(40, lit(2u32), |k| next_while((k * k).le(n) & (n % k).ne(0), k + 1));
                (last * last).gt(n)
            };
            let prime = repeat(30, (x >> 22) + 2, |n| next_while(!is_prime(n), n + 1));
            let thrice =
                repeat(3, (i, x), |(a, x)| repeat(4, (a, x), |(a, x)| repeat(2, (a, x), |(a, x)| next_while((a ^ x).ne(5), (x, a + 1)))));
            (prime, thrice)
        })
    });
    c.add("loops/two_and_branches/f32", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Wide, N, "x")?, input::<B, u32>(d, Fill::Plain, N, "y")?);
        d.map((&x, &y), |(x, y)| {
            let small = repeat(200, (x, lit(0u32)), |(x, k)| next_while(x.abs().gt(2.0), (x * 0.25, k + 1)));
            let back = repeat(200, (small.0, small.1), |(x, k)| next_while(k.ne(0), (x * 4.0, k - 1)));
            let either = branch(
                y.lt(1 << 30),
                || repeat(9, y, |y| next_until((y & 3).eq(0), (y >> 1) + 1)).cast::<f32>(),
                || repeat(5, (x, y), |(x, y)| (branch((y & 1).eq(0), || x + 1.0, || repeat(3, x, |x| x * 0.5)), y >> 1)).0,
            );
            (small.1, back.0, either, repeat(7, either, |v| next_while(v.gt(1.0), (v - 1.0).sqrt())))
        })
    });
    c.add("loops/fetches/u32", |d| {
        let x = input::<B, u32>(d, Fill::Sorted, 1000, "x")?;
        let wanted = input::<B, u32>(d, Fill::Sorted, N, "wanted")?;
        let next = d.generate(777, index(), |i| (i * 311 + 5) % 800)?;
        d.map((array(&x), array(&next), &wanted, index()), |(x, next, wanted, i)| {
            let (found, _) = repeat(11, (lit(0u32), lit(1000u32)), |(low, high)| {
                let middle = (low + high) >> 1;
                let right = x.at(middle).lt(wanted);
                next_while(low.lt(high), (select(right, middle + 1, low), select(right, high, middle)))
            });
            (found, repeat(50, i % 777, |at| next_while(at.gt(3), next.at(at))))
        })
    });
}

/// Euclid's algorithm, whose carried values change places.
fn gcd<T: Int + Num>(a: Expr<T>, b: Expr<T>) -> Expr<T> {
    repeat(100, (a, b), |(a, b)| next_while(b.ne(T::from_bits64(0)), (b, a % b))).0
}

fn greatest_divisors<B: Target, T: Element<Reg: Int + Num>>(c: &mut Cases<B>) {
    c.add(format!("loops/gcd/{}", T::DTYPE), |d| {
        let (x, y) = super::pairs::<B, T>(d, Fill::Bits, N, "x")?;
        d.map((&x, &y), |(x, y)| gcd(x, y).store_as::<T>())
    })
    .needs(&[T::DTYPE]);
}

/// States of several types at once.
fn states<B: Target>(c: &mut Cases<B>) {
    c.add("loops/state/six_types", |d| {
        let (x, y) = (input::<B, f64>(d, Fill::Bits, N, "x")?, input::<B, i64>(d, Fill::Bits, N, "y")?);
        d.map((&x, &y, index()), |(x, y, i)| {
            let first = (x, y, y.bitcast::<u64>(), x.cast::<f32>(), i.cast::<i32>(), (i & 1).eq(0));
            let (a, b, c, d, e, odd) = repeat(12, first, |(a, b, c, d, e, odd)| {
                let next = (a * 0.5 + b.cast::<f64>(), b - (c >> 3u32).cast::<i64>(), c ^ (c << 7u32), d + a.cast::<f32>(), e - 77, !odd);
                next_until(next.0.abs().lt(1e3) | (next.4.lt(0) & odd), next)
            });
            (a, b, c, (d, e, odd.cast::<u32>()).0 + e.cast::<f32>() + odd.cast::<f32>())
        })
    })
    .needs(&[DType::F64, DType::I64, DType::U64]);
    c.add("loops/state/newton/f64", |d| {
        let x = input::<B, f64>(d, Fill::Bits, N, "x")?;
        d.map(&x, |x| {
            let root = repeat(64, (x.abs(), lit(0u32)), |(y, k)| {
                let next = (y + x.abs() / y) * 0.5;
                next_until((next.eq(y)) | next.is_nan(), (next, k + 1))
            });
            (root.0, root.1, repeat(20, x, |x| x * 1.5 - x.floor()))
        })
    })
    .needs(&[DType::F64]);
    c.add("loops/state/f16", |d| {
        let (x, y) = super::pairs::<B, f16>(d, Fill::Bits, N, "x")?;
        d.map((&x, &y), |(x, y)| repeat(9, (x, y), |(x, y)| next_while(x.gt(0.5), (y, x * 0.75))).0.store_as::<f16>())
    })
    .needs(&[DType::F16]);
    c.add("loops/state/truths", |d| {
        let x = input::<B, u32>(d, Fill::Plain, N, "x")?;
        d.map(&x, |x| {
            let bit = |k: u32| (x >> k & 1).ne(0);
            let (a, b, c, k) = repeat(33, (bit(0), bit(1), bit(2), lit(0u32)), |(a, b, c, k)| {
                next_until(a & b & c, (b, c, a ^ (x >> k & 1).ne(0), k + 1))
            });
            (a | b | c, k)
        })
    });
}

fn in_patterns<B: Target>(c: &mut Cases<B>) {
    let popcount = |x: U| repeat(32, (x, lit(0u32)), |(x, n)| next_while(x.ne(0), (x & (x - 1), n + 1))).1;
    for n in [0, 1, 33, 8193, 100_003] {
        c.add(format!("loops/reduce/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            let even = d.reduce(x.map(|x| x & !1), Op::associative(0, gcd)).run()?;
            Ok((even, d.reduce(x.map(popcount), Sum).run()?, d.reduce(counting(n).map(|i| normal(i).0), Sum).run()?))
        });
        c.add(format!("loops/scan/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            let divisors = d.scan(x.map(|x| (x >> 9) * 720), Op::associative(0, gcd)).run()?;
            Ok((divisors, d.scan(x.map(popcount), Sum).exclusive().run()?))
        });
        c.add(format!("loops/select/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            let kept = d.select(&x, move |x| popcount(x).gt(17)).run()?;
            kept.values.slice(..kept.len_blocking()?)
        });
        c.add(format!("loops/select/index/n={n}"), move |d| {
            let inside = |i: U| mandelbrot((i & 255).cast::<f32>() * 0.01 - 2.0, (i >> 8).cast::<f32>() * 0.01 - 1.0).0.eq(64);
            let kept = d.select(counting(n), inside).run()?;
            kept.values.slice(..kept.len_blocking()?)
        });
        c.add(format!("loops/sort/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            let keys = d.sort(x.map(popcount)).with_indices().run()?;
            Ok((keys, d.sort(&x).by(move |a, b| popcount(a).lt(popcount(b))).run()?))
        });
    }
}
