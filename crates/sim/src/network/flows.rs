//! The flows of a run.

use std::collections::BTreeMap;

use base::cast::to_u32;
use base::{Clock, Time};
use net::Discipline;
use tcp::{Dialect, Receiver, ReceiverConfig, SenderConfig, SpareStates, TimerWheel};

use crate::capture_size::duplex;
use crate::empty_path::EmptyPath;
use crate::flow::FlowSlot;
use crate::handshake::Handshake;
use crate::scenario::{ConnectionConfig, ElementConfig, FlowConfig, Scenario, TrafficConfig};
use crate::statistics::{rows, FlowStatistics};

/// The timer of a receiver that may delay ACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckTimer {
    pub(super) flow: u32,
    /// Index of the first hop of its ACKs, right behind the hop of the receiver.
    pub(super) first_hop: u32,
    /// Instant for which it is scheduled, in the event queue or in the stream of ACKs that its receiver sends with others.
    pub(super) scheduled: Time,
}

/// Returns the receiver in the slot of packets without TCP, which no packet reaches.
fn no_receiver(clock: Clock) -> Receiver {
    Receiver::new(&ReceiverConfig::default(), Dialect::Rfc, clock)
}

/// Returns the handshakes of the flows that have one.
pub(super) fn handshakes(scenario: &Scenario, clock: Clock) -> BTreeMap<u32, Handshake> {
    let handshake = |entry: usize| {
        let tcp = scenario.flows[entry].connection()?;
        Some(Handshake::new(tcp.handshake?, TimerWheel::of(&tcp.sender, clock), clock))
    };
    let members = scenario.members().enumerate();
    members.filter_map(|(index, (entry, _))| Some((to_u32(index), handshake(entry)?))).collect()
}

/// Returns whether packets of a link are captured.
fn is_captured(scenario: &Scenario, element: usize) -> bool {
    let name = duplex(scenario.elements[element].name());
    scenario.trace.capture.iter().flatten().any(|captured| duplex(captured) == name)
}

/// Returns whether an element surely lets all packets of a flow through, in the order in which they come.
fn keeps_all_in_order(element: &ElementConfig) -> bool {
    match element {
        ElementConfig::Link(link) => {
            link.is_steady() && link.buffer.is_none() && link.queue == Discipline::DROP_TAIL && link.loss.is_none()
        }
        ElementConfig::PrivateLink(link) => link.buffer.is_none(),
        ElementConfig::Channel(_) | ElementConfig::Host(_) => false,
    }
}

/// Returns the receiver that the flows of an entry begin with.
fn receiver(scenario: &Scenario, flow: &FlowConfig, tcp: &ConnectionConfig, clock: Clock) -> Receiver {
    let data = EmptyPath::of_data(flow, &scenario.elements, clock);
    let back = EmptyPath::of_answers(flow, &scenario.elements, clock).unwrap_or_default();
    let receiver = Receiver::new(&tcp.receiver, tcp.sender.dialect(), clock)
        .with_path(back.one_way, data.slowest)
        .with_clock(TimerWheel::of(&tcp.sender, clock))
        .with_ack_bytes(tcp.ack_bytes);
    let receiver = if tcp.closes() { receiver.with_close() } else { receiver };
    let in_order = tcp.return_path.iter().all(|&element| keeps_all_in_order(&scenario.elements[element]));
    let receiver = if in_order { receiver.with_acks_in_order() } else { receiver };
    let logged = tcp.return_path.iter().any(|&element| is_captured(scenario, element));
    if logged {
        receiver.with_log()
    } else {
        receiver
    }
}

/// Returns the states that the receivers of an entry need in transfers alone, and takes it from `receiver`, with which its
/// flows begin. Only where the sender reads no ACKs between transfers, and the receiver gets no data.
fn spare_states(flow: &FlowConfig, receiver: &mut Receiver) -> Option<SpareStates> {
    let web = matches!(flow.traffic, TrafficConfig::Web { .. });
    let selective = flow.connection().is_some_and(|tcp| matches!(tcp.sender, SenderConfig::Selective(_)));
    (web && selective).then(|| SpareStates::of(receiver)).flatten()
}

/// The flows of a run before it begins.
pub(super) struct Flows {
    pub(super) slots: Vec<FlowSlot>,
    pub(super) accounts: Vec<FlowStatistics>,
    /// The timers of the receivers that may delay ACKs.
    pub(super) ack_timers: Vec<AckTimer>,
    /// The states that receivers of each entry share, if they do.
    pub(super) spare_states: Vec<Option<SpareStates>>,
}

impl Flows {
    /// Lays out the flows of a scenario; `starts` has the first hop of each flow's data and of its ACKs.
    pub(super) fn new(scenario: &Scenario, starts: &[(u32, u32)], clock: Clock) -> Flows {
        let (mut slots, mut accounts, mut ack_timers) = (Vec::with_capacity(starts.len()), Vec::new(), Vec::new());
        let (mut receivers, mut states) = (Vec::<Receiver>::with_capacity(scenario.flows.len()), Vec::new());
        for (index, ((entry, number), &(data, acks))) in scenario.members().zip(starts).enumerate() {
            let flow = &scenario.flows[entry];
            let flows_an_account = flow.count / rows(flow);
            if number % flows_an_account == 0 {
                accounts.push(FlowStatistics::new(flows_an_account));
            }
            let connection = flow.connection();
            if number == 0 {
                let mut first =
                    connection.map_or_else(|| no_receiver(clock), |tcp| receiver(scenario, flow, tcp, clock));
                states.push(spare_states(flow, &mut first));
                receivers.push(first);
            }
            let receiver = receivers[entry].clone();
            let account = to_u32(accounts.len()) - 1;
            let mut slot = FlowSlot::new(receiver, flow.packet_bytes, data, account);
            slot.receiver_timer = to_u32(ack_timers.len());
            slots.push(slot);
            if connection.is_some_and(|tcp| tcp.receiver.delays_acks() || tcp.handshake.is_some()) {
                ack_timers.push(AckTimer { flow: to_u32(index), first_hop: acks, scheduled: Time::NEVER });
            }
        }
        Flows { slots, accounts, ack_timers, spare_states: states }
    }
}
