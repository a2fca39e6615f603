//! Questions about elements: where a condition holds, whether and how often, and whether they are in order.

use super::{DynBuffer, DynInputs, inlined, single, with_dtype};
use crate::backend::Run;
use crate::buffer::DeviceScalar;
use crate::error::Result;
use crate::ir::Func;
use crate::patterns::{Find as _, MapTask, Ordered as _, Reduce as _, ReduceTask, Sort as _, SortBy, SortTask};

macro_rules! question {
    ($(#[$doc:meta])* $name:ident $(. $run:ident)?) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// As [`Find::find_if`](crate::patterns::Find::find_if); [`crate::ir::OpError::Signature`] if the inputs do not fit the operator.
        pub fn $name<B: Run<ReduceTask> + Run<MapTask>>(device: &B, condition: &Func, inputs: &[&DynBuffer<B>]) -> Result<DeviceScalar<B, u32>> {
            single(condition)?;
            let inputs = DynInputs { params: &condition.params, buffers: inputs };
            device.$name(inputs, |args| inlined::<bool>(condition, &args))$(.$run())?
        }
    };
}

question!(
    /// The lowest index at which `condition` of the inputs is not zero, or the number of elements.
    find_if.run
);
question!(
    /// 1 where `condition` is not zero for some element, else 0.
    any
);
question!(
    /// 1 where `condition` is not zero for every element (of none, too), else 0.
    all
);
question!(
    /// The number of elements for which `condition` is not zero.
    count
);

/// 1 where no key comes before its left neighbour, else 0.
///
/// # Errors
/// As [`SortedCall::run`](crate::patterns::SortedCall::run).
pub fn is_sorted<B: Run<SortTask> + Run<ReduceTask> + Run<MapTask>>(
    device: &B,
    keys: &DynBuffer<B>,
    by: impl Into<SortBy>,
) -> Result<DeviceScalar<B, u32>> {
    with_dtype!(keys.dtype, K => device.is_sorted(&keys.typed::<K>()?).order(by).run())
}
