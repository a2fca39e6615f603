// iw_fma: a*b + c rounded once to nearest even, in 32-bit integers: exact for every input, subnormals included, on any adapter.
fn iw_fma(a: f32, b: f32, c: f32) -> f32 {
    return bitcast<f32>(iw_fma_bits(bitcast<u32>(a), bitcast<u32>(b), bitcast<u32>(c)));
}
