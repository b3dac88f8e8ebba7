//! Rates of links that change with time.

mod law;
mod opportunities;
mod segments;
#[cfg(test)]
mod tests;

use base::{Clock, RandomStream, Time};

pub use law::{RateLaw, RateState, MAHIMAHI_BYTES, MAHIMAHI_HEADER};
use opportunities::Opportunities;
use segments::{Changes, Segments};

/// The service of a link whose rate changes, as a function of time: packets and the instants at which it is asked do not
/// influence it, so a packet's departure is known as its transmission begins.
#[derive(Clone, Debug)]
pub struct RateProcess(Service);

#[derive(Clone, Debug)]
enum Service {
    Segments(Segments),
    Opportunities(Opportunities),
}

impl RateProcess {
    /// Returns the process at time zero, for a run that ends at `end`. The law has passed the checks of a scenario: its
    /// lists are not empty and in order of time, and its rate is not 0 for ever.
    pub fn new(law: &RateLaw, clock: Clock, end: Time, random: RandomStream) -> RateProcess {
        RateProcess(match law {
            RateLaw::Steps { steps_bps, period_s } => {
                let changes = |rates: &[u64]| Changes::Steps {
                    steps: steps_bps.iter().map(|step| clock.time(step.0)).zip(rates.iter().copied()).collect(),
                    period: period_s.map(|period_s| clock.time(period_s)),
                };
                Service::Segments(Segments::new(&law.rates_bps(), 0, changes, clock, end))
            }
            RateLaw::Alternating { states, start, transitions } => {
                let changes = |rates: &[u64]| Changes::Alternating {
                    states: rates.iter().copied().zip(states.iter().copied()).collect(),
                    transitions: transitions.clone(),
                    random,
                };
                Service::Segments(Segments::new(&law.rates_bps(), *start, changes, clock, end))
            }
            RateLaw::Opportunities { times_ms, bytes, header_bytes } => {
                Service::Opportunities(Opportunities::new(times_ms.clone(), *bytes, *header_bytes, clock))
            }
        })
    }

    /// Returns the departure of a packet of `bytes` that arrived at an instant, and whose transmission begins at another:
    /// as it arrives, or as the packet before it departs. Beginnings must come in order of time.
    ///
    /// The integral of the rate from the beginning to the departure is the packet's bits. In an outage a packet in
    /// transmission waits where it is, and goes on afterwards. [`Time::NEVER`] is beyond the clock.
    #[inline(never)]
    pub fn departure(&mut self, arrival: Time, start: Time, bytes: u16) -> Time {
        match &mut self.0 {
            Service::Segments(segments) => segments.departure(start, bytes),
            Service::Opportunities(opportunities) => opportunities.departure(arrival, start, bytes),
        }
    }

    /// Returns the rate from an instant on \[bit/s\] and its end; of opportunities the mean of an interval that begins then.
    /// Instants must come in order of time, and the process must not have served packets.
    pub fn rate_from(&mut self, now: Time, interval: Time) -> (f64, Time) {
        match &mut self.0 {
            Service::Segments(segments) => segments.rate_from(now),
            Service::Opportunities(opportunities) => {
                let until = now + interval;
                let bits = opportunities.count(now, until) as f64 * 8.0 * f64::from(opportunities.bytes());
                (bits / opportunities.seconds(interval), until)
            }
        }
    }

    /// Returns what the link can carry from one instant to a later one \[bit\]: of opportunities, those after the first
    /// and up to the second. Instants must come in order of time, and the process must not have served packets.
    pub fn bits(&mut self, after: Time, to: Time) -> f64 {
        match &mut self.0 {
            Service::Segments(segments) => segments.bits(after, to),
            Service::Opportunities(opportunities) => {
                opportunities.count(after, to) as f64 * 8.0 * f64::from(opportunities.bytes())
            }
        }
    }
}
