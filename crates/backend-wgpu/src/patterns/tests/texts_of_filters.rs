//! Texts of the kernels of image filters, in the forms that adapters take.

use super::texts::{GUARDED, NATIVE, NUMERICS, SEEDED, accept, repaired, signature};
use crate::patterns::{Dialect, filter};
use isowarp_core::caps::{FmaKind, Numerics};
use isowarp_core::element::DType;
use isowarp_core::patterns::{Border, FilterKind, FilterTask};

#[test]
fn filters_of_every_kind_border_and_channel_count() {
    let five = FilterKind::Weighted { size: 5, weights: vec![0.1; 25] };
    for kind in [FilterKind::gaussian3(), five, FilterKind::Sobel, FilterKind::Median3] {
        for border in Border::ALL {
            for channels in [1, 3, 4] {
                for (dtype, numerics) in [DType::U8, DType::F32].into_iter().flat_map(|dtype| NUMERICS.map(|n| (dtype, n))) {
                    let task = FilterTask { kind: kind.clone(), border, height: 9, width: 9, channels, dtype, numerics };
                    for (leaf, out) in [(0, 0), (1, 1)] {
                        let signature = signature(&[(dtype, leaf)], &[(dtype, out)]);
                        for dialect in [
                            NATIVE,
                            SEEDED,
                            GUARDED,
                            repaired(Dialect::PLAIN),
                            repaired(Dialect { fma: FmaKind::Guarded, ..Dialect::PLAIN }),
                        ] {
                            let holes = filter::holes(&task, &signature, dialect);
                            accept(&filter::program(&task, &signature, &holes));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn filters_of_bytes_guard_their_fma_for_tiny_weights_only() {
    let guarded = |kind: FilterKind, dtype| {
        let task = FilterTask { kind, border: Border::Clamp, height: 9, width: 9, channels: 1, dtype, numerics: Numerics::Strict };
        let signature = signature(&[(dtype, 0)], &[(dtype, 0)]);
        let holes = filter::holes(&task, &signature, GUARDED);
        filter::program(&task, &signature, &holes).text(GUARDED).expect("text").contains("iw_fma(")
    };
    let weights = |last: f32| {
        let mut weights = vec![0.1; 9];
        weights[7] = 0.0;
        weights[8] = last;
        FilterKind::Weighted { size: 3, weights }
    };
    for kind in [FilterKind::Sobel, FilterKind::gaussian3(), weights(-7.9e-31)] {
        assert!(!guarded(kind.clone(), DType::U8), "{kind:?}");
        assert!(guarded(kind.clone(), DType::F32), "{kind:?}");
    }
    assert!(guarded(weights(7.8e-31), DType::U8) && guarded(weights(1.0e-40), DType::U8));
}
