//! WGSL that reaches elements: `leaf{k}_1(i)` and `leaf{k}_4(i)` load the element at index `i` and its four neighbours from there,
//! `out{k}_1` and `out{k}_4` store them. All buffers are declared as words, so that any two operands may share one.

use super::operands::{LeafKind, OutKind, Signature, Slot, Unit};
use super::program::value_params;
use isowarp_core::element::{DType, Ty};
use isowarp_core::ir::{Func, Node, wgsl_type};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The declarations of the bindings, `b0`, `b1`, ...
pub(super) fn bindings(signature: &Signature) -> String {
    let mut text = String::new();
    for (k, slot) in signature.slots.iter().enumerate() {
        let element = match slot.unit {
            Unit::Word => "u32",
            Unit::Pair => "vec2<u32>",
            Unit::Quad => "vec4<u32>",
            Unit::Atomic => "atomic<u32>",
        };
        let access = if slot.writable { "read_write" } else { "read" };
        let _ = writeln!(text, "@group(0) @binding({k}) var<storage, {access}> b{k}: array<{element}>;");
    }
    text
}

/// The members of the parameter block that operands add, in the order of [`super::operands::Operands::bind`].
pub(super) fn members(signature: &Signature) -> Vec<String> {
    let mut names: Vec<String> = (0..signature.slots.len()).map(|k| format!("skip{k}")).collect();
    for (k, leaf) in signature.leaves.iter().enumerate() {
        match leaf {
            LeafKind::Strided { .. } => names.push(format!("stride{k}")),
            LeafKind::Array { .. } => names.push(format!("len{k}")),
            LeafKind::Value(ty) => {
                names.push(format!("value{k}"));
                if ty.words() == 2 {
                    names.push(format!("value{k}_high"));
                }
            }
            LeafKind::Vector { .. } | LeafKind::Broadcast { .. } | LeafKind::Index(_) | LeafKind::Unused => {}
        }
    }
    names
}

/// The value of register type `ty` in the word or words of an expression.
pub(crate) fn from_words(ty: Ty, low: &str, high: &str) -> String {
    let wide = || format!("(u64({low}) | (u64({high}) << 32u))");
    match ty {
        Ty::Bool => format!("({low} != 0u)"),
        Ty::U32 => low.to_owned(),
        Ty::F32 | Ty::I32 => format!("bitcast<{}>({low})", wgsl_type(ty)),
        Ty::U64 => wide(),
        Ty::F64 | Ty::I64 => format!("bitcast<{}>({})", wgsl_type(ty), wide()),
    }
}

/// The value of a key's bits, which lie in the low ones of a word or in two.
pub(super) fn from_key(dtype: DType, key: &str, calls: &mut BTreeSet<String>) -> String {
    match (dtype, dtype.ty().words()) {
        (DType::F16, _) => {
            calls.insert("iw_f16_to_f32".to_owned());
            format!("iw_f16_to_f32({key})")
        }
        (DType::I8, _) => format!("(bitcast<i32>({key} << 24u) >> 24u)"),
        (DType::I16, _) => format!("(bitcast<i32>({key} << 16u) >> 16u)"),
        (_, 2) => from_words(dtype.ty(), &format!("{key}.x"), &format!("{key}.y")),
        _ => from_words(dtype.ty(), key, ""),
    }
}

/// Word `at` (an expression) of a slot.
fn word(slot: Slot, k: u8, at: &str) -> String {
    match slot.unit {
        Unit::Word => format!("b{k}[{at}]"),
        Unit::Pair => format!("b{k}[({at}) >> 1u][({at}) & 1u]"),
        Unit::Quad => format!("b{k}[({at}) >> 2u][({at}) & 3u]"),
        Unit::Atomic => format!("atomicLoad(&b{k}[{at}])"),
    }
}

/// The element at position `at` (the name of a `u32`) of a slot.
fn element(slot: Slot, k: u8, dtype: DType, at: &str, calls: &mut BTreeSet<String>) -> String {
    match dtype {
        DType::U8 => format!("(({} >> (({at} & 3u) * 8u)) & 0xffu)", word(slot, k, &format!("{at} >> 2u"))),
        DType::U16 => format!("(({} >> (({at} & 1u) * 16u)) & 0xffffu)", word(slot, k, &format!("{at} >> 1u"))),
        // Up to the top of the word, and down with the sign.
        DType::I8 => format!("(bitcast<i32>({} << ((~{at} & 3u) * 8u)) >> 24u)", word(slot, k, &format!("{at} >> 2u"))),
        DType::I16 => format!("(bitcast<i32>({} << ((~{at} & 1u) * 16u)) >> 16u)", word(slot, k, &format!("{at} >> 1u"))),
        DType::F16 => {
            calls.insert("iw_f16_to_f32".to_owned());
            format!("iw_f16_to_f32(({} >> (({at} & 1u) * 16u)) & 0xffffu)", word(slot, k, &format!("{at} >> 1u")))
        }
        _ => from_words(dtype.ty(), &word(slot, k, &words_of(dtype, at, 0)), &word(slot, k, &words_of(dtype, at, 1))),
    }
}

fn words_of(dtype: DType, at: &str, half: u32) -> String {
    match (dtype.ty().words(), half) {
        (1, _) => at.to_owned(),
        (_, 0) => format!("{at} * 2u"),
        _ => format!("{at} * 2u + 1u"),
    }
}

/// The functions of one leaf.
pub(super) fn leaf(signature: &Signature, k: usize, calls: &mut BTreeSet<String>) -> String {
    let kind = signature.leaves[k];
    let slot = |s: u8| signature.slots[usize::from(s)];
    let function = |ty: Ty, one: &str, four: &str| {
        let t = wgsl_type(ty);
        format!("fn leaf{k}_1(i: u32) -> {t} {{\n{one}}}\nfn leaf{k}_4(i: u32) -> vec4<{t}> {{\n{four}}}\n")
    };
    match kind {
        LeafKind::Vector { slot: s, dtype } => {
            let ty = dtype.ty();
            let one = format!("    let at = args.skip{s} + i;\n    return {};\n", element(slot(s), s, dtype, "at", calls));
            function(ty, &one, &vector_load(s, dtype, calls))
        }
        LeafKind::Strided { slot: s, dtype } => {
            let one = format!("    let at = args.skip{s} + i * args.stride{k};\n    return {};\n", element(slot(s), s, dtype, "at", calls));
            let t = wgsl_type(dtype.ty());
            let four = format!("    return vec4<{t}>(leaf{k}_1(i), leaf{k}_1(i + 1u), leaf{k}_1(i + 2u), leaf{k}_1(i + 3u));\n");
            function(dtype.ty(), &one, &four)
        }
        LeafKind::Broadcast { slot: s, dtype } => {
            let one = format!("    let at = args.skip{s};\n    return {};\n", element(slot(s), s, dtype, "at", calls));
            let t = wgsl_type(dtype.ty());
            function(dtype.ty(), &one, &format!("    return vec4<{t}>(leaf{k}_1(i));\n"))
        }
        LeafKind::Value(ty) => {
            let one = format!("    return {};\n", from_words(ty, &format!("args.value{k}"), &format!("args.value{k}_high")));
            function(ty, &one, &format!("    return vec4<{}>(leaf{k}_1(i));\n", wgsl_type(ty)))
        }
        LeafKind::Index(ty) => {
            let one = match ty {
                Ty::U64 => "    return (u64(args.base) | (u64(args.base_high) << 32u)) + u64(i);\n".to_owned(),
                _ => "    return args.base + i;\n".to_owned(),
            };
            let t = wgsl_type(ty);
            let four = format!("    return vec4<{t}>(leaf{k}_1(i), leaf{k}_1(i + 1u), leaf{k}_1(i + 2u), leaf{k}_1(i + 3u));\n");
            function(ty, &one, &four)
        }
        LeafKind::Array { .. } | LeafKind::Unused => String::new(),
    }
}

/// Fetches of an operator that stand behind branches on a GPU: without a branch a comparison with the element before takes a fifth longer on an H100.
const FEW: usize = 2;

/// Whether the fetches of an operator are few.
pub(super) fn fetches_few(f: &Func) -> bool {
    f.nodes.iter().filter(|node| matches!(node, Node::Fetch(..))).count() <= FEW
}

/// Function `{operator}_fetch{k}`: an element of an array leaf, zero outside. Where fetches are `few`, no element is read outside, else the first one, so that
/// no branch is around the load.
pub(super) fn fetch(signature: &Signature, (operator, few): (&str, bool), k: usize, calls: &mut BTreeSet<String>) -> String {
    let LeafKind::Array { slot, dtype, windows, each, .. } = signature.leaves[k] else { return String::new() };
    let t = wgsl_type(dtype.ty());
    let mut element_of = |s: u8, first: &str| {
        let value = element(signature.slots[usize::from(s)], s, dtype, "at", calls);
        format!("let at = args.skip{s} + inside{first};\n    return {value};\n")
    };
    let mut text = format!("fn {operator}_element{k}(inside: u32) -> {t} {{\n");
    for w in 1..windows {
        let (s, end) = (slot + w - 1, u32::from(w) * each);
        let first = if w == 1 { String::new() } else { format!(" - {}u", end - each) };
        let _ = writeln!(text, "    if (inside < {end}u) {{\n    {}    }}", element_of(s, &first));
    }
    let first = if windows == 1 { String::new() } else { format!(" - {}u", u32::from(windows - 1) * each) };
    let _ = writeln!(text, "    {}}}", element_of(slot + windows - 1, &first));
    let there = format!("i < args.len{k}");
    let body = if few {
        format!("    if ({there}) {{\n        return {operator}_element{k}(i);\n    }}\n    return {t}();\n")
    } else {
        let found = format!("{operator}_element{k}(select(0u, i, {there}))");
        let (value, call) = match dtype.ty() {
            Ty::F32 => (format!("iw_bits(select(0u, bitcast<u32>({found}), {there}))"), Some("iw_bits")),
            Ty::F64 => (format!("iw_bits64(select(0lu, bitcast<u64>({found}), {there}))"), Some("iw_bits64")),
            _ => (format!("select({t}(), {found}, {there})"), None),
        };
        calls.extend(call.map(str::to_owned));
        format!("    return {value};\n")
    };
    let _ = writeln!(text, "fn {operator}_fetch{k}(i: u32) -> {t} {{\n{body}}}");
    text
}

fn vector_load(s: u8, dtype: DType, calls: &mut BTreeSet<String>) -> String {
    let group = format!("    let at = (args.skip{s} + i) >> 2u;\n");
    let body = match dtype {
        DType::U8 => format!("    let w = b{s}[at];\n    return vec4<u32>(w, w >> 8u, w >> 16u, w >> 24u) & vec4<u32>(0xffu);\n"),
        DType::I8 => {
            format!("    let w = b{s}[at];\n    return bitcast<vec4<i32>>(vec4<u32>(w << 24u, w << 16u, w << 8u, w)) >> vec4<u32>(24u);\n")
        }
        DType::U16 => format!("    let w = b{s}[at];\n    return vec4<u32>(w.x & 0xffffu, w.x >> 16u, w.y & 0xffffu, w.y >> 16u);\n"),
        DType::I16 => format!(
            "    let w = b{s}[at];\n    return bitcast<vec4<i32>>(vec4<u32>(w.x << 16u, w.x, w.y << 16u, w.y)) >> vec4<u32>(16u);\n"
        ),
        DType::F16 => {
            calls.insert("iw_f16_to_f32".to_owned());
            let half = |w: &str| format!("iw_f16_to_f32(w.{w} & 0xffffu), iw_f16_to_f32(w.{w} >> 16u)");
            format!("    let w = b{s}[at];\n    return vec4<f32>({}, {});\n", half("x"), half("y"))
        }
        DType::F32 | DType::I32 | DType::U32 => format!("    return bitcast<vec4<{}>>(b{s}[at]);\n", wgsl_type(dtype.ty())),
        DType::F64 | DType::I64 | DType::U64 => {
            let part = |v: &str, l: &str, h: &str| from_words(dtype.ty(), &format!("{v}.{l}"), &format!("{v}.{h}"));
            let t = wgsl_type(dtype.ty());
            let parts = [part("v", "x", "y"), part("v", "z", "w"), part("w", "x", "y"), part("w", "z", "w")].join(", ");
            format!("    let v = b{s}[at * 2u];\n    let w = b{s}[at * 2u + 1u];\n    return vec4<{t}>({parts});\n")
        }
        _ => String::new(),
    };
    group + &body
}

/// The functions of one output, which takes results of type `ty`: NaN is made canonical, then the value is narrowed.
pub(super) fn out(signature: &Signature, k: usize, ty: Ty, calls: &mut BTreeSet<String>) -> String {
    let OutKind { slot: s, dtype, vector, windows, each } = signature.outs[k];
    let t = wgsl_type(ty);
    let mut text = String::new();
    if windows == 1 {
        store_1(&mut text, &format!("out{k}_1"), signature, s, (ty, dtype), calls);
    } else {
        for w in 0..windows {
            store_1(&mut text, &format!("out{k}_1_window{w}"), signature, s + w, (ty, dtype), calls);
        }
        let _ = writeln!(text, "fn out{k}_1(i: u32, v: {t}) {{");
        for w in 0..windows {
            let (first, end) = (u32::from(w) * each, (u32::from(w) + 1) * each);
            let inside = if w + 1 == windows { "true".to_owned() } else { format!("i < {end}u") };
            let _ = writeln!(text, "    if ({inside}) {{\n        out{k}_1_window{w}(i - {first}u, v);\n        return;\n    }}");
        }
        text.push_str("}\n");
    }
    let _ = writeln!(text, "fn out{k}_4(i: u32, v: vec4<{t}>) {{");
    if vector {
        vector_store(&mut text, s, dtype, ty, calls);
    } else {
        for (e, c) in ["x", "y", "z", "w"].iter().enumerate() {
            let _ = writeln!(text, "    out{k}_1(i + {e}u, v.{c});");
        }
    }
    text.push_str("}\n");
    text
}

/// The function `name(i, v)` that stores one element in a slot.
fn store_1(text: &mut String, name: &str, signature: &Signature, s: u8, (ty, dtype): (Ty, DType), calls: &mut BTreeSet<String>) {
    let slot = signature.slots[usize::from(s)];
    let t = wgsl_type(ty);
    let _ = writeln!(text, "fn {name}(i: u32, v: {t}) {{\n    let at = args.skip{s} + i;");
    match (dtype.size_bytes(), slot.unit) {
        (8, _) => {
            let _ = writeln!(text, "    let bits = {};", bits64(ty, "v", calls));
            let target = |half| word(slot, s, &words_of(dtype, "at", half));
            let _ = writeln!(text, "    {} = u32(bits & 0xfffffffflu);\n    {} = u32(bits >> 32u);", target(0), target(1));
        }
        (4, _) => {
            let _ = writeln!(text, "    {} = {};", word(slot, s, "at"), bits(ty, dtype, "v", calls));
        }
        (size, unit) => {
            // The word has neighbours in it: kept by its one owner, or by taking turns.
            let (log, mask) = if size == 2 { (1u32, 0xffff_u32) } else { (2, 0xff) };
            let _ = writeln!(text, "    let shift = (at & {}u) * {}u;", (1 << log) - 1, size * 8);
            let _ = writeln!(text, "    let w = ({}) << shift;", bits(ty, dtype, "v", calls));
            if unit == Unit::Atomic {
                let _ = writeln!(text, "    atomicAnd(&b{s}[at >> {log}u], ~({mask}u << shift));\n    atomicOr(&b{s}[at >> {log}u], w);");
            } else {
                let place = word(slot, s, &format!("at >> {log}u"));
                let _ = writeln!(text, "    {place} = ({place} & ~({mask}u << shift)) | w;");
            }
        }
    }
    text.push_str("}\n");
}

/// `count_of(k)`: the low word of element `k` of an output.
pub(super) fn count_of(signature: &Signature, k: usize) -> String {
    let OutKind { slot: s, dtype, .. } = signature.outs[k];
    let value = word(signature.slots[usize::from(s)], s, &words_of(dtype, &format!("(args.skip{s} + k)"), 0));
    format!("fn count_of(k: u32) -> u32 {{\n    return {value};\n}}\n")
}

fn vector_store(text: &mut String, s: u8, dtype: DType, ty: Ty, calls: &mut BTreeSet<String>) {
    let _ = writeln!(text, "    let at = (args.skip{s} + i) >> 2u;");
    let mut each = |c: &str| bits(ty, dtype, &format!("v.{c}"), calls);
    let _ = match dtype.size_bytes() {
        4 => writeln!(text, "    b{s}[at] = vec4<u32>({}, {}, {}, {});", each("x"), each("y"), each("z"), each("w")),
        2 => {
            let (x, y, z, w) = (each("x"), each("y"), each("z"), each("w"));
            writeln!(text, "    b{s}[at] = vec2<u32>({x} | ({y} << 16u), {z} | ({w} << 16u));")
        }
        1 => {
            let (x, y, z, w) = (each("x"), each("y"), each("z"), each("w"));
            writeln!(text, "    b{s}[at] = {x} | ({y} << 8u) | ({z} << 16u) | ({w} << 24u);")
        }
        _ => {
            for (half, (l, h)) in [("x", "y"), ("z", "w")].iter().enumerate() {
                let _ = writeln!(
                    text,
                    "    let {l}{h} = vec2<u64>({}, {});",
                    bits64(ty, &format!("v.{l}"), calls),
                    bits64(ty, &format!("v.{h}"), calls)
                );
                let _ = writeln!(
                    text,
                    "    b{s}[at * 2u + {half}u] = vec4<u32>(u32({l}{h}.x & 0xfffffffflu), u32({l}{h}.x >> 32u), u32({l}{h}.y & 0xfffffffflu), u32({l}{h}.y >> 32u));"
                );
            }
            Ok(())
        }
    };
}

/// `{name}_at(i)`: the bits of the element that an operator computes, as a word or two.
pub(super) fn computed(name: &str, f: &Func, dtype: DType, calls: &mut BTreeSet<String>) -> String {
    let uses = |k: usize| f.any(|node, _| matches!(node, Node::Param(p) if usize::from(*p) == k));
    let args: Vec<String> =
        value_params(f).map(|k| if uses(k) { format!("leaf{k}_1(i)") } else { format!("{}()", wgsl_type(f.params[k].ty())) }).collect();
    let ty = f.result_types().first().copied().unwrap_or(Ty::U32);
    let (word, found) = match dtype.size_bytes() {
        8 => (
            "vec2<u32>",
            format!("let bits = {};\n    return vec2<u32>(u32(bits & 0xfffffffflu), u32(bits >> 32u))", bits64(ty, "v", calls)),
        ),
        _ => ("u32", format!("return {}", bits(ty, dtype, "v", calls))),
    };
    format!("fn {name}_at(i: u32) -> {word} {{\n    let v = op_{name}({});\n    {found};\n}}\n", args.join(", "))
}

/// The stored bits of a value, at most 32 of them.
fn bits(ty: Ty, dtype: DType, v: &str, calls: &mut BTreeSet<String>) -> String {
    match (ty, dtype) {
        (Ty::Bool, _) => format!("select(0u, 1u, {v})"),
        (Ty::F32, DType::F16) => {
            calls.insert("iw_f32_to_f16".to_owned());
            format!("iw_f32_to_f16({v})")
        }
        (Ty::F32, _) => {
            calls.insert("iw_canonical".to_owned());
            format!("bitcast<u32>(iw_canonical({v}))")
        }
        (_, DType::U8 | DType::I8) => format!("(bitcast<u32>({v}) & 0xffu)"),
        (_, DType::U16 | DType::I16) => format!("(bitcast<u32>({v}) & 0xffffu)"),
        _ => format!("bitcast<u32>({v})"),
    }
}

fn bits64(ty: Ty, v: &str, calls: &mut BTreeSet<String>) -> String {
    if ty == Ty::F64 {
        calls.insert("iw_canonical64".to_owned());
        return format!("bitcast<u64>(iw_canonical64({v}))");
    }
    format!("bitcast<u64>({v})")
}
