//! The number of cases that a property is tested with.

use proptest::test_runner::{Config, FileFailurePersistence};

/// Returns a configuration with `cases` cases, unless PROPTEST_CASES asks for another number. A case that failed is kept in
/// a file next to that of its test.
pub fn config(cases: u32) -> Config {
    Config {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..Config::default()
    }
}
