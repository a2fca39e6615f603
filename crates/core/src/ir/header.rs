//! The headers of elementary functions that hand-written kernels include, generated from the one definition in [`crate::numerics`].

use super::cuda::cuda_function;
use super::node::Func;
use super::operation::Operations;
use super::symbolic::{SOFTWARE, definition, software};
use super::wgsl::{WgslFma, WgslOptions, wgsl_definition_4, wgsl_function};
use crate::caps::Numerics;
use crate::numerics::Func as Elementary;
use core::fmt::Write as _;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A language that headers are generated in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `shaders/src/numerics.wgsl`: snippets of the WGSL prelude, each marked `//@ name: functions it calls`.
    Wgsl,
    /// `kernels-cu/src/numerics.cuh`.
    Cuda,
}

/// Options by which definitions are written in WGSL.
const OPTIONS: WgslOptions = WgslOptions { fma: WgslFma::Prelude, numerics: Numerics::Strict, repairs: Operations::NONE };

/// The text of a header: every elementary function as `iw_exp(x)`, `iw_pow(x, y)`, ..., and for WGSL the correctly rounded `iw_div` and
/// `iw_sqrt`, since there the built-ins are not, with parts of these. WGSL calls `iw_fma(a, b, c)`, which the backend supplies as the
/// device needs it.
#[must_use]
pub fn numerics_header(language: Language) -> String {
    match language {
        Language::Wgsl => wgsl(),
        Language::Cuda => cuda(),
    }
}

fn wgsl() -> String {
    let mut out = String::from(
        "// Generated from isowarp_core::numerics by isowarp_core::ir::numerics_header; do not edit. After a change there:\n\
         // `ISOWARP_BLESS=1 cargo test -p isowarp-shaders`.\n",
    );
    let names = SOFTWARE.iter().copied().chain(Elementary::ALL.iter().map(|f| f.name()));
    for (name, f) in names.filter_map(|name| Some((name, definition_of(name)?))) {
        let mut calls = BTreeSet::new();
        let text = wgsl_function(&f, &format!("iw_{name}"), OPTIONS, &mut calls);
        let calls: String = calls.iter().map(|c| format!(" {c}")).collect();
        let _ = write!(out, "\n//@ iw_{name}:{calls}\n{text}");
    }
    out
}

/// WGSL of a definition for four elements at once, `{name}_4`, and the functions that it calls: of an elementary function, `iw_div` or
/// `iw_sqrt`; `None` for other names. These are written when a kernel needs them rather than kept.
#[must_use]
pub fn numerics_of_4(name: &str) -> Option<(String, BTreeSet<String>)> {
    numerics_of(name, OPTIONS.repairs, true)
}

/// WGSL of a definition with some operations in their exact forms, for one element or, as `{name}_4`, for four at once.
#[must_use]
pub fn numerics_of(name: &str, repairs: Operations, of_4: bool) -> Option<(String, BTreeSet<String>)> {
    let f = definition_of(name.strip_prefix("iw_")?)?;
    let options = WgslOptions { repairs, ..OPTIONS };
    let mut calls = BTreeSet::new();
    let write = if of_4 { wgsl_definition_4 } else { wgsl_function };
    let text = write(&f, name, options, &mut calls);
    if of_4 && (options.rolls(&f) || !f.is_joint()) {
        // It calls the form for one element.
        calls.insert(name.to_owned());
    }
    Some((text, calls))
}

fn definition_of(name: &str) -> Option<Arc<Func>> {
    Elementary::ALL.iter().find(|f| f.name() == name).map(|&f| definition(f)).or_else(|| software(name))
}

fn cuda() -> String {
    let mut out = String::from(
        "// Generated from isowarp_core::numerics by isowarp_core::ir::numerics_header; do not edit. After a change there:\n\
         // `ISOWARP_BLESS=1 cargo test -p isowarp-core --test headers`.\n#pragma once\n",
    );
    for &f in Elementary::ALL {
        let _ = write!(out, "\n{}", cuda_function(&definition(f), &format!("iw_{}", f.name())));
    }
    out
}
