//! Operators of many calls, in stages: drivers inline every call, and take longer than in proportion to compile what that makes. In a loop, of which
//! each round computes what one call takes, every function stands once.

use super::{Form, Writer};
use crate::caps::Numerics;
use crate::element::Ty;
use crate::ir::node::{BinOp, Func, Id, Node, UnOp};
use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::ops::Range;

/// Calls from which on an operator is written in stages: what a kernel takes to compile is then a part of what it takes without an operator.
const MANY: usize = 12;

/// A function of the prelude that drivers inline at a price, by its name and the type of its operands and result.
type Callee = (String, Ty);

/// The nodes before a call, and the call.
struct Stage {
    nodes: Range<Id>,
    call: Id,
}

/// Where values lie that outlive their stage.
#[derive(Default)]
struct Slots {
    /// Of each node that has one.
    of: BTreeMap<Id, usize>,
    types: Vec<Ty>,
    free: Vec<usize>,
}

impl Slots {
    fn take(&mut self, id: Id, ty: Ty) -> usize {
        let free = self.free.iter().position(|&slot| self.types[slot] == ty).map(|k| self.free.swap_remove(k));
        let slot = free.unwrap_or_else(|| {
            self.types.push(ty);
            self.types.len() - 1
        });
        self.of.insert(id, slot);
        slot
    }
}

impl Writer<'_> {
    /// The calls of an operator that is written in stages; none of one that has few, a branch or a loop.
    fn calls_in_stages(&self) -> Vec<Id> {
        let is_definition = self.form == (Form::Joint { rolls: true });
        if is_definition || self.f.any(|node, _| matches!(node, Node::Branch { .. } | Node::Loop { .. })) {
            return Vec::new();
        }
        let calls: Vec<Id> = (0..self.f.nodes.len() as Id).filter(|&id| self.callee(id).is_some()).collect();
        if calls.len() < MANY { Vec::new() } else { calls }
    }

    /// The function that a node calls, and its operands.
    fn callee(&self, id: Id) -> Option<(Callee, Vec<Id>)> {
        let (ty, fast) = (self.ty(id), self.options.numerics == Numerics::Fast);
        let of = |name: &str, args: &[Id]| Some(((format!("iw_{name}"), ty), args.to_vec()));
        match self.f.nodes[id as usize] {
            Node::Call1(f, _) if fast && Self::is_builtin(f.name()) => None,
            Node::Call1(f, a) => of(f.name(), &[a]),
            Node::Call2(f, a, b) => of(f.name(), &[a, b]),
            Node::Bin(BinOp::Div, a, b) if ty == Ty::F64 => of("div64", &[a, b]),
            Node::Bin(BinOp::Div, a, b) if ty == Ty::F32 && !fast => of("div", &[a, b]),
            Node::Un(UnOp::Sqrt, a) if ty == Ty::F64 => of("sqrt64", &[a]),
            Node::Un(UnOp::Sqrt, a) if ty == Ty::F32 && !fast => of("sqrt", &[a]),
            _ => None,
        }
    }

    /// Whether the operator is one of many calls.
    pub(super) fn is_staged(&self) -> bool {
        !self.calls_in_stages().is_empty()
    }

    /// Writes the nodes of an operator of many calls; returns whether it is one.
    pub(super) fn staged(&mut self) -> bool {
        let calls = self.calls_in_stages();
        if calls.is_empty() {
            return false;
        }
        // The steps of a polynomial may lie in several rounds.
        self.chains.clear();
        let mut from = 0;
        let stages: Vec<Stage> = calls
            .iter()
            .map(|&call| {
                let nodes = from..call;
                from = call + 1;
                Stage { nodes, call }
            })
            .collect();
        let last_use = self.last_uses(&stages);
        let mut slots = Slots::default();
        let mut callees: Vec<Callee> = Vec::new();
        // Rounds of which the text is the same are one case.
        let mut cases: Vec<(String, Vec<usize>)> = Vec::new();
        for (k, stage) in stages.iter().enumerate() {
            let text = self.stage(stage, k, &stages, &last_use, &mut slots, &mut callees);
            match cases.iter_mut().find(|c| c.0 == text) {
                Some(case) => case.1.push(k),
                None => cases.push((text, vec![k])),
            }
        }
        self.loop_over(stages.len(), &cases, &callees, &slots);
        // Nodes that no call needs come behind them.
        let end = self.f.nodes.len() as Id;
        let results = self.f.results.clone();
        self.bind(from..end, &results, stages.len(), &stages, &slots, 1);
        if let Some(&call) = calls.last() {
            let _ = writeln!(self.text, "    let v{call} = r_{};", self.ty(call).name());
        }
        self.range(from, end, 1);
        true
    }

    /// The stage in which each node is used last, the number of stages standing for what follows them.
    fn last_uses(&self, stages: &[Stage]) -> Vec<usize> {
        let mut last = vec![0; self.f.nodes.len()];
        for (id, node) in self.f.nodes.iter().enumerate() {
            let stage = stages.partition_point(|s| s.call < id as Id);
            Func::operands(node, |operand| last[operand as usize] = last[operand as usize].max(stage));
        }
        for &result in &self.f.results {
            last[result as usize] = stages.len();
        }
        last
    }

    /// Writes one round: what the call takes, and what outlives the round.
    fn stage(
        &mut self,
        stage: &Stage,
        k: usize,
        stages: &[Stage],
        last_use: &[usize],
        slots: &mut Slots,
        callees: &mut Vec<Callee>,
    ) -> String {
        let Some((callee, args)) = self.callee(stage.call) else { return String::new() };
        let whole = std::mem::take(&mut self.text);
        self.bind(stage.nodes.clone(), &args, k, stages, slots, 4);
        self.range(stage.nodes.start, stage.nodes.end, 4);
        let pad = "    ".repeat(4);
        let which = callees.iter().position(|c| *c == callee).unwrap_or_else(|| {
            callees.push(callee.clone());
            callees.len() - 1
        });
        for (name, &arg) in ["a", "b"].iter().zip(&args) {
            let value = self.value(arg);
            let _ = writeln!(self.text, "{pad}{name}_{} = {value};", callee.1.name());
        }
        let _ = writeln!(self.text, "{pad}callee = {which}u;");
        // Slots whose values were used for the last time here are free for those that begin here.
        let ended: Vec<Id> = slots.of.iter().map(|(&id, _)| id).filter(|&id| last_use[id as usize] <= k).collect();
        for id in ended {
            slots.free.extend(slots.of.remove(&id));
        }
        let called = k.checked_sub(1).map(|before| stages[before].call);
        for id in called.into_iter().chain(stage.nodes.clone()) {
            if last_use[id as usize] > k && !matches!(self.f.nodes[id as usize], Node::Param(_) | Node::Const(_)) {
                let slot = slots.take(id, self.ty(id));
                let _ = writeln!(self.text, "{pad}s{slot} = v{id};");
            }
        }
        let text = std::mem::replace(&mut self.text, whole);
        match called {
            Some(call) => renamed(&text, &format!("v{call}"), &format!("r_{}", self.ty(call).name())),
            None => text,
        }
    }

    /// Gives the values of earlier stages that these nodes, and `also`, use their names, but for that of the call just before.
    fn bind(&mut self, nodes: Range<Id>, also: &[Id], k: usize, stages: &[Stage], slots: &Slots, depth: usize) {
        let pad = "    ".repeat(depth);
        let mut used: Vec<Id> = also.to_vec();
        for id in nodes.clone() {
            Func::operands(&self.f.nodes[id as usize], |operand| used.push(operand));
        }
        let called = k.checked_sub(1).map(|before| stages[before].call);
        used.retain(|&id| id < nodes.start && called != Some(id));
        used.sort_unstable();
        used.dedup();
        for id in used {
            if let Some(slot) = slots.of.get(&id) {
                let _ = writeln!(self.text, "{pad}let v{id} = s{slot};");
            }
        }
    }

    fn loop_over(&mut self, rounds: usize, cases: &[(String, Vec<usize>)], callees: &[Callee], slots: &Slots) {
        let mut types: Vec<Ty> = callees.iter().map(|c| c.1).collect();
        types.sort_unstable_by_key(|ty| ty.name());
        types.dedup();
        let spelt = |ty: Ty| self.spelt(ty);
        let mut head = String::new();
        for (slot, &ty) in slots.types.iter().enumerate() {
            let _ = writeln!(head, "    var s{slot}: {};", spelt(ty));
        }
        for &ty in &types {
            let (name, ty) = (ty.name(), spelt(ty));
            let _ = writeln!(head, "    var a_{name}: {ty};\n    var b_{name}: {ty};\n    var r_{name}: {ty};");
        }
        let _ =
            writeln!(head, "    for (var stage = 0u; stage < {rounds}u; stage++) {{\n        var callee = 0u;\n        switch (stage) {{");
        for (k, (text, stages)) in cases.iter().enumerate() {
            let labels = stages.iter().map(|s| format!("{s}u")).collect::<Vec<_>>().join(", ");
            // The last case takes the rest, since there has to be one that does.
            let label = if k + 1 == cases.len() { "default".to_owned() } else { format!("case {labels}") };
            let _ = write!(head, "            {label}: {{\n{text}            }}\n");
        }
        let _ = writeln!(head, "        }}\n        switch (callee) {{");
        self.text.push_str(&head);
        for (k, (function, ty)) in callees.iter().enumerate() {
            let (arity, name) = (if self.takes_two(function) { 2 } else { 1 }, ty.name());
            let args: Vec<String> = ["a", "b"][..arity].iter().map(|a| format!("{a}_{name}")).collect();
            let call = self.call(function, &args);
            let label = if k + 1 == callees.len() { "default".to_owned() } else { format!("case {k}u") };
            let _ = writeln!(self.text, "            {label}: {{\n                r_{name} = {call};\n            }}");
        }
        self.text.push_str("        }\n    }\n");
    }

    fn takes_two(&self, function: &str) -> bool {
        (0..self.f.nodes.len() as Id).any(|id| self.callee(id).is_some_and(|(callee, args)| callee.0 == function && args.len() == 2))
    }
}

/// A text with another name for one of its values.
fn renamed(text: &str, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, behind) = (rest[..at].chars().next_back(), rest[at + from.len()..].chars().next());
        let is_whole = !before.is_some_and(is_part) && !behind.is_some_and(is_part);
        out.push_str(&rest[..at]);
        out.push_str(if is_whole { to } else { from });
        rest = &rest[at + from.len()..];
    }
    out.push_str(rest);
    out
}
