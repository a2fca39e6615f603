//! How much a driver is given to compile: SPIR-V instructions of kernels for an adapter like NVIDIA's, calls counted with what they call.

use super::texts::{self, GUARDED, map_program, scan_signature, signature, tree};
use crate::patterns::Dialect;
use crate::patterns::program::{Operators, Program, Sink, Source};
use crate::patterns::reduce::{Form, Shape, TILES, form_holes};
use crate::patterns::scan::{self, Step};
use crate::probe::{Seed, Seeds};
use crate::seal::{self, SealOptions, words};
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::ir::{Expr, Func, trace};
use isowarp_core::ops::Sum;
use isowarp_core::patterns::{Lines, MapTask, ScanKind, ScanTask};
use std::collections::HashMap;
use std::sync::Arc;

type F = Expr<f32>;

const DIALECT: Dialect = Dialect { seeds: Seeds { reciprocal: Some(Seed::Close), root: true }, ..GUARDED };

/// Instructions of the entry point with the functions that it calls in place of the calls.
fn inlined(words: &[u32]) -> usize {
    const OP_ENTRY_POINT: u16 = 15;
    const OP_FUNCTION: u16 = 54;
    const OP_FUNCTION_CALL: u16 = 57;
    let (mut own, mut calls): (HashMap<u32, usize>, HashMap<u32, Vec<u32>>) = (HashMap::new(), HashMap::new());
    let (mut current, mut entry, mut order) = (0, 0, Vec::new());
    for i in words::instructions(words) {
        match i.opcode {
            OP_ENTRY_POINT => entry = i.operands[1],
            OP_FUNCTION => {
                current = i.operands[1];
                order.push(current);
            }
            OP_FUNCTION_CALL => calls.entry(current).or_default().push(i.operands[2]),
            _ if current != 0 => *own.entry(current).or_default() += 1,
            _ => {}
        }
    }
    // Functions come after those that they call.
    let mut total: HashMap<u32, usize> = HashMap::new();
    for f in order {
        let callees: usize = calls.get(&f).into_iter().flatten().map(|c| total[c]).sum();
        total.insert(f, own[&f] + callees);
    }
    total[&entry]
}

fn count(program: &Program<'_>) -> usize {
    let text = program.text(DIALECT).expect("text");
    let parsed = seal::parse(program.entry, &text, seal::capabilities(wgpu::Features::all())).expect("valid");
    let options = SealOptions { features: wgpu::Features::all(), ..SealOptions::default() };
    let words = parsed.seal(program.entry, &options).expect("SPIR-V");
    let count = inlined(&words);
    println!("{}: {} instructions in all, {count} inlined", program.entry, words::instructions(&words).count());
    count
}

fn of_map(func: Func) -> usize {
    let leaves = vec![(DType::F32, 0); func.params.len()];
    let task = MapTask { func: Arc::new(func), n: 1, numerics: Numerics::Strict };
    count(&map_program(&task, &signature(&leaves, &[(DType::F32, 0)])))
}

#[test]
fn kernels_give_drivers_little_to_compile() {
    println!("copy {}", of_map(trace(|x: F| x).expect("operator")));
    println!("axpy {}", of_map(trace(|(a, x, y): (F, F, F)| a * x + y).expect("operator")));
    println!("sin {}", of_map(trace(|x: F| x.sin()).expect("operator")));
    println!("exp {}", of_map(trace(|x: F| x.exp()).expect("operator")));
    println!("custom {}", of_map(trace(|x: F| (x * x + 1.0).sqrt() / (x + 0.5) - x).expect("operator")));
    let t = tree::<f32>(Sum);
    let shape = Shape::of(4).expect("small enough");
    let Form { template, entry } = TILES;
    let holes = form_holes(TILES, shape, false);
    let operators = Operators::Tree { source: Source::Leaves(&t.load), combine: &t.combine, sink: Sink::Outs(&t.finish) };
    let direct = signature(&[(t.dtype, 0)], &[(t.dtype, 1)]);
    let numerics = Numerics::Strict;
    println!("sum {}", count(&Program { template, entry, constants: &holes, operators, signature: &direct, numerics, first: false }));
    let step = Step::Single { wide: true };
    let (load, combine, finish) = (Arc::clone(&t.load), Arc::clone(&t.combine), Arc::clone(&t.finish));
    let task = ScanTask { load, combine, finish, lines: Lines::one(1), kind: ScanKind::Inclusive, numerics };
    let signature = scan_signature(t.dtype, step, false);
    let rows = scan::rows(4).expect("small enough");
    let holes = scan::holes(&task, step, scan::Form { rows, strided: false, subgroups: true, group: 64 });
    println!("scan {}", count(&scan::program(&task, step, &signature, &holes)));
    let _ = texts::NATIVE;
}
