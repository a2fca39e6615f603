//! Matrix instructions of subgroups: the shapes that a driver names, tried when a product first asks for them.

use super::Bench;
use super::bench::to_words;
use crate::context::Context;
use crate::pipeline::Pipelines;
use crate::seal::matrices::Matrices as Rewrite;
use isowarp_core::error::Result;
use isowarp_core::launch::{MatrixFactors, MatrixShape};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

/// Subgroups of a workgroup of products.
const SUBGROUPS: u32 = 8;
/// Products that are added to one another.
const STEPS: u32 = 2;

/// The most bytes of workgroup memory that a product of such matrices takes: stages of four planes, or their sums.
fn workgroup_bytes(m: u32, n: u32) -> u32 {
    (4 * (8 * m + 4 * n) * 48).max(SUBGROUPS * 4 * m * n * 4)
}

/// Shapes of matrix instructions that computed what they should, each tried when it is first asked for.
#[derive(Default, Debug)]
pub(crate) struct Matrices([OnceLock<Option<MatrixShape>>; 3]);

impl Matrices {
    pub(crate) fn shape(&self, context: &Context, factors: MatrixFactors) -> Option<MatrixShape> {
        *self.0[factors as usize].get_or_init(|| measure(context, factors))
    }
}

/// Tries what the driver names. Kernels have to be sealed, and subgroups to be of one size.
fn measure(context: &Context, factors: MatrixFactors) -> Option<MatrixShape> {
    let (info, limits) = (&context.info, &context.limits);
    let lanes = info.subgroup_min_size;
    let fits = context.seal.is_some()
        && context.features.contains(wgpu::Features::SUBGROUP | wgpu::Features::SHADER_F16)
        && lanes == info.subgroup_max_size
        && SUBGROUPS * lanes <= limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    let [m, n, k] = context.facts.matrices[factors as usize].filter(|_| fits)?;
    // Fragments lie in whole words, in tiles of 256 rows, in stages of 32 bytes.
    let bytes = if factors == MatrixFactors::Half { 2 * k } else { k };
    let is_even = [4, 8, 16, 32].contains(&bytes) && [m, n].iter().all(|&side| [4, 8, 16].contains(&side)) && (m * n).is_multiple_of(lanes);
    if !is_even || workgroup_bytes(m, n) > limits.max_compute_workgroup_storage_size {
        return None;
    }
    let shape = MatrixShape { m, n, k, lanes };
    let why = match computes(context, factors, shape) {
        Ok(true) => return Some(shape),
        Ok(false) => "they compute something else".to_owned(),
        Err(error) => error.to_string(),
    };
    log::warn!("{}: matrix instructions of {factors:?} of {shape:?} are left alone: {why}", info.name);
    None
}

/// The sums of two products of random matrices: the operands come from a buffer, each matrix after the other, rows of A and columns of B in ascending k.
fn text(factors: MatrixFactors, shape: MatrixShape) -> String {
    let MatrixShape { m, n, k, lanes } = shape;
    let per_word = if factors == MatrixFactors::Half { 2 } else { 4 };
    let (of_row, of_a, of_b) = (k / per_word, m * k / per_word, n * k / per_word);
    let mut text = String::from("enable wgpu_cooperative_matrix;\n");
    text.push_str(&Rewrite::line(factors, shape));
    let _ = write!(
        text,
        "@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> results: array<f32>;
@compute @workgroup_size({lanes})
fn main() {{
    var sum = coop_mat16x16<f32, C>();
    for (var step = 0u; step < {STEPS}u; step++) {{
        let at = step * {}u;
        let a = coopLoadT<coop_mat16x16<f32, A>>(&values[at], {of_row}u);
        let b = coopLoad<coop_mat16x16<f32, B>>(&values[at + {of_a}u], {of_row}u);
        sum = coopMultiplyAdd(a, b, sum);
    }}
    coopStoreT(sum, &results[0], {n}u);
}}
",
        of_a + of_b
    );
    text
}

fn computes(context: &Context, factors: MatrixFactors, shape: MatrixShape) -> Result<bool> {
    let MatrixShape { m, n, k, .. } = shape;
    let mut state = 0x2545_f491u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state >> 8
    };
    // Factors, and their bytes: of all bits, or whole numbers whose sums are exact.
    let mut factor = || {
        let bits = next();
        match factors {
            MatrixFactors::Signed => (i64::from(bits as i8), vec![bits as u8]),
            MatrixFactors::Unsigned => (i64::from(bits as u8), vec![bits as u8]),
            MatrixFactors::Half => {
                let value = i64::from(bits % 129) - 64;
                (value, half::f16::from_f64(value as f64).to_bits().to_le_bytes().to_vec())
            }
        }
    };
    let (mut bytes, mut sums) = (Vec::new(), vec![0i64; (m * n) as usize]);
    for _ in 0..STEPS {
        let mut matrix = |lines: u32| -> Vec<i64> {
            let (values, all): (Vec<i64>, Vec<Vec<u8>>) = (0..lines * k).map(|_| factor()).unzip();
            bytes.extend(all.concat());
            values
        };
        let (a, b) = (matrix(m), matrix(n));
        for (at, sum) in sums.iter_mut().enumerate() {
            let (row, column) = (at / n as usize * k as usize, at % n as usize * k as usize);
            *sum += a[row..][..k as usize].iter().zip(&b[column..]).map(|(x, y)| x * y).sum::<i64>();
        }
    }
    let expected = sums.iter().map(|&sum| if factors == MatrixFactors::Half { (sum as f32).to_bits() } else { sum as u32 });
    let mut bench = Bench::new(&Arc::<Pipelines>::default());
    bench.enqueue_groups(context, "matrices", &text(factors, shape), &bytes, sums.len(), 1)?;
    let found = pollster::block_on(bench.finish(context))?;
    Ok(found.first().is_some_and(|found| to_words(found).into_iter().eq(expected)))
}
