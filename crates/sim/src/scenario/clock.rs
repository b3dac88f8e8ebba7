//! The clock of a run, chosen such that nothing that is constant is rounded.

use base::cast::trunc_to_u64;
use base::{least_common_multiple, Clock, Fraction};
use net::DelayLaw;

use super::{ElementConfig, Scenario, TrafficConfig};

/// Most ticks of a run: they are counted in 64 bits.
const MOST_TICKS: f64 = 1e19;
/// Most ticks in a second. The queue of events looks ahead some 2^40 ticks, if it has very many elements.
const MOST_TICKS_PER_SECOND: f64 = 1e15;
/// Fewest ticks in a second: the resolution of times that are random.
const FEWEST_TICKS_PER_SECOND: u64 = 1_000_000_000_000;
/// Most rates of a process for which the clock is chosen.
const FEW_RATES: usize = 100;
/// Ticks of a clock on which instants of whole nanoseconds are exact.
const NANOSECONDS: u64 = 1_000_000_000;

impl Scenario {
    /// Returns the clock on which service times and constant delays are whole numbers of ticks.
    ///
    /// Its number of ticks in a second is a common multiple of what each rate and delay needs, and not below 10^12. What
    /// would take the run beyond 64 bits is left out: rates that change, which are exact on any clock
    /// ([`net::RateProcess`]), then delays before rates, and of each those that need most. Then a second has as many
    /// ticks as it may, and what is left out is rounded, or carried over ([`base::Rate`]).
    pub fn clock(&self) -> Clock {
        let most = trunc_to_u64((MOST_TICKS / self.run.duration_s.max(1.0)).min(MOST_TICKS_PER_SECOND));
        let (mut ticks, mut all_fit) = (1, true);
        // Private links and ports have one service time for all their packets, and carry nothing over.
        let constant = [self.rates_without_carry(), self.other_rates(), self.delays(), vec![NANOSECONDS]];
        for mut needed in constant.into_iter().chain([self.changing_rates()]) {
            needed.sort_unstable();
            needed.dedup();
            for one in needed {
                let both = least_common_multiple(ticks, one).filter(|&both| fine(both) <= most);
                all_fit &= both.is_some();
                ticks = both.unwrap_or(ticks);
            }
        }
        // Finer ticks round what is left out the less.
        Clock::new(if all_fit { fine(ticks) } else { most / ticks * ticks })
    }

    fn rates_without_carry(&self) -> Vec<u64> {
        let links = self.elements.iter().filter(|element| matches!(element, ElementConfig::PrivateLink(_)));
        let ports = self.atm.iter().flat_map(|atm| &atm.ports).map(|port| port.rate_bps);
        links.filter_map(ElementConfig::rate_bps).chain(ports).filter_map(for_rate).collect()
    }

    fn other_rates(&self) -> Vec<u64> {
        let constant = self.elements.iter().filter(|element| element.rate_process().is_none());
        let links = constant.filter_map(ElementConfig::rate_bps);
        let sources = self.flows.iter().filter_map(|flow| match flow.traffic {
            TrafficConfig::Constant { rate_bps } | TrafficConfig::OnOff { rate_bps, .. } => Some(rate_bps),
            TrafficConfig::Tcp { .. }
            | TrafficConfig::Web { .. }
            | TrafficConfig::Poisson { .. }
            | TrafficConfig::PoissonOnOff { .. }
            | TrafficConfig::Ping { .. } => None,
        });
        let cross = self.atm.iter().flat_map(|atm| &atm.cross).map(|cross| cross.rate_bps);
        links.chain(sources).chain(cross).filter_map(for_rate).collect()
    }

    /// Returns what the rates of the processes with few of them need.
    fn changing_rates(&self) -> Vec<u64> {
        let rates = self.elements.iter().filter_map(ElementConfig::rate_process).map(|process| process.law.rates_bps());
        rates.filter(|rates| rates.len() <= FEW_RATES).flatten().filter_map(for_rate).collect()
    }

    fn delays(&self) -> Vec<u64> {
        let mut delays = Vec::new();
        for element in &self.elements {
            delays.push(element.delay_s());
            if let ElementConfig::Host(host) = element {
                delays.extend([host.data_s, host.ack_s]);
            }
            match element.delay_process().map(|process| &process.law) {
                Some(DelayLaw::Steps { steps_s }) => delays.extend(steps_s.iter().map(|step| step.1)),
                Some(DelayLaw::Alternating { states, .. }) => delays.extend(states.iter().map(|state| state.delay_s)),
                Some(DelayLaw::Handover { .. }) | None => {}
            }
        }
        for flow in &self.flows {
            delays.push(flow.forward_delay_s);
            delays.extend(flow.way_back().map(|back| back.delay_s));
            delays.extend(flow.connection().map(|connection| connection.receiver.ack_delay_s));
            if let TrafficConfig::Ping { interval_s, .. } = flow.traffic {
                delays.push(interval_s);
            }
        }
        delays.extend(self.atm.iter().flat_map(|atm| &atm.ports).map(|port| port.delay_s));
        delays.into_iter().filter_map(Fraction::of).map(Fraction::denominator).collect()
    }
}

/// Returns the least multiple of a number of ticks that is fine enough for times that are random.
fn fine(ticks: u64) -> u64 {
    ticks * FEWEST_TICKS_PER_SECOND.div_ceil(ticks)
}

/// Returns the ticks in a second on which a byte at a rate takes a whole number of ticks: at n/d bit/s it takes 8 d / n
/// seconds.
fn for_rate(rate_bps: f64) -> Option<u64> {
    let rate = Fraction::of(rate_bps)?;
    let byte = rate.denominator().checked_mul(8)?;
    Some(rate.numerator() / base::greatest_common_divisor(rate.numerator(), byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{LinkConfig, Run, TraceConfig};
    use net::{Counting, Discipline};

    fn path(duration_s: f64, links: &[(f64, f64)]) -> Scenario {
        let link = |&(rate_bps, delay_s): &(f64, f64)| {
            ElementConfig::Link(LinkConfig {
                name: "link".to_owned(),
                rate_bps: Some(rate_bps),
                rate_process: None,
                token_bucket: None,
                delay_s,
                buffer: None,
                counting: Counting::WithService,
                queue: Discipline::DROP_TAIL,
                delay_process: None,
                loss: None,
            })
        };
        Scenario {
            format: 3,
            title: String::new(),
            run: Run {
                duration_s,
                warmup_s: 0.0,
                replications: 1,
                seed: 1,
                confidence: 0.95,
                precision: None,
                delays: false,
            },
            elements: links.iter().map(link).collect(),
            flows: Vec::new(),
            trace: TraceConfig::default(),
            atm: None,
        }
    }

    /// Returns the clock's ticks in a second; each byte at the given rates must take a whole number of them.
    fn ticks(duration_s: f64, links: &[(f64, f64)]) -> u64 {
        path(duration_s, links).clock().ticks_per_second()
    }

    fn is_whole(ticks: u64, rate_bps: u64) -> bool {
        u128::from(ticks) * 8 % u128::from(rate_bps) == 0
    }

    #[test]
    fn picoseconds_stay_where_they_fit() {
        assert_eq!(ticks(100.0, &[(10e6, 0.05), (8e9, 0.000_000_012), (64e3, 1.5)]), 1_000_000_000_000);
        assert_eq!(ticks(1e7, &[]), 1_000_000_000_000);
    }

    #[test]
    fn each_byte_of_the_papers_rates_takes_whole_ticks_and_each_nanosecond_too() {
        let found = ticks(200.0, &[(2.7e6, 0.28), (2.2e6, 0.0), (1.5e6, 0.0)]);
        assert!([2_700_000, 2_200_000, 1_500_000].iter().all(|&rate| is_whole(found, rate)), "{found}");
        assert!(
            found.is_multiple_of(1_000_000_000) && (1_000_000_000_000..2_000_000_000_000).contains(&found),
            "{found}"
        );
    }

    #[test]
    fn a_delay_of_a_third_of_a_second_is_whole() {
        assert_eq!(ticks(10.0, &[(8e6, 1.0 / 3.0)]) % 3, 0);
    }

    #[test]
    fn what_needs_most_is_left_out_where_not_all_fit() {
        // The last two are prime; with both, a second would have 10^24 ticks.
        let found = ticks(10.0, &[(999_999_999_989.0, 0.0), (999_999_999_961.0, 0.0), (1.5e6, 0.0)]);
        assert!(is_whole(found, 1_500_000) && !is_whole(found, 999_999_999_989), "{found}");
        // On the longest runs a second has 10^12 ticks.
        let found = ticks(1e7, &[(2.7e6, 0.0)]);
        assert_eq!(found, 1_000_000_000_000);
    }

    #[test]
    fn runs_fit_into_64_bits() {
        for duration_s in [1e-12, 1.0, 1e3, 1e5, 1e7] {
            let rates: Vec<(f64, f64)> = (0..200).map(|number| (1e6 + 37.0 * f64::from(number), 0.001)).collect();
            let found = ticks(duration_s, &rates) as f64;
            assert!(found * duration_s <= MOST_TICKS && (1e12..=MOST_TICKS_PER_SECOND).contains(&found), "{found}");
        }
    }
}
