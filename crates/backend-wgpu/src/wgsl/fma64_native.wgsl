// iw_fma64: a*b + c rounded once. The probe found this adapter's f64 `fma` fused.
fn iw_fma64(a: f64, b: f64, c: f64) -> f64 {
    return fma(a, b, c);
}
