//! Texts of solves' kernels, of every choice that their plan makes.

use super::texts::{GUARDED, SHARED, accept_planned, planned, signature};
use crate::seal;
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::launch::kernels::{ARRANGE, CHECK_DIAGONAL, CHOLESKY, Def, ELIMINATE, PANEL, SUBSTITUTE, SWAP_ROWS, TRAIL};
use isowarp_core::launch::{Choice, Operators};
use isowarp_core::patterns::solve::SolveArithmetic;

fn accept(def: &'static Def, names: &[&str], choices: &[Choice]) {
    for (wide, dtype) in [(0, DType::F32), (1, DType::F64)] {
        let functions = SolveArithmetic::of(dtype).expect("operators").named(names);
        let choices: Vec<Choice> = [("wide", wide)].iter().chain(choices).copied().collect();
        let operators = (Operators::Functions(&functions), Numerics::Strict);
        assert!(accept_planned(def, operators, &choices, &signature(&[], &[])) <= SHARED);
    }
}

/// The same of an adapter that guards `fma`.
fn accept_guarded(def: &'static Def, names: &[&str], choices: &[Choice]) {
    let functions = SolveArithmetic::of(DType::F32).expect("operators").named(names);
    let shared = planned(def, (Operators::Functions(&functions), Numerics::Strict), choices);
    let text = shared.program(&signature(&[], &[])).text(GUARDED).expect("text");
    let parsed = seal::parse(def.name, &text, seal::capabilities(wgpu::Features::all())).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(parsed.interface(def.name).expect("interface").workgroup_bytes <= SHARED);
}

#[test]
fn eliminations_in_shared_memory_in_memory_and_of_panels() {
    const NAMES: [&str; 4] = ["minus", "div", "mul", "bits"];
    for (memory, full) in [(0, 0), (0, 1), (1, 1)] {
        for (rhs, lu, det) in [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1)] {
            if memory == 0 || lu + det == 0 {
                let of = [("memory", memory), ("full", full), ("rhs", rhs), ("lu", lu), ("det", det)];
                let choices: Vec<Choice> =
                    of.into_iter().chain([("threads", if memory == 1 { 256 } else { 64 }), ("space", 1536)]).collect();
                accept(ELIMINATE.def(), &NAMES, &[&choices[..], &[("guarded", 0), ("subgroups", 0)]].concat());
                let choices = [&[("wide", 0)], &choices[..], &[("guarded", 1), ("subgroups", 1)]].concat();
                accept_guarded(ELIMINATE.def(), &NAMES, &choices);
            }
        }
    }
    accept(PANEL.def(), &NAMES, &[("across", 16)]);
}

#[test]
fn factors_of_cholesky_and_parts_of_solves_by_blocks() {
    let of = |apart, checked, identity, permuted| [("apart", apart), ("checked", checked), ("identity", identity), ("permuted", permuted)];
    for apart in [0, 1] {
        accept(CHOLESKY.def(), &["minus", "div", "root", "bits"], &[("apart", apart)]);
        let trail = |guarded, rolled| [&of(apart, 0, 0, 0)[..], &[("guarded", guarded), ("subgroups", 0), ("rolled", rolled)]].concat();
        accept(TRAIL.def(), &["minus", "bits"], &trail(0, 1));
        accept(TRAIL.def(), &["minus", "bits"], &trail(0, 0));
        accept_guarded(TRAIL.def(), &["minus", "bits"], &[&[("wide", 0)], &trail(1, 0)[..]].concat());
        for checked in [0, 1] {
            accept(SUBSTITUTE.def(), &["minus", "div", "bits"], &of(apart, checked, 0, 0));
        }
    }
    for (identity, permuted) in [(0, 0), (0, 1), (1, 1)] {
        accept(ARRANGE.def(), &["bits"], &of(0, 0, identity, permuted));
    }
    accept(SWAP_ROWS.def(), &["bits"], &of(0, 0, 0, 0));
    accept(CHECK_DIAGONAL.def(), &[], &of(0, 0, 0, 0));
}
