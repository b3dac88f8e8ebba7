//! The example test cases of draft-ietf-ccwg-bbr-06, appendix A, over a path of 10 Mbit/s and 40 ms unless they say
//! otherwise, and the rules of its sections that they do not show.

mod path;
mod probing;
mod round_trip;
mod rules;
mod startup;
mod steps;
mod undo;

use path::{Fate, Flow, Path, Step};

/// Returns the pacing rate of a gain \[byte/s\] (5.6.2).
fn paced(gain: f64, bandwidth: f64) -> f64 {
    gain * bandwidth * 0.99 * 1448.0
}

/// Asserts that two numbers differ by a part at most.
fn assert_near(found: f64, expected: f64, part: f64) {
    assert!((found / expected - 1.0).abs() <= part, "{found}, not {expected}");
}
