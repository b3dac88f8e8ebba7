//! Hops that few ways have: losses, pipes whose delay changes, levels of priority, channels, processes of hosts.

use base::{Packet, PacketKind, Time};
use net::Process;

use super::Network;
use crate::route::Element;
use crate::scenario::Scenario;

/// The TCP process of a host, and the scenario's link that stands for it.
#[derive(Clone, Debug)]
pub(super) struct ProcessSlot {
    pub(super) process: Process,
    link: u32,
}

/// The processes of a scenario, in the order of its links.
pub(super) fn processes(scenario: &Scenario) -> Vec<ProcessSlot> {
    let links = scenario.links.iter().enumerate();
    let slot = |(link, times): (usize, crate::scenario::ProcessingConfig)| ProcessSlot {
        process: Process::new(Time::from_seconds(times.data_s), Time::from_seconds(times.ack_s)),
        link: link as u32,
    };
    links.filter_map(|(index, link)| Some((index, link.processing?))).map(slot).collect()
}

impl Network {
    /// The first packet in a pipe has its turn.
    #[cold]
    pub(super) fn on_arrival_from_pipe(&mut self, pipe: u32, now: Time) {
        let inside = &mut self.overtaking[pipe as usize];
        let Some((&(mut packet), _)) = inside.pop() else { return };
        let next = inside.first();
        self.events.set(self.first_stream + self.streams.len() as u32 + pipe, next);
        packet.hop += 1;
        self.forward(now, packet);
    }

    /// Crosses an element that few scenarios have, out of the way of all others: when the packet comes to the next hop.
    /// None where it does not come, or waits for its instant.
    #[cold]
    #[inline(never)]
    pub(super) fn cross(&mut self, element: Element, arrival: Time, packet: Packet) -> Option<Time> {
        match element {
            Element::Loss(index) if self.loses(index, arrival, packet) => None,
            Element::Pipe(index) => Some(self.cross_pipe(index, arrival, packet.hop)),
            Element::Overtaking(index) => {
                self.join_pipe(index, arrival, packet);
                None
            }
            Element::Process(index) => Some(self.process(index as usize, arrival, &packet)),
            Element::Channel(end) => {
                self.join_channel(end, arrival, packet);
                None
            }
            Element::Level { queue, level } => {
                self.join_queue(queue, arrival, packet, level);
                None
            }
            _ => Some(arrival),
        }
    }

    /// When the packet has had its turn in the process of a host.
    fn process(&mut self, index: usize, now: Time, packet: &Packet) -> Time {
        self.tell_processed(index, now);
        let link = self.processes[index].link;
        self.tell_arrival(link, now, packet);
        let process = &mut self.processes[index].process;
        let end = process.arrive(now, packet, &self.phase);
        if let Some(observers) = &mut self.observers {
            observers.queue(link, now, process.packets());
            observers.left(end, link, packet);
        }
        end
    }

    /// Tells the observers of the turns that end until an instant.
    pub(super) fn tell_processed(&mut self, index: usize, until: Time) {
        let Some(observers) = &mut self.observers else { return };
        if observers.follows_queues() {
            let ProcessSlot { process, link } = &self.processes[index];
            for (gone, end) in process.departures().take_while(|&end| end <= until).enumerate() {
                observers.queue(*link, end, process.packets() - gone as u64 - 1);
            }
        }
    }

    /// Whether the packet is lost before the link that it comes to.
    fn loses(&mut self, index: u32, now: Time, packet: Packet) -> bool {
        let slot = &mut self.losses[index as usize];
        let lost = slot.loss.loses(now, &packet);
        if lost {
            let phase = self.phase.index(now);
            slot.lost[phase] += 1;
            let link = slot.link;
            if packet.kind != PacketKind::Ack {
                let slot = &mut self.flows[packet.flow as usize];
                self.accounts[slot.account as usize].lost[phase] += 1;
                self.loss_logs.of(&mut slot.loss_log).on_drop(packet.sequence, packet.stamp, now);
            }
            if let Some(observers) = &mut self.observers {
                observers.dropped(now, link, &packet, true);
            }
        }
        lost
    }

    /// When the packet that departs now comes to the next hop; the flow's own delay, which stands at the hop, included.
    fn cross_pipe(&mut self, pipe: u32, departure: Time, hop: u32) -> Time {
        self.pipes[pipe as usize].arrival(departure) + self.hops[hop as usize].delay
    }

    fn join_pipe(&mut self, pipe: u32, departure: Time, packet: Packet) {
        let arrival = self.cross_pipe(pipe, departure, packet.hop);
        if arrival <= self.phase.end {
            self.events.advance(self.first_stream + self.streams.len() as u32 + pipe, arrival);
            self.overtaking[pipe as usize].push(arrival, packet, packet.flow);
        }
    }
}
