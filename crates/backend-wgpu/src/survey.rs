//! The start-up probe's question about `fma`, on as many inputs as wanted.

use crate::batch::fold;
use crate::binds::Binding;
use crate::device::Wgpu;
use crate::pipeline::KernelSource;
use crate::probe::shapes::{self, SHAPES};
use isowarp_core::backend::Backend as _;
use isowarp_core::error::Result;

/// Results of one shape of code around `fma`.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The expression.
    pub shape: &'static str,
    /// Wrong results among inputs of moderate size.
    pub wrong: usize,
    /// Wrong results among inputs of every size: subnormal and overflowing operands and results, special values.
    pub wrong_at_edges: usize,
    /// The first wrong result.
    pub witness: Option<String>,
}

impl Wgpu {
    /// Computes `fma` on about `triples` hard inputs, half of them of moderate size, in every shape of code that the start-up probe
    /// tries, and compares with exact results.
    ///
    /// # Errors
    /// Any error that the device meets.
    pub fn survey_fma(&self, triples: usize) -> Result<Vec<Survey>> {
        let triples = shapes::hard_triples(triples.next_multiple_of(128));
        let kernel = self.kernel(&KernelSource { name: "survey", wgsl: &shapes::wgsl(self.fma_prelude()), entry: "main" })?;
        let sizes = [triples.len() as u64 * 16, (triples.len() * SHAPES.len()) as u64 * 4];
        let (x, y) = (self.allocate_bytes(sizes[0])?, self.allocate_bytes(sizes[1])?);
        self.write_bytes(&x, 0, bytemuck::cast_slice(&triples))?;
        let bindings = [(&x, sizes[0]), (&y, sizes[1])].map(|(buffer, size_bytes)| Binding { buffer, offset_bytes: 0, size_bytes });
        self.dispatch(&kernel, &bindings, &[], fold(triples.len() as u64 / 64, 65_535)?)?;
        let results: Vec<u32> = bytemuck::pod_collect_to_vec(&self.read_bytes_blocking(&y, 0, sizes[1])?);
        let half = triples.len() / 2;
        Ok(SHAPES
            .iter()
            .enumerate()
            .map(|(s, shape)| {
                let (wrong, first) = shapes::wrong(s, &triples[..half], &results);
                let (wrong_at_edges, second) = shapes::wrong(s, &triples[half..], &results[half * SHAPES.len()..]);
                Survey { shape: shape.name, wrong, wrong_at_edges, witness: first.or(second) }
            })
            .collect())
    }
}
