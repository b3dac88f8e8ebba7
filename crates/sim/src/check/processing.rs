//! Faults of hosts' TCP processes.

use super::limits::{PROCESSING_ACK, PROCESSING_DATA};
use super::Faults;
use crate::scenario::{FlowConfig, LinkConfig, ProcessingConfig, QueueConfig};

impl Faults {
    pub(super) fn processing(&mut self, place: &str, link: &LinkConfig, times: ProcessingConfig) {
        self.field(&format!("{place}.processing"), PROCESSING_DATA, times.data_s);
        self.field(&format!("{place}.processing"), PROCESSING_ACK, times.ack_s);
        let a_link = link.rate_bps.is_some() || link.delay_s != 0.0 || link.buffer.is_some() || link.private;
        if a_link || link.queue != (QueueConfig::DropTail {}) || link.delay_process.is_some() || link.loss.is_some() {
            self.say(format!(
                "{place}.processing: set together with fields of a link; given both; allowed with no rate, delay, buffer, \
                 discipline, loss or copies"
            ));
        }
    }

    /// Checks that a process is last on a path, after a link.
    pub(super) fn processes(&mut self, place: &str, flow: &FlowConfig, links: &[LinkConfig]) {
        let is_process = |link: &usize| links.get(*link).is_some_and(|link| link.processing.is_some());
        for (field, way, least) in [("path", &flow.path, 1), ("return_path", &flow.return_path, 0)] {
            if let Some(position) = way.iter().position(is_process) {
                if position + 1 < way.len() || position < least {
                    let given = way[position];
                    self.say(format!(
                        "{place}.{field}: a host's TCP process is not at the end; given {given}; allowed last"
                    ));
                }
            }
        }
    }
}
