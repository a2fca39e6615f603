//! Bad input of random numbers, sums in an order, exact sums and codes of floats.

mod common;

use common::{refused, says};

#[test]
fn options_of_numbers_that_make_no_sense_are_refused() {
    says(&refused(&["mean", "--in", "w_i4.npy"]), "mean takes f16, f32 or f64, not i32");
    says(&refused(&["random", "--n", "3"]), "not provided: --dist <DISTRIBUTION>");
    says(&refused(&["random", "--n", "3", "--dist", "lognormal", "--dtype", "f64"]), "the distribution has no f64");
    says(&refused(&["random", "--n", "3", "--dist", "uniform", "--mean", "1"]), "--mean is not for this distribution");
    says(&refused(&["random", "--n", "3", "--dist", "integers"]), "needs --range");
    says(&refused(&["random", "--n", "3", "--dist", "integers", "--range", "7,7"]), "range: it is empty");
    says(&refused(&["random", "--n", "3", "--dist", "normal", "--deviation", "-1"]), "deviation: it is negative or not finite");
    says(
        &refused(&["random", "--n", "3", "--dist", "poisson", "--table", "--mean", "65537"]),
        "mean: 65537 is negative, not a number, or above 65536",
    );
    says(&refused(&["random", "--n", "3", "--dist", "binomial", "--table"]), "--table is not for this distribution");
    let mrg = |args: &[&str]| refused(&[&["random", "--n", "3", "--generator", "mrg32k3a"], args].concat());
    says(&mrg(&["--dist", "normal"]), "--generator mrg32k3a is not for this distribution");
    says(&mrg(&["--dist", "bits", "--seed", "4294967296"]), "--seed 4294967296 is no word of a state");
    says(&mrg(&["--dist", "bits", "--seed", "0"]), "seed: [0, 0, 0] are zero");
    says(&mrg(&["--dist", "bits", "--dtype", "u64"]), "the distribution has no u64");
    let xorwow = |args: &[&str]| refused(&[&["random", "--n", "3", "--generator", "xorwow"], args].concat());
    says(&xorwow(&["--dist", "gamma"]), "--generator xorwow is not for this distribution");
    says(&xorwow(&["--dist", "bits", "--dtype", "u64"]), "the distribution has no u64");
    says(&xorwow(&["--dist", "normal", "--dtype", "f64"]), "the distribution has no f64");
    says(&xorwow(&["--dist", "normal", "--deviation", "-1"]), "deviation: it is negative or not finite");
    let interleaved = |args: &[&str]| refused(&[&["random", "--n", "3", "--generator", "xorwow-interleaved"], args].concat());
    says(
        &interleaved(&["--dist", "bits", "--position", "4095"]),
        "position: numbers of 4096 subsequences in turn begin at a multiple of 4096",
    );
    says(&interleaved(&["--dist", "sphere"]), "--generator xorwow-interleaved is not for this distribution");
    says(&refused(&["random", "--n", "3", "--dist", "discrete", "--probabilities", "0,0"]), "weights: their sum is 0");
    says(&refused(&["random", "--n", "3", "--dist", "bits", "--position", "18446744073709551614"]), "position: a stream has 2^64 words");
    says(&refused(&["sum", "--in", "w_i4.npy"]), "sum takes f16, f32 or f64, not i32");
    says(&refused(&["sum", "--in", "x_f4.npy", "--axis", "3"]), "there is no axis 3");
    says(&refused(&["sum", "--exact", "--in", "w_i4.npy"]), "sum takes f16, f32 or f64, not i32");
    says(&refused(&["sum", "--exact", "--order", "kahan", "--in", "x_f4.npy"]), "cannot be used with");
    says(&refused(&["mean", "--axis", "0", "--in", "x_f4.npy"]), "--exact");
    says(&refused(&["ulp", "--in", "w_u1.npy", "--in", "w_i4.npy"]), "ulp takes f32 or f64, not u8");
    says(&refused(&["ulp", "--in", "normal_f4.npy", "--in", "normal_f8.npy"]), "values to compare: f32 is not f64");
    says(&refused(&["cast", "--in", "x_f4.npy"]), "not provided: --from <FORMAT>");
    says(&refused(&["cast", "--in", "x_f4.npy", "--to", "e9m3-ieee"]), "an exponent has 1 to 8 bits, not 9");
    says(&refused(&["cast", "--in", "x_f4.npy", "--to", "e4m12-nan"]), "more than 16");
    says(&refused(&["cast", "--in", "w_i4.npy", "--to", "e4m3"]), "--to is for floats, not i32");
    says(&refused(&["cast", "--in", "x_f4.npy", "--from", "e4m3"]), "--from is for codes in u8, u16 or u32, not f32");
    says(&refused(&["cast", "--in", "x_f4.npy", "--to", "e4m3", "--seed", "1"]), "--seed is for --rounding stochastic");
    says(&refused(&["random", "--n", "3", "--dist", "halton"]), "need --dimensions");
    says(&refused(&["random", "--n", "3", "--dist", "halton", "--dimensions", "129"]), "dimensions of Halton points");
    says(&refused(&["random", "--n", "3", "--dist", "normal", "--scramble"]), "--scramble is not for this distribution");
}

#[test]
fn numbers_that_are_too_large_are_refused_before_memory_is_taken() {
    let price = ["price", "--kind", "european", "--spot", "100", "--strike", "1", "--volatility", "0.2", "--backend", "cpu"];
    says(&refused(&[&price[..], &["--n", "99999999999999"]].concat()), "memory");
    let asian = ["price", "--kind", "asian", "--spot", "100", "--strike", "1", "--volatility", "1e200"];
    says(&refused(&asian), "closed form");
    for channels in ["5", "100000000", "4294967295"] {
        let of = refused(&["histogram", "--in", "rising_r.npy", "--bins", "4", "--range", "0,10", "--channels", channels]);
        says(&of, &format!("channels: {channels} active ones of {channels}; one to four of them can be"));
    }
}
