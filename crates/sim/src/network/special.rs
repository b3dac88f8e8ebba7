//! Hops that few ways have: losses, pipes whose delay changes, processes of hosts. All are out of line.

use base::{Packet, PacketKind, Time};

use super::Network;

impl Network {
    /// Returns when a packet has been handled by the TCP process of a host.
    #[cold]
    #[inline(never)]
    pub(super) fn process(&mut self, index: u32, now: Time, packet: Packet) -> Time {
        self.report_processed(index, now);
        let link = self.elements.processes[index as usize].link;
        self.report_arrival(link, now, &packet);
        let process = &mut self.elements.processes[index as usize].process;
        let end = process.arrive(now, &packet, &self.phase);
        if let Some(observers) = &mut self.observers {
            observers.queue(link, now, process.packets());
            observers.left(end, link, &packet);
        }
        end
    }

    /// Returns whether a packet is lost before the link to which it comes, and counts it.
    #[cold]
    #[inline(never)]
    pub(super) fn loses(&mut self, index: u32, now: Time, packet: Packet) -> bool {
        let slot = &mut self.elements.losses[index as usize];
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

    /// Returns when a packet that departs now arrives at the next hop; includes the flow's own delay, which the hop has.
    #[cold]
    #[inline(never)]
    pub(super) fn cross_pipe(&mut self, pipe: u32, departure: Time, hop: u32) -> Time {
        self.elements.pipes[pipe as usize].arrival(departure) + self.hops[hop as usize].delay
    }
}
