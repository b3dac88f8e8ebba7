//! The flows of a run.

use tcp::Receiver;

use crate::flow::FlowSlot;
use crate::scenario::Scenario;
use crate::statistics::{FlowStatistics, MOST_ROWS_OF_A_GROUP};

/// Returns a slot for each flow, their accounts, and the flows whose receivers may delay ACKs; `starts` has the first
/// hop of each flow's data and of its ACKs.
pub(super) fn slots(scenario: &Scenario, starts: &[(u32, u32)]) -> (Vec<FlowSlot>, Vec<FlowStatistics>, Vec<u32>) {
    let (mut slots, mut accounts, mut delaying) = (Vec::with_capacity(starts.len()), Vec::new(), Vec::new());
    for (index, ((entry, number), &(data, acks))) in scenario.members().zip(starts).enumerate() {
        let flow = &scenario.flows[entry];
        let flows_an_account = if flow.count > MOST_ROWS_OF_A_GROUP { flow.count } else { 1 };
        if number % flows_an_account == 0 {
            accounts.push(FlowStatistics::new(flows_an_account));
        }
        let receiver = Receiver::new(&flow.receiver, flow.sender.dialect);
        let account = accounts.len() as u32 - 1;
        let mut slot = FlowSlot::new(receiver, flow.packet_bytes, flow.ack_bytes, data, acks, account);
        slot.receiver_timer = delaying.len() as u32;
        slots.push(slot);
        if flow.receiver.ack_every > 1 {
            delaying.push(index as u32);
        }
    }
    (slots, accounts, delaying)
}
