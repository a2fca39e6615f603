use isowarp::prelude::*;
fn main() -> isowarp::Result<()> {
    let dev = isowarp::Cpu::new();
    let n = 1 << 20;
    let put = |name: String, c: Vec<u32>| {
        std::fs::write(format!("/tmp/draws/{name}.bin"), c.iter().flat_map(|k| k.to_le_bytes()).collect::<Vec<u8>>()).unwrap()
    };
    for l in [0.0f32, 0.3, 4.0, 9.99, 10.0, 12.5, 100.0, 5000.0, 1e6, 1.6e7] {
        put(format!("poisson_{l}"), dev.map(Random::new(1).poisson(n, l), |k| k)?.read_blocking()?);
    }
    for (t, p) in
        [(10u32, 0.5f32), (40, 0.1), (100, 0.3), (1000, 0.9), (100_000, 0.02), (1 << 24, 0.25), (5, 1.0), (5, 0.0), (1 << 24, 1e-7)]
    {
        put(format!("binomial_{t}_{p}"), dev.map(Random::new(2).binomial(n, t, p), |k| k)?.read_blocking()?);
    }
    for (a, s) in [(0.1f32, 1.0f32), (0.5, 2.0), (1.0, 1.0), (2.5, 3.0), (50.0, 1.0), (1e6, 1.0)] {
        put(
            format!("gamma_{a}_{s}"),
            dev.map(Random::new(3).gamma(n, a, s), |x| x)?.read_blocking()?.into_iter().map(f32::to_bits).collect(),
        );
    }
    Ok(())
}
