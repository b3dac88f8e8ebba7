//! Faults of an ATM network and of the links that represent its channels.

use std::collections::BTreeSet;

use super::Faults;
use crate::scenario::{ChannelsConfig, LinkConfig};

impl Faults {
    pub(super) fn channels(&mut self, config: &ChannelsConfig, links: &[LinkConfig]) {
        self.0.extend(atm::check(&config.network).into_iter().map(|fault| format!("atm.network.{fault}")));
        let ends = 2 * config.network.channels.len();
        if config.links.len() != ends {
            self.0.push(format!("atm.links: not one for each end; given {}; allowed {ends}", config.links.len()));
        }
        let mut seen = BTreeSet::new();
        for (end, &link) in config.links.iter().enumerate() {
            let place = format!("atm.links[{end}]");
            let Some(config) = links.get(link) else {
                let last = links.len().saturating_sub(1);
                self.0.push(format!("{place}: no such link; given {link}; allowed 0 to {last}"));
                continue;
            };
            if !seen.insert(link) {
                self.0.push(format!("{place}: represents two ends; given {link}; allowed once"));
            }
            if config.processing.is_some() {
                self.0.push(format!("{place}: a host's TCP process, not a channel; given {link}; allowed a link"));
            }
            if config.delay_process.is_some() {
                self.0.push(format!("{place}: a channel has a constant delay; given a delay process; allowed none"));
            }
        }
    }
}
