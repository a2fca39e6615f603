//! The square root of a normal number from a device's approximate inverse root, tried for every significand of two binades (the exponent's two
//! parities; a step of two scales everything exactly) and every seed within the bound that devices keep: the nearest float comes out each time.
//!
//! `cargo run --release -p isowarp-core --example roots [EVERY]`: every significand, or every EVERYth.

/// The relative error that a seed may have. PTX promises 2^-22.9 for `rsqrt.approx`, Vulkan 2 units in the last place.
const BOUND: f64 = 1.0 / 2_097_152.0;

/// A step of Goldschmidt's for the root and half the inverse root, and one with the root's remainder.
fn root(x: f32, seed: f32) -> f32 {
    let (near, half) = (x * seed, 0.5 * seed);
    let off = (-near).mul_add(half, 0.5);
    let (nearer, slope) = (near.mul_add(off, near), half.mul_add(off, half));
    (-nearer).mul_add(nearer, x).mul_add(slope, nearer)
}

fn main() {
    let every = std::env::args().nth(1).map_or(1, |a| a.parse().expect("EVERY is a number"));
    let (mut tried, mut wrong) = (0_u64, 0_u64);
    for bits in (1.0_f32.to_bits()..4.0_f32.to_bits()).step_by(every) {
        let x = f32::from_bits(bits);
        let inverse = 1.0 / f64::from(x).sqrt();
        let nearest = (inverse as f32).to_bits();
        for seed in (nearest - 16..=nearest + 16).map(f32::from_bits) {
            if (f64::from(seed) / inverse - 1.0).abs() > BOUND {
                continue;
            }
            tried += 1;
            if root(x, seed).to_bits() != x.sqrt().to_bits() {
                wrong += 1;
                println!("sqrt({x:e}) from {seed:e}: {:e}", root(x, seed));
            }
        }
    }
    println!("{wrong} of {tried} roots are not the nearest float");
    assert_eq!(wrong, 0);
}
