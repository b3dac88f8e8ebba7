//! The length of the last packet of a transfer.

use super::limits::{Limit, LAST_PACKET};
use super::Faults;
use crate::scenario::{ConnectionConfig, ElementConfig, FlowConfig};

impl Faults {
    /// Checks that a last packet of another length has a transfer to end, and links that take it.
    pub(super) fn last_packet(
        &mut self,
        place: &str,
        flow: &FlowConfig,
        tcp: &ConnectionConfig,
        elements: &[ElementConfig],
    ) {
        let Some(bytes) = tcp.last_packet_bytes() else { return };
        let place = format!("{place}.sender");
        self.field(&place, Limit { high: f64::from(flow.packet_bytes), ..LAST_PACKET }, f64::from(bytes));
        if flow.size_packets().is_none() {
            self.say(format!(
                "{place}.last_packet_bytes: only for one transfer of a given size; given {bytes}; allowed null"
            ));
        }
        let has_one_length = |&&element: &&usize| matches!(elements.get(element), Some(ElementConfig::PrivateLink(link)) if link.rate_bps.is_some());
        if let Some(element) = flow.path.iter().find(has_one_length) {
            self.say(format!(
                "{place}.last_packet_bytes: the link {element} of the path, of which each flow has a copy, takes data of one \
                 length; given {bytes}; allowed null"
            ));
        }
    }
}
