//! A kernel's text: a pattern's template, with the bindings, the element access, the operators and the numerics that it calls in
//! front of it.

use super::access;
use super::accumulator::Accumulator;
use super::operands::Signature;
use crate::probe::{Seed, Seeds};
use isowarp_core::caps::{FmaKind, Numerics};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{Func, Param, WgslOptions, wgsl_function};
use isowarp_core::numerics;
use isowarp_shaders::Snippet;
use isowarp_shaders::kernels::{Extra, Template};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What a kernel's text depends on besides the task: the adapter's arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Dialect {
    pub(super) fma: FmaKind,
    pub(super) native_fma64: bool,
    pub(super) native_div64: bool,
    pub(super) native_sqrt64: bool,
    /// Which of the adapter's approximations division and root start from.
    pub(super) seeds: Seeds,
}

/// Floats by their bits, which no compiler can see through: Mesa folds `x + 0.0`, `0.0 - x` and `x * 0.0` as if zero had no sign and
/// NaN did not exist. Element indices stay below 2^63, so the highest bit of the first one is a zero that is known at run time only.
const OPAQUE_BITS: &str = "fn iw_bits(bits: u32) -> f32 {
    return bitcast<f32>(bits ^ (args.base_high & 0x80000000u));
}";
const OPAQUE_BITS64: &str = "fn iw_bits64(bits: u64) -> f64 {
    return bitcast<f64>(bits ^ u64(args.base_high & 0x80000000u));
}";

/// `iw_fma` for operands and results that are zero or normal: without a guard.
pub(super) const NATIVE_FMA: &str = "iw_fma_native";
/// Ends the name of a definition that is right for arguments that are not subnormal.
const NORMAL: &str = "_normal";

/// The elementary function that kernels call by this name.
fn elementary(name: &str) -> Option<numerics::Func> {
    let plain = name.strip_prefix("iw_")?;
    numerics::Func::ALL.iter().copied().find(|f| f.name() == plain)
}

/// A snippet of the prelude, for the function `name`, over the adapter's own `fma`.
fn over_native_fma(snippet: &str, name: &str) -> Option<Snippet> {
    let (text, mut calls) = isowarp_shaders::renamed(snippet, name)?;
    if calls.remove("iw_fma") {
        calls.insert(NATIVE_FMA.to_owned());
    }
    Some((text.replace("iw_fma(", &format!("{NATIVE_FMA}(")), calls))
}

/// The definitions that a flushing `fma` leaves as they are call it without a guard; those that it leaves so but for subnormal
/// arguments, which are their own results, tell these apart.
fn beside_guarded_fma(name: &str) -> Option<Snippet> {
    if let Some(normal) = name.strip_suffix(NORMAL) {
        return over_native_fma(normal, name);
    }
    let func = elementary(name)?;
    if func.keeps_bits_under_flushing_fma() {
        return over_native_fma(name, name);
    }
    func.returns_subnormals().then(|| {
        let normal = format!("{name}{NORMAL}");
        let text = format!(
            "fn {name}(x: f32) -> f32 {{
    // Less than 0x7fffff for subnormal numbers only: zero wraps around.
    let subnormal = (bitcast<u32>(x) & 0x7fffffffu) - 1u < 0x7fffffu;
    return select({normal}(x), x, subnormal);
}}"
        );
        (text, BTreeSet::from([normal]))
    })
}

impl Seeds {
    /// The snippet that defines a function of division and root; `None` for other functions.
    fn snippet(self, name: &str) -> Option<&str> {
        match name {
            "iw_div" if self.reciprocal.is_some() => Some("iw_div@seeded"),
            "iw_sqrt" if self.root.is_some() => Some("iw_sqrt@seeded"),
            "iw_seeded_reciprocal" if self.reciprocal == Some(Seed::Close) => Some("iw_seeded_reciprocal@close"),
            "iw_seeded_reciprocal" => Some("iw_seeded_reciprocal@coarse"),
            "iw_seeded_root" if self.root == Some(Seed::Close) => Some("iw_seeded_root@close"),
            "iw_seeded_root" => Some("iw_seeded_root@coarse"),
            "iw_div" | "iw_div_anywhere" | "iw_sqrt" | "iw_sqrt_anywhere" | "iw_rounded_root" => Some(name),
            _ => None,
        }
    }
}

impl Dialect {
    /// The text of a function where it is not the prelude's own.
    pub(super) fn resolve(self, name: &str) -> Option<Snippet> {
        let wide = |native: bool| isowarp_shaders::snippet(&format!("{name}@{}", if native { "native" } else { "integer" }));
        match name {
            "iw_bits" => Some((OPAQUE_BITS.to_owned(), BTreeSet::new())),
            "iw_bits64" => Some((OPAQUE_BITS64.to_owned(), BTreeSet::new())),
            "iw_fma" => Some((crate::fma_prelude(self.fma).to_owned(), BTreeSet::new())),
            // Called where nothing is subnormal.
            NATIVE_FMA if self.fma == FmaKind::Guarded => {
                Some((crate::fma_prelude(FmaKind::Native).replace("fn iw_fma(", &format!("fn {NATIVE_FMA}(")), BTreeSet::new()))
            }
            NATIVE_FMA => {
                let text = format!("fn {NATIVE_FMA}(a: f32, b: f32, c: f32) -> f32 {{\n    return iw_fma(a, b, c);\n}}");
                Some((text, BTreeSet::from(["iw_fma".to_owned()])))
            }
            "iw_fma64" => wide(self.native_fma64),
            "iw_div64" => wide(self.native_div64),
            "iw_sqrt64" => wide(self.native_sqrt64),
            _ => match (self.seeds.snippet(name), self.fma) {
                // No operand or result of theirs is subnormal where that would change a bit.
                (Some(snippet), FmaKind::Guarded) => over_native_fma(snippet, name),
                (Some(snippet), _) => isowarp_shaders::snippet(snippet),
                (None, FmaKind::Guarded) => beside_guarded_fma(name),
                (None, _) => None,
            },
        }
    }
}

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

/// What a kernel computes with.
#[derive(Clone, Copy)]
pub(super) enum Operators<'a> {
    /// One operator from leaves to outputs.
    Body(&'a Func),
    /// A tree of combinations.
    Tree { source: Source<'a>, combine: &'a Func, sink: Sink<'a> },
    /// None; the names are functions of the prelude that the template calls.
    Calls(&'a [&'static str]),
}

/// The hole that asks for the form in subgroups.
pub(super) const SUBGROUPS: &str = "subgroups";

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
            Operators::Body(f) => f.hash128().hash(h),
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
            Operators::Calls(_) => {}
        }
    }

    /// Storage buffers that it binds.
    pub(super) fn buffers(&self) -> u32 {
        let arrays = match self.operators {
            Operators::Tree { source, sink, .. } => {
                u32::from(matches!(source, Source::Partials)) + u32::from(matches!(sink, Sink::Results))
            }
            _ => 0,
        };
        self.signature.slots.len() as u32 + arrays + self.extra().count() as u32
    }

    /// The template's own buffers that this variant has.
    fn extra(&self) -> impl Iterator<Item = &'static Extra> {
        self.template.bindings.iter().filter(|b| b.when.is_none_or(|w| self.constants.contains(&(w, 1))))
    }

    /// The whole WGSL.
    pub(super) fn text(&self, dialect: Dialect) -> Result<String> {
        let native_fma = match dialect.fma {
            FmaKind::Native | FmaKind::Contracted => true,
            FmaKind::Guarded => self.numerics == Numerics::Fast,
            FmaKind::ViaF64 | FmaKind::ViaInteger => false,
        };
        let mut w = Writer {
            signature: self.signature,
            options: WgslOptions { native_fma, numerics: self.numerics },
            calls: BTreeSet::new(),
            text: String::new(),
        };
        let mut members: Vec<String> = ["base", "base_high"].iter().chain(self.template.args).map(|&m| m.to_owned()).collect();
        let mut arrays = Vec::new();
        match self.operators {
            Operators::Body(f) => w.body(f),
            Operators::Tree { source, combine, sink } => {
                let parts = combine.result_types();
                let acc = Accumulator::new(parts);
                w.tree(source, combine, sink, &acc, &mut arrays);
                if self.first {
                    let (names, value) = acc.in_args("first");
                    members.extend(names);
                    let _ = writeln!(w.text, "fn first_value() -> Acc {{\n    return {value};\n}}");
                }
                w.text.push_str(&acc.word_functions());
                if self.constants.contains(&(SUBGROUPS, 1)) {
                    w.text.push_str(&acc.shuffle_functions());
                }
            }
            Operators::Calls(names) => w.calls.extend(names.iter().map(|&n| n.to_owned())),
        }
        members.extend(access::members(self.signature));
        let failed = |log: String| Error::Compile { kernel: self.entry.to_owned(), log };
        let Writer { calls, text: operators, .. } = w;
        let prelude = isowarp_shaders::prelude(&calls, &mut |name| dialect.resolve(name)).map_err(|e| failed(e.to_string()))?;

        let mut text = String::from("struct Args {\n");
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
        text.push_str(&prelude);
        text.push_str(&operators);
        let constants: std::collections::BTreeMap<&str, u32> = self.constants.iter().copied().collect();
        text.push_str(&self.template.expand(&constants).map_err(failed)?);
        Ok(text)
    }
}

struct Writer<'a> {
    signature: &'a Signature,
    options: WgslOptions,
    calls: BTreeSet<String>,
    text: String,
}

impl Writer<'_> {
    /// The leaves' functions and an operator over them.
    fn loading(&mut self, f: &Func, name: &str) {
        for k in 0..self.signature.leaves.len() {
            let leaf = access::leaf(self.signature, k, &mut self.calls);
            let fetch = access::fetch(self.signature, name, k, &mut self.calls);
            self.text.push_str(&leaf);
            self.text.push_str(&fetch);
        }
        self.function(f, name);
    }

    fn function(&mut self, f: &Func, name: &str) {
        let text = wgsl_function(f, name, self.options, &mut self.calls);
        self.text.push_str(&text);
    }

    fn outs(&mut self, f: &Func) {
        for (k, &ty) in f.result_types().iter().enumerate().take(self.signature.outs.len()) {
            let out = access::out(self.signature, k, ty, &mut self.calls);
            self.text.push_str(&out);
        }
    }

    /// `body1(i)` and `body4(i)`.
    fn body(&mut self, f: &Func) {
        self.loading(f, "op_body");
        self.outs(f);
        let results = f.results.len();
        let result = |v: &str, r: usize| if results == 1 { v.to_owned() } else { format!("{v}.r{r}") };
        let args: Vec<String> = value_params(f).map(|k| format!("leaf{k}_1(i)")).collect();
        let _ = writeln!(self.text, "fn body1(i: u32) {{\n    let v = op_body({});", args.join(", "));
        for r in 0..results {
            let _ = writeln!(self.text, "    out{r}_1(i, {});", result("v", r));
        }
        self.text.push_str("}\nfn body4(i: u32) {\n");
        for k in value_params(f) {
            let _ = writeln!(self.text, "    let a{k} = leaf{k}_4(i);");
        }
        for c in COMPONENTS {
            let args: Vec<String> = value_params(f).map(|k| format!("a{k}.{c}")).collect();
            let _ = writeln!(self.text, "    let v{c} = op_body({});", args.join(", "));
        }
        for (r, &ty) in f.result_types().iter().enumerate() {
            let four: Vec<String> = COMPONENTS.iter().map(|c| result(&format!("v{c}"), r)).collect();
            let _ = writeln!(self.text, "    out{r}_4(i, vec4<{}>({}));", isowarp_core::ir::wgsl_type(ty), four.join(", "));
        }
        self.text.push_str("}\n");
    }

    /// `Acc`, `combine`, `load1`, `load4`, `finish`, `store4`.
    fn tree(
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
                self.loading(f, "op_load");
                let args: Vec<String> = value_params(f).map(|k| format!("leaf{k}_1(i)")).collect();
                let names: Vec<String> = value_params(f).map(|k| format!("p{k}: {}", param_type(f, k))).collect();
                let passed: Vec<String> = value_params(f).map(|k| format!("p{k}")).collect();
                let made = acc.made_of(&format!("op_load({})", passed.join(", ")));
                let _ = writeln!(self.text, "fn load_acc({}) -> Acc {{\n    {made}\n}}", names.join(", "));
                let _ = writeln!(self.text, "fn load1(i: u32) -> Acc {{\n    return load_acc({});\n}}", args.join(", "));
                self.text.push_str("fn load4(i: u32) -> array<Acc, 4> {\n");
                for k in value_params(f) {
                    let _ = writeln!(self.text, "    let a{k} = leaf{k}_4(i);");
                }
                let each = |c: &&str| format!("load_acc({})", value_params(f).map(|k| format!("a{k}.{c}")).collect::<Vec<_>>().join(", "));
                let four: Vec<String> = COMPONENTS.iter().map(each).collect();
                let _ = writeln!(self.text, "    return array<Acc, 4>({});\n}}", four.join(", "));
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
                let results = f.results.len();
                let result = |v: &str, r: usize| if results == 1 { v.to_owned() } else { format!("{v}.r{r}") };
                let _ = writeln!(self.text, "fn finish(i: u32, a: Acc) {{\n    let v = op_finish({});", acc.spread("a").join(", "));
                for r in 0..results {
                    let _ = writeln!(self.text, "    out{r}_1(i, {});", result("v", r));
                }
                self.text.push_str("}\nfn store4(i: u32, a: array<Acc, 4>) {\n");
                for (e, c) in COMPONENTS.iter().enumerate() {
                    let _ = writeln!(self.text, "    let v{c} = op_finish({});", acc.spread(&format!("a[{e}]")).join(", "));
                }
                for (r, &ty) in f.result_types().iter().enumerate() {
                    let four: Vec<String> = COMPONENTS.iter().map(|c| result(&format!("v{c}"), r)).collect();
                    let _ = writeln!(self.text, "    out{r}_4(i, vec4<{}>({}));", isowarp_core::ir::wgsl_type(ty), four.join(", "));
                }
                self.text.push_str("}\n");
            }
            Sink::Results => {
                arrays.push(("results", "read_write"));
                self.text.push_str("fn finish(i: u32, a: Acc) {\n    results[i] = a;\n}\n");
            }
        }
    }
}

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// The parameters of an operator that are values.
fn value_params(f: &Func) -> impl Iterator<Item = usize> + '_ {
    f.params.iter().enumerate().filter(|(_, p)| !matches!(p, Param::Array(_))).map(|(k, _)| k)
}

fn param_type(f: &Func, k: usize) -> &'static str {
    match f.params[k] {
        Param::Value(t) | Param::Index(t) => isowarp_core::ir::wgsl_type(t),
        Param::Array(d) => isowarp_core::ir::wgsl_type(d.ty()),
    }
}
