//! Loops.

use super::Writer;
use crate::element::Ty;
use crate::ir::node::{Func, Id, Node};
use core::fmt::Write as _;

impl Writer<'_> {
    /// The loop at node `i`. Of four elements those that have left it keep their values until all have.
    pub(super) fn repeat(&mut self, i: Id, depth: usize) {
        let Node::Loop { turns, go, keeps, .. } = self.f.nodes[i as usize] else { return };
        let (f, pad) = (self.f, "    ".repeat(depth));
        let is_fixed = f.nodes[go as usize] == Node::Const(1);
        let masks = self.is_joint() && !is_fixed;
        let around = self.active.clone();
        if masks {
            let on = around.clone().unwrap_or_else(|| self.literal(Ty::Bool, "true"));
            let _ = writeln!(self.text, "{pad}var a{i} = {on};");
            self.active = Some(format!("a{i}"));
        }
        let _ = writeln!(self.text, "{pad}for (var t{i} = 0u; t{i} < {turns}u; t{i}++) {{");
        let [first, rest] = f.turn(i);
        first.into_iter().for_each(|run| self.range(run.start, run.end, depth + 1));
        let leave = match (masks, is_fixed) {
            (true, _) => format!("{pad}    a{i} = a{i} & {};\n{pad}    if (!any(a{i})) {{ break; }}\n", self.value(go)),
            (_, false) => format!("{pad}    if (!{}) {{ break; }}\n", self.value(go)),
            _ => String::new(),
        };
        self.text.push_str(if keeps { &leave } else { "" });
        rest.into_iter().for_each(|run| self.range(run.start, run.end, depth + 1));
        let carried = Func::carried(&f.nodes, i).filter(|(id, next)| id != next);
        for (id, next) in carried.clone() {
            let next = self.value(next);
            let next = if masks { format!("select(v{id}, {next}, a{i})") } else { next };
            let _ = writeln!(self.text, "{pad}    let n{id} = {next};");
        }
        for (id, _) in carried {
            let _ = writeln!(self.text, "{pad}    v{id} = n{id};");
        }
        self.text.push_str(if keeps { "" } else { &leave });
        let _ = writeln!(self.text, "{pad}}}");
        self.active = around;
    }
}
