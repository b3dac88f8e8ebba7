use base::cast::to_u32;
use base::{Clock, Time};
use net::RateLaw;

use super::{OverviewKind, OverviewRow, RateRow};
use crate::links::rate_process;
use crate::scenario::Scenario;

/// Most rows of a link.
const MOST_INTERVALS: u64 = 2000;
/// Shortest interval of a link with opportunities \[s\]: in a shorter one their number says little.
const LEAST_INTERVAL_S: f64 = 0.1;

/// Returns the changes of all rates by time. They do not depend on the run.
pub(super) fn rate_rows(scenario: &Scenario, replication: u64, end: Time, clock: Clock) -> Vec<RateRow> {
    let mut rows: Vec<RateRow> = Vec::new();
    for (index, element) in scenario.elements.iter().enumerate() {
        let Some(config) = element.rate_process() else { continue };
        let mut process = rate_process(config, scenario, replication, clock);
        let (mut time, mut last) = (Time::ZERO, f64::NAN);
        while time <= end {
            let (rate, until) = process.rate_from(time, clock.time(LEAST_INTERVAL_S));
            if rate != last {
                rows.push(RateRow { link: to_u32(index), time, rate });
            }
            (time, last) = (until, rate);
        }
    }
    rows.sort_by_key(|row| row.time);
    rows
}

/// Returns the rates of the links that change, one row for each interval with another mean. They do not depend on the run.
pub(super) fn mean_rates(scenario: &Scenario, replication: u64, end: Time, clock: Clock) -> Vec<OverviewRow> {
    let mut rows = Vec::new();
    for (index, element) in scenario.elements.iter().enumerate() {
        let Some(config) = element.rate_process() else { continue };
        let mut process = rate_process(config, scenario, replication, clock);
        let least_s = match config.law {
            RateLaw::Opportunities { .. } => LEAST_INTERVAL_S,
            RateLaw::Steps { .. } | RateLaw::Alternating { .. } => 0.0,
        };
        let shortest = Time::from_ticks(end.ticks().div_ceil(MOST_INTERVALS).max(1));
        let interval = clock.time(scenario.trace.overview_interval_s.unwrap_or(0.0).max(least_s)).max(shortest);
        let (mut time, mut last) = (Time::ZERO, f64::NAN);
        while time < end {
            let until = (time + interval).min(end);
            let value = process.bits(time, until) / clock.seconds(until - time);
            if value != last {
                rows.push(OverviewRow { kind: OverviewKind::Rate, index: to_u32(index), time, value });
            }
            (time, last) = (until, value);
        }
    }
    rows
}
