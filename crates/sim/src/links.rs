//! Links made from their settings.

use base::cast::{low_u64, to_index};
use base::{Clock, RandomStream, Rate, Time};
use net::{batch_end, Buffer, Counting, Link, Measurement, PrivateLinks, QueuedLink, RateProcess, BATCHES};

use crate::scenario::{LinkConfig, PrivateLinkConfig, RateProcessConfig, Scenario};

/// Most deliveries of a list: as many as a scenario may read.
const MOST_DELIVERIES: usize = 1_000_000;

fn rate(rate_bps: Option<f64>, clock: Clock) -> Rate {
    rate_bps.map_or(Rate::UNLIMITED, |rate_bps| Rate::new(rate_bps, clock))
}

/// Returns the process of a link's rate in one replication.
pub(crate) fn rate_process(
    process: &RateProcessConfig,
    scenario: &Scenario,
    replication: u64,
    clock: Clock,
) -> RateProcess {
    let random = RandomStream::named(scenario.run.seed, replication, &format!("rate/{}", process.stream));
    RateProcess::new(&process.law, clock, clock.time(scenario.run.duration_s), random)
}

/// Returns a link whose departures are known on arrival.
pub(crate) fn link(config: &LinkConfig, clock: Clock, random: RandomStream) -> Link {
    Link::new(rate(config.rate_bps, clock), Buffer::new(config.buffer, config.counting), &config.queue, clock, random)
}

/// Returns copies of a link for flows that send packets of `bytes` over it.
pub(crate) fn private_links(config: &PrivateLinkConfig, bytes: u16, clock: Clock) -> PrivateLinks {
    PrivateLinks::new(rate(config.rate_bps, clock), Buffer::new(config.buffer, config.counting), bytes)
}

/// Returns a link whose departures are events.
pub(crate) fn queued_link(config: &LinkConfig, clock: Clock, random: RandomStream) -> QueuedLink {
    // Nothing is in transmission where a token bucket lets packets go.
    let counting = if config.token_bucket.is_some() { Counting::WithService } else { config.counting };
    let buffer = Buffer::new(config.buffer, counting);
    QueuedLink::new(rate(config.rate_bps, clock), buffer, &config.queue, clock, random).with_bucket(config.token_bucket)
}

/// The capacities of links in the measured part of a replication; not a number where the rate does not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// Capacity of each element \[bit\].
    pub bits: Vec<f64>,
    /// Capacity of each element in each batch, those of one element in a row \[bit\].
    pub batches: Vec<f64>,
}

/// Returns what the elements can carry; `None` if no rate changes.
pub(crate) fn offered(
    scenario: &Scenario,
    replication: u64,
    measurement: &Measurement,
    clock: Clock,
) -> Option<Offered> {
    let mut offered = Offered { bits: Vec::new(), batches: Vec::new() };
    for element in &scenario.elements {
        let process = element.rate_process().map(|process| rate_process(process, scenario, replication, clock));
        let bits = process.map_or(vec![f64::NAN; to_index(BATCHES)], |mut process| {
            // What departs at the end of the warm-up is of the measured part.
            let mut after = measurement.warmup - Time::TICK;
            let ends = (1..=BATCHES).map(|number| batch_end(number, measurement));
            ends.map(|end| process.bits(std::mem::replace(&mut after, end), end)).collect()
        });
        offered.bits.push(bits.iter().sum());
        offered.batches.extend(bits);
    }
    offered.bits.iter().any(|bits| bits.is_finite()).then_some(offered)
}

/// Returns the instants at which a link that is always busy delivers packets of `bytes` \[ms\], rounded up: the rate of an
/// element as a packet-delivery file of Mahimahi. A header that the element's own opportunities count is in `bytes`.
///
/// # Errors
///
/// If there is no such element, if its rate is unlimited or if it delivers more packets than such a list may have.
pub fn deliveries_ms(scenario: &Scenario, element: usize, replication: u64, bytes: u16) -> Result<Vec<u64>, String> {
    let Some(config) = scenario.elements.get(element) else {
        let most = scenario.elements.len().saturating_sub(1);
        return Err(format!("element: no such element; given {element}; allowed 0 to {most}"));
    };
    let Some(rate_bps) = config.rate_bps() else {
        return Err(format!("element: without a rate; given {:?}; allowed a link with a rate", config.name()));
    };
    let clock = scenario.clock();
    let end = clock.time(scenario.run.duration_s);
    let header = config.rate_process().map_or(0, |process| process.law.header_bytes());
    let own_bytes = u16::try_from(u32::from(bytes).saturating_sub(header)).unwrap_or(bytes).max(1);
    let mut process = config.rate_process().map(|process| rate_process(process, scenario, replication, clock));
    let (mut constant, mut last, mut deliveries) = (Rate::new(rate_bps, clock), Time::ZERO, Vec::new());
    loop {
        last = match &mut process {
            Some(process) => process.departure(Time::ZERO, last, own_bytes),
            None => last + constant.service_time(bytes),
        };
        if last > end {
            return Ok(deliveries);
        }
        if deliveries.len() >= MOST_DELIVERIES {
            return Err(format!("run.duration_s: more than {MOST_DELIVERIES} deliveries; allowed a shorter run"));
        }
        let milliseconds = (u128::from(last.ticks()) * 1000).div_ceil(u128::from(clock.ticks_per_second()));
        deliveries.push(low_u64(milliseconds));
    }
}
