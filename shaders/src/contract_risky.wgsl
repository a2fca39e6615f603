// Zero, or at least 2^-40: products of such numbers are multiples of 2^-126, and so are their sums, of which none is subnormal then. Others weigh less than this.
const RISKY = (87u << 24u) - 1u;

fn weight_of(v: vec4<f32>) -> vec4<u32> {
    return (bitcast<vec4<u32>>(v) << vec4<u32>(1u)) - vec4<u32>(1u);
}
fn is_risky(v: vec4<f32>) -> bool {
    return any(weight_of(v) < vec4<u32>(RISKY));
}
