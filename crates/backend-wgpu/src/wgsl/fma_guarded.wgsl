// iw_fma: a*b + c rounded once, where the adapter's fused `fma` takes subnormal operands as zero and gives zero for subnormal results:
// those rare cases, told by the bits, are computed in integers.
fn iw_fma(a: f32, b: f32, c: f32) -> f32 {
    let r = fma(a, b, c);
    // Twice the size, less two: small for subnormal numbers only (and the least two normal ones), since zero wraps around. Results count
    // up to the smallest normal number, since rounding may have come after flushing, or the other way round.
    let x = (bitcast<u32>(a) << 1u) - 2u;
    let y = (bitcast<u32>(b) << 1u) - 2u;
    let z = (bitcast<u32>(c) << 1u) - 2u;
    let w = bitcast<u32>(r) << 1u;
    if min(min(x, y), min(z, w)) < 0x1000001u {
        // A zero factor, which wrapped around, next to nothing subnormal: the sum is exact.
        if (max(x, y) == 0xfffffffeu) & (min(min(x, y), z) >= 0x1000001u) {
            return r;
        }
        return bitcast<f32>(iw_fma_bits(bitcast<u32>(a), bitcast<u32>(b), bitcast<u32>(c)));
    }
    return r;
}
