//! Elements in memory: loads, stores and their registers.

use isowarp_core::element::{DType, Ty};
use isowarp_core::ir::{Ptx, PtxValue};

/// The register type of an element as it lies in memory.
pub(super) fn raw_type(dtype: DType) -> Ty {
    if dtype == DType::F16 { Ty::U32 } else { dtype.ty() }
}

/// Load of an element: of narrow integers with the bits above them in a register.
pub(super) fn loaded_type(dtype: DType) -> &'static str {
    match dtype {
        DType::I8 => "s8",
        DType::I16 => "s16",
        _ => memory_type(dtype),
    }
}

fn memory_type(dtype: DType) -> &'static str {
    match dtype.size_bytes() {
        1 => "u8",
        2 => "u16",
        4 => "b32",
        _ => "b64",
    }
}

pub(super) fn load1(p: &mut Ptx, dtype: DType, address: &str, offset: u64) -> PtxValue {
    p.emit(raw_type(dtype), |o| format!("ld.global.{} {o}, [{address}+{offset}]", loaded_type(dtype)))
}

pub(super) fn load4(p: &mut Ptx, dtype: DType, address: &str) -> [PtxValue; 4] {
    let v: [PtxValue; 4] = std::array::from_fn(|_| p.fresh(raw_type(dtype)));
    let m = loaded_type(dtype);
    if dtype.size_bytes() == 8 {
        p.line(format!("ld.global.v2.{m} {{{}, {}}}, [{address}]", v[0].reg, v[1].reg));
        p.line(format!("ld.global.v2.{m} {{{}, {}}}, [{address}+16]", v[2].reg, v[3].reg));
    } else {
        p.line(format!("ld.global.v4.{m} {{{}, {}, {}, {}}}, [{address}]", v[0].reg, v[1].reg, v[2].reg, v[3].reg));
    }
    v
}

/// The value of a key's bits, above which a narrow one's register is zero.
pub(super) fn of_bits(p: &mut Ptx, dtype: DType, bits: &PtxValue) -> PtxValue {
    match dtype {
        DType::I8 | DType::I16 => p.emit(Ty::I32, |o| format!("cvt.s32.{} {o}, {}", loaded_type(dtype), bits.reg)),
        _ => widen(p, dtype, bits),
    }
}

/// The value of an element that was loaded.
pub(super) fn widen(p: &mut Ptx, dtype: DType, raw: &PtxValue) -> PtxValue {
    match dtype {
        DType::F16 => {
            let v = p.fresh(Ty::F32);
            p.block(format!("{{ .reg .b16 %ih; cvt.u16.u32 %ih, {}; cvt.f32.f16 {}, %ih; }}", raw.reg, v.reg));
            v
        }
        _ => PtxValue { reg: raw.reg.clone(), ty: dtype.ty() },
    }
}

/// The value as it lies in memory, in the low bits of a register.
pub(super) fn narrow(p: &mut Ptx, dtype: DType, v: &PtxValue) -> PtxValue {
    if dtype != DType::F16 {
        return v.clone();
    }
    let nan = p.emit(Ty::Bool, |o| format!("setp.nan.f32 {o}, {0}, {0}", v.reg));
    let bits = p.fresh(Ty::U32);
    p.block(format!("{{ .reg .b16 %ih; cvt.rn.f16.f32 %ih, {}; cvt.u32.u16 {}, %ih; }}", v.reg, bits.reg));
    p.emit(Ty::U32, |o| format!("selp.b32 {o}, 0x7E00, {}, {}", bits.reg, nan.reg))
}

pub(super) fn store1(p: &mut Ptx, dtype: DType, address: &str, offset: u64, v: &PtxValue) {
    p.line(format!("st.global.{} [{address}+{offset}], {}", memory_type(dtype), v.reg));
}

pub(super) fn store4(p: &mut Ptx, dtype: DType, address: &str, v: [&PtxValue; 4]) {
    match dtype.size_bytes() {
        8 => {
            p.line(format!("st.global.v2.b64 [{address}], {{{}, {}}}", v[0].reg, v[1].reg));
            p.line(format!("st.global.v2.b64 [{address}+16], {{{}, {}}}", v[2].reg, v[3].reg));
        }
        4 => p.line(format!("st.global.v4.b32 [{address}], {{{}, {}, {}, {}}}", v[0].reg, v[1].reg, v[2].reg, v[3].reg)),
        2 => {
            let lo = pack(p, v[0], v[1], "0x5410");
            let hi = pack(p, v[2], v[3], "0x5410");
            p.line(format!("st.global.v2.b32 [{address}], {{{}, {}}}", lo.reg, hi.reg));
        }
        _ => {
            // Byte 0 of the first, byte 0 of the second; then the two pairs.
            let lo = pack(p, v[0], v[1], "0x7740");
            let hi = pack(p, v[2], v[3], "0x7740");
            let all = pack(p, &lo, &hi, "0x5410");
            p.line(format!("st.global.b32 [{address}], {}", all.reg));
        }
    }
}

fn pack(p: &mut Ptx, a: &PtxValue, b: &PtxValue, selector: &str) -> PtxValue {
    p.emit(Ty::U32, |o| format!("prmt.b32 {o}, {}, {}, {selector}", a.reg, b.reg))
}
