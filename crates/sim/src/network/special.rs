//! Elements that few paths have, out of line: losses, pipes whose delay changes, channels, processes of hosts, pings.

use base::{Packet, Time};

use super::Network;
use crate::route::{Element, PingEnd};

impl Network {
    /// Returns when a packet arrives at the next hop; `None` if it is lost, or waits for the clock.
    #[cold]
    #[inline(never)]
    pub(super) fn cross_special(&mut self, special: Element, time: Time, packet: Packet) -> Option<Time> {
        match special {
            Element::Loss(index) => (!self.loses(index, time, packet)).then_some(time),
            Element::Pipe(index) => Some(self.cross_pipe(index, time, packet.hop)),
            Element::Process(index) => Some(self.process(index, time, packet)),
            Element::Overtaking(pipe) => {
                self.wait_in_pipe(pipe, time, packet);
                None
            }
            Element::Channel(end) => {
                self.join_channel(end, time, packet);
                None
            }
            Element::Ping(PingEnd::Far) => Some(self.echo(time, &packet)),
            Element::Ping(PingEnd::Near) => {
                self.count_echo(time, &packet);
                None
            }
            // These are not special.
            Element::Link(_)
            | Element::Queue { .. }
            | Element::Private(_)
            | Element::Merge(_)
            | Element::SharedMerge(_)
            | Element::Receiver
            | Element::Receivers(_)
            | Element::Sender
            | Element::Senders(_)
            | Element::SharedSender
            | Element::Sink => Some(time),
        }
    }

    /// Counts an echo request that arrives; returns when its echo departs, which is the same packet.
    fn echo(&mut self, now: Time, packet: &Packet) -> Time {
        self.count_datagram(now, packet);
        now + self.hops[packet.hop as usize].delay
    }

    /// Counts an echo that comes back.
    fn count_echo(&mut self, now: Time, packet: &Packet) {
        self.pings.count_answered(packet.flow, packet.stamp, now, &self.measurement);
        if let Some(observers) = &mut self.observers {
            observers.echo(packet.flow, now, now - packet.stamp);
        }
    }

    /// Returns when a packet has been handled by the TCP process of a host.
    pub(super) fn process(&mut self, index: u32, now: Time, packet: Packet) -> Time {
        self.report_processed(index, now);
        let link = self.elements.processes[index as usize].link;
        self.report_arrival(link, now, &packet);
        let process = &mut self.elements.processes[index as usize].process;
        let end = process.arrive(now, &packet, &self.measurement);
        if let Some(observers) = &mut self.observers {
            observers.queue(link, now, process.packets());
            observers.left(end, link, &packet);
        }
        end
    }

    /// Returns whether a packet is lost before the link to which it comes, and counts it.
    pub(super) fn loses(&mut self, index: u32, now: Time, packet: Packet) -> bool {
        let slot = &mut self.elements.losses[index as usize];
        let lost = slot.process.loses(now, &packet);
        if lost {
            let index = self.measurement.index(now);
            slot.lost[index] += 1;
            let link = slot.link;
            if packet.kind.is_data() {
                let slot = &mut self.flows[packet.flow as usize];
                let counts = &mut self.accounts[slot.account as usize];
                counts.lost[index] += 1;
                counts.gone_of_warmup += self.measurement.carried_over(packet.stamp, now);
                self.note_gone(now, &packet);
            }
            if let Some(observers) = &mut self.observers {
                observers.dropped(now, link, &packet, true);
            }
        }
        lost
    }

    /// Returns when a packet that departs now arrives at the next hop; includes the flow's own delay, which the hop
    /// has.
    pub(super) fn cross_pipe(&mut self, pipe: u32, departure: Time, hop: u32) -> Time {
        self.elements.pipes[pipe as usize].arrival(departure) + self.hops[hop as usize].delay
    }
}
