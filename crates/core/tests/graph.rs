//! Building of graphs: the fusion rule, sharing, dead code, foreign values, branches, hashes.

mod common;

use common::random::{operator, programs};
use isowarp_core::element::Ty;
use isowarp_core::ir::{
    BinOp, Evaluator, Expr, Func, Node, OpError, UnOp, array_expr, branch, canonical_nan, definition, lit, select, trace,
};
use isowarp_core::numerics::Func as Elementary;
use proptest::prelude::*;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

type F = Expr<f32>;

fn three(f: impl FnOnce(F, F, F) -> F) -> Func {
    trace(|(a, b, c): (F, F, F)| f(a, b, c)).unwrap()
}

fn last(f: &Func) -> Node {
    *f.nodes.last().unwrap()
}

fn eval(f: &Func, args: &[u64]) -> u64 {
    let mut e = Evaluator::new(f);
    e.eval_one(args);
    e.result(0)[0]
}

#[test]
fn a_sum_with_a_product_is_one_fma() {
    assert_eq!(last(&three(|a, b, c| a * b + c)), Node::Fma(0, 1, 2));
    assert_eq!(last(&three(|a, b, c| c + a * b)), Node::Fma(0, 1, 2));
    // a·b - c and c - a·b carry the sign into the addend and into the product.
    let f = three(|a, b, c| a * b - c);
    assert!(matches!((f.nodes[3], f.nodes[4]), (Node::Un(UnOp::Neg, 2), Node::Fma(0, 1, 3))), "{:?}", f.nodes);
    let f = three(|a, b, c| c - a * b);
    assert!(matches!((f.nodes[3], f.nodes[4]), (Node::Un(UnOp::Neg, 0), Node::Fma(3, 1, 2))), "{:?}", f.nodes);
    let f = three(|a, b, c| -(a * b) + c);
    assert!(matches!(last(&f), Node::Fma(3, 1, 2)), "{:?}", f.nodes);
}

#[test]
fn two_products_are_rounded_each_by_itself() {
    let (a, b, c) = (1.000_000_1f32, 3.3, -0.7);
    let bits = |v: f32| u64::from(v.to_bits());
    let at = |f: &Func| eval(f, &[bits(a), bits(b), bits(c)]);
    let f = three(|a, b, c| a * b + b * c);
    assert!(matches!((f.nodes[3], f.nodes[4]), (Node::Bin(BinOp::MulRn, 0, 1), Node::Bin(BinOp::MulRn, 1, 2))), "{:?}", f.nodes);
    assert!(matches!(last(&f), Node::Bin(BinOp::Add, 3, 4)) && f.has_open_product(), "{:?}", f.nodes);
    assert_eq!(at(&f), bits(a * b + b * c));
    // A difference is 0 of equal products, whatever their signs are written on, and the negated one in the other order.
    assert_eq!(at(&three(|a, b, _| a * b - b * a)), 0);
    assert_eq!(at(&three(|a, b, _| a * b + -(b * a))), 0);
    let (forth, back) = (at(&three(|a, b, c| a * b - b * c)), at(&three(|a, b, c| b * c - a * b)));
    assert_eq!((forth, back), (bits(a * b - b * c), bits(-(a * b - b * c))));
    // A third one meets a sum, which is none.
    assert_eq!(at(&three(|a, b, c| a * b + b * c + a * c)), bits(a.mul_add(c, a * b + b * c)));
    // Products of constants are like any other.
    let k = 1.1f32;
    assert_eq!(at(&three(|a, _, _| a * a - lit(k) * k)), bits(a * a - k * k));
    assert_eq!(at(&three(|_, _, _| lit(k) * k - lit(k) * k)), 0);
}

#[test]
fn what_is_folded_first_leaves_the_product_to_the_sum() {
    type Form = fn(F, F) -> F;
    let product: [(&str, Form); 8] = [
        ("itself", |x, _| x * x),
        ("a known choice", |x, _| select(lit(true), x * x, x)),
        ("a choice by constants", |x, _| select(lit(1.0f32).lt(2.0), x * x, x)),
        ("a known branch", |x, _| branch(lit(false), || x, || x * x)),
        ("a choice between equal values", |x, y| select(x.lt(y), x * x, x * x)),
        ("a conversion to its type", |x, _| (x * x).cast::<f32>()),
        ("two changes of sign", |x, _| -(-(x * x))),
        ("the negated square", |x, _| -(-x * x)),
    ];
    for (name, f) in product {
        for (sum, fused) in [
            (three(|x, y, z| f(x, y) + z), three(|x, _, z| x.mul_add(x, z))),
            (three(|x, y, z| z + f(x, y)), three(|x, _, z| x.mul_add(x, z))),
            (three(|x, y, z| f(x, y) - z), three(|x, _, z| x.mul_add(x, -z))),
        ] {
            let (x, y, z) = (0x3f80_0801, 0x4000_0000, 0xbf80_1002);
            assert!(sum.any(|n, _| matches!(n, Node::Fma(..))), "{name}: {:?}", sum.nodes);
            assert_eq!(eval(&sum, &[x, y, z]), eval(&fused, &[x, y, z]), "{name}");
        }
    }
    // A product that is left open by a choice, rounded by itself, or of another type is not fused.
    for f in [
        three(|x, y, z| select(x.lt(y), x * x, y) - z),
        three(|x, y, z| branch(x.lt(y), || x * x, || y) - z),
        three(|x, _, z| select(lit(true), x.mul_rn(x), x) - z),
        three(|x, _, z| (x.cast::<f64>() * x.cast::<f64>()).cast::<f32>() - z),
    ] {
        assert!(!f.any(|n, _| matches!(n, Node::Fma(..))), "{:?}", f.nodes);
    }
}

#[test]
fn a_rounded_product_and_an_integer_product_are_not_fused() {
    let f = three(|a, b, c| a.mul_rn(b) + c);
    assert!(matches!(last(&f), Node::Bin(BinOp::Add, 3, 2)));
    assert!(f.has_open_product());
    assert!(three(|a, b, c| select(a.lt(b), -a.mul_rn(b), c) - c).has_open_product());
    assert!(three(|a, b, c| branch(a.lt(b), || a.mul_rn(b), || c) + c).has_open_product());
    assert!(!three(|a, b, c| a.mul_rn(b).mul_add(c, a.mul_rn(b))).has_open_product());
    let f = trace(|(a, b): (Expr<i32>, Expr<i32>)| a * b + a).unwrap();
    assert!(!f.any(|n, _| matches!(n, Node::Fma(..))) && !f.has_open_product());
}

#[test]
fn definitions_leave_no_product_open() {
    for &f in Elementary::ALL {
        let d = definition(f);
        assert!(!d.nodes.is_empty() && !d.has_open_product(), "{}", f.name());
        assert!(d.types.iter().all(|t| t.words() == 1), "{} needs no 64-bit type", f.name());
    }
}

#[test]
fn equal_expressions_are_one_node() {
    assert_eq!(three(|a, b, _| (a + b) / (a + b)).nodes.iter().filter(|n| matches!(n, Node::Bin(BinOp::Add, ..))).count(), 1);
    // Past the few nodes that are searched one by one.
    let sum = |a: F, b: F| (0..100).fold(a, |s, k| s + b.mul_rn(k as f32 + 0.5));
    let once = three(|a, b, _| sum(a, b));
    let twice = three(|a, b, _| sum(a, b) / sum(a, b));
    assert_eq!(twice.nodes.len(), once.nodes.len() + 1);
    // +0 and -0 differ, and so do a type's bits and another's.
    assert_eq!(
        trace(|x: F| select(x.lt(0.0), lit(0.0f32), lit(-0.0f32))).unwrap().nodes.iter().filter(|n| matches!(n, Node::Const(_))).count(),
        2
    );
    assert_eq!(trace(|x: Expr<u32>| (x + 1, x.cast::<i32>() + 1)).unwrap().nodes.iter().filter(|n| matches!(n, Node::Const(1))).count(), 2);
}

#[test]
fn what_no_result_needs_is_removed() {
    let f = three(|a, b, c| {
        let _ = (a / b).exp();
        let _ = branch(a.lt(b), || a.exp(), || b.sqrt());
        b + c
    });
    assert_eq!(f.nodes, [Node::Param(1), Node::Param(2), Node::Bin(BinOp::Add, 0, 1)]);
    // Inside blocks too.
    let f = three(|a, b, c| {
        branch(
            a.lt(b),
            || {
                let _ = c.exp();
                a + b
            },
            || c,
        )
    });
    assert!(!f.any(|n, _| matches!(n, Node::Call1(..))));
    let Node::Branch { then_end, else_end, .. } = f.nodes[4] else { panic!("{:?}", f.nodes) };
    assert_eq!((then_end, else_end), (6, 6));
}

#[test]
fn a_product_that_is_needed_twice_is_kept() {
    let f = three(|a, b, c| {
        let p = a * b;
        (p + c) / p
    });
    assert!(f.any(|n, _| matches!(n, Node::Bin(BinOp::Mul, 0, 1))) && f.any(|n, _| matches!(n, Node::Fma(0, 1, 2))));
}

#[test]
fn foreign_values_are_refused() {
    let kept = Cell::new(None);
    trace(|x: F| {
        kept.set(Some(x + 1.0));
        x
    })
    .unwrap();
    let foreign = kept.get().unwrap();
    assert_eq!(trace(|x: F| x + foreign), Err(OpError::ForeignValue));
    assert_eq!(trace(|_: F| foreign), Err(OpError::ForeignValue));
    // Of no trace at all, of the trace around, of one on another thread.
    let orphan = lit(1.0f32);
    assert_eq!(trace(|x: F| x * orphan), Err(OpError::ForeignValue));
    let outer = trace(|x: F| {
        assert_eq!(trace(|y: F| x + y), Err(OpError::ForeignValue));
        x
    });
    assert!(outer.is_ok());
    let there = std::thread::spawn(|| {
        let kept = Cell::new(None);
        let _ = trace(|x: F| {
            kept.set(Some(x));
            x
        });
        kept.get().unwrap()
    });
    let there = there.join().unwrap();
    assert_eq!(trace(|x: F| x + there), Err(OpError::ForeignValue));
    assert_eq!(trace(|x: F| array_expr::<f32>(0).at(x.cast::<u32>())), Err(OpError::ForeignValue), "a value is no array");
}

#[test]
fn a_value_of_one_block_is_of_no_use_outside() {
    let kept = Cell::new(None);
    let into_other = trace(|x: F| {
        branch(
            x.lt(0.0),
            || {
                kept.set(Some(x.exp()));
                x
            },
            || kept.get().unwrap_or(x),
        )
    });
    assert_eq!(into_other, Err(OpError::ForeignValue));
    let past_the_end = trace(|x: F| {
        let y = branch(
            x.lt(0.0),
            || x,
            || {
                branch(
                    x.lt(1.0),
                    || {
                        kept.set(Some(x.sin()));
                        x
                    },
                    || x + x,
                )
            },
        );
        y + kept.get().unwrap_or(x)
    });
    assert_eq!(past_the_end, Err(OpError::ForeignValue));
    // The same expression after a block is computed again, not taken from it.
    let f = trace(|x: F| branch(x.lt(0.0), || x + 7.0, || x) + (x + 7.0)).unwrap();
    let bits = |v: f32| u64::from(v.to_bits());
    assert_eq!(eval(&f, &[bits(1.0)]), bits(9.0));
    assert_eq!(eval(&f, &[bits(-1.0)]), bits(12.0));
}

#[test]
fn a_panic_leaves_the_thread_clean() {
    let panics = catch_unwind(|| trace(|_: F| -> F { panic!("on purpose") }));
    assert!(panics.is_err());
    assert_eq!(trace(|x: F| x + lit(1.0f32)).unwrap().nodes.len(), 3);
    // Caught inside a block: the graph is refused, not left half built.
    let half = trace(|x: F| {
        let _ = catch_unwind(AssertUnwindSafe(|| branch(x.lt(0.0), || -> F { panic!("on purpose") }, || x)));
        x + 1.0
    });
    assert_eq!(half, Err(OpError::ForeignValue));
    assert!(trace(|x: F| x).is_ok());
}

#[test]
fn nested_branches_compute_what_their_conditions_say() {
    let f = trace(|(x, y): (Expr<i32>, Expr<i32>)| {
        let z = branch(x.lt(0), || branch(y.lt(0), || x * y, || x - y), || branch(y.lt(0), || branch(x.gt(10), || x, || y), || x + y));
        z * 2 + x
    })
    .unwrap();
    let plain = |x: i32, y: i32| {
        let z = match (x < 0, y < 0) {
            (true, true) => x * y,
            (true, false) => x - y,
            (false, true) => {
                if x > 10 {
                    x
                } else {
                    y
                }
            }
            (false, false) => x + y,
        };
        z * 2 + x
    };
    for x in [-5, 0, 7, 11] {
        for y in [-3, 0, 9] {
            assert_eq!(eval(&f, &[u64::from(x as u32), u64::from(y as u32)]), u64::from(plain(x, y) as u32), "{x} {y}");
        }
    }
    // Lanes that part ways.
    let mut e = Evaluator::new(&f);
    let xs: Vec<i32> = (-64..64).collect();
    e.eval(
        128,
        |k, out| out.iter_mut().zip(&xs).for_each(|(o, &x)| *o = u64::from(if k == 0 { x } else { x.wrapping_mul(37) % 11 } as u32)),
        |_, _| 0,
    );
    for (lane, &x) in xs.iter().enumerate() {
        assert_eq!(e.result(0)[lane], u64::from(plain(x, x.wrapping_mul(37) % 11) as u32));
    }
}

#[test]
fn a_known_condition_leaves_no_branch() {
    let f = trace(|x: F| branch(lit(1.0f32).lt(2.0), || x + 1.0, || x.exp())).unwrap();
    assert_eq!(f.nodes.len(), 3);
}

#[test]
fn a_product_of_constants_is_fused_like_any_other() {
    // (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, which a rounded product loses.
    let (p, c) = (1.0f32 + 1.0 / 4096.0, 1.0f32 + 1.0 / 2048.0);
    let fused = u64::from(p.mul_add(p, -c).to_bits());
    let open = |k: f32| -> F { lit(p) * k };
    assert_eq!(trace(|_: F| open(p) - c).unwrap().nodes, [Node::Const(fused)]);
    assert_eq!(trace(|_: F| -(lit(c) - open(p))).unwrap().nodes, [Node::Const(fused)]);
    assert_eq!(trace(|_: F| lit(p).mul_rn(p) - c).unwrap().nodes, [Node::Const(0)]);
    // A choice closes it, whether it is made here or on the device.
    assert_eq!(trace(|_: F| select(lit(true), open(p), lit(0.0)) - c).unwrap().nodes, [Node::Const(0)]);
    assert_eq!(trace(|_: F| branch(lit(true), || open(p), || lit(0.0)) - c).unwrap().nodes, [Node::Const(0)]);
    // Next to a value it is an fma of two constants, and alone a constant.
    let f = trace(|x: F| open(p) + x).unwrap();
    assert!(matches!(f.nodes[f.results[0] as usize], Node::Fma(..)), "{f:?}");
    assert_eq!(trace(|_: F| open(3.0)).unwrap().nodes, [Node::Const((p * 3.0).to_bits().into())]);
}

#[test]
fn folded_nans_are_canonical_on_every_machine() {
    let f = trace(|_: F| lit(f32::INFINITY) - f32::INFINITY).unwrap();
    assert_eq!(f.nodes, [Node::Const(0x7FC0_0000)]);
    let f = trace(|_: F| -(lit(0.0f64) / 0.0)).unwrap();
    assert_eq!(f.nodes, [Node::Const(0x7FF8_0000_0000_0000)]);
}

#[test]
fn what_has_no_strict_form_is_refused() {
    let f = trace(|x: F| x.bitcast::<u64>());
    assert!(matches!(f, Err(OpError::Signature { what: "bitcast", .. })), "{f:?}");
}

#[test]
fn hashes_are_pinned() {
    // Part of cache keys: a change here throws away every compiled kernel of every user, so it has to be on purpose.
    let operators = [
        trace(|(a, b): (F, F)| a + b),
        trace(|(a, x, y): (F, F, F)| a * x + y),
        trace(|(a, i, b, j): (F, Expr<u32>, F, Expr<u32>)| (a.min(b), select(a.le(b), i, j))),
        trace(|x: Expr<i64>| branch(x.lt(0), || -x, || x.count_ones().cast::<i64>() + 3)),
        trace(|x: F| x.exp()),
        trace(|x: F| x.sin()),
    ];
    let hashes = operators.map(|f| format!("{:032x}", f.unwrap().hash128()));
    assert_eq!(hashes, PINNED);
}

const PINNED: [&str; 6] = [
    "9d9d63237d982f98d9115bd2edbcfbe0",
    "c3fa1adb5b878215c14800af8e10291d",
    "c19863dbc3203330984f248fc79fbe2f",
    "b8dcb664ce0d29e1ae1e70dba70093d6",
    "1aa97fed537bceb5030a7f7e56bd956d",
    "941c83a7c9ac529dd450c9663d3eec29",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn folding_gives_what_the_evaluator_gives(program in programs()) {
        let f = operator(&program, false).unwrap();
        let folded = operator(&program, true).unwrap();
        let mut e = Evaluator::new(&f);
        e.eval_one(&program.1);
        for (k, (&r, ty)) in folded.results.iter().zip(f.result_types()).enumerate() {
            let bits = match folded.nodes[r as usize] {
                Node::Const(bits) => bits,
                // Loops are not taken when the graph is built.
                _ => {
                    assert!(folded.any(|n, _| matches!(n, Node::Loop { .. })), "result {k} is not folded");
                    let mut e = Evaluator::new(&folded);
                    e.eval_one(&[]);
                    e.result(k)[0]
                }
            };
            prop_assert_eq!(canonical_nan(ty, bits), canonical_nan(ty, e.result(k)[0]), "result {} of {:?}", k, f);
        }
    }

    #[test]
    fn the_same_source_is_the_same_graph(program in programs()) {
        let (f, again) = (operator(&program, false).unwrap(), operator(&program, false).unwrap());
        prop_assert_eq!(f.hash128(), again.hash128());
        prop_assert_eq!(f, again);
    }

    #[test]
    fn operands_come_first_and_blocks_are_nested(program in programs()) {
        let f = operator(&program, false).unwrap();
        for (i, n) in f.nodes.iter().enumerate() {
            match *n {
                Node::Branch { then_end, else_end, cond, .. } => {
                    prop_assert!((cond as usize) < i && i < then_end as usize + 1 && then_end <= else_end && else_end as usize <= f.nodes.len());
                    prop_assert_eq!(f.types[cond as usize], Ty::Bool);
                }
                Node::Carried { init, next, of } => {
                    let Node::Loop { turns, end, go, .. } = f.nodes[of as usize] else { panic!("{of} is no loop") };
                    prop_assert!((init as usize) < i && i < of as usize && next < end && go < end && end as usize <= f.nodes.len() && turns > 0);
                    assert!(f.nodes[i..of as usize].iter().all(|n| matches!(n, Node::Carried { of: same, .. } if *same == of)));
                    prop_assert_eq!((f.types[init as usize], f.types[next as usize]), (f.types[i], f.types[i]));
                }
                Node::Loop { .. } => assert!(matches!(f.nodes[i - 1], Node::Carried { .. })),
                _ => Func::operands(n, |o| assert!((o as usize) < i)),
            }
        }
    }
}
