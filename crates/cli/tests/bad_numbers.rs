//! Bad input of random numbers, sums in an order, exact sums and codes of floats.

mod common;

use common::{advises, refused, save_npy, says};

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
    for option in [["--seed", "1"], ["--stream", "1"], ["--generator", "threefry"]] {
        let points = ["random", "--n", "3", "--dist", "sobol", "--dimensions", "2"];
        advises(&refused(&[&points[..], &option].concat()), &format!("{} is for points with --scramble", option[0]), "add --scramble");
    }
}

#[test]
fn advice_is_for_what_was_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty.npy").display().to_string();
    save_npy(empty.as_ref(), "<f4", &[0, 3], &[]);
    let option = ["price", "--kind", "european", "--spot", "100", "--strike", "100", "--volatility", "0.2"];
    advises(&refused(&[&option[..], &["--n", "0"]].concat()), "estimate", "ask for one sample at least (--n 1)");
    for args in [&["argmax"][..], &["argmax", "--axis", "0"], &["mean"]] {
        let lines = refused(&[args, &["--in", &empty]].concat());
        assert_eq!(lines, [format!("error: {} of an empty array has no value", args[0]), "  help: give an array with elements".to_owned()]);
    }
    advises(&refused(&["reduce", "--op", "min", "--in", &empty]), "min of an empty array", "or an operator with an identity");
    advises(&refused(&["merge", "--in", "w_i4.npy", "--in", "w_i4.npy"]), "is not sorted", "--descending, --nan-last and --total-order");
}

#[test]
fn simulations_beyond_their_numbers_are_refused() {
    let ising = |args: &[&str]| refused(&[&["ising", "--shape", "4,4", "--beta", "0.4"], args].concat());
    says(&ising(&["--sweeps", "9223372036854775808"]), "position: the stream ends before the last sweep");
    says(&ising(&["--sweeps", "0", "--measure", "1", "--every", "9223372036854775808"]), "position: the stream ends before the last sweep");
    says(&ising(&["--measure", "0"]), "invalid value '0' for '--measure");
    says(&ising(&["--every", "2"]), "not provided: --measure");
    for (spot, strike, what) in [("1e39", "100", "spot: 1e39"), ("1e-60", "100", "spot: 1e-60"), ("100", "1e39", "strike: 1e39")] {
        let option = ["price", "--kind", "european", "--spot", spot, "--strike", strike, "--volatility", "0.2", "--n", "10"];
        says(&refused(&option), &format!("{what} is beyond the range of f32"));
    }
    let far = ["price", "--kind", "up-and-out", "--spot", "1", "--strike", "1", "--barrier", "1e39", "--volatility", "0.2", "--n", "10"];
    says(&refused(&far), "barrier over spot: 1e39 is beyond the range of f32");
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
