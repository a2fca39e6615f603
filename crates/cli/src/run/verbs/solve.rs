//! Solves and factorisations of square matrices.

use crate::args::PivotsArg;
use crate::failure::{Failure, Result};
use crate::npy::Array;
use crate::run::elements::{WIDE_FLOATS, alike, of_types};
use crate::run::options::{self, RunArgs};
use crate::run::plan::{Part, Plan};
use crate::run::registry::{Inputs, Verb};
use isowarp::dynamic::{Call, Solving};
use isowarp::patterns::Pivoting;
use isowarp::patterns::solve::SolveKind;

pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "solve",
        about: "The solutions of A x = b: a matrix of 2 axes and a vector or a matrix of columns, or batches of them, of an axis more; f32 or f64",
        example: "--in a.npy --in b.npy --out x.npy --status status.npy",
        inputs: Inputs::PAIR,
        options: &[options::pivots, options::lower, options::upper, options::unit, options::status],
        plan: solve,
        bench: "solve/small",
    },
    Verb {
        name: "lu",
        about: "The factors of matrices with their rows in the order of the pivots, P A = L U: L is below the diagonal, without its ones; f32 or f64",
        example: "--in a.npy --out lu.npy --permutation rows.npy",
        inputs: Inputs::ONE,
        options: &[options::pivots, options::permutation, options::status],
        plan: |args, inputs| alone(args, inputs, SolveKind::Lu, &[Part::Result, Part::Permutation, Part::Status]),
        bench: "lu/f32",
    },
    Verb {
        name: "cholesky",
        about: "The lower factor of symmetric positive definite matrices, A = L L'; the lower triangle is read; f32 or f64",
        example: "--in a.npy --out l.npy",
        inputs: Inputs::ONE,
        options: &[options::status],
        plan: |args, inputs| alone(args, inputs, SolveKind::Cholesky, &[Part::Result, Part::Status]),
        bench: "cholesky/f32",
    },
    Verb {
        name: "inv",
        about: "The inverses of square matrices; f32 or f64",
        example: "--in a.npy --out inverse.npy",
        inputs: Inputs::ONE,
        options: &[options::pivots, options::status],
        plan: |args, inputs| alone(args, inputs, SolveKind::Inverse, &[Part::Result, Part::Status]),
        bench: "inverse/small",
    },
    Verb {
        name: "det",
        about: "The determinants of square matrices; f32 or f64",
        example: "--in a.npy --out det.npy",
        inputs: Inputs::ONE,
        options: &[options::pivots],
        plan: |args, inputs| alone(args, inputs, SolveKind::Determinant, &[Part::Result]),
        bench: "determinant/small",
    },
];

fn pivoting(args: &RunArgs) -> Pivoting {
    match args.pivots {
        Some(PivotsArg::None) => Pivoting::None,
        Some(PivotsArg::Full) => Pivoting::Full,
        _ => Pivoting::Partial,
    }
}

/// Rows of square matrices, and how many of a batch there are.
fn square(inputs: &[Array]) -> Result<(Option<u64>, u64)> {
    let array = inputs.first().ok_or_else(|| Failure::usage("there is no matrix", "add --in a.npy"))?;
    let (batch, [rows, columns]) = match array.shape[..] {
        [rows, columns] => (None, [rows, columns]),
        [batch, rows, columns] => (Some(batch), [rows, columns]),
        _ => {
            let message = format!("the first input has shape {}, which is no matrix", array.shape_text());
            return Err(Failure::failed(message, "a matrix has 2 axes, a batch of matrices 3"));
        }
    };
    if rows != columns {
        let message = format!("the matrix has {rows} rows and {columns} columns");
        return Err(Failure::failed(message, "solves and factorisations are of square matrices"));
    }
    Ok((batch, rows))
}

fn alone(args: &RunArgs, inputs: &[Array], kind: SolveKind, parts: &'static [Part]) -> Result<Plan> {
    let (batch, n) = square(inputs)?;
    of_types(args.verb.name, inputs, &WIDE_FLOATS)?;
    let shape = batch.into_iter().chain(if kind == SolveKind::Determinant { vec![] } else { vec![n, n] }).collect();
    let of = Solving { kind, pivoting: pivoting(args), n, rights: 0, batch: [batch, None] };
    Ok(Plan::new(Call::Solve(of), shape).giving(parts))
}

fn solve(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let [a, b] = inputs else {
        return Err(Failure::usage(format!("solve takes two inputs, not {}", inputs.len()), "name a matrix and its right-hand sides"));
    };
    let (batch, n) = square(inputs)?;
    of_types(args.verb.name, inputs, &WIDE_FLOATS)?;
    alike(args.verb.name, "arrays", a, b)?;
    // Right-hand sides of a batch have its axis; one alone is a vector.
    let (of_b, rights) = match (b.shape[..].as_ref(), batch) {
        ([rows], _) if *rows == n => (None, 1),
        ([rows, columns], None) if *rows == n => (None, *columns),
        ([count, rows], Some(_)) if *rows == n => (Some(*count), 1),
        ([count, rows, columns], _) if *rows == n => (Some(*count), *columns),
        _ => {
            let message = format!("the right-hand sides have shape {}, and the matrix {n} rows", b.shape_text());
            return Err(Failure::failed(
                message,
                "right-hand sides are vectors or matrices of as many rows, of a batch with its axis before them",
            ));
        }
    };
    if let (Some(a), Some(b)) = (batch, of_b)
        && a != b
    {
        let message = format!("there are {a} matrices and {b} right-hand sides");
        return Err(Failure::failed(message, "batches are of one size"));
    }
    let mut shape = b.shape.clone();
    if of_b.is_none() {
        batch.into_iter().for_each(|count| shape.insert(0, count));
    }
    let kind = if args.lower || args.upper {
        SolveKind::Triangular { upper: args.upper, unit: args.unit }
    } else if args.unit {
        return Err(Failure::usage("--unit is of triangles", "add --lower or --upper"));
    } else {
        SolveKind::Solve
    };
    let of = Solving { kind, pivoting: pivoting(args), n, rights, batch: [batch, of_b] };
    Ok(Plan::new(Call::Solve(of), shape).giving(&[Part::Result, Part::Status]))
}
