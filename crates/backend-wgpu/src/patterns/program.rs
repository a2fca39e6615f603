//! A kernel's text: a pattern's template, with the bindings, the element access, the operators and the numerics that it calls in
//! front of it.

use super::access;
use super::accumulator::Accumulator;
use super::dialect::Dialect;
use super::launcher::Planned;
use super::operands::Signature;
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{Func, Param, WgslOptions, wgsl_function, wgsl_function_4};
use isowarp_core::launch::{Binding, Template};
use isowarp_shaders::kernels::{expand, is_there};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Where a tree pattern's accumulators come from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// The task's leaves, through its loading operator.
    Leaves(&'a Func),
    /// An array of accumulators, `partials`.
    Partials,
    /// Nowhere: the kernel reads what it needs itself.
    Nothing,
}

/// Where a tree pattern's accumulators go.
#[derive(Clone, Copy)]
pub(super) enum Sink<'a> {
    /// The task's outputs, through its finishing operator.
    Outs(&'a Func),
    /// An array of accumulators, `results`.
    Results,
}

/// Operators that a kernel computes with.
#[derive(Clone, Copy)]
pub(super) enum Operators<'a> {
    /// A tree of combinations.
    Tree { source: Source<'a>, combine: &'a Func, sink: Sink<'a> },
    /// Words of elements.
    Words(&'a Func),
    /// Operators of a pattern with a driver of its own.
    Own(&'a dyn Written),
    /// Order of two keys: which comes first, by their bits.
    Order { before: &'a Func, dtype: DType },
    /// Elements that are computed where they are read.
    Computed(&'a [Computed<'a>]),
    /// None; the names are functions of the prelude that the template calls.
    Calls(&'a [&'static str]),
    /// Operators of a plan.
    Planned(Planned<'a>),
}

/// Text that a pattern alone writes in front of its template.
pub(super) trait Written: Sync {
    /// Tells it from what others write, and from what it writes of other operators.
    fn identity(&self) -> u128;
    /// Writes it.
    fn write(&self, w: &mut Writer<'_>);
}

/// The identity of what is written of these operators, and of numbers.
pub(super) fn identity(name: &str, operators: &[&Func], numbers: &[u64]) -> u128 {
    use std::hash::Hash as _;
    let mut h = xxhash_rust::xxh3::Xxh3::new();
    (name, numbers).hash(&mut h);
    operators.iter().for_each(|f| f.hash128().hash(&mut h));
    h.digest128()
}

/// Elements of one name, each its operator's only result.
#[derive(Clone, Copy)]
pub(super) struct Computed<'a> {
    pub(super) name: &'static str,
    pub(super) func: &'a Func,
    pub(super) dtype: DType,
}

/// The hole that asks for the form in subgroups.
pub(super) const SUBGROUPS: &str = "subgroups";
/// The hole, and its value, of kernels in whose loops a heavy operator stands once.
const ROLLED: (&str, u32) = ("rolled", 1);

/// A kernel before it is text.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    pub(super) template: Template,
    pub(super) entry: &'static str,
    /// Numbers that the template asks for.
    pub(super) constants: &'a [(&'static str, u32)],
    pub(super) operators: Operators<'a>,
    pub(super) signature: &'a Signature,
    pub(super) numerics: Numerics,
    /// Whether an accumulator travels in the parameters.
    pub(super) first: bool,
}

/// A kernel of raw bits, with no operator and no operands but its own buffers.
pub(super) fn of_bits<'a>(
    template: Template,
    entry: &'static str,
    holes: &'a [(&'static str, u32)],
    signature: &'a Signature,
) -> Program<'a> {
    let operators = Operators::Calls(&[]);
    Program { template, entry, constants: holes, operators, signature, numerics: Numerics::Strict, first: false }
}

impl Program<'_> {
    /// Feeds what the text depends on into a hash.
    pub(super) fn hash(&self, h: &mut impl std::hash::Hasher) {
        use std::hash::Hash;
        self.entry.hash(h);
        self.constants.hash(h);
        self.signature.hash(h);
        self.numerics.hash(h);
        self.first.hash(h);
        match self.operators {
            Operators::Words(f) => f.hash128().hash(h),
            Operators::Own(own) => own.identity().hash(h),
            Operators::Tree { source, combine, sink } => {
                match source {
                    Source::Leaves(f) => f.hash128().hash(h),
                    Source::Partials => 1u8.hash(h),
                    Source::Nothing => 2u8.hash(h),
                }
                combine.hash128().hash(h);
                match sink {
                    Sink::Outs(f) => f.hash128().hash(h),
                    Sink::Results => 1u8.hash(h),
                }
            }
            Operators::Computed(all) => all.iter().for_each(|c| (c.name, c.func.hash128(), c.dtype).hash(h)),
            Operators::Order { before, dtype } => {
                before.hash128().hash(h);
                dtype.hash(h);
            }
            Operators::Calls(_) => {}
            Operators::Planned(planned) => planned.hash(h),
        }
    }

    /// Storage buffers that it binds.
    pub(super) fn buffers(&self) -> u32 {
        let arrays = match self.operators {
            Operators::Tree { source, sink, .. } => {
                u32::from(matches!(source, Source::Partials)) + u32::from(matches!(sink, Sink::Results))
            }
            Operators::Planned(planned) => planned.accumulators().count() as u32,
            _ => 0,
        };
        self.signature.slots.len() as u32 + arrays + self.extra().count() as u32
    }

    /// The template's own buffers that this variant has.
    pub(super) fn extra(&self) -> impl Iterator<Item = &'static Binding> {
        self.template.bindings.iter().filter(|b| is_there(b, self.constants))
    }

    /// The whole WGSL.
    pub(super) fn text(&self, dialect: Dialect) -> Result<String> {
        let mut w = Writer {
            signature: self.signature,
            options: dialect.options(self.numerics),
            branches: dialect.branches,
            rolled: self.constants.contains(&ROLLED),
            calls: BTreeSet::new(),
            text: String::new(),
        };
        let mut members: Vec<String> = ["base", "base_high"].iter().chain(self.template.args).map(|&m| m.to_owned()).collect();
        let mut arrays = Vec::new();
        match self.operators {
            Operators::Tree { source, combine, sink } => {
                let acc = Accumulator::new(combine.result_types());
                members.extend(w.all_of_tree(source, combine, sink, &acc, self.first, &mut arrays));
                if self.constants.contains(&(SUBGROUPS, 1)) {
                    w.text.push_str(&acc.shuffle_functions());
                }
            }
            Operators::Words(f) => w.words_of_elements(f),
            Operators::Own(own) => own.write(&mut w),
            Operators::Order { before, dtype } => w.order(before, dtype),
            Operators::Computed(all) => w.computed(all),
            Operators::Calls(names) => w.calls.extend(names.iter().map(|&n| n.to_owned())),
            Operators::Planned(planned) => members.extend(planned.write(&mut w, &mut arrays, self.extra().map(|b| b.name))),
        }
        members.extend(access::members(self.signature));
        let failed = |log: String| Error::Compile { kernel: self.entry.to_owned(), log };
        let Writer { mut calls, text: operators, .. } = w;
        calls.extend(dialect.exact_of_built_in().map(|(_, exact)| exact));
        let prelude = isowarp_shaders::prelude(&calls, &mut |name| dialect.resolve(name)).map_err(|e| failed(e.to_string()))?;

        let constants: std::collections::BTreeMap<&str, u32> = self.constants.iter().copied().collect();
        let template = expand(&self.template, &constants).map_err(failed)?;
        let mut text = String::new();
        if template.contains("coop_mat") {
            text.push_str("enable wgpu_cooperative_matrix;\n");
        }
        text.push_str("struct Args {\n");
        for m in &members {
            let _ = writeln!(text, "    {m}: u32,");
        }
        text.push_str("}\nvar<immediate> args: Args;\n");
        text.push_str(&access::bindings(self.signature));
        let declared = arrays.iter().map(|&(n, a)| (n, a, "array<Acc>")).chain(self.extra().map(|b| (b.name, b.access, b.ty)));
        for (k, (name, access, ty)) in declared.enumerate() {
            let binding = self.signature.slots.len() + k;
            let _ = writeln!(text, "@group(0) @binding({binding}) var<storage, {access}> {name}: {ty};");
        }
        text.push_str(&dialect.without_built_in(prelude));
        text.push_str(&operators);
        text.push_str(&dialect.without_built_in(template));
        Ok(text)
    }
}

pub(super) struct Writer<'a> {
    pub(super) signature: &'a Signature,
    pub(super) options: WgslOptions,
    pub(super) branches: bool,
    /// Whether operators stand in loops.
    pub(super) rolled: bool,
    pub(super) calls: BTreeSet<String>,
    pub(super) text: String,
}

impl Writer<'_> {
    /// The functions of the leaves of an operator.
    pub(super) fn leaves(&mut self, f: &Func, name: &str) {
        let few = self.branches && access::fetches_few(f);
        for k in 0..self.signature.leaves.len() {
            let leaf = access::leaf(self.signature, k, &mut self.calls);
            let fetch = access::fetch(self.signature, (name, few), k, &mut self.calls);
            self.text.push_str(&leaf);
            self.text.push_str(&fetch);
        }
    }

    pub(super) fn function(&mut self, f: &Func, name: &str) {
        let text = wgsl_function(f, name, self.options, &mut self.calls);
        self.text.push_str(&text);
    }

    /// The form of an operator for four elements at once.
    pub(super) fn function_4(&mut self, f: &Func, name: &str) {
        let (twins, shared) = (self.signature.twins(), self.signature.shared());
        let text = wgsl_function_4(f, name, self.options, (&twins, &shared), &mut self.calls);
        self.text.push_str(&text);
    }

    /// `{name}_at(i)` of each.
    fn computed(&mut self, all: &[Computed<'_>]) {
        for k in 0..self.signature.leaves.len() {
            let leaf = access::leaf(self.signature, k, &mut self.calls);
            self.text.push_str(&leaf);
        }
        for c in all {
            let name = format!("op_{}", c.name);
            for k in (0..self.signature.leaves.len()).filter(|&k| c.func.looks_at(k)) {
                let fetch = access::fetch(self.signature, (&name, self.branches && access::fetches_few(c.func)), k, &mut self.calls);
                self.text.push_str(&fetch);
            }
            self.function(c.func, &name);
            let at = access::computed(c.name, c.func, c.dtype, &mut self.calls);
            self.text.push_str(&at);
        }
    }

    pub(super) fn outs(&mut self, f: &Func) {
        for (k, &ty) in f.result_types().iter().enumerate().take(self.signature.outs.len()) {
            let out = access::out(self.signature, k, ty, &mut self.calls);
            self.text.push_str(&out);
        }
    }

    /// `body4(i, end)`: the elements from `i` on that are before `end`, at most four. The operator stands in it once: where fewer than four
    /// are left, the last one is computed repeatedly.
    pub(super) fn body(&mut self, f: &Func) {
        self.leaves(f, "op_body");
        if !f.is_joint() || self.options.rolls(f) {
            self.function(f, "op_body");
        }
        self.function_4(f, "op_body");
        self.outs(f);
        self.text.push_str("fn body4(i: u32, end: u32) {\n    let whole = end - i >= 4u;\n");
        let (mut whole, mut rest) = (String::new(), String::new());
        for k in value_params(f) {
            if self.signature.leaves[k].is_uniform() {
                let _ = writeln!(self.text, "    let a{k} = leaf{k}_4(i);");
                continue;
            }
            let _ = writeln!(self.text, "    var a{k}: vec4<{}>;", param_type(f, k));
            let _ = writeln!(whole, "        a{k} = leaf{k}_4(i);");
            let _ = writeln!(rest, "        a{k} = vec4(leaf{k}_1(i), leaf{k}_1(min(i + 1u, last)), leaf{k}_1(last), leaf{k}_1(last));");
        }
        if !whole.is_empty() {
            let _ = writeln!(self.text, "    if (whole) {{\n{whole}    }} else {{\n        let last = end - 1u;\n{rest}    }}");
        }
        let args: Vec<String> = value_params(f).map(|k| format!("a{k}")).collect();
        let _ = writeln!(self.text, "    let v = op_body_4({});\n    if (whole) {{", args.join(", "));
        let result = |r: usize| member("v", r, f.results.len());
        for r in 0..f.results.len() {
            let _ = writeln!(self.text, "        out{r}_4(i, {});", result(r));
        }
        self.text.push_str("    } else {\n");
        for r in 0..f.results.len() {
            let _ = writeln!(self.text, "        out{r}_1(i, {}.x);", result(r));
        }
        for (e, c) in ["y", "z"].iter().enumerate() {
            let _ = writeln!(self.text, "        if (i + {}u < end) {{", e + 1);
            for r in 0..f.results.len() {
                let _ = writeln!(self.text, "            out{r}_1(i + {}u, {}.{c});", e + 1, result(r));
            }
            self.text.push_str("        }\n");
        }
        self.text.push_str("    }\n}\n");
    }

    /// All that a tree of combinations takes, the value that it starts with among them: what is returned are the members of `args` with that.
    pub(super) fn all_of_tree(
        &mut self,
        source: Source<'_>,
        combine: &Func,
        sink: Sink<'_>,
        acc: &Accumulator,
        first: bool,
        arrays: &mut Vec<(&'static str, &'static str)>,
    ) -> Vec<String> {
        self.tree(source, combine, sink, acc, arrays);
        let mut members = Vec::new();
        if first {
            let (names, value) = acc.in_args("first");
            members = names;
            let _ = writeln!(self.text, "fn first_value() -> Acc {{\n    return {value};\n}}");
        }
        self.text.push_str(&acc.word_functions());
        members
    }

    /// `Acc`, `combine`, `load1`, `load4`, `finish`, `store4`.
    pub(super) fn tree(
        &mut self,
        source: Source<'_>,
        combine: &Func,
        sink: Sink<'_>,
        acc: &Accumulator,
        arrays: &mut Vec<(&'static str, &'static str)>,
    ) {
        self.function(combine, "op_combine");
        self.text.push_str(&acc.text());
        match source {
            Source::Leaves(f) => {
                self.leaves(f, "op_load");
                self.function(f, "op_load");
                let args: Vec<String> = value_params(f).map(|k| format!("leaf{k}_1(i)")).collect();
                let made = acc.made_of(&format!("op_load({})", args.join(", ")));
                let _ = writeln!(self.text, "fn load1(i: u32) -> Acc {{\n    {made}\n}}");
                self.load4(f, acc);
            }
            Source::Partials => {
                arrays.push(("partials", "read"));
                self.text.push_str("fn load1(i: u32) -> Acc {\n    return partials[i];\n}\n");
                self.text.push_str("fn load4(i: u32) -> array<Acc, 4> {\n    return array<Acc, 4>(partials[i], partials[i + 1u], partials[i + 2u], partials[i + 3u]);\n}\n");
            }
            Source::Nothing => {}
        }
        match sink {
            Sink::Outs(f) => {
                self.function(f, "op_finish");
                self.outs(f);
                let result = |v: &str, r: usize| member(v, r, f.results.len());
                let _ = writeln!(self.text, "fn finish(i: u32, a: Acc) {{\n    let v = op_finish({});", acc.spread("a").join(", "));
                for r in 0..f.results.len() {
                    let _ = writeln!(self.text, "    out{r}_1(i, {});", result("v", r));
                }
                self.text.push_str("}\n");
                self.store4(f, acc);
            }
            Sink::Results => {
                arrays.push(("results", "read_write"));
                self.text.push_str("fn finish(i: u32, a: Acc) {\n    results[i] = a;\n}\n");
            }
        }
    }

    /// `load4(i)`. An operator that computes something does so for all four at once.
    fn load4(&mut self, f: &Func, acc: &Accumulator) {
        self.load_four(f, "Acc", |part| acc.made_of_parts(&(0..f.results.len()).map(part).collect::<Vec<_>>()));
    }

    /// `load4(i)`, which gives four of this type, each made of the names of the operator's results.
    pub(super) fn load_four(&mut self, f: &Func, ty: &str, item: impl Fn(&dyn Fn(usize) -> String) -> String) {
        if self.rolled {
            let each = "for (var e = 0u; e < 4u; e++) {\n        x[e] = load1(i + e);\n    }";
            let _ = writeln!(self.text, "fn load4(i: u32) -> array<{ty}, 4> {{\n    var x: array<{ty}, 4>;\n    {each}\n    return x;\n}}");
            return;
        }
        let (joint, results) = (f.weight() > 0, f.results.len());
        if joint {
            self.function_4(f, "op_load");
        }
        let _ = writeln!(self.text, "fn load4(i: u32) -> array<{ty}, 4> {{");
        for k in value_params(f) {
            let _ = writeln!(self.text, "    let a{k} = leaf{k}_4(i);");
        }
        let args = |end: &str| value_params(f).map(|k| format!("a{k}{end}")).collect::<Vec<_>>().join(", ");
        if joint {
            let _ = writeln!(self.text, "    let v = op_load_4({});", args(""));
        } else {
            for c in COMPONENTS {
                let _ = writeln!(self.text, "    let v{c} = op_load({});", args(&format!(".{c}")));
            }
        }
        let part = |c, r| if joint { format!("{}.{c}", member("v", r, results)) } else { member(&format!("v{c}"), r, results) };
        let four = COMPONENTS.map(|c| item(&|r| part(c, r)));
        let _ = writeln!(self.text, "    return array<{ty}, 4>({});\n}}", four.join(", "));
    }

    /// `store4(i, a)`, likewise.
    fn store4(&mut self, f: &Func, acc: &Accumulator) {
        let joint = f.weight() > 0;
        if joint {
            self.function_4(f, "op_finish");
        }
        self.text.push_str("fn store4(i: u32, a: array<Acc, 4>) {\n");
        let each: Vec<Vec<String>> = (0..4).map(|e| acc.spread(&format!("a[{e}]"))).collect();
        if joint {
            let four = |k: usize| format!("vec4({})", each.iter().map(|e| e[k].as_str()).collect::<Vec<_>>().join(", "));
            let args: Vec<String> = (0..each[0].len()).map(four).collect();
            let _ = writeln!(self.text, "    let v = op_finish_4({});", args.join(", "));
        } else {
            for (e, c) in each.iter().zip(COMPONENTS) {
                let _ = writeln!(self.text, "    let v{c} = op_finish({});", e.join(", "));
            }
        }
        for r in 0..f.results.len() {
            let one = |c: &str| member(&format!("v{c}"), r, f.results.len());
            let four = if joint { member("v", r, f.results.len()) } else { format!("vec4({})", COMPONENTS.map(one).join(", ")) };
            let _ = writeln!(self.text, "    out{r}_4(i, {four});");
        }
        self.text.push_str("}\n");
    }
}

/// Result `r` of an operator with so many, in a variable.
pub(super) fn member(v: &str, r: usize, results: usize) -> String {
    if results == 1 { v.to_owned() } else { format!("{v}.r{r}") }
}

pub(super) const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// The parameters of an operator that are values.
pub(super) fn value_params(f: &Func) -> impl Iterator<Item = usize> + '_ {
    f.params.iter().enumerate().filter(|(_, p)| !matches!(p, Param::Array(_))).map(|(k, _)| k)
}

pub(super) fn param_type(f: &Func, k: usize) -> &'static str {
    match f.params[k] {
        Param::Value(t) | Param::Index(t) => isowarp_core::ir::wgsl_type(t),
        Param::Array(d) => isowarp_core::ir::wgsl_type(d.ty()),
    }
}
