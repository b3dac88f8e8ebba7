//! The flows of a run.

use base::cast::to_u32;
use base::Clock;
use tcp::{Dialect, Receiver, ReceiverConfig};

use crate::flow::FlowSlot;
use crate::scenario::Scenario;
use crate::statistics::{rows, FlowStatistics};

/// Returns the receiver in the slot of packets without TCP, which no packet reaches.
fn no_receiver(clock: Clock) -> Receiver {
    Receiver::new(&ReceiverConfig::default(), Dialect::Rfc, clock)
}

/// Returns a slot for each flow, their accounts, and the flows whose receivers may delay ACKs; `starts` has the first
/// hop of each flow's data and of its ACKs.
pub(super) fn slots(
    scenario: &Scenario,
    starts: &[(u32, u32)],
    clock: Clock,
) -> (Vec<FlowSlot>, Vec<FlowStatistics>, Vec<u32>) {
    let (mut slots, mut accounts, mut delaying) = (Vec::with_capacity(starts.len()), Vec::new(), Vec::new());
    for (index, ((entry, number), &(data, acks))) in scenario.members().zip(starts).enumerate() {
        let flow = &scenario.flows[entry];
        let flows_an_account = flow.count / rows(flow.count);
        if number % flows_an_account == 0 {
            accounts.push(FlowStatistics::new(flows_an_account));
        }
        let connection = flow.connection();
        let receiver = match connection {
            Some(tcp) => Receiver::new(&tcp.receiver, tcp.sender.dialect, clock),
            None => no_receiver(clock),
        };
        let ack_bytes = connection.map_or(0, |tcp| tcp.ack_bytes);
        let account = to_u32(accounts.len()) - 1;
        let mut slot = FlowSlot::new(receiver, flow.packet_bytes, ack_bytes, data, acks, account);
        slot.receiver_timer = to_u32(delaying.len());
        slots.push(slot);
        if connection.is_some_and(|tcp| tcp.receiver.ack_every > 1) {
            delaying.push(to_u32(index));
        }
    }
    (slots, accounts, delaying)
}
