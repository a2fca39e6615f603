//! The functions that kernels call, in the form that an adapter needs, for one element and for four at once.

use crate::probe::{F64Report, Seed, Seeds};
use isowarp_core::caps::{FmaKind, Numerics};
use isowarp_core::element::Ty;
use isowarp_core::ir::{BinOp, Operation, Operations, UnOp, WgslFma, WgslOptions, numerics_of, numerics_of_4};
use isowarp_core::numerics;
use isowarp_shaders::Snippet;
use std::collections::BTreeSet;

/// Parameters of a kernel's text besides the task: the adapter's arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Dialect {
    pub(crate) fma: FmaKind,
    pub(crate) native_fma64: bool,
    pub(crate) native_div64: bool,
    pub(crate) native_sqrt64: bool,
    /// Whether there are 64-bit integers that compute as defined.
    pub(crate) int64: bool,
    /// Approximations of the adapter that division and root start from.
    pub(crate) seeds: Seeds,
    /// Operations that the adapter gets wrong.
    pub(crate) repairs: Operations,
    /// Whether few fetches of an operator may stand behind branches: of more SwiftShader's compiler, and kernels have copies, makes gigabytes.
    pub(crate) branches: bool,
}

/// A zero that no compiler can see through: Mesa folds `x + 0.0`, `0.0 - x` and `x * 0.0` as if zero had no sign and NaN did not exist. Element
/// indices stay below 2^63, so every bit is the sign of the first one.
const OPAQUE_ZERO: &str = "fn iw_zero() -> u32 {
    return bitcast<u32>(bitcast<i32>(args.base_high) >> 31u);
}";

/// Another one, that joins bits of floats: they may be joined with the first already, and twice the same is none. Element indices stay below 2^62 too:
/// no device has as many bytes.
const OPAQUE_ZERO_OF_FLOATS: &str = "fn iw_zero_of_floats() -> u32 {
    return bitcast<u32>(bitcast<i32>(args.base_high) >> 30u);
}";

/// `iw_fma` for operands and results that are zero or normal: without a guard.
pub(super) const NATIVE_FMA: &str = "iw_fma_native";
/// Ends the name of a definition that is right for arguments that are not subnormal.
const NORMAL: &str = "_normal";
/// Ends the name of a function's form for four elements at once.
const OF_4: &str = "_4";

/// The elementary function that kernels call by this name.
fn elementary(name: &str) -> Option<numerics::Func> {
    let plain = name.strip_prefix("iw_")?;
    numerics::Func::ALL.iter().copied().find(|f| f.name() == plain)
}

/// A snippet of the prelude, for the function `name`, over the adapter's own `fma`.
fn over_native_fma(snippet: &str, name: &str) -> Option<Snippet> {
    isowarp_shaders::renamed(snippet, name).map(bare)
}

/// The text with `fma` called without a guard.
fn bare((mut text, mut calls): Snippet) -> Snippet {
    for end in ["", OF_4] {
        if calls.remove(&format!("iw_fma{end}")) {
            calls.insert(format!("{NATIVE_FMA}{end}"));
        }
        text = text.replace(&format!("iw_fma{end}("), &format!("{NATIVE_FMA}{end}("));
    }
    (text, calls)
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

/// The same for four elements at once: `name` is that of the single form.
fn beside_guarded_fma_of_4(name: &str) -> Option<Snippet> {
    if let Some(normal) = name.strip_suffix(NORMAL) {
        let (text, calls) = numerics_of_4(normal)?;
        return Some(bare((text.replace(&format!("fn {normal}_4("), &format!("fn {name}_4(")), calls)));
    }
    let func = elementary(name)?;
    if func.keeps_bits_under_flushing_fma() {
        return numerics_of_4(name).map(bare);
    }
    func.returns_subnormals().then(|| {
        let normal = format!("{name}{NORMAL}{OF_4}");
        let text = format!(
            "fn {name}_4(x: vec4<f32>) -> vec4<f32> {{
    let y = {normal}(x);
    // Twice the size, less two: less than 0xfffffe for subnormal numbers only, since zero wraps around.
    let subnormal = (bitcast<vec4<u32>>(x) << vec4<u32>(1u)) - vec4<u32>(2u) < vec4<u32>(0xfffffeu);
    return select(y, x, subnormal);
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
            "iw_sqrt" if self.root => Some("iw_sqrt@seeded"),
            "iw_seeded_reciprocal" if self.reciprocal == Some(Seed::Close) => Some("iw_seeded_reciprocal@close"),
            "iw_seeded_reciprocal" => Some("iw_seeded_reciprocal@coarse"),
            "iw_div" | "iw_div_anywhere" | "iw_sqrt" | "iw_sqrt_anywhere" | "iw_seeded_root" => Some(name),
            _ => None,
        }
    }
}

impl Dialect {
    /// An adapter with nothing of its own: every function is the prelude's.
    pub(crate) const PLAIN: Self = Self {
        fma: FmaKind::ViaInteger,
        native_fma64: false,
        native_div64: false,
        native_sqrt64: false,
        int64: false,
        seeds: Seeds::NONE,
        repairs: Operations::NONE,
        branches: true,
    };

    /// With what is the adapter's own of f64.
    pub(crate) fn with_f64(self, report: Option<&F64Report>) -> Self {
        // Trials of these are of numbers far from the least ones.
        let is = |fact: fn(&F64Report) -> bool| report.is_some_and(|report| report.arithmetic && fact(report));
        let (native_fma64, native_div64, native_sqrt64) = (is(|r| r.fma_is_fused), is(|r| r.division_rounds), is(|r| r.sqrt_rounds));
        Self { native_fma64, native_div64, native_sqrt64, ..self }
    }

    /// The text of a function where it is not the prelude's own.
    pub(crate) fn resolve(self, name: &str) -> Option<Snippet> {
        let wide = |native: bool| isowarp_shaders::snippet(&format!("{name}@{}", if native { "native" } else { "integer" }));
        match name {
            "iw_zero" => Some((OPAQUE_ZERO.to_owned(), BTreeSet::new())),
            "iw_zero_of_floats" => Some((OPAQUE_ZERO_OF_FLOATS.to_owned(), BTreeSet::new())),
            "iw_fma" if self.fma == FmaKind::Guarded => {
                Some((crate::probe::FMA_GUARD.to_owned(), BTreeSet::from(["iw_fma_bits".to_owned()])))
            }
            "iw_fma" => Some((crate::fma_prelude(self.fma).to_owned(), BTreeSet::new())),
            "iw_fma_bits" => Some((crate::probe::FMA_BITS.to_owned(), BTreeSet::new())),
            // Called where nothing is subnormal.
            NATIVE_FMA if self.fma == FmaKind::Guarded => {
                Some((crate::fma_prelude(FmaKind::Native).replace("fn iw_fma(", &format!("fn {NATIVE_FMA}(")), BTreeSet::new()))
            }
            "iw_mul_hi" | "iw_mul_wide" if self.int64 => isowarp_shaders::snippet(&format!("{name}@u64")),
            "iw_fma64" => wide(self.native_fma64),
            "iw_div64" => wide(self.native_div64),
            "iw_sqrt64" => wide(self.native_sqrt64),
            _ if name.ends_with(OF_4) => self.resolve_of_4(&name[..name.len() - OF_4.len()]),
            // Snippets that start from the adapter's approximations meet no number that needs an exact form.
            _ if self.seeds.snippet(name).is_none_or(|s| s == name) && self.repaired(name, false).is_some() => self.repaired(name, false),
            _ => match (self.seeds.snippet(name), self.fma) {
                // No operand or result of theirs is subnormal where that would change a bit.
                (Some(snippet), FmaKind::Guarded) => over_native_fma(snippet, name),
                (Some(snippet), _) => isowarp_shaders::snippet(snippet),
                (None, FmaKind::Guarded) => beside_guarded_fma(name),
                (None, _) => None,
            },
        }
    }

    /// The form for four elements at once of the function `name`.
    fn resolve_of_4(self, name: &str) -> Option<Snippet> {
        let guarded = self.fma == FmaKind::Guarded;
        match name {
            "iw_fma" => match self.fma {
                FmaKind::Native | FmaKind::Contracted => isowarp_shaders::snippet("iw_fma_4@native"),
                FmaKind::ViaF64 | FmaKind::ViaInteger => isowarp_shaders::snippet("iw_fma_4@single"),
                FmaKind::Guarded => {
                    let calls = ["iw_fma_bits", "iw_fma_native_4", "iw_set_of_4", "iw_pick_of_4", "iw_put_of_4"];
                    Some((crate::probe::FMA_GUARD_4.to_owned(), BTreeSet::from(calls.map(str::to_owned))))
                }
            },
            NATIVE_FMA if guarded => isowarp_shaders::renamed("iw_fma_4@native", "iw_fma_native_4"),
            _ if self.seeds.snippet(name).is_none_or(|s| s == name) && self.repaired(name, true).is_some() => self.repaired(name, true),
            _ => match self.seeds.snippet(name) {
                Some(snippet) => {
                    let (function, variant) = snippet.split_once('@').map_or((snippet, String::new()), |(f, v)| (f, format!("@{v}")));
                    let found = isowarp_shaders::snippet(&format!("{function}{OF_4}{variant}")).or_else(|| numerics_of_4(name))?;
                    Some(if guarded { bare(found) } else { found })
                }
                None if guarded && elementary(name.strip_suffix(NORMAL).unwrap_or(name)).is_some() => {
                    beside_guarded_fma_of_4(name).or_else(|| numerics_of_4(name))
                }
                None => numerics_of_4(name),
            },
        }
    }

    /// The functions of WGSL that written texts call of words, where they need an exact form, and its name.
    pub(crate) fn exact_of_built_in(self) -> impl Iterator<Item = (&'static str, String)> {
        let all = [(UnOp::CountOnes, "countOneBits"), (UnOp::LeadingZeros, "countLeadingZeros"), (UnOp::ReverseBits, "reverseBits")];
        all.into_iter().filter_map(move |(op, built_in)| {
            let op = Operation::Un(op, Ty::U32);
            self.repairs.contains(op).then(|| (built_in, format!("iw_exact_{op}")))
        })
    }

    /// A written text with the exact forms of these.
    pub(crate) fn without_built_in(self, text: String) -> String {
        self.exact_of_built_in().fold(text, |text, (built_in, exact)| text.replace(&format!("{built_in}("), &format!("{exact}(")))
    }

    /// A definition over exact forms, where some operation needs one.
    fn repaired(self, name: &str, of_4: bool) -> Option<Snippet> {
        if self.repairs.is_empty() { None } else { numerics_of(name, self.repairs, of_4) }
    }

    /// Returns the options by which operators are written.
    pub(crate) fn options(self, numerics: Numerics) -> WgslOptions {
        let fma = match self.fma {
            FmaKind::Native | FmaKind::Contracted => WgslFma::Native,
            FmaKind::Guarded if numerics == Numerics::Fast => WgslFma::Native,
            FmaKind::Guarded => WgslFma::Guarded,
            FmaKind::ViaF64 | FmaKind::ViaInteger => WgslFma::Prelude,
        };
        let mut repairs = self.repairs;
        if numerics == Numerics::Fast {
            repairs.remove(Operation::Un(UnOp::Sqrt, Ty::F32));
            repairs.remove(Operation::Bin(BinOp::Div, Ty::F32));
        }
        WgslOptions { fma, numerics, repairs }
    }
}
