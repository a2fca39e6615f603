//! The stable hash of a graph: an explicit byte encoding, so that neither Rust's layout nor its `Hash` enters.

use super::node::{Id, Node, Param};
use crate::element::Ty;
use crate::numerics::Func as Elementary;
use std::cell::RefCell;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

thread_local! {
    /// The encoding; kept from graph to graph.
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn stable(params: &[Param], nodes: &[Node], types: &[Ty], results: &[Id]) -> u128 {
    BYTES.with_borrow_mut(|bytes| {
        bytes.clear();
        encode(params, nodes, types, results, bytes);
        xxh3_128(bytes)
    })
}

/// Functions by name: the registry may be put in another order.
fn name(f: Elementary) -> u64 {
    xxh3_64(f.name().as_bytes())
}

fn encode(params: &[Param], nodes: &[Node], types: &[Ty], results: &[Id], bytes: &mut Vec<u8>) {
    let mut put = |words: &[u64]| {
        for w in words {
            bytes.extend_from_slice(&w.to_le_bytes());
        }
    };
    put(&[params.len() as u64, nodes.len() as u64, results.len() as u64]);
    for p in params {
        match *p {
            Param::Value(t) => put(&[1, t as u64]),
            Param::Index(t) => put(&[2, t as u64]),
            Param::Array(d) => put(&[3, d as u64]),
        }
    }
    for (n, &t) in nodes.iter().zip(types) {
        let (t, w) = (t as u64, |a: Id| u64::from(a));
        match *n {
            Node::Param(k) => put(&[1, t, u64::from(k)]),
            Node::Const(b) => put(&[2, t, b]),
            Node::Un(op, a) => put(&[3, t, op as u64, w(a)]),
            Node::Bin(op, a, b) => put(&[4, t, op as u64, w(a), w(b)]),
            Node::Fma(a, b, c) => put(&[5, t, w(a), w(b), w(c)]),
            Node::Select(a, b, c) => put(&[6, t, w(a), w(b), w(c)]),
            Node::Cast(a) => put(&[7, t, w(a)]),
            Node::Bitcast(a) => put(&[8, t, w(a)]),
            Node::Reinterpret(a) => put(&[13, t, w(a)]),
            Node::Call1(f, a) => put(&[9, t, name(f), w(a)]),
            Node::Call2(f, a, b) => put(&[10, t, name(f), w(a), w(b)]),
            Node::Fetch(k, a) => put(&[11, t, u64::from(k), w(a)]),
            Node::Branch { cond, then_end, then_result, else_end, else_result } => {
                put(&[12, t, w(cond), w(then_end), w(then_result), w(else_end), w(else_result)]);
            }
            Node::Carried { init, next, of } => put(&[14, t, w(init), w(next), w(of)]),
            Node::Loop { turns, end, go, keeps } => put(&[15, t, u64::from(turns), w(end), w(go), u64::from(keeps)]),
        }
    }
    for &r in results {
        put(&[u64::from(r)]);
    }
}
