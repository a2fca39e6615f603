//! Launches of the variants: one over the whole product.

use super::ProductVariant;
use crate::kernels::{PRODUCT_VARIANT, ProductVariantParams};
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::call::Variant;
use isowarp_core::element::Ty;
use isowarp_core::error::{Error, Result};
use isowarp_core::launch::{Code, KernelSpec, Operators, Work};
use isowarp_core::patterns::product::Steps;
use isowarp_core::patterns::{Patterns, ProductOrder, ProductTask};

/// A number of a product as the kernels have it.
fn word(requested: u64) -> Result<u32> {
    let too_large = |_| Error::TooLarge { what: "rows, columns, terms and steps of a product", requested, limit: u32::MAX.into() };
    u32::try_from(requested).map_err(too_large)
}

impl<B: Patterns> Variant<B, ProductTask> for ProductVariant {
    fn run(&self, device: &B, task: &ProductTask, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let variant = *self;
        if task.ty() != Ty::F32 {
            let reason = format!("a textbook's product has sums of f32, not of {}", task.ty());
            return Err(Error::InvalidArgument { what: "elements", reason });
        }
        if !matches!(task.order, ProductOrder::Blocks | ProductOrder::Chain) {
            let reason = format!("a textbook's product adds chains of fused steps, not {:?}", task.order);
            return Err(Error::InvalidArgument { what: "order of a product", reason });
        }
        // All have one order, so one definition serves them.
        if variant == Self::Contract || device.code() == Code::Rust {
            return device.run(task, leaves, outs);
        }
        let extents = task.extents();
        for extent in extents {
            device.tuning().check_numbered("elements of a matrix", extent)?;
        }
        let ProductTask { m, n, k, batch, a_steps: a, b_steps: b, c_steps: c, .. } = *task;
        let by_four = |steps: &Steps, near: u64, far: u64, lines: u64| {
            near == 1 && (far.is_multiple_of(4) || lines == 1) && (steps.batch.is_multiple_of(4) || batch == 1)
        };
        let form = [by_four(&a, a.column, a.row, m), by_four(&b, b.column, b.row, k), by_four(&c, c.column, c.row, m)];
        let params = ProductVariantParams {
            rows: word(m)?,
            columns: word(n)?,
            terms: word(k)?,
            block: word(task.block())?,
            form: form.iter().enumerate().map(|(bit, &set)| u32::from(set) << bit).sum(),
            a_row: word(a.row)?,
            a_column: word(a.column)?,
            b_row: word(b.row)?,
            b_column: word(b.column)?,
            c_row: word(c.row)?,
            a_batch: a.batch,
            b_batch: b.batch,
            c_batch: c.batch,
        };
        let [tile_m, tile_n] = variant.tile();
        let groups = m.div_ceil(tile_m) * n.div_ceil(tile_n) * batch;
        let operators = Operators::Product { a: &task.a, b: &task.b, finish: &task.finish, extents, packing: None };
        let choices = [("rung", variant as u32)];
        let spec = KernelSpec::new(&PRODUCT_VARIANT, &params, &choices, &[]).with(operators, task.numerics, leaves, outs);
        // Threads write the outputs in vectors of four alone where the columns are so many.
        let single = variant != Self::Vectorised || !form[2] || !n.is_multiple_of(4);
        let of_all = |_| groups;
        device.launch(&spec.writing_single(single), Work { results: Some(extents[2]), ..Work::whole(extents[2], &of_all) })
    }
}
