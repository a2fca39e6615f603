//! Products of matrices. [`Products`](isowarp_core::patterns::Products) is what to use.

mod plan;

/// An algorithm, taken by the modifier [`variant`](isowarp_core::patterns::ProductCall::variant) of a product whose sums are `f32`: of any shapes, layouts and
/// batches, with fused inputs and epilogues.
///
/// # Order
/// All of them give the pattern's bits: blocks of 512 terms, each a chain of fused multiply-adds in ascending k from +0, added left to right. They differ in
/// how often an element is read from memory, and from shared memory.
///
/// One launch, no scratch.
///
/// Source: Kirk, Hwu and El Hajj, *Programming Massively Parallel Processors*, chapters 3, 5 and 6; Ansorge, *Programming in Parallel with CUDA*, chapter 2.
///
/// ```
/// # use isowarp::prelude::*;
/// # use isowarp_textbook::ProductVariant;
/// # let dev = isowarp::Cpu::new();
/// let a = dev.upload(&[1.0f32, 2.0, 3.0, 4.0])?;
/// let m = matrix(&a, 2, 2);
/// for variant in ProductVariant::ALL {
///     assert_eq!(dev.gemm(m, m).variant(variant).run()?.read_blocking()?, [7.0, 10.0, 15.0, 22.0], "{}", variant.name());
/// }
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum ProductVariant {
    /// A lane to an element, and neighbouring lanes in neighbouring rows: they read and write a row apart.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 3.4, with rows and columns the other way round, as in exercise 3.1.
    Naive,
    /// A lane to an element, and neighbouring lanes in neighbouring columns.
    ///
    /// Source: Kirk, Hwu and El Hajj, sections 3.4 and 6.1; Ansorge, section 2.5.
    Coalesced,
    /// Tiles of 16 x 16 elements of both matrices in shared memory: an element is read from memory once for 16.
    ///
    /// Source: Kirk, Hwu and El Hajj, sections 5.4 and 5.5; Ansorge, section 2.6.
    Tiled,
    /// Tiles of 64 rows and 32 columns, of which a lane computes 8 rows of a column in registers: an element of the right matrix is read from shared memory
    /// once for 8.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 6.3 (thread coarsening).
    RegisterTiled,
    /// Tiles of 64 x 64, of which a lane computes 4 x 4 elements; memory and shared memory are read in vectors of four.
    ///
    /// Source: Kirk, Hwu and El Hajj, section 6.3; Harris and Luitjens, *Increase performance with vectorized memory access* (2013).
    Vectorised,
    /// The pattern itself, [`Products`](isowarp_core::patterns::Products).
    Contract,
}

impl ProductVariant {
    /// Every variant, the pattern last.
    pub const ALL: [Self; 6] = [Self::Naive, Self::Coalesced, Self::Tiled, Self::RegisterTiled, Self::Vectorised, Self::Contract];

    /// Its name: `naive`, `coalesced`, ...
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Coalesced => "coalesced",
            Self::Tiled => "tiled",
            Self::RegisterTiled => "register-tiled",
            Self::Vectorised => "vectorised",
            Self::Contract => "contract",
        }
    }

    /// The variant of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }

    /// Rows and columns of a workgroup.
    #[must_use]
    pub const fn tile(self) -> [u64; 2] {
        match self {
            Self::Naive | Self::Coalesced | Self::Tiled => [16, 16],
            Self::RegisterTiled => [64, 32],
            Self::Vectorised | Self::Contract => [64, 64],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for v in ProductVariant::ALL {
            assert_eq!(ProductVariant::named(v.name()), Some(v));
        }
        assert_eq!(ProductVariant::named("strassen"), None);
    }
}
