//! Marks of all packets that find more than a number of packets in the queue.

use serde::{Deserialize, Serialize};

use super::{Algorithm, Arriving, Verdict};

/// Parameters of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepConfig {
    /// Queue above which each arriving packet is marked, or dropped if its transport is not ECN-capable \[packets\].
    pub threshold_packets: f64,
}

impl StepConfig {
    /// A threshold that acts in a buffer of 20 packets.
    pub const TYPICAL: StepConfig = StepConfig { threshold_packets: 5.0 };
}

/// Marking with a step: Alizadeh and others 2010, section 3.1, as DCTCP wants it (RFC 8257 section 3.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step(pub(super) StepConfig);

impl Algorithm for Step {
    fn on_arrival(&mut self, arriving: &Arriving) -> Verdict {
        if arriving.queue as f64 > self.0.threshold_packets {
            Verdict::Mark
        } else {
            Verdict::Pass
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::*;

    #[test]
    fn exactly_the_packets_that_find_more_than_the_threshold_are_marked() {
        let mut step = Step(StepConfig { threshold_packets: 20.0 });
        let mut verdict = |queue| {
            step.on_arrival(&Arriving {
                now: Time::ZERO,
                queue,
                waiting: queue,
                idle: None,
                waiting_bytes: queue * 1500,
                bytes: 1500,
            })
        };
        assert_eq!([0, 20, 21, 500].map(&mut verdict), [Verdict::Pass, Verdict::Pass, Verdict::Mark, Verdict::Mark]);
    }
}
