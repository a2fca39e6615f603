//! Texts of the kernels of products and of convolutions of planes, in the forms that adapters take: steps in loops, written out, and with a guarded `fma`.

use super::texts::{GUARDED, NATIVE, SEEDED, SHARED, planned, signature};
use crate::patterns::Dialect;
use crate::patterns::launcher::ALONG_BYTES;
use crate::seal;
use isowarp_core::caps::Numerics;
use isowarp_core::element::{DType, Ty};
use isowarp_core::ir::{self, Expr, Func, Param, Traced as _};
use isowarp_core::launch::kernels::{
    CONTRACT, CONTRACT_COOPERATIVE, CONTRACT_FIXED, CONTRACT_FOLD, CONTRACT_GREATEST, CONTRACT_PACK, CONTRACT_SMALL, CONTRACT_THIN,
    CONVOLVE, CONVOLVE_LAYER, Def,
};
use isowarp_core::launch::{Choice, Operators};

/// The parameter `k` of so many.
fn taken(ty: Ty, count: usize, k: u16) -> Func {
    let params = vec![Param::Value(ty); count];
    match ty {
        Ty::F64 => ir::pack(params, || Expr::<f64>::params(k)),
        Ty::I32 => ir::pack(params, || Expr::<i32>::params(k)),
        Ty::U32 => ir::pack(params, || Expr::<u32>::params(k)),
        _ => ir::pack(params, || Expr::<f32>::params(k)),
    }
    .expect("a parameter")
}

fn check(dialect: Dialect, def: &'static Def, dtype: DType, choices: &[Choice]) {
    check_within(SHARED, dialect, def, dtype, choices);
}

/// The same of a kernel that has so many bytes of workgroup memory.
fn check_within(bytes: u32, dialect: Dialect, def: &'static Def, dtype: DType, choices: &[Choice]) {
    let ty = dtype.ty();
    let (a, b, finish) = (taken(ty, 2, 0), taken(ty, 2, 1), taken(ty, 3, 2));
    let operators = Operators::Product { a: &a, b: &b, finish: &finish, extents: [1; 3], packing: None };
    for form in [0, 1] {
        let signature = signature(&[(dtype, form); 2], &[(ty.dtype(), form)]);
        let shared = planned(def, (operators, Numerics::Strict), choices);
        let program = shared.program(&signature);
        let text = program.text(dialect).expect("text");
        let capabilities = seal::capabilities(wgpu::Features::all());
        let parsed = seal::parse(program.entry, &text, capabilities).unwrap_or_else(|e| panic!("{e}\n{choices:?}\n{text}"));
        let interface = parsed.interface(program.entry).expect("interface");
        assert!(interface.bindings.len() <= 8 && interface.params_bytes <= 256 && interface.workgroup_bytes <= bytes);
    }
}

#[test]
fn products_in_loops_written_out_and_guarded() {
    for (ty, dtypes) in [(0, &[DType::F32, DType::F16][..]), (1, &[DType::F64]), (2, &[DType::I8, DType::I32])] {
        let shape = |rolled: u32| if rolled == 1 || ty == 1 { [4, 4] } else { [8, 4] };
        for &dtype in dtypes {
            for (dialect, rolled, guarded) in [(Dialect::PLAIN, 1, 0), (NATIVE, 0, 0), (SEEDED, 0, 0), (GUARDED, 0, u32::from(ty == 0))] {
                let [rm, rn] = shape(rolled);
                let tk = if rm == 8 || ty == 1 { 8 } else { 16 };
                for split in [0, 1] {
                    let of_tile = |side, rm, rn, tk| {
                        [
                            ("type", ty),
                            ("split", split),
                            ("side", side),
                            ("rm", rm),
                            ("rn", rn),
                            ("tk", tk),
                            ("rolled", rolled),
                            ("guarded", guarded),
                        ]
                    };
                    let choices = of_tile(16, rm, rn, tk);
                    check(dialect, CONTRACT.def(), dtype, &choices);
                    check(dialect, CONTRACT_SMALL.def(), dtype, &of_tile(8, 4, 4, 8));
                    let streams = u32::from(ty == 0 && rolled == 0);
                    for (streams, along) in [(0, 0), (streams, 0), (streams, streams)] {
                        let of_thin = [("streams", streams), ("along", along)];
                        let bytes = if along == 1 { ALONG_BYTES } else { SHARED };
                        check_within(bytes, dialect, CONTRACT_THIN.def(), dtype, &[&choices[..], &of_thin].concat());
                    }
                    check(dialect, CONTRACT_FOLD.def(), dtype, &choices);
                    if split == 0 {
                        for (several, taps, sliced, line) in
                            [(0, 1, 0, 0), (0, 3, 1, 0), (0, 4, 0, 0), (0, 18, 0, 0), (1, 33, 1, 0), (0, 5, 1, 1), (0, 384, 0, 1)]
                        {
                            let of_planes = [("several", several), ("taps", taps), ("sliced", sliced), ("line", line)];
                            check(dialect, CONVOLVE.def(), dtype, &[&choices[..], &of_planes].concat());
                        }
                        if ty == 0 {
                            check(dialect, CONVOLVE_LAYER.def(), dtype, &choices[2..]);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn fixed_point_products_of_either_operand() {
    for dialect in [Dialect::PLAIN, NATIVE, GUARDED] {
        for dtype in [DType::F32, DType::F16] {
            for right in [0, 1] {
                check(dialect, CONTRACT_GREATEST.def(), dtype, &[("type", 0), ("right", right)]);
                check(dialect, CONTRACT_PACK.def(), dtype, &[("type", 0), ("right", right), ("kind", 1), ("halves", 0)]);
            }
            check(dialect, CONTRACT_FIXED.def(), dtype, &[("type", 0)]);
        }
    }
}

#[test]
fn products_of_packed_operands_by_matrix_instructions_of_subgroups() {
    // Shapes of NVIDIA, of llvmpipe, and of an adapter with wide subgroups.
    for [m, n, k, lanes] in [[16, 16, 32, 32], [8, 8, 8, 8], [16, 16, 16, 64]] {
        for (factors, dtype) in [(0, DType::F32), (1, DType::I8), (2, DType::U8)] {
            let shape = [("type", 0), ("m", m), ("n", n), ("k", if factors == 0 { k / 2 } else { k }), ("lanes", lanes)];
            let halves = u32::from(factors == 0);
            for right in [0, 1] {
                check(NATIVE, CONTRACT_PACK.def(), dtype, &[("type", 0), ("right", right), ("kind", 0), ("halves", halves)]);
            }
            for (digits, many) in [(0, 0), (1, 0), (1, 1)] {
                // Digits are signed bytes, of floats.
                let dtype = if digits == 0 { dtype } else { DType::F32 };
                if digits == 1 && factors != 1 {
                    continue;
                }
                let choices = [&shape[..], &[("factors", factors), ("digits", digits), ("many", many)]].concat();
                check_within(36 << 10, NATIVE, CONTRACT_COOPERATIVE.def(), dtype, &choices);
            }
        }
    }
}
