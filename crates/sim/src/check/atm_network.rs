//! Faults of an ATM network and of the elements that are its channels.

use std::collections::BTreeSet;

use super::Faults;
use crate::scenario::{ElementConfig, Scenario};

impl Faults {
    pub(super) fn channels(&mut self, scenario: &Scenario) {
        let network = scenario.atm.as_ref();
        self.0.extend(network.iter().flat_map(|network| atm::check(network)).map(|fault| format!("atm.{fault}")));
        let ends = network.map_or(0, |network| 2 * network.channels.len());
        let mut seen = BTreeSet::new();
        for (index, element) in scenario.elements.iter().enumerate() {
            let ElementConfig::Channel(channel) = element else { continue };
            let (place, end) = (format!("elements[{index}].end"), channel.end);
            if end >= ends {
                self.say(format!("{place}: no such end of a channel; given {end}; allowed less than {ends}"));
            } else if !seen.insert(end) {
                self.say(format!("{place}: an end that another element has; given {end}; allowed once"));
            }
        }
        for end in (0..ends).filter(|end| !seen.contains(end)) {
            self.say(format!("atm.channels[{}]: no element for an end; given end {end}; allowed one each", end / 2));
        }
    }
}
