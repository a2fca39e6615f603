//! Products of matrices.

use crate::args::BlocksArg;
use crate::failure::{Failure, Result};
use crate::npy::{Array, shape_text};
use crate::run::elements::alike;
use crate::run::options::{self, RunArgs};
use crate::run::plan::Plan;
use crate::run::registry::{Inputs, Verb};
use isowarp::dynamic::{Call, Product};
use isowarp::element::DType;
use isowarp::patterns::{FactorFormat, ProductOrder};

pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "gemm",
        about: "The product of two matrices, of 2 axes, or of batches of matrices, of 3; a third input is added. Both matrices are of one type: f16, f32, f64 or an integer of up to 32 bits",
        example: "--trans-b --in a.npy --in b.npy --out c.npy",
        inputs: Inputs::SEVERAL,
        options: &[options::factor, options::factor_of_addend, options::transposed_a, options::transposed_b, options::blocks],
        plan: gemm,
        bench: "gemm/f32",
    },
    Verb {
        name: "gemv",
        about: "The product of a matrix and a vector; a third input is added",
        example: "--in a.npy --in x.npy --out y.npy",
        inputs: Inputs::SEVERAL,
        options: &[options::factor, options::factor_of_addend, options::transposed_a, options::blocks],
        plan: gemv,
        bench: "gemv/f32",
    },
];

/// A matrix of an array: of a batch as many as its first axis says.
fn sides(array: &Array, transposed: bool, which: &str) -> Result<(Option<u64>, [u64; 2])> {
    let (batch, [rows, columns]) = match array.shape[..] {
        [rows, columns] => (None, [rows, columns]),
        [batch, rows, columns] => (Some(batch), [rows, columns]),
        _ => {
            let message = format!("the {which} input has shape {}, which is no matrix", array.shape_text());
            return Err(Failure::failed(message, "a matrix has 2 axes, a batch of matrices 3"));
        }
    };
    Ok((batch, if transposed { [columns, rows] } else { [rows, columns] }))
}

/// The plan of a product. Of two bool files it says where a row and a column both hold somewhere, as NumPy's does.
fn planned(args: &RunArgs, inputs: &[Array], of: Product, shape: Vec<u64>) -> Result<Plan> {
    if let [a, b, ..] = inputs {
        alike(args.verb.name, "arrays", a, b)?;
    }
    // Products of integers of 64 bits are refused as such.
    let sums = inputs.first().map(|a| a.dtype.ty().dtype()).filter(|sums| !matches!(sums, DType::I64 | DType::U64));
    if let (Some(sums), Some(c)) = (sums, inputs.get(2))
        && (c.boolean || c.dtype != sums)
    {
        let message = format!("{} adds to sums of {sums}, and the third input is of {}", args.verb.name, c.type_name());
        return Err(Failure::usage(message, format!("convert it first, for instance with `isowarp run map --op x --dtype {sums}`")));
    }
    let boolean = inputs.len() == 2 && inputs.iter().all(|a| a.boolean) && args.factor.is_none();
    Ok(Plan::new(Call::Product(product(args, inputs, of)?), shape).boolean(boolean))
}

fn product(args: &RunArgs, inputs: &[Array], of: Product) -> Result<Product> {
    if args.beta.is_some() && inputs.len() < 3 {
        return Err(Failure::usage("--beta multiplies a third input, and there is none", "add --in c.npy"));
    }
    let order = match args.blocks {
        None | Some(BlocksArg::Blocks) => ProductOrder::Blocks,
        Some(BlocksArg::Chain) => ProductOrder::Chain,
        Some(BlocksArg::Fixed30) => ProductOrder::Fixed30,
        Some(BlocksArg::FastF16) => ProductOrder::Fast(FactorFormat::F16),
        Some(BlocksArg::FastBf16) => ProductOrder::Fast(FactorFormat::Bf16),
        Some(BlocksArg::FastTf32) => ProductOrder::Fast(FactorFormat::Tf32),
    };
    Ok(Product { alpha: args.factor, beta: if inputs.len() > 2 { args.beta.unwrap_or(1.0) } else { 0.0 }, order, ..of })
}

fn gemm(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let transposed = [args.transposed_a, args.transposed_b];
    let [a, b, ..] = inputs else { return Err(Failure::usage("gemm takes two inputs", "add --in b.npy")) };
    let ((of_a, [m, k]), (of_b, [terms, n])) = (sides(a, transposed[0], "first")?, sides(b, transposed[1], "second")?);
    fits(k, terms)?;
    if let (Some(a), Some(b)) = (of_a, of_b)
        && a != b
    {
        return Err(Failure::failed(
            format!("there are {a} matrices on the left and {b} on the right"),
            "batches are of one size, or one side is a matrix",
        ));
    }
    let shape = of_a.or(of_b).into_iter().chain([m, n]).collect();
    added(inputs, &shape)?;
    let of = Product { shape: [m, n, k], batch: [of_a, of_b], transposed, alpha: None, beta: 0.0, order: ProductOrder::Blocks };
    planned(args, inputs, of, shape)
}

fn gemv(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let [a, x, ..] = inputs else { return Err(Failure::usage("gemv takes two inputs", "add --in x.npy")) };
    let (batch, [m, k]) = sides(a, args.transposed_a, "first")?;
    if batch.is_some() || x.shape.len() != 1 {
        return Err(Failure::failed("gemv takes a matrix and a vector, of 2 axes and of 1", "use gemm for others"));
    }
    fits(k, x.len())?;
    let shape = vec![m];
    added(inputs, &shape)?;
    let transposed = [args.transposed_a, false];
    let of = Product { shape: [m, 1, k], batch: [None; 2], transposed, alpha: None, beta: 0.0, order: ProductOrder::Blocks };
    planned(args, inputs, of, shape)
}

fn fits(columns: u64, rows: u64) -> Result {
    if columns == rows {
        return Ok(());
    }
    let message = format!("the first matrix has {columns} columns, and the second {rows} rows");
    Err(Failure::failed(message, "they have to be as many; --trans-a and --trans-b take transposes"))
}

/// Fails where there is a third input of another shape than the result's.
fn added(inputs: &[Array], shape: &Vec<u64>) -> Result {
    match inputs.get(2) {
        Some(c) if c.shape != *shape => {
            let message = format!("the third input has shape {}, and the product {}", c.shape_text(), shape_text(shape));
            Err(Failure::failed(message, "what is added has the product's shape"))
        }
        _ => Ok(()),
    }
}
