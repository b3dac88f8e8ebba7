//! Faults of a scenario's size: what all its parts together hold.

use net::{DelayLaw, LossLaw};

use super::delay::MOST_CHANGES;
use super::limits::{ALL_SIZES, ELEMENTS, FLOWS, LIST_ENTRIES, RATE_CHANGES};
use super::Faults;
use crate::scenario::{ElementConfig, FlowConfig, Scenario, SizeLaw, TrafficConfig};

/// Most hops of all flows together.
const MOST_HOPS: f64 = u32::MAX as f64 / 4.0;

impl Faults {
    /// Checks the sizes of the lists of elements and flows, and the sums over all lists in them.
    pub(super) fn numbers(&mut self, scenario: &Scenario) {
        let (elements, flows) = (&scenario.elements, &scenario.flows);
        self.within(ELEMENTS.field, ELEMENTS, elements.len() as f64);
        self.within(LIST_ENTRIES.field, LIST_ENTRIES, elements.iter().map(list_entries).sum());
        let laws = elements.iter().filter_map(ElementConfig::rate_process).map(|process| &process.law);
        let changes = laws.map(|law| law.changes(scenario.run.duration_s).min(MOST_CHANGES)).sum();
        self.within(RATE_CHANGES.field, RATE_CHANGES, changes);
        self.within(FLOWS.field, FLOWS, flows.iter().map(|flow| flow.count as f64).sum());
        self.within(ALL_SIZES.field, ALL_SIZES, flows.iter().map(sizes).sum());
        let way = |flow: &FlowConfig| flow.path.len() + flow.return_path().len() + 4;
        let hops: f64 = flows.iter().map(|flow| flow.count as f64 * way(flow) as f64).sum();
        self.number("flows", hops, 0.0, MOST_HOPS);
    }
}

/// Returns the entries in the lists of an element: those of its rate, steps and transitions of its delay, packets and instants of losses.
fn list_entries(element: &ElementConfig) -> f64 {
    let delay = element.delay_process().map_or(0, |process| match &process.law {
        DelayLaw::Steps { steps_s } => steps_s.len(),
        DelayLaw::Alternating { states, transitions, .. } => {
            states.len() + transitions.iter().flatten().map(Vec::len).sum::<usize>()
        }
        DelayLaw::Handover { .. } => 0,
    });
    let losses = element.loss().map_or(0, |loss| match &loss.law {
        LossLaw::Packets { numbers } => numbers.len(),
        LossLaw::Times { times_s } => times_s.len(),
        LossLaw::Bernoulli { .. } | LossLaw::Poisson { .. } | LossLaw::GilbertElliott { .. } => 0,
    });
    let rates = element.rate_process().map_or(0, |process| process.law.entries());
    (rates + delay + losses) as f64
}

/// Returns the number of sizes in the list that a flow draws from.
fn sizes(flow: &FlowConfig) -> f64 {
    match &flow.traffic {
        TrafficConfig::Web { size: SizeLaw::Empirical { packets }, .. } => packets.len() as f64,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use net::{AppliesTo, Counting, Discipline};

    use super::*;
    use crate::scenario::{LinkConfig, LossConfig, Run, TimeLaw};

    fn losing(times: u32) -> ElementConfig {
        let times_s = (0..times).map(f64::from).collect();
        LinkConfig {
            name: "link".to_owned(),
            rate_bps: Some(1e6),
            rate_process: None,
            token_bucket: None,
            delay_s: 0.1,
            buffer: None,
            counting: Counting::WithService,
            queue: Discipline::DROP_TAIL,
            delay_process: None,
            loss: Some(LossConfig { applies_to: AppliesTo::All, law: LossLaw::Times { times_s } }),
        }
        .into()
    }

    fn sources(count: usize) -> FlowConfig {
        FlowConfig {
            name: "flow".to_owned(),
            count,
            copies: 1,
            start_s: 0.0,
            start_spread_s: 0.0,
            path: vec![0],
            forward_delay_s: 0.0,
            packet_bytes: 100,
            priority: 0,
            host: 0,
            weight: 1,
            traffic: TrafficConfig::OnOff {
                rate_bps: 1e3,
                on: TimeLaw::Fixed { mean_s: 1.0 },
                off: TimeLaw::Fixed { mean_s: 1.0 },
            },
        }
    }

    fn faults(elements: Vec<ElementConfig>, flows: Vec<FlowConfig>) -> Vec<String> {
        let run = Run {
            duration_s: 1.0,
            warmup_s: 0.0,
            replications: 1,
            seed: 1,
            confidence: 0.95,
            precision: None,
            delays: true,
        };
        let mut faults = Faults::default();
        let (title, trace) = (String::new(), Default::default());
        faults.numbers(&Scenario { format: 3, title, run, elements, flows, trace, atm: None });
        faults.into_inner()
    }

    #[test]
    fn the_entries_of_all_lists_together_are_limited() {
        assert_eq!(faults(vec![losing(1_000_000), losing(1_000_000)], vec![]), Vec::<String>::new());
        let more = faults(vec![losing(1_000_000), losing(1_000_001)], vec![]);
        let expected = "elements (entries of all lists): out of range; given 2000001; allowed 0 to 2000000";
        assert_eq!(more, [expected]);
    }

    #[test]
    fn the_flows_of_all_entries_together_are_limited() {
        assert_eq!(faults(vec![], vec![sources(600_000), sources(400_000)]), Vec::<String>::new());
        let more = faults(vec![], vec![sources(600_000), sources(400_001)]);
        assert_eq!(more, ["flows (how many): out of range; given 1000001; allowed 0 to 1000000"]);
    }
}
