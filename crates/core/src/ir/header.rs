//! The headers of elementary functions that hand-written kernels include, generated from the one definition in [`crate::numerics`].

use super::OpError;
use super::cuda::cuda_function;
use super::expr::{self, Expr};
use super::node::Func;
use super::symbolic::{Symbolic, definition};
use super::wgsl::{WgslFma, WgslOptions, wgsl_definition_4, wgsl_function};
use crate::caps::Numerics;
use crate::numerics::{Func as Elementary, div_anywhere, soft_div, soft_reciprocal, soft_sqrt, sqrt_anywhere};
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

/// How definitions are written in WGSL.
const OPTIONS: WgslOptions = WgslOptions { fma: WgslFma::Prelude, numerics: Numerics::Strict };

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
    let software = software().into_iter().flatten();
    for (name, f) in software.chain(Elementary::ALL.iter().map(|&f| (f.name(), definition(f)))) {
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
    let plain = name.strip_prefix("iw_")?;
    let software = || software().ok()?.into_iter().find(|(n, _)| *n == plain).map(|(_, f)| f);
    let f = Elementary::ALL.iter().find(|f| f.name() == plain).map(|&f| definition(f)).or_else(software)?;
    let mut calls = BTreeSet::new();
    let text = wgsl_definition_4(&f, name, OPTIONS, &mut calls);
    Some((text, calls))
}

/// Division and square root without the device's own, their ways for operands that are out of range, and the reciprocal.
fn software() -> Result<[(&'static str, Arc<Func>); 5], OpError> {
    Ok([
        ("div", Arc::new(expr::trace(|(a, b): (Expr<f32>, Expr<f32>)| soft_div::<Symbolic>(a, b))?)),
        ("div_anywhere", Arc::new(expr::trace(|(a, b): (Expr<f32>, Expr<f32>)| div_anywhere::<Symbolic>(a, b))?)),
        ("reciprocal", Arc::new(expr::trace(|b: Expr<f32>| soft_reciprocal::<Symbolic>(b))?)),
        ("sqrt", Arc::new(expr::trace(|x: Expr<f32>| soft_sqrt::<Symbolic>(x))?)),
        ("sqrt_anywhere", Arc::new(expr::trace(|x: Expr<f32>| sqrt_anywhere::<Symbolic>(x))?)),
    ])
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
