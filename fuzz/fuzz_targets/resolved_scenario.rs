//! Any bytes as a resolved scenario: the engine says what is wrong with it, or runs it.

#![no_main]

use ackclock_fuzz::{check_outcome, is_small, run};
use libfuzzer_sys::fuzz_target;
use sim::Scenario;

fuzz_target!(|bytes: &[u8]| {
    let Ok(scenario) = serde_json::from_slice::<Scenario>(bytes) else { return };
    if sim::check(&scenario).is_empty() && is_small(&scenario) {
        if let Some(run) = run(&scenario) {
            check_outcome(&scenario, &run);
        }
    }
});
