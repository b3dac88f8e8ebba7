//! The senders of a run: their state before it begins, and their names.

use base::cast::to_u32;
use base::{Clock, RandomStream};
use tcp::{Classic, ClassicConfig, Sender};

use super::Engine;
use crate::scenario::{FlowConfig, TrafficConfig};
use crate::sender_slot::SenderSlot;
use crate::traffic::Datagrams;

/// Returns the sender of a flow at the start of the run; `observed`: traces record its states.
fn first_sender(flow: &FlowConfig, clock: Clock, observed: bool) -> Sender {
    let mut sender = match flow.connection() {
        Some(tcp) => Sender::new(&tcp.sender, flow.size_packets(), clock),
        // Packets without TCP: a sender with nothing to send.
        None => Sender::new(&ClassicConfig::default().into(), Some(0), clock),
    };
    if let (Sender::Selective(sender), true) = (&mut sender, observed) {
        sender.observe();
    }
    if matches!(flow.traffic, TrafficConfig::Web { .. }) {
        sender.close(&Classic::new(&ClassicConfig::default(), Some(0), clock));
    }
    sender
}

impl Engine {
    /// Adds the senders of one entry of the scenario, each asleep until its start.
    pub(super) fn add_senders(&mut self, entry: usize, flow: &FlowConfig, stream: &dyn Fn(&str) -> RandomStream) {
        let clock = self.network.clock;
        let own = |number: usize| stream(&format!("flow/{}/traffic", flow.member_name(number)));
        let first_source = self.network.transfers.add(entry, flow, clock, (0..flow.count).map(own));
        let observed = self.network.observers.as_ref().is_some_and(|observers| observers.follows_states());
        let sender = first_sender(flow, clock, observed);
        for number in 0..flow.count {
            let spread = match flow.start_spread_s {
                0.0 => 0.0,
                spread => spread * stream(&format!("flow/{}", flow.member_name(number))).uniform(),
            };
            let mut start = clock.time(flow.start_s + spread);
            let index = self.senders.len();
            let mut datagrams = None;
            match flow.traffic {
                TrafficConfig::Tcp { .. } => {}
                TrafficConfig::Web { .. } => {
                    let source = first_source + to_u32(number);
                    start += self.network.transfers.draw_silence(source);
                    self.network.flows[index].source = source;
                }
                TrafficConfig::Constant { .. }
                | TrafficConfig::Poisson { .. }
                | TrafficConfig::OnOff { .. }
                | TrafficConfig::PoissonOnOff { .. }
                | TrafficConfig::Ping { .. } => {
                    let (source, first) = Datagrams::new(&flow.traffic, flow.packet_bytes, start, clock, own(number));
                    start = first;
                    datagrams = Some(to_u32(self.datagrams.len()));
                    self.datagrams.push(source);
                }
            }
            let mut sender = sender.clone();
            sender.set_random(|| stream(&format!("flow/{}/control", flow.member_name(number))));
            self.senders.push(SenderSlot { sender, start, datagrams });
            self.network.schedule_sender(to_u32(index), start);
        }
    }

    /// Returns the name of a flow, with its number if it is one of several.
    pub(super) fn flow_name(&self, flow: u32) -> String {
        let mut number = flow as usize;
        let entry = self.entries.iter().find(|(_, count)| {
            let here = number < *count;
            number -= if here { 0 } else { *count };
            here
        });
        entry.map_or(String::new(), |(name, count)| match count {
            1 => name.clone(),
            _ => format!("{name}[{number}]"),
        })
    }
}
