//! Building a graph: one per thread while a closure is traced, with constant folding, common subexpressions shared, and products
//! fused into sums by the one rule of [`Graph::add`].

mod blocks;
mod finish;
mod quick;
mod saturate;

pub(crate) use blocks::{branch, repeat};

use super::OpError;
use super::eval;
use super::node::{BinOp, Func, Id, Node, Param, UnOp};
use crate::element::Ty;
use crate::numerics::Func as Elementary;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// A value of the graph that is being traced. The default belongs to no trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Value {
    trace: u32,
    id: Id,
}

/// The graph that one closure is traced into. Its vectors are used again by the thread's next trace.
#[derive(Default)]
pub(crate) struct Graph {
    serial: u32,
    params: Vec<Param>,
    nodes: Vec<Node>,
    types: Vec<Ty>,
    /// Nodes that a further use may share, in order; those of a block are forgotten when it closes.
    visible: Vec<Id>,
    /// The same, to look up in, once there are more than [`FEW`].
    table: Table,
    /// Numbers of nodes, and of visible ones, at the time when each block that is open was opened.
    scopes: Vec<(Id, usize)>,
    /// Closed blocks, in order and apart: values in them are of no use outside.
    closed: Vec<Range<Id>>,
    error: Option<OpError>,
}

type Table = HashMap<(Node, Ty), Id, BuildHasherDefault<quick::Quick>>;

/// Up to this many nodes a search from the end is faster than hashing.
const FEW: usize = 16;

/// The graphs of one thread.
#[derive(Default)]
struct Desk {
    open: Vec<Graph>,
    spare: Vec<Graph>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Numbers the traces of the whole process, since a symbolic value can be sent to another thread. Zero is no trace.
static SERIAL: AtomicU32 = AtomicU32::new(1);

/// Traces `build`, which returns the results, into a graph with the parameters given.
pub(crate) fn trace(params: Vec<Param>, build: impl FnOnce() -> Vec<Value>) -> Result<Func, OpError> {
    let open = Open::new(params);
    open.close(&build())
}

/// A graph that is traced into. It is closed if the traced closure unwinds. Programs have thousands of traced closures, so nothing here depends on them.
pub(crate) struct Open;

impl Open {
    pub(crate) fn new(params: Vec<Param>) -> Self {
        let serial = loop {
            let s = SERIAL.fetch_add(1, Ordering::Relaxed);
            if s != 0 {
                break s;
            }
        };
        DESK.with_borrow_mut(|desk| {
            let mut g = desk.spare.pop().unwrap_or_default();
            (g.serial, g.params) = (serial, params);
            desk.open.push(g);
        });
        Self
    }

    /// The function with these results.
    pub(crate) fn close(self, results: &[Value]) -> Result<Func, OpError> {
        std::mem::forget(self);
        let mut graph = DESK.with_borrow_mut(|desk| desk.open.pop()).unwrap_or_default();
        let func = graph.finish(results);
        graph.put_back();
        func
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(graph) = DESK.with_borrow_mut(|desk| desk.open.pop()) {
            graph.put_back();
        }
    }
}

/// Runs `f` on the graph that is open on this thread. With none open (a traced value escaped its closure) the result is a value
/// of no graph, which any later trace refuses.
pub(crate) fn with(f: impl FnOnce(&mut Graph) -> Id) -> Value {
    DESK.with_borrow_mut(|desk| match desk.open.last_mut() {
        Some(g) => Value { id: f(g), trace: g.serial },
        None => Value { id: 0, trace: 0 },
    })
}

impl Graph {
    /// Clears the graph for the thread's next trace.
    fn put_back(mut self) {
        self.params.clear();
        self.nodes.clear();
        self.types.clear();
        self.visible.clear();
        self.table.clear();
        self.scopes.clear();
        self.closed.clear();
        self.error = None;
        DESK.with_borrow_mut(|desk| desk.spare.push(self));
    }

    /// The node of a value; one of another trace, or of a block that is closed, is an error of the operator.
    pub(crate) fn id(&mut self, v: Value, ty: Ty) -> Id {
        if v.trace == self.serial && self.types.get(v.id as usize).is_some() && self.in_scope(v.id) {
            return v.id;
        }
        self.fail(OpError::ForeignValue);
        self.constant(ty, 0)
    }

    fn in_scope(&self, id: Id) -> bool {
        let before = self.closed.partition_point(|block| block.start <= id);
        before == 0 || self.closed[before - 1].end <= id
    }

    pub(crate) fn fail(&mut self, e: OpError) {
        self.error.get_or_insert(e);
    }

    pub(crate) fn ty(&self, id: Id) -> Ty {
        self.types[id as usize]
    }

    fn push(&mut self, node: Node, ty: Ty) -> Id {
        if let Some(id) = self.find(node, ty) {
            return id;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node);
        self.types.push(ty);
        self.visible.push(id);
        if !self.table.is_empty() {
            self.table.insert((node, ty), id);
        } else if self.visible.len() > FEW {
            self.table.extend(self.visible.iter().map(|&i| ((self.nodes[i as usize], self.types[i as usize]), i)));
        }
        id
    }

    fn find(&self, node: Node, ty: Ty) -> Option<Id> {
        if !self.table.is_empty() {
            return self.table.get(&(node, ty)).copied();
        }
        self.visible.iter().rev().copied().find(|&i| self.nodes[i as usize] == node && self.types[i as usize] == ty)
    }

    /// The value of a node that has one already: a constant, or a product of two that a sum may still take.
    fn bits(&self, id: Id) -> Option<u64> {
        match self.nodes[id as usize] {
            Node::Const(b) => Some(b),
            Node::Bin(BinOp::Mul, p, q) => match (self.nodes[p as usize], self.nodes[q as usize]) {
                (Node::Const(x), Node::Const(y)) => {
                    let ty = self.ty(id);
                    Some(eval::canonical_nan(ty, eval::bin1(BinOp::Mul, ty, x, y)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The node, or the constant that it stands for: past this, a product of constants is no product to a sum.
    fn settled(&mut self, id: Id) -> Id {
        match self.bits(id) {
            Some(bits) => self.constant(self.ty(id), bits),
            None => id,
        }
    }

    /// The node; of a product that a sum would be fused with, the product that is rounded by itself.
    pub(crate) fn rounded(&mut self, id: Id) -> Id {
        match self.product(id) {
            Some((p, q)) if self.ty(id).is_float() && self.bits(id).is_none() => self.push(Node::Bin(BinOp::MulRn, p, q), self.ty(id)),
            _ => self.settled(id),
        }
    }

    /// A constant. A NaN is made canonical: which one a folded operation gives depends on the machine that traces.
    pub(crate) fn constant(&mut self, ty: Ty, bits: u64) -> Id {
        self.push(Node::Const(eval::canonical_nan(ty, bits)), ty)
    }

    pub(crate) fn param(&mut self, k: u16) -> Id {
        let ty = match self.params.get(usize::from(k)) {
            Some(&(Param::Value(t) | Param::Index(t))) => t,
            Some(&Param::Array(d)) => d.ty(),
            None => Ty::F32,
        };
        self.push(Node::Param(k), ty)
    }

    pub(crate) fn un(&mut self, op: UnOp, a: Id) -> Id {
        let ta = self.ty(a);
        let ty = match op {
            UnOp::IsNan => Ty::Bool,
            UnOp::CountOnes | UnOp::LeadingZeros => Ty::U32,
            _ => ta,
        };
        match (op, self.nodes[a as usize]) {
            (UnOp::Neg, Node::Un(UnOp::Neg, x)) => return x,
            // -(p*q) is (-p)*q: keeps the product visible to the sum that it may meet.
            (UnOp::Neg, Node::Bin(BinOp::Mul, p, q)) if ta.is_float() => {
                let p = self.un(UnOp::Neg, p);
                return self.bin(BinOp::Mul, p, q);
            }
            _ => {}
        }
        match self.bits(a) {
            Some(x) => self.constant(ty, eval::un1(op, ta, x)),
            None => self.push(Node::Un(op, a), ty),
        }
    }

    pub(crate) fn bin(&mut self, op: BinOp, a: Id, b: Id) -> Id {
        let ta = self.ty(a);
        let ty = if op.is_comparison() { Ty::Bool } else { ta };
        let meets_product = ta.is_float() && (self.product(a).is_some() || self.product(b).is_some());
        match (self.bits(a), self.bits(b)) {
            // A product of constants stays one for the sum that it may meet; sealing the graph folds those that met none.
            (Some(x), Some(y)) if ta.is_float() && op == BinOp::Mul => {
                let (p, q) = (self.constant(ta, x), self.constant(ta, y));
                return self.push(Node::Bin(op, p, q), ty);
            }
            (Some(x), Some(y)) if !(meets_product && matches!(op, BinOp::Add | BinOp::Sub)) => {
                return self.constant(ty, eval::bin1(op, ta, x, y));
            }
            _ => {}
        }
        if ta.is_float() {
            match op {
                BinOp::Add | BinOp::Sub => return self.sum(op, a, b, ty),
                BinOp::Rem => self.fail(OpError::NoStrictForm { what: "the remainder of floats" }),
                _ => {}
            }
        }
        self.push(Node::Bin(op, a, b), ty)
    }

    /// The product of a float, if the node is one that may be fused.
    fn product(&self, id: Id) -> Option<(Id, Id)> {
        match self.nodes[id as usize] {
            Node::Bin(BinOp::Mul, p, q) => Some((p, q)),
            _ => None,
        }
    }

    /// The fusion rule: a sum with one product as an operand is one fma of that product and the other operand; two products are
    /// rounded, each by itself. `mul_rn` products are never fused.
    fn sum(&mut self, op: BinOp, a: Id, b: Id, ty: Ty) -> Id {
        let minus = op == BinOp::Sub;
        match (self.product(a), self.product(b)) {
            (Some(_), Some(_)) => {
                let (a, b) = (self.rounded(a), self.rounded(b));
                self.bin(op, a, b)
            }
            (Some((p, q)), None) => {
                let c = if minus { self.un(UnOp::Neg, b) } else { b };
                self.fma(p, q, c)
            }
            (None, Some((p, q))) => {
                let p = if minus { self.un(UnOp::Neg, p) } else { p };
                self.fma(p, q, a)
            }
            (None, None) => self.push(Node::Bin(op, a, b), ty),
        }
    }

    pub(crate) fn fma(&mut self, a: Id, b: Id, c: Id) -> Id {
        let ty = self.ty(a);
        if let (Some(x), Some(y), Some(z)) = (self.bits(a), self.bits(b), self.bits(c)) {
            return self.constant(ty, eval::fma1(ty, x, y, z));
        }
        self.push(Node::Fma(a, b, c), ty)
    }

    pub(crate) fn select(&mut self, c: Id, a: Id, b: Id) -> Id {
        match self.bits(c) {
            // The chosen node is no product to a sum, as it is none where the choice is made later.
            Some(x) => self.settled(if x != 0 { a } else { b }),
            None if a == b => a,
            None => {
                let ty = self.ty(a);
                self.push(Node::Select(c, a, b), ty)
            }
        }
    }

    pub(crate) fn cast(&mut self, a: Id, ty: Ty) -> Id {
        let from = self.ty(a);
        if from == ty {
            return a;
        }
        if let Some(x) = self.bits(a) {
            return self.constant(ty, eval::cast1(from, ty, x));
        }
        self.push(Node::Cast(a), ty)
    }

    pub(crate) fn bitcast(&mut self, a: Id, ty: Ty) -> Id {
        let from = self.ty(a);
        if let Some(x) = self.bits(a) {
            return self.constant(ty, eval::canonical_nan(from, x));
        }
        self.push(Node::Bitcast(a), ty)
    }

    pub(crate) fn reinterpret(&mut self, a: Id, ty: Ty) -> Id {
        match self.bits(a) {
            Some(x) => self.constant(ty, x),
            None => self.push(Node::Reinterpret(a), ty),
        }
    }

    pub(crate) fn call1(&mut self, f: Elementary, a: Id) -> Id {
        let ty = self.ty(a);
        if ty != Ty::F32 {
            self.fail(OpError::NoFunction { function: f.name(), ty });
        }
        if let Some(x) = self.bits(a) {
            return self.constant(ty, u64::from(f.eval1(f32::from_bits(x as u32)).to_bits()));
        }
        self.push(Node::Call1(f, a), ty)
    }

    pub(crate) fn call2(&mut self, f: Elementary, a: Id, b: Id) -> Id {
        let ty = self.ty(a);
        if ty != Ty::F32 {
            self.fail(OpError::NoFunction { function: f.name(), ty });
        }
        if let (Some(x), Some(y)) = (self.bits(a), self.bits(b)) {
            return self.constant(ty, u64::from(f.eval2(f32::from_bits(x as u32), f32::from_bits(y as u32)).to_bits()));
        }
        self.push(Node::Call2(f, a, b), ty)
    }

    pub(crate) fn fetch(&mut self, array: u16, index: Id) -> Id {
        match self.params.get(usize::from(array)) {
            Some(&Param::Array(d)) => self.push(Node::Fetch(array, index), d.ty()),
            _ => {
                self.fail(OpError::ForeignValue);
                index
            }
        }
    }
}
