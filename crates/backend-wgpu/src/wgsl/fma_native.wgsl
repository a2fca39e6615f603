// iw_fma: a*b + c rounded once. The probe found this adapter's `fma` fused.
fn iw_fma(a: f32, b: f32, c: f32) -> f32 {
    return fma(a, b, c);
}
