//! Scenarios that are always legal: packets are conserved, and whoever looks changes nothing.

#![no_main]

use ackclock_fuzz::{check_outcome, check_same, run, Description};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|description: Description| {
    let scenario = description.scenario();
    assert_eq!(sim::check(&scenario), Vec::<String>::new());
    let Some(watched) = run(&scenario) else { return };
    check_outcome(&scenario, &watched);
    let mut unwatched = scenario;
    unwatched.trace = Default::default();
    check_same(&watched, &run(&unwatched).expect("it ran before"));
});
