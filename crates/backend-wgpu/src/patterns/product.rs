//! WGSL in front of the template of products.

use super::access;
use super::program::{COMPONENTS, Writer, member, param_type, value_params};
use isowarp_core::element::Ty;
use isowarp_core::ir::{Func, WgslFma, wgsl_function_4};
use std::fmt::Write as _;

impl Writer<'_> {
    /// The adapter's own `fma`, where another one is guarded.
    pub(super) fn native_fma(&mut self) {
        if self.options.fma == WgslFma::Guarded {
            self.calls.insert("iw_fma_native".to_owned());
        }
    }

    /// All that a product takes: the type `Value` of sums, loads of its operands, a step of a sum, the epilogue.
    pub(super) fn product(&mut self, a: &Func, b: &Func, finish: &Func) {
        let ty = a.result_types().first().copied().unwrap_or(Ty::F32);
        let t = isowarp_core::ir::wgsl_type(ty);
        // Made of a parameter that is always zero, so that no compiler takes it for +0.
        let missing = match ty {
            Ty::F32 => "bitcast<f32>(0x80000000u | args.base_high)",
            Ty::F64 => "bitcast<f64>(0x8000000000000000lu | u64(args.base_high))",
            _ => "0",
        };
        let _ = writeln!(self.text, "alias Value = {t};\nfn no_a() -> vec4<Value> {{\n    return vec4<Value>({t}({missing}));\n}}");
        for k in 0..self.signature.leaves.len() {
            let leaf = access::leaf(self.signature, k, &mut self.calls);
            self.text.push_str(&leaf);
        }
        for (f, name) in [(a, "op_a"), (b, "op_b"), (finish, "op_finish")] {
            for k in (0..self.signature.leaves.len()).filter(|&k| f.looks_at(k)) {
                let fetch = access::fetch(self.signature, (name, self.branches && access::fetches_few(f)), k, &mut self.calls);
                self.text.push_str(&fetch);
            }
            self.function(f, name);
        }
        // Parameters of the other operators, which are not looked at, are zero.
        let args = |f: &Func, count: usize, value: &dyn Fn(usize) -> String| {
            let of = |k: usize| if f.looks_at(k) { value(k) } else { format!("{}()", param_type(f, k)) };
            value_params(f).filter(|&k| k < count).map(of).collect::<Vec<_>>()
        };
        let leaves = self.signature.leaves.len();
        for (f, name) in [(a, "a"), (b, "b")] {
            let one = args(f, leaves, &|k| format!("leaf{k}_1(i)")).join(", ");
            let _ = writeln!(self.text, "fn load_{name}1(i: u32) -> {t} {{\n    return op_{name}({one});\n}}");
            let _ = writeln!(self.text, "fn load_{name}4(i: u32) -> vec4<{t}> {{");
            for k in value_params(f).filter(|&k| f.looks_at(k)) {
                let _ = writeln!(self.text, "    let a{k} = leaf{k}_4(i);");
            }
            let four = COMPONENTS.map(|c| format!("op_{name}({})", args(f, leaves, &|k| format!("a{k}.{c}")).join(", ")));
            let _ = writeln!(self.text, "    return vec4<{t}>({});\n}}", four.join(", "));
        }
        let guarded = self.options.fma == WgslFma::Guarded && ty == Ty::F32;
        if let Ok([fused, add]) = isowarp_core::patterns::product::steps_of(ty) {
            self.function(&fused, "op_fused");
            self.function(&add, "op_add");
            // Where it is guarded, templates take the adapter's own for four sums at once, and the guarded one for one.
            for (f, name) in [(&fused, "op_fused"), (&add, "op_add")].into_iter().skip(guarded.into()) {
                let text = wgsl_function_4(f, name, self.options, (&[], &[]), &mut self.calls);
                self.text.push_str(&text);
            }
        }
        let fused = if guarded { "iw_fma_native_4" } else { "op_fused_4" };
        if guarded {
            self.calls.insert(fused.to_owned());
        }
        let _ =
            writeln!(self.text, "fn fused_4(x: vec4<{t}>, y: vec4<{t}>, z: vec4<{t}>) -> vec4<{t}> {{\n    return {fused}(x, y, z);\n}}");
        self.outs(finish);
        let result = |v: &str, r: usize| member(v, r, finish.results.len());
        let with = |mut all: Vec<String>, sum: &str| {
            all.push(sum.to_owned());
            all.join(", ")
        };
        let one = with(args(finish, leaves, &|k| format!("leaf{k}_1(i)")), "sum");
        let _ = writeln!(self.text, "fn epilogue1(i: u32, sum: {t}) {{\n    let v = op_finish({one});");
        for r in 0..finish.results.len() {
            let _ = writeln!(self.text, "    out{r}_1(i, {});", result("v", r));
        }
        let _ = writeln!(self.text, "}}\nfn epilogue4(i: u32, sum: vec4<{t}>) {{");
        for k in value_params(finish).filter(|&k| k < leaves && finish.looks_at(k)) {
            let _ = writeln!(self.text, "    let a{k} = leaf{k}_4(i);");
        }
        for c in COMPONENTS {
            let all = with(args(finish, leaves, &|k| format!("a{k}.{c}")), &format!("sum.{c}"));
            let _ = writeln!(self.text, "    let v{c} = op_finish({all});");
        }
        for r in 0..finish.results.len() {
            let four = COMPONENTS.map(|c| result(&format!("v{c}"), r));
            let _ = writeln!(self.text, "    out{r}_4(i, vec4({}));", four.join(", "));
        }
        self.text.push_str("}\n");
    }
}
