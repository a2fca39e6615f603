//! The fuzzer: its seeds, its lines, and that what it says of the CPU holds.

use isowarp_conformance::fuzz::{Options, Trial, Verb, fuzz, seed_of, trial};
use std::time::Duration;

/// A few of each pattern.
fn trials() -> impl Iterator<Item = Trial> {
    Verb::ALL.iter().flat_map(|&v| (0..6).map(move |k| trial(seed_of(5, k), &[v])))
}

#[test]
fn a_trial_is_read_back_from_its_line_and_made_again_by_its_seed() {
    for t in trials() {
        assert_eq!(Trial::parse(&t.to_string()).as_ref(), Ok(&t), "{t}");
    }
    assert_eq!(trial(seed_of(9, 4), Verb::ALL), trial(seed_of(9, 4), Verb::ALL));
}

#[test]
fn smaller_trials_are_trials() {
    for t in trials() {
        for smaller in t.verb.shorter(&t) {
            assert!(t.verb.check(&smaller).is_err() || Trial::parse(&smaller.to_string()) == Ok(smaller.clone()), "{smaller}");
        }
    }
}

#[test]
fn the_cpu_gives_what_plain_loops_give() {
    // No device is of that name; the CPU is always there.
    let options = Options {
        time: Duration::from_secs(600),
        trials: 900,
        seed: 20_261_125,
        verbs: Vec::new(),
        backends: vec!["cpu".to_owned()],
        forms: false,
        jobs: 0,
        shrinks: 400,
        verbose: false,
    };
    let found = fuzz(&options, |find| println!("{}", find.text())).expect("the CPU is there");
    assert_eq!(found.compared(), 900);
    assert_eq!(found.different(), 0, "{}", found.text(options.seed));
    assert!(found.trials.len() == Verb::ALL.len(), "{:?}", found.trials);
}

#[test]
fn lines_that_are_no_trials_say_why() {
    for (line, why) in [
        ("", "is no pattern"),
        ("maps n=1 : 1", "is no pattern"),
        ("map n=1", "operators"),
        ("map n=1 y:i32=1 : y", "not the next input"),
        ("map n=2 x:i32=1 : x", "too few elements"),
        ("map n=1 x:i9=1 : x", "no element type"),
        ("map n=1 x:i8=128 : x", "is no i8"),
        ("map n=1 x:i32=1 : x +", "expected a value"),
        ("map n=1 x:f32=1 : x as u8", "not stored as"),
        ("sort n=2 x:i32=1", "n elements"),
        ("merge n=1 x:i32=1", "inputs"),
    ] {
        let error = Trial::parse(line).expect_err(line);
        assert!(error.contains(why), "{line}: {error}");
    }
}
