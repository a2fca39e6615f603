//! Loops: what they compute, against plain Rust; how graphs hold them; what is refused; and that nothing takes a carried value for its first one.

#![allow(clippy::redundant_closure_for_method_calls, reason = "what a loop does stands in its closure")]

use isowarp_core::caps::Numerics;
use isowarp_core::ir::{
    Evaluator, Expr, Func, Node, OpError, Operations, Ptx, PtxValue, WgslFma, WgslOptions, branch, cuda_function, lit, next_until,
    next_while, repeat, select, trace, wgsl_function, wgsl_function_4,
};
use isowarp_core::numerics::Func as Elementary;
use std::cell::Cell;
use std::collections::BTreeSet;

type F = Expr<f32>;
type U = Expr<u32>;

fn eval(f: &Func, args: &[u64]) -> Vec<u64> {
    let mut e = Evaluator::new(f);
    e.eval_one(args);
    (0..f.results.len()).map(|k| e.result(k)[0]).collect()
}

fn bits(v: f32) -> u64 {
    v.to_bits().into()
}

fn loops(f: &Func) -> usize {
    f.nodes.iter().filter(|n| matches!(n, Node::Loop { .. })).count()
}

#[test]
fn a_loop_ends_where_its_condition_says_and_at_its_bound() {
    let counted =
        |turns: u32| trace(move |n: U| repeat(turns, (lit(0u32), lit(1u32)), |(k, x)| next_while(k.lt(n), (k + 1, x * 3)))).unwrap();
    for turns in [0, 1, 2, 10, 1000] {
        for n in [0u32, 1, 2, 9, 10, 11, 999, 1000, 5000] {
            let k = turns.min(n);
            assert_eq!(eval(&counted(turns), &[n.into()]), [k.into(), 3u32.wrapping_pow(k).into()], "{turns} turns, {n} wanted");
        }
    }
    // The last state of `next_until` is that of the turn which was the last; of a loop without a condition, that of its bound.
    let until = |turns: u32| trace(move |n: U| repeat(turns, lit(0u32), |k| next_until((k + 1).ge(n), k + 1))).unwrap();
    let fixed = |turns: u32| trace(move |n: U| repeat(turns, n, |k| k + 1)).unwrap();
    for (turns, n, k) in [(0, 5, 0), (1, 5, 1), (9, 5, 5), (9, 0, 1), (9, 9, 9), (9, 10, 9)] {
        assert_eq!(eval(&until(turns), &[n]), [k], "{turns} turns until {n}");
        assert_eq!(eval(&fixed(turns), &[n]), [n + u64::from(turns)]);
    }
}

/// Of a turn that is none only the condition is computed, whatever block or product it needs.
#[test]
fn a_loop_is_left_before_what_its_condition_does_not_need() {
    let f = trace(|(x, limit): (U, U)| {
        repeat(30, x, |x| {
            let near = branch((x & 1).ne(0), || x * 5, || x + 1);
            next_while(near.lt(limit), (x ^ 0xabc).mul_hi(0xcd9e_8d57) + near)
        })
    })
    .unwrap();
    let ptx = {
        let mut p = Ptx::new(Numerics::Strict, "zero");
        let args: Vec<PtxValue> = (0..2).map(|_| p.fresh(isowarp_core::element::Ty::U32)).collect();
        p.call_lanes(&f, &[args.clone(), args], &mut |p, _| p.constant(isowarp_core::element::Ty::U32, 0));
        p.finish()
    };
    let options = WgslOptions { fma: WgslFma::Native, numerics: Numerics::Strict, repairs: Operations::NONE };
    let wgsl =
        [wgsl_function(&f, "op", options, &mut BTreeSet::new()), wgsl_function_4(&f, "op", options, (&[], &[]), &mut BTreeSet::new())];
    for (text, needed, leaves, rest) in
        [(&ptx, "mul.lo", "@!", "mul.hi"), (&wgsl[0], "* 5u", "break", "mul_hi"), (&wgsl[1], "(5u)", "break", "mul_hi")]
    {
        let at = |part: &str| {
            text.rfind(part).unwrap_or_else(|| {
                panic!(
                    "no {part}:
{text}"
                )
            })
        };
        assert!(at(needed) < at(leaves) && at(leaves) < at(rest), "{text}");
    }
    // The turns compute what a plain loop does.
    let plain = |mut x: u32, limit: u32| {
        for _ in 0..30 {
            let near = if x & 1 == 1 { x.wrapping_mul(5) } else { x.wrapping_add(1) };
            if near >= limit {
                break;
            }
            x = ((u64::from(x ^ 0xabc) * 0xcd9e_8d57) >> 32) as u32;
            x = x.wrapping_add(near);
        }
        x
    };
    for (x, limit) in [(0u32, 1u32), (1, 4), (7, 1 << 20), (u32::MAX, 9), (12, u32::MAX), (5, 26)] {
        assert_eq!(eval(&f, &[x.into(), limit.into()]), [u64::from(plain(x, limit))], "{x} below {limit}");
    }
}

#[test]
fn every_lane_leaves_at_a_turn_of_its_own() {
    let f = trace(|n: U| {
        let (steps, end) =
            repeat(150, (lit(0u32), n), |(k, x)| next_while(x.ne(1), (k + 1, branch((x & 1).eq(0), || x >> 1, || x * 3 + 1))));
        (steps, end, repeat(9, n, |x| repeat(7, x, |x| next_until((x & 7).eq(0), x + 1)) + 3))
    })
    .unwrap();
    let mut e = Evaluator::new(&f);
    e.eval(100, |_, out| out.iter_mut().zip(1..).for_each(|(o, n)| *o = n), |_, _| 0);
    for (lane, n) in (1..=100u32).enumerate() {
        let (mut x, mut k) = (n, 0);
        while x != 1 && k < 150 {
            x = if x.is_multiple_of(2) { x / 2 } else { x * 3 + 1 };
            k += 1;
        }
        let mut y = n;
        for _ in 0..9 {
            for _ in 0..7 {
                y += 1;
                if (y - 1) % 8 == 0 {
                    break;
                }
            }
            y += 3;
        }
        let found = [0, 1, 2].map(|r| e.result(r)[lane]);
        assert_eq!(found, [k, x, y].map(u64::from), "{n}");
    }
}

#[test]
fn mandelbrot_and_newton_are_those_of_plain_rust() {
    let f = trace(|(re, im): (F, F)| {
        repeat(256, (lit(0u32), lit(0f32), lit(0f32)), |(k, x, y)| {
            let (xx, yy) = (x * x, y * y);
            next_while((xx + yy).le(4.0), (k + 1, xx - yy + re, x * y * 2.0 + im))
        })
    })
    .unwrap();
    for i in 0..2000u16 {
        let (re, im) = (f32::from(i % 50) * 0.06 - 2.2, f32::from(i / 50) * 0.06 - 1.2);
        let (mut k, mut x, mut y) = (0u32, 0f32, 0f32);
        while k < 256 && x * x + y * y <= 4.0 {
            // Two products are rounded, and their difference is no product to the sum.
            let square = x * x - y * y + re;
            y = (x * y).mul_add(2.0, im);
            x = square;
            k += 1;
        }
        assert_eq!(eval(&f, &[bits(re), bits(im)]), [k.into(), bits(x), bits(y)], "{re} + {im} i");
    }
    let root = trace(|x: Expr<f64>| {
        repeat(64, x, |y| {
            let next = (y + x / y) * 0.5;
            next_until(next.eq(y), next)
        })
    })
    .unwrap();
    for x in [1.0, 2.0, 1e6, 1.44e-3] {
        let mut y: f64 = x;
        for _ in 0..64 {
            let next = (y + x / y) * 0.5;
            let done = next == y;
            y = next;
            if done {
                break;
            }
        }
        assert_eq!(eval(&root, &[x.to_bits()]), [y.to_bits()]);
    }
}

#[test]
fn a_condition_that_compares_nan_ends_or_does_not_as_the_comparison_says() {
    let counted = |cond: fn(F, F) -> Expr<bool>| {
        let turns = trace(move |(x, y): (F, F)| {
            let before = repeat(5, lit(0u32), |k| next_while(cond(x, y), k + 1));
            (before, repeat(5, lit(0u32), |k| next_until(cond(x, y), k + 1)))
        });
        let found = eval(&turns.unwrap(), &[bits(f32::NAN), bits(1.0)]);
        (found[0], found[1])
    };
    assert_eq!(counted(|x, y| x.lt(y)), (0, 5));
    assert_eq!(counted(|x, y| x.ge(y)), (0, 5));
    assert_eq!(counted(|x, y| x.ne(y)), (5, 1));
}

#[test]
fn what_is_carried_is_no_constant_and_no_product() {
    // The first value is known, that of the next turn is not.
    let f = trace(|x: U| repeat(3, (lit(0u32), lit(true)), |(k, on)| (select(on, k + x, k * 2), on & x.ne(5)))).unwrap();
    assert_eq!((loops(&f), eval(&f, &[5])[0], eval(&f, &[4])[0]), (1, 20, 12));
    assert_eq!(f.greatest(0, |_| 1), u32::MAX.into(), "bounds of first values are none of later ones");
    // A product that comes round is rounded; so is the first one, with turns and without.
    let (x, y, z) = (1.000_000_1_f32, 3.3_f32, -0.7_f32);
    let args = [bits(x), bits(y), bits(z)];
    for turns in 0..3 {
        let f = trace(move |(x, y, z): (F, F, F)| repeat(turns, x * y, |p| p * y) + z).unwrap();
        assert!(!f.any(|n, _| matches!(n, Node::Fma(..))), "{f:?}");
        let p = (0..turns).fold(x * y, |p, _| p * y);
        assert_eq!(eval(&f, &args), [bits(p + z)]);
    }
    let open = trace(|(x, y): (F, F)| repeat(2, x, |p| p * y + (p + 1.0))).unwrap();
    assert!(!open.has_open_product());
    for f in [
        trace(|(x, y): (F, F)| repeat(2, (x, y), |(p, q)| (q * q, p + 1.0)).1),
        trace(|(x, y): (F, F)| repeat(2, x * x, |p| p + y)),
        trace(|(x, y): (F, F)| repeat(2, x, |p| p * y) + y),
    ] {
        assert!(f.unwrap().has_open_product(), "a product in one turn, a sum in the next");
    }
    // Functions of constants are folded, those of carried values are not.
    let f = trace(|_: F| repeat(2, lit(1f32), |x| x.exp() + lit(1f32).exp())).unwrap();
    assert_eq!(f.nodes.iter().filter(|n| matches!(n, Node::Call1(Elementary::Exp, _))).count(), 1);
}

#[test]
fn states_change_all_at_once() {
    let f = trace(|(a, b): (U, U)| repeat(10, (a, b), |(a, b)| (b, a + b)).0).unwrap();
    assert_eq!(eval(&f, &[0, 1]), [55]);
    let f = trace(|(a, b, c): (U, U, Expr<bool>)| {
        let ((a, b), (c, d, e)) = repeat(5, ((a, b), (c, !c, lit(7i64))), |((a, b), (c, d, e))| ((b, a), (d, c, e * 2)));
        (a, b, (c, d, e))
    })
    .unwrap();
    assert_eq!(eval(&f, &[3, 4, 1]), [4, 3, 0, 1, 7 << 5]);
    let six = trace(|x: U| repeat(3, (x, x, x, x, x, x), |(a, b, c, d, e, f)| (f, a, b, c + 1, d, e)).3).unwrap();
    assert_eq!(eval(&six, &[9]), [10]);
}

#[test]
fn what_no_result_needs_is_removed() {
    let f = trace(|x: F| {
        let _ = repeat(9, x, |x| x.exp());
        repeat(9, (x, x, lit(0u32)), |(x, y, k)| next_while(k.lt(4), (x + 1.0, y.sin(), k + 1))).0
    })
    .unwrap();
    assert_eq!((loops(&f), f.any(|n, _| matches!(n, Node::Call1(..)))), (1, false));
    assert_eq!(f.nodes.iter().filter(|n| matches!(n, Node::Carried { .. })).count(), 2, "the counter is needed for the condition");
    assert_eq!(eval(&f, &[bits(1.0)]), [bits(5.0)]);
    assert_eq!(loops(&trace(|x: F| repeat(0, x, |_| -> F { panic!("no turn, no trace") })).unwrap()), 0);
}

#[test]
fn values_of_a_turn_are_of_no_use_outside() {
    let kept = Cell::new(None);
    let leaked = trace(|x: F| {
        let y = repeat(3, x, |x| {
            kept.set(Some(x + 1.0));
            x * 2.0
        });
        y + kept.get().unwrap()
    });
    assert_eq!(leaked, Err(OpError::ForeignValue));
    // The same expression after the loop is computed again.
    let f = trace(|x: F| repeat(1, x, |y| y + (x + 7.0)) + (x + 7.0)).unwrap();
    assert_eq!(eval(&f, &[bits(1.0)]), [bits(17.0)]);
}

#[test]
fn hashes_tell_loops_apart() {
    let of = |turns: u32, f: fn(U) -> isowarp_core::ir::Turn<U>| trace(move |x: U| repeat(turns, x, f)).unwrap().hash128();
    let all = [
        of(3, |x| next_while(x.lt(9), x + 1)),
        of(4, |x| next_while(x.lt(9), x + 1)),
        of(3, |x| next_until(x.lt(9), x + 1)),
        of(3, |x| next_until(x.lt(8), x + 1)),
        of(3, |x| (x + 1).into()),
    ];
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert_eq!(all[0], of(3, |x| next_while(x.lt(9), x + 1)));
}

#[test]
fn labels_and_names_of_copies_are_their_own() {
    let f = trace(|(x, y): (F, U)| {
        let inner = repeat(3, x, |x| next_while(repeat(2, x, |x| next_until(x.gt(y.cast::<f32>()), x * 1.5)).lt(9.0), x + 1.0));
        (inner, repeat(4, y, |y| next_while(y.ne(1), select((y & 1).eq(0), y >> 1, y * 3))))
    })
    .unwrap();
    for lanes in [1, 4] {
        let mut p = Ptx::new(Numerics::Strict, "zero");
        let reg = |k: usize, ty| PtxValue { reg: format!("%p{k}"), ty };
        let args: Vec<Vec<PtxValue>> = (0..lanes).map(|l| vec![reg(2 * l, f.types[0]), reg(2 * l + 1, f.types[1])]).collect();
        for _ in 0..2 {
            assert_eq!(p.call_lanes(&f, &args, &mut |p, _| p.constant(f.types[0], 0)).len(), lanes);
        }
        let text = p.finish();
        let labels: Vec<&str> = text.lines().filter_map(|l| l.strip_suffix(':')).collect();
        assert_eq!((labels.len(), labels.iter().collect::<BTreeSet<_>>().len()), (10, 10), "{text}");
        assert_eq!(text.lines().filter(|l| l.contains("bra $")).count(), 10, "{text}");
    }
    let options = WgslOptions { fma: WgslFma::Native, numerics: Numerics::Strict, repairs: Operations::NONE };
    for text in
        [wgsl_function(&f, "op", options, &mut BTreeSet::new()), wgsl_function_4(&f, "op", options, (&[], &[]), &mut BTreeSet::new())]
    {
        assert_eq!((text.matches("for (var t").count(), text.matches("{ break; }").count()), (3, 3), "{text}");
    }
    assert_eq!(cuda_function(&f, "op").matches("for (unsigned int t").count(), 3);
}
