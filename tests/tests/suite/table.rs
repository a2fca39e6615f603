//! The table of cases is what the digests' keys promise: names are unique, and a result is a function of the name alone.

use isowarp::Cpu;
use isowarp_conformance::case::digest;
use isowarp_conformance::table;
use std::collections::BTreeSet;

#[test]
fn names_are_unique() {
    let cases = table::<Cpu>();
    let names: BTreeSet<_> = cases.iter().map(|c| &c.name).collect();
    assert_eq!(names.len(), cases.len());
}

#[test]
fn names_do_not_depend_on_the_backend() {
    let here: Vec<_> = table::<Cpu>().into_iter().map(|c| c.name).collect();
    let there: Vec<_> = table::<isowarp::Device>().into_iter().map(|c| c.name).collect();
    assert_eq!(here, there);
}

#[test]
fn the_cpu_answers_every_case_or_refuses_to_reduce_nothing() {
    let cpu = Cpu::new();
    for case in table::<Cpu>().iter().filter(|c| c.quick) {
        let result = case.run(&cpu);
        assert_eq!(case.unanswered(&result), None, "{}", case.name);
        assert!(result.is_err() || result.is_ok_and(|outputs| !outputs.is_empty()), "{}", case.name);
    }
}

#[test]
fn one_thread_and_many_give_the_same_digests() {
    let cpu = Cpu::new();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    for case in table::<Cpu>().iter().filter(|c| c.quick).step_by(7) {
        assert_eq!(digest(&case.run(&cpu)), one.install(|| digest(&case.run(&cpu))), "{}", case.name);
    }
}
