//! Lowering to WGSL: a graph becomes one function; operations that WGSL leaves loose are calls of the numerics prelude (`iw_...`).

mod forms;
mod fused;
mod horner;
mod joint;
mod loops;
mod ops;
mod stages;

use super::neighbours::OfFour;
use super::node::{Func, Id, Node, Param};
use super::operation::Operations;
use crate::caps::Numerics;
use crate::element::{DType, Ty};
use core::fmt::Write as _;
use horner::{Chain, chains};
use std::collections::BTreeSet;

/// Options by which a graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WgslOptions {
    /// Form in which a fused multiply-add of f32 is written.
    pub fma: WgslFma,
    /// Strict calls the numerics prelude for division, square root and elementary functions, Fast the built-ins.
    pub numerics: Numerics,
    /// Operations that the device gets wrong: written as calls of `iw_exact_{operation}`, which are made of others.
    pub repairs: Operations,
}

/// Form in which a fused multiply-add of f32 is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WgslFma {
    /// The built-in, which is fused.
    Native,
    /// A call of `iw_fma`.
    Prelude,
    /// A call of `iw_fma`, which guards a built-in that takes subnormal numbers for zeros; of `iw_fma_native`, the bare built-in, where the
    /// operands show that nothing is lost.
    Guarded,
}

/// The WGSL name of a type.
#[must_use]
pub fn wgsl_type(ty: Ty) -> &'static str {
    ty.name()
}

/// A constant in WGSL, exact to the bit. Numbers that WGSL has no literal for come from their bits at run time.
#[must_use]
pub fn wgsl_literal(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::Bool => (bits != 0).to_string(),
        Ty::U32 => format!("{}u", bits as u32),
        Ty::I32 if bits as u32 == 0x8000_0000 => "(-2147483647i - 1i)".to_owned(),
        Ty::I32 => format!("{}i", bits as u32 as i32),
        Ty::F32 => {
            let v = f32::from_bits(bits as u32);
            if v.is_normal() || bits == 0 { format!("{v:?}f") } else { format!("iw_bits({}u)", bits as u32) }
        }
        Ty::U64 => format!("{bits}lu"),
        Ty::I64 if bits == 1 << 63 => "(-9223372036854775807li - 1li)".to_owned(),
        Ty::I64 => format!("{}li", bits as i64),
        Ty::F64 => {
            let v = f64::from_bits(bits);
            if v.is_normal() || bits == 0 { format!("{v:?}lf") } else { format!("iw_bits64({bits}lu)") }
        }
    }
}

/// Writes `f` as a WGSL function `name` whose parameters are its value and index parameters `p0`, `p1`, ... and whose result is a
/// value, or a structure `name_result` with members `r0`, `r1`, ... Array parameter `k` is fetched with `{name}_fetch{k}(u32)`, which the caller
/// supplies. The names of the prelude's functions that it calls are added to `calls`.
#[must_use]
pub fn wgsl_function(f: &Func, name: &str, options: WgslOptions, calls: &mut BTreeSet<String>) -> String {
    Writer {
        f,
        name,
        options,
        text: String::new(),
        calls,
        form: Form::Single,
        active: None,
        twins: &[],
        four: Vec::new(),
        pair: None,
        written: BTreeSet::new(),
        exponents: exponents(f, options),
        chains: chains(f, options),
    }
    .function(name)
}

/// Writes `f` as a WGSL function `{name}_4` of four elements at once: its parameters and its result, or the members of the structure
/// `{name}_4_result`, are vectors of four. They are computed operation by operation, and a branch is taken once for all four; each element's
/// bits are those that [`wgsl_function`] gives it, whatever its neighbours are. The prelude's functions are called in their forms of
/// four (`iw_fma_4`), where there are such. An operator with values of 64 bits calls its single form, which the caller writes
/// ([`Func::is_joint`]).
///
/// `twins` has a parameter for each of `f`: of an array the value parameter that holds its elements at the four indices, if there is one, so
/// that neighbours inside the four need not be fetched. `shared` says of value parameters whether the four have the same, and of an index whether the
/// first of the four is a multiple of four; values that they so have in common are computed once.
#[must_use]
pub fn wgsl_function_4(
    f: &Func,
    name: &str,
    options: WgslOptions,
    (twins, shared): (&[Option<u8>], &[bool]),
    calls: &mut BTreeSet<String>,
) -> String {
    joint::function(f, name, (options, Form::Joint { rolls: false }), (twins, shared), calls)
}

/// As [`wgsl_function_4`], for a definition of the prelude: the second block of its branches is for rare arguments, and computed element by
/// element in a loop, so that it stands in a kernel once.
#[must_use]
pub(super) fn wgsl_definition_4(f: &Func, name: &str, options: WgslOptions, calls: &mut BTreeSet<String>) -> String {
    joint::function(f, name, (options, Form::Joint { rolls: true }), (&[], &[]), calls)
}

/// Values that a name stands for in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One element's value.
    Single,
    /// The values of four elements.
    Joint {
        /// Whether the second block of a branch is computed element by element.
        rolls: bool,
    },
}

struct Writer<'a> {
    f: &'a Func,
    name: &'a str,
    options: WgslOptions,
    text: String,
    calls: &'a mut BTreeSet<String>,
    form: Form,
    /// The four truth values whether an element is still in the loop that is being written, if it is in one.
    active: Option<String>,
    /// Of each array parameter the value parameter with its elements at the four indices.
    twins: &'a [Option<u8>],
    /// Values that the four share; empty where they share none.
    four: Vec<OfFour>,
    /// The pair of the four whose value is being written, if it is one of a pair.
    pair: Option<u32>,
    /// Values that are written before their turn.
    written: BTreeSet<Id>,
    /// Bounds of values ([`Func::exponents`]); empty where nobody asks.
    exponents: Vec<Option<i32>>,
    /// Polynomials that are written as loops.
    chains: Vec<Chain>,
}

fn exponents(f: &Func, options: WgslOptions) -> Vec<Option<i32>> {
    if options.fma == WgslFma::Guarded { f.exponents() } else { Vec::new() }
}

impl Writer<'_> {
    fn function(mut self, name: &str) -> String {
        let types = self.f.result_types();
        let result = if let [one] = types[..] { self.spelt(one) } else { format!("{name}_result") };
        if types.len() != 1 {
            let members: Vec<String> = types.iter().enumerate().map(|(i, &t)| format!("r{i}: {}", self.spelt(t))).collect();
            let _ = writeln!(self.text, "struct {name}_result {{ {} }}", members.join(", "));
        }
        let _ = writeln!(self.text, "fn {name}({}) -> {result} {{", self.params().join(", "));
        if !self.staged() {
            self.range(0, self.f.nodes.len() as Id, 1);
        }
        let results: Vec<String> = self.f.results.iter().map(|&r| self.value(r)).collect();
        let _ = if types.len() == 1 {
            writeln!(self.text, "    return {};\n}}", results[0])
        } else {
            writeln!(self.text, "    return {result}({});\n}}", results.join(", "))
        };
        self.text
    }

    /// The parameters that are no arrays, with their types.
    fn params(&self) -> Vec<String> {
        let value = |(k, p): (usize, &Param)| match p {
            Param::Value(t) | Param::Index(t) => Some(format!("p{k}: {}", self.spelt(*t))),
            Param::Array(_) => None,
        };
        self.f.params.iter().enumerate().filter_map(value).collect()
    }

    fn ty(&self, id: Id) -> Ty {
        self.f.types[id as usize]
    }

    fn of_four(&self, id: Id) -> OfFour {
        self.four.get(id as usize).copied().unwrap_or(OfFour::Own)
    }

    fn is_joint(&self) -> bool {
        self.form != Form::Single
    }

    /// The type of a value.
    fn spelt(&self, ty: Ty) -> String {
        if self.is_joint() { format!("vec4<{}>", wgsl_type(ty)) } else { wgsl_type(ty).to_owned() }
    }

    /// A literal, for every element the same.
    fn literal(&self, ty: Ty, text: &str) -> String {
        if self.is_joint() { format!("vec4<{}>({text})", wgsl_type(ty)) } else { text.to_owned() }
    }

    /// Parameters and constants are written where they are used. Zeros come from their bits: drivers fold `x + 0.0`, `0.0 - x` and
    /// `x * 0.0` as if zero had no sign and NaN did not exist, so where they do, a backend brings an `iw_bits` that they cannot see
    /// through.
    fn value(&mut self, id: Id) -> String {
        let shared = self.of_four(id) == OfFour::Shared;
        let text = match (self.f.nodes[id as usize], self.ty(id)) {
            // Inside of the form of four, of what is shared by them.
            (Node::Param(k), _) if !self.four.is_empty() && !self.is_joint() => return format!("p{k}.x"),
            (Node::Param(k), _) => return format!("p{k}"),
            (Node::Const(0), Ty::F32) => "iw_bits(0u)".to_owned(),
            (Node::Const(0), Ty::F64) => "iw_bits64(0lu)".to_owned(),
            (Node::Const(bits), ty) => wgsl_literal(ty, bits),
            (_, ty) if shared => return self.literal(ty, &format!("v{id}")),
            _ => {
                return match (self.pair, self.of_four(id)) {
                    (Some(pair), OfFour::Place(mask)) => format!("{}u", (2 * pair) & mask),
                    (Some(pair), _) => format!("v{id}_{pair}"),
                    _ => format!("v{id}"),
                };
            }
        };
        if let Some((function, _)) = text.split_once('(').filter(|(f, _)| f.starts_with("iw_")) {
            self.calls.insert(function.to_owned());
        }
        self.literal(self.ty(id), &text)
    }

    /// A call of a function of the prelude: in its form of four where it has one, else element by element.
    fn call(&mut self, function: &str, args: &[String]) -> String {
        let single = |function: &str, end: &str| {
            let args: Vec<String> = args.iter().map(|a| format!("{a}{end}")).collect();
            format!("{function}({})", args.join(", "))
        };
        if !self.is_joint() {
            self.calls.insert(function.to_owned());
            return single(function, "");
        }
        if joint::has_form_of_4(function) {
            let function = format!("{function}_4");
            let text = single(&function, "");
            self.calls.insert(function);
            return text;
        }
        self.calls.insert(function.to_owned());
        format!("vec4({})", [".x", ".y", ".z", ".w"].map(|end| single(function, end)).join(", "))
    }

    fn range(&mut self, from: Id, to: Id, depth: usize) {
        let pad = "    ".repeat(depth);
        let mut i = from;
        while i < to {
            match self.f.nodes[i as usize] {
                Node::Param(_) | Node::Const(_) => {}
                Node::Branch { else_end, .. } => {
                    if self.is_joint() {
                        self.joint_branch(i, depth);
                    } else {
                        self.branch(i, depth);
                    }
                    i = else_end;
                    continue;
                }
                Node::Carried { init, .. } => {
                    let init = self.carried(self.ty(i), init);
                    let ty = self.spelt(self.ty(i));
                    let _ = writeln!(self.text, "{pad}var v{i}: {ty} = {init};");
                }
                Node::Loop { end, .. } => {
                    self.repeat(i, depth);
                    i = end;
                    continue;
                }
                _ if self.polynomial(i, &pad) => {}
                // The other word of a product that is written.
                _ if self.written.contains(&i) => {}
                _ if self.wide_product(i, to, &pad) => {}
                node => {
                    let e = match self.of_four(i) {
                        OfFour::Own => self.expression(node, self.ty(i)),
                        OfFour::Shared => self.single(i),
                        OfFour::Paired => {
                            for pair in 0..2 {
                                self.pair = Some(pair);
                                let e = self.single(i);
                                let _ = writeln!(self.text, "{pad}let v{i}_{pair} = {e};");
                            }
                            self.pair = None;
                            format!("vec4(v{i}_0, v{i}_0, v{i}_1, v{i}_1)")
                        }
                        OfFour::Place(mask) => format!("vec4<u32>(0u, {}u, {}u, {}u)", 1 & mask, 2 & mask, 3 & mask),
                    };
                    let _ = writeln!(self.text, "{pad}let v{i} = {e};");
                }
            }
            i += 1;
        }
    }

    /// The expression of a value that is not one to each of the four.
    fn single(&mut self, i: Id) -> String {
        let form = std::mem::replace(&mut self.form, Form::Single);
        let e = self.expression(self.f.nodes[i as usize], self.ty(i));
        self.form = form;
        e
    }

    fn branch(&mut self, i: Id, depth: usize) {
        let Node::Branch { cond, then_end, then_result, else_end, else_result } = self.f.nodes[i as usize] else { return };
        let pad = "    ".repeat(depth);
        let (cond, ty) = (self.value(cond), self.spelt(self.ty(i)));
        let _ = writeln!(self.text, "{pad}var v{i}: {ty};\n{pad}if ({cond}) {{");
        self.range(i + 1, then_end, depth + 1);
        let a = self.value(then_result);
        let _ = writeln!(self.text, "{pad}    v{i} = {a};\n{pad}}} else {{");
        self.range(then_end, else_end, depth + 1);
        let b = self.value(else_result);
        let _ = writeln!(self.text, "{pad}    v{i} = {b};\n{pad}}}");
    }
}

/// Element types that a kernel with this graph loads from arrays.
impl Func {
    /// The array parameters, with their element types.
    pub fn arrays(&self) -> impl Iterator<Item = (u16, DType)> + '_ {
        self.params.iter().enumerate().filter_map(|(k, p)| match p {
            Param::Array(d) => Some((k as u16, *d)),
            _ => None,
        })
    }
}
