//! Four elements at once: what differs from one.

use super::{Form, WgslFma, WgslOptions, Writer, exponents, wgsl_type};
use crate::ir::node::{Func, Id, Node, Param};
use crate::ir::operation::Operation;
use crate::numerics::Func as Elementary;
use core::fmt::Write as _;
use std::collections::BTreeSet;

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];
/// Fewer nodes than these are computed for all four elements rather than in a loop.
const FEW: Id = 16;

/// Whether the prelude has the function as `{function}_4`.
pub(super) fn has_form_of_4(function: &str) -> bool {
    match function {
        "iw_bits" | "iw_opaque" | "iw_minus" | "iw_fma" | "iw_fma_native" | "iw_div" | "iw_sqrt" | "iw_mul_wide" => true,
        "iw_is_nan" | "iw_canonical" | "iw_min" | "iw_max" | "iw_f32_to_i32" | "iw_f32_to_u32" => true,
        _ => function.strip_prefix("iw_").is_some_and(|name| Elementary::ALL.iter().any(|f| f.name() == name)),
    }
}

impl Func {
    /// Whether [`wgsl_function_4`](super::wgsl_function_4) computes four elements at once; otherwise it calls the single form.
    #[must_use]
    pub fn is_joint(&self) -> bool {
        !self.any(|_, ty| ty.words() == 2)
    }
}

pub(super) fn function(
    f: &Func,
    name: &str,
    (options, form): (WgslOptions, Form),
    (twins, shared): (&[Option<u8>], &[bool]),
    calls: &mut BTreeSet<String>,
) -> String {
    let mut w = Writer {
        f,
        name,
        options,
        text: String::new(),
        calls,
        form,
        active: None,
        twins,
        four: Vec::new(),
        pair: None,
        written: BTreeSet::new(),
        exponents: exponents(f, options),
        chains: Vec::new(),
    };
    if !w.is_staged() {
        w.four = f.of_four(shared);
    }
    if f.is_joint() && !options.rolls(f) { w.function(&format!("{name}_4")) } else { four_calls(w) }
}

impl WgslOptions {
    /// Whether four elements are computed one after the other in a loop, so that the operator stands in a kernel once: where `fma` and other operations
    /// are emulated at length, drivers take seconds to compile them in every place.
    #[must_use]
    pub fn rolls(&self, f: &Func) -> bool {
        let long = |op| self.repairs.contains(op) || matches!(op, Operation::Fma(_));
        self.fma == WgslFma::Prelude && !self.repairs.is_empty() && f.operations().iter().any(long)
    }
}

/// The form of four that calls the single form for each.
fn four_calls(w: Writer<'_>) -> String {
    let (f, name) = (w.f, w.name);
    let (params, types) = (w.params(), f.result_types());
    let names: Vec<&str> = params.iter().filter_map(|p| p.split(':').next()).collect();
    let mut text = String::new();
    let result = if let [one] = types[..] { w.spelt(one) } else { format!("{name}_4_result") };
    if types.len() != 1 {
        let members: Vec<String> = types.iter().enumerate().map(|(i, &t)| format!("r{i}: {}", w.spelt(t))).collect();
        let _ = writeln!(text, "struct {result} {{ {} }}", members.join(", "));
    }
    let _ = writeln!(text, "fn {name}_4({}) -> {result} {{", params.join(", "));
    if w.options.rolls(f) {
        rolled_calls(&mut text, f, name, &names, &result);
        return text;
    }
    for c in COMPONENTS {
        let args: Vec<String> = names.iter().map(|p| format!("{p}.{c}")).collect();
        let _ = writeln!(text, "    let {c} = {name}({});", args.join(", "));
    }
    let member = |r: usize| format!("vec4(x.r{r}, y.r{r}, z.r{r}, w.r{r})");
    let _ = match types.len() {
        1 => writeln!(text, "    return vec4(x, y, z, w);\n}}"),
        n => writeln!(text, "    return {result}({});\n}}", (0..n).map(member).collect::<Vec<_>>().join(", ")),
    };
    text
}

/// The single form in a loop. Elements are picked and put by selection, as in [`Writer::rolled`].
fn rolled_calls(text: &mut String, f: &Func, name: &str, params: &[&str], result: &str) {
    let types = f.result_types();
    for (r, &ty) in types.iter().enumerate() {
        let _ = writeln!(text, "    var r{r} = vec4<{}>();", wgsl_type(ty));
    }
    let pick = |p: &&str| format!("select(select({p}.x, {p}.y, k == 1u), select({p}.z, {p}.w, k == 3u), k >= 2u)");
    let args: Vec<String> = params.iter().map(pick).collect();
    let _ = writeln!(text, "    for (var k = 0u; k < 4u; k++) {{\n        let v = {name}({});", args.join(", "));
    text.push_str("        let here = vec4<u32>(k) == vec4<u32>(0u, 1u, 2u, 3u);\n");
    for (r, &ty) in types.iter().enumerate() {
        let value = if types.len() == 1 { "v".to_owned() } else { format!("v.r{r}") };
        let _ = writeln!(text, "        r{r} = select(r{r}, vec4<{}>({value}), here);", wgsl_type(ty));
    }
    let all: Vec<String> = (0..types.len()).map(|r| format!("r{r}")).collect();
    let _ = match types.len() {
        1 => writeln!(text, "    }}\n    return r0;\n}}"),
        _ => writeln!(text, "    }}\n    return {result}({});\n}}", all.join(", ")),
    };
}

impl Writer<'_> {
    /// The four elements of array `k` at an index, one to a component: those that a parameter holds already, and the rest fetched. Behind the
    /// four may be nothing that was loaded, so only what lies before a component counts.
    pub(super) fn fetched_4(&self, k: u16, index: Id, text: &str) -> String {
        let (fetch, ty) = (format!("{}_fetch{k}", self.name), wgsl_type(self.f.params[usize::from(k)].ty()));
        let own = |component: usize| {
            let twin = self.twins.get(usize::from(k)).copied().flatten()?;
            let (param, by) = self.f.param_and_constant(index)?;
            let is_index = matches!(self.f.params[usize::from(param)], Param::Index(_)) && by <= 0;
            let at = is_index.then(|| component.checked_add_signed(by as isize)).flatten()?;
            Some(format!("bitcast<{ty}>(p{twin}.{})", COMPONENTS[at]))
        };
        let four = COMPONENTS.iter().enumerate().map(|(c, name)| own(c).unwrap_or_else(|| format!("{fetch}({text}.{name})")));
        format!("vec4({})", four.collect::<Vec<_>>().join(", "))
    }

    /// The branch at node `i`: a block that any element needs is computed for all, or in a loop for those that need it; each selects its
    /// own result.
    pub(super) fn joint_branch(&mut self, i: Id, depth: usize) {
        let Node::Branch { cond, then_end, then_result, else_end, else_result } = self.f.nodes[i as usize] else { return };
        let pad = "    ".repeat(depth);
        let (cond, ty) = (self.value(cond), self.spelt(self.ty(i)));
        if then_end > i + 1 {
            let taken = self.active.as_ref().map_or_else(|| cond.clone(), |active| format!("{cond} & {active}"));
            let _ = writeln!(self.text, "{pad}var v{i}: {ty};\n{pad}if (any({taken})) {{");
            self.range(i + 1, then_end, depth + 1);
            let a = self.value(then_result);
            let _ = writeln!(self.text, "{pad}    v{i} = {a};\n{pad}}}");
        } else {
            let a = self.value(then_result);
            let _ = writeln!(self.text, "{pad}var v{i} = {a};");
        }
        let left = self.active.as_ref().map_or_else(|| cond.clone(), |active| format!("{cond} | !{active}"));
        let _ = writeln!(self.text, "{pad}if (!all({left})) {{");
        if self.form == (Form::Joint { rolls: true }) && else_end - then_end >= FEW {
            self.rolled(i, &cond, (then_end, else_end, else_result), depth + 1);
        } else {
            self.range(then_end, else_end, depth + 1);
            let b = self.value(else_result);
            let _ = writeln!(self.text, "{pad}    v{i} = select({b}, v{i}, {cond});");
        }
        let _ = writeln!(self.text, "{pad}}}");
    }

    /// The block `from..to` in a loop over the elements for which `cond` is false. Inside it names stand for one element's values; elements
    /// are picked by selection, since an index that is known at run time only would put the vectors into memory.
    fn rolled(&mut self, i: Id, cond: &str, (from, to, result): (Id, Id, Id), depth: usize) {
        let pad = "    ".repeat(depth);
        self.calls.insert("iw_set_of_4".to_owned());
        let _ = writeln!(self.text, "{pad}for (var rest = iw_set_of_4(!{cond}); rest != 0u; rest &= rest - 1u) {{");
        let _ = writeln!(self.text, "{pad}    let k = countTrailingZeros(rest);");
        for name in self.captures(from, to, result) {
            let picked = format!("select(select({name}.x, {name}.y, k == 1u), select({name}.z, {name}.w, k == 3u), k >= 2u)");
            let _ = writeln!(self.text, "{pad}    let {name} = {picked};");
        }
        let form = std::mem::replace(&mut self.form, Form::Single);
        self.range(from, to, depth + 1);
        let b = self.value(result);
        self.form = form;
        let (all, here) = (self.spelt(self.ty(i)), "vec4<u32>(k) == vec4<u32>(0u, 1u, 2u, 3u)");
        let _ = writeln!(self.text, "{pad}    v{i} = select(v{i}, {all}({b}), {here});\n{pad}}}");
    }

    /// The names that a block takes from outside.
    fn captures(&self, from: Id, to: Id, result: Id) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut add = |id: Id| match self.f.nodes[id as usize] {
            Node::Param(k) => drop(names.insert(format!("p{k}"))),
            Node::Const(_) => {}
            _ if id < from => drop(names.insert(format!("v{id}"))),
            _ => {}
        };
        for node in &self.f.nodes[from as usize..to as usize] {
            Func::operands(node, &mut add);
        }
        add(result);
        names
    }
}
