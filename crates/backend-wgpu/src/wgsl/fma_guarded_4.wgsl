// iw_fma_4: the guarded `iw_fma` of four, with one test for all and one emulation.
fn iw_fma_4(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    var r = iw_fma_native_4(a, b, c);
    let x = (bitcast<vec4<u32>>(a) << vec4<u32>(1u)) - vec4<u32>(2u);
    let y = (bitcast<vec4<u32>>(b) << vec4<u32>(1u)) - vec4<u32>(2u);
    let z = (bitcast<vec4<u32>>(c) << vec4<u32>(1u)) - vec4<u32>(2u);
    let w = bitcast<vec4<u32>>(r) << vec4<u32>(1u);
    let operands = min(min(x, y), z);
    let small = min(operands, w) < vec4<u32>(0x1000001u);
    if any(small) {
        let exact = (max(x, y) == vec4<u32>(0xfffffffeu)) & (operands >= vec4<u32>(0x1000001u));
        for (var rest = iw_set_of_4(small & !exact); rest != 0u; rest &= rest - 1u) {
            let k = countTrailingZeros(rest);
            let bits = iw_fma_bits(
                bitcast<u32>(iw_pick_of_4(a, k)),
                bitcast<u32>(iw_pick_of_4(b, k)),
                bitcast<u32>(iw_pick_of_4(c, k)),
            );
            r = iw_put_of_4(r, k, bitcast<f32>(bits));
        }
    }
    return r;
}
