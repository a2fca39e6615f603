//! Tools that the tests share: a prelude for an adapter whose built-ins are exact, and an interpreter of the functions that naga parsed.

#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod interp;

use isowarp_shaders::Snippet;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::collections::BTreeSet;

/// The variants of an adapter whose own arithmetic is exact.
pub(crate) fn native(name: &str) -> Option<Snippet> {
    match name {
        "iw_fma" | "iw_fma64" | "iw_div64" | "iw_sqrt64" => isowarp_shaders::snippet(&format!("{name}@native")),
        "iw_fma_4" => isowarp_shaders::snippet("iw_fma_4@native"),
        "iw_seeded_reciprocal_4" => isowarp_shaders::snippet("iw_seeded_reciprocal_4@close"),
        "iw_seeded_reciprocal" => isowarp_shaders::snippet("iw_seeded_reciprocal@close"),
        _ => None,
    }
}

/// The module of the functions named, with all that they call.
pub(crate) fn module(names: &[&str]) -> naga::Module {
    let calls: BTreeSet<String> = names.iter().map(|&n| n.to_owned()).collect();
    validated(&isowarp_shaders::prelude(&calls, &mut native).unwrap())
}

/// The module of one function in a variant.
pub(crate) fn variant(function: &str, variant: &str) -> naga::Module {
    let calls = BTreeSet::from([function.to_owned()]);
    let mut resolve = |n: &str| if n == function { isowarp_shaders::snippet(&format!("{n}@{variant}")) } else { native(n) };
    validated(&isowarp_shaders::prelude(&calls, &mut resolve).unwrap())
}

/// Parses and validates.
pub(crate) fn validated(text: &str) -> naga::Module {
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(text)));
    let caps = Capabilities::FLOAT64 | Capabilities::SHADER_INT64;
    if let Err(e) = Validator::new(ValidationFlags::all(), caps).validate(&module) {
        panic!("{}\n{text}", e.emit_to_string(text));
    }
    module
}

/// Whether a module needs the 64-bit capabilities.
pub(crate) fn uses_64_bits(module: &naga::Module) -> bool {
    Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(module).is_err()
}
