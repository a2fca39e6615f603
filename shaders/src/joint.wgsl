// Forms of four: the functions that operators call for four elements at once, `{name}_4` of vectors. Each element's bits are those of the
// single form, whatever its neighbours are. What few elements need stands once, behind one test for all four, in a loop over those that
// need it: it is picked and put by selection, since an index that is known at run time only would put the vectors into memory.

//@ iw_bits_4: iw_zero_of_floats
fn iw_bits_4(bits: vec4<u32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bits ^ vec4<u32>(iw_zero_of_floats()));
}

//@ iw_opaque_4: iw_zero
fn iw_opaque_4(bits: vec4<u32>) -> vec4<u32> {
    return bits ^ vec4<u32>(iw_zero());
}

//@ iw_minus_4: iw_zero
fn iw_minus_4(x: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(iw_zero()) - x;
}

//@ iw_set_of_4:
// The elements for which c holds, a bit each.
fn iw_set_of_4(c: vec4<bool>) -> u32 {
    let bits = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), c);
    return (bits.x | bits.y) | (bits.z | bits.w);
}

//@ iw_pick_of_4:
fn iw_pick_of_4(v: vec4<f32>, k: u32) -> f32 {
    return select(select(v.x, v.y, k == 1u), select(v.z, v.w, k == 3u), k >= 2u);
}

//@ iw_put_of_4:
fn iw_put_of_4(v: vec4<f32>, k: u32, x: f32) -> vec4<f32> {
    return select(v, vec4<f32>(x), vec4<u32>(k) == vec4<u32>(0u, 1u, 2u, 3u));
}

//@ iw_is_nan_4:
fn iw_is_nan_4(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

//@ iw_canonical_4:
fn iw_canonical_4(x: vec4<f32>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0x7fc00000u), (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u)));
}

//@ iw_order_4:
fn iw_order_4(x: vec4<f32>) -> vec4<i32> {
    let bits = bitcast<vec4<i32>>(x);
    return bits ^ ((bits >> vec4<u32>(31u)) & vec4<i32>(0x7fffffffi));
}

//@ iw_min_4: iw_order_4 iw_is_nan_4
fn iw_min_4(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let smaller = select(bitcast<vec4<u32>>(b), bitcast<vec4<u32>>(a), iw_order_4(a) <= iw_order_4(b));
    return bitcast<vec4<f32>>(select(smaller, vec4<u32>(0x7fc00000u), iw_is_nan_4(a) | iw_is_nan_4(b)));
}

//@ iw_max_4: iw_order_4 iw_is_nan_4
fn iw_max_4(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let larger = select(bitcast<vec4<u32>>(b), bitcast<vec4<u32>>(a), iw_order_4(a) >= iw_order_4(b));
    return bitcast<vec4<f32>>(select(larger, vec4<u32>(0x7fc00000u), iw_is_nan_4(a) | iw_is_nan_4(b)));
}

//@ iw_f32_to_i32_4:
fn iw_f32_to_i32_4(x: vec4<f32>) -> vec4<i32> {
    let bits = bitcast<vec4<u32>>(x);
    let size = bits & vec4<u32>(0x7fffffffu);
    let fits = size < vec4<u32>(0x4f000000u);
    let limit = select(vec4<i32>(2147483647i), vec4<i32>(-2147483647i - 1i), (bits >> vec4<u32>(31u)) != vec4<u32>(0u));
    let outside = select(limit, vec4<i32>(0i), size > vec4<u32>(0x7f800000u));
    return select(outside, vec4<i32>(select(vec4<f32>(0.0f), x, fits)), fits);
}

//@ iw_f32_to_u32_4:
fn iw_f32_to_u32_4(x: vec4<f32>) -> vec4<u32> {
    let bits = bitcast<vec4<u32>>(x);
    let fits = bits < vec4<u32>(0x4f800000u);
    let outside = select(vec4<u32>(0u), vec4<u32>(0xffffffffu), bits <= vec4<u32>(0x7f800000u));
    return select(outside, vec4<u32>(select(vec4<f32>(0.0f), x, fits)), fits);
}

//@ iw_fma_4@native:
fn iw_fma_4(x: vec4<f32>, y: vec4<f32>, z: vec4<f32>) -> vec4<f32> {
    return fma(x, y, z);
}

//@ iw_fma_4@single: iw_fma
// Emulated element by element.
fn iw_fma_4(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(iw_fma(a.x, b.x, c.x), iw_fma(a.y, b.y, c.y), iw_fma(a.z, b.z, c.z), iw_fma(a.w, b.w, c.w));
}

//@ iw_fma_native_4: iw_fma_4
fn iw_fma_native_4(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return iw_fma_4(a, b, c);
}

//@ iw_div_4@seeded: iw_div_anywhere iw_fma_4 iw_seeded_reciprocal_4 iw_set_of_4 iw_pick_of_4 iw_put_of_4
fn iw_div_4(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let r = iw_seeded_reciprocal_4(b);
    var q = a * r;
    q = iw_fma_4(iw_fma_4(-q, b, a), r, q);
    q = iw_fma_4(iw_fma_4(-q, b, a), r, q);
    let a_above = (bitcast<vec4<u32>>(a) << vec4<u32>(1u)) - vec4<u32>(0x41000000u);
    let b_above = (bitcast<vec4<u32>>(b) << vec4<u32>(1u)) - vec4<u32>(0x41000000u);
    let last = (bitcast<vec4<u32>>(b) | vec4<u32>(0xff800000u)) == vec4<u32>(0xffffffffu);
    let safe = (max(a_above, b_above) < vec4<u32>(0x7c000000u)) & !last;
    if !all(safe) {
        for (var rest = iw_set_of_4(!safe); rest != 0u; rest &= rest - 1u) {
            let k = countTrailingZeros(rest);
            q = iw_put_of_4(q, k, iw_div_anywhere(iw_pick_of_4(a, k), iw_pick_of_4(b, k)));
        }
    }
    return q;
}

//@ iw_seeded_reciprocal_4@close: iw_fma_4
fn iw_seeded_reciprocal_4(b: vec4<f32>) -> vec4<f32> {
    let one = vec4<f32>(1.0f);
    let r = one / b;
    return iw_fma_4(iw_fma_4(-b, r, one), r, r);
}

//@ iw_seeded_reciprocal_4@coarse: iw_fma_4
fn iw_seeded_reciprocal_4(b: vec4<f32>) -> vec4<f32> {
    let one = vec4<f32>(1.0f);
    var r = one / b;
    r = iw_fma_4(iw_fma_4(-b, r, one), r, r);
    return iw_fma_4(iw_fma_4(-b, r, one), r, r);
}

//@ iw_sqrt_4@seeded: iw_seeded_root_4 iw_set_of_4 iw_sqrt_anywhere iw_pick_of_4 iw_put_of_4
fn iw_sqrt_4(x: vec4<f32>) -> vec4<f32> {
    var s = iw_seeded_root_4(x);
    let safe = bitcast<vec4<u32>>(x) - vec4<u32>(0x18800000u) < vec4<u32>(0x67000000u);
    if !all(safe) {
        for (var rest = iw_set_of_4(!safe); rest != 0u; rest &= rest - 1u) {
            let k = countTrailingZeros(rest);
            s = iw_put_of_4(s, k, iw_sqrt_anywhere(iw_pick_of_4(x, k)));
        }
    }
    return s;
}

//@ iw_seeded_root_4: iw_fma_4
fn iw_seeded_root_4(x: vec4<f32>) -> vec4<f32> {
    let r = inverseSqrt(x);
    let near = x * r;
    let half = r * vec4<f32>(0.5f);
    let off = iw_fma_4(-near, half, vec4<f32>(0.5f));
    let nearer = iw_fma_4(near, off, near);
    return iw_fma_4(iw_fma_4(-nearer, nearer, x), iw_fma_4(half, off, half), nearer);
}
