//! P10, P12 and P27: products, solves, convolutions and transforms.

use super::{Extra, Template, WORDS};

/// P10, products of matrices.
pub(super) const CONTRACT: Template = Template {
    name: "contract.wgsl",
    text: include_str!("../contract.wgsl"),
    args: &[],
    bindings: &[Extra { name: "partials", access: "read_write", ty: "array<Value>", when: Some("split or step > 0") }],
};

/// P10, operands in words, and fixed-point products of matrices: an operand's words have the four digits of four numbers, a plane a component.
pub(super) const CONTRACT_FIXED: Template = Template {
    name: "contract_fixed.wgsl",
    text: include_str!("../contract_fixed.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "packed", access: "read_write", ty: "array<vec4<u32>>", when: Some("step == 1 and kind == 1") },
        Extra { name: "packed", access: "read_write", ty: "array<u32>", when: Some("step == 1 and kind == 0") },
        Extra { name: "greatest", access: "read_write", ty: "array<u32>", when: Some("step == 0 or (step == 1 and kind == 1)") },
        Extra { name: "packed_a", access: "read_write", ty: "array<vec4<u32>>", when: Some("step == 2") },
        Extra { name: "packed_b", access: "read_write", ty: "array<vec4<u32>>", when: Some("step == 2") },
        Extra { name: "exponents", access: "read_write", ty: "array<u32>", when: Some("step == 2 or (step == 1 and kind == 1)") },
    ],
};

/// P10, products of packed operands by matrix instructions of subgroups.
pub(super) const CONTRACT_COOPERATIVE: Template = Template {
    name: "contract_cooperative.wgsl",
    text: include_str!("../contract_cooperative.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "packed_a", access: "read_write", ty: "array<vec4<u32>>", when: None },
        Extra { name: "packed_b", access: "read_write", ty: "array<vec4<u32>>", when: None },
        Extra { name: "exponents", access: "read_write", ty: "array<u32>", when: Some("digits") },
        Extra { name: "totals", access: "read_write", ty: "array<vec2<u32>>", when: Some("many") },
    ],
};

/// P12, convolutions of planes.
pub(super) const CONVOLVE: Template = Template { name: "convolve.wgsl", text: include_str!("../convolve.wgsl"), args: &[], bindings: &[] };

/// P12, convolutions of several channels.
pub(super) const CONVOLVE_LAYER: Template =
    Template { name: "convolve_layer.wgsl", text: include_str!("../convolve_layer.wgsl"), args: &[], bindings: &[] };

/// P27, levels of transforms.
pub(super) const FFT: Template = Template {
    name: "fft.wgsl",
    text: include_str!("../fft.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "from_", access: "read", ty: "array<vec2<u32>>", when: Some("kind == 0") },
        Extra { name: "from_", access: "read", ty: "array<vec4<u32>>", when: Some("kind == 1") },
        Extra { name: "from_", access: "read", ty: "array<u32>", when: Some("kind >= 2") },
        Extra { name: "table", access: "read", ty: "array<vec2<u32>>", when: Some("kind == 0") },
        Extra { name: "table", access: "read", ty: "array<vec4<u32>>", when: Some("kind == 1") },
        Extra { name: "table", access: "read", ty: "array<u32>", when: Some("kind >= 2") },
        Extra { name: "to", access: "read_write", ty: "array<vec2<u32>>", when: Some("kind == 0") },
        Extra { name: "to", access: "read_write", ty: "array<vec4<u32>>", when: Some("kind == 1") },
        Extra { name: "to", access: "read_write", ty: "array<u32>", when: Some("kind >= 2") },
    ],
};

/// P10, eliminations of batches, and of panels.
pub(super) const ELIMINATE: Template = Template {
    name: "eliminate.wgsl",
    text: include_str!("../eliminate.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "a", access: "read", ty: WORDS, when: None },
        Extra { name: "b", access: "read", ty: WORDS, when: Some("rhs == 1") },
        Extra { name: "x", access: "read_write", ty: WORDS, when: Some("memory or lu") },
        Extra { name: "y", access: "read_write", ty: WORDS, when: Some("rhs > 0 or det") },
        Extra { name: "perm", access: "read_write", ty: WORDS, when: Some("memory or lu") },
        Extra { name: "states", access: "read_write", ty: WORDS, when: Some("not det") },
    ],
};

/// P10, columns of matrices where they lie.
pub(super) const PANEL: Template = Template {
    name: "panel.wgsl",
    text: include_str!("../panel.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "x", access: "read_write", ty: WORDS, when: None },
        Extra { name: "det", access: "read_write", ty: WORDS, when: None },
        Extra { name: "perm", access: "read_write", ty: WORDS, when: None },
        Extra { name: "states", access: "read_write", ty: WORDS, when: None },
        Extra { name: "swaps", access: "read_write", ty: WORDS, when: None },
    ],
};

/// P10, Cholesky's factors.
pub(super) const CHOLESKY: Template = Template {
    name: "cholesky.wgsl",
    text: include_str!("../cholesky.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "a", access: "read", ty: WORDS, when: Some("apart") },
        Extra { name: "x", access: "read_write", ty: WORDS, when: None },
        Extra { name: "states", access: "read_write", ty: WORDS, when: None },
    ],
};

/// P10, parts of solves by blocks.
pub(super) const BLOCKS: Template = Template {
    name: "blocks.wgsl",
    text: include_str!("../blocks.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "a", access: "read", ty: WORDS, when: Some("step == 4 or (step < 2 and apart) or (step == 2 and not identity)") },
        Extra { name: "states", access: "read", ty: WORDS, when: Some("step == 0 and checked") },
        Extra { name: "perm", access: "read", ty: WORDS, when: Some("step == 2 and permuted") },
        Extra { name: "x", access: "read_write", ty: WORDS, when: Some("step < 4") },
        Extra { name: "states", access: "read_write", ty: WORDS, when: Some("step == 4") },
        Extra { name: "swaps", access: "read_write", ty: WORDS, when: Some("step == 3") },
    ],
};
