//! What is measured, how, and how the results are shown: shared by the criterion groups and the program `isowarp-bench`.
//!
//! Every figure comes with its conditions: inputs are fresh random numbers made on the device, several times the size of its L2 cache in sum and
//! used in turn; outputs are checked after the clock has stopped, small ones against the CPU definition and large ones across backends; rates
//! count every element read and written once; the copy rate is measured in the same run.

pub mod criterion;
pub mod first;
pub mod measure;
pub mod render;
pub mod results;
mod segments;
pub mod works;

pub use measure::{Settings, measure};
pub use results::{Measured, Results};
pub use works::{Ready, Work, works};
