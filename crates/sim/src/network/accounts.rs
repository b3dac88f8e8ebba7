//! Counters of links and losses that are not updated for every packet.

use base::{Histogram, Marks, Packet, Time};
use net::{LinkStatistics, Measurement};
use tcp::{LossCause, LossEvent, Recovered};

use super::Network;
use crate::classes::ClassRow;
use crate::delays::Delays;
use crate::flow::FlowSlot;
use crate::loss_log::Losses;
use crate::losses::LossSlot;
use crate::recovery::Repair;
use crate::route::LinkKind;
use crate::statistics::FlowStatistics;

/// Marks a packet in its bits, and counts it; returns whether its transport is ECN-capable.
pub(super) fn mark(
    packet: &mut Packet,
    now: Time,
    measurement: &Measurement,
    flows: &[FlowSlot],
    accounts: &mut [FlowStatistics],
) -> bool {
    let again = packet.marks.has(Marks::CE);
    let capable = packet.marks.mark();
    if capable {
        count_mark(packet, again, now, measurement, flows, accounts);
    }
    capable
}

/// Counts a packet that a queue marks, unless one before has marked it.
#[cold]
#[inline(never)]
pub(super) fn count_mark(
    packet: &Packet,
    again: bool,
    now: Time,
    measurement: &Measurement,
    flows: &[FlowSlot],
    accounts: &mut [FlowStatistics],
) {
    if packet.kind.is_data() && !again {
        let counts = &mut accounts[flows[packet.flow as usize].account as usize];
        counts.marked[measurement.index(now)] += 1;
        counts.marked_of_warmup += measurement.carried_over(packet.stamp, now);
    }
}

impl Network {
    /// Returns the counters of the links, in the order of the scenario, at the end of the run.
    pub(crate) fn link_statistics(&mut self) -> Vec<LinkStatistics> {
        for queue in &mut self.elements.queues {
            queue.close(&self.measurement);
        }
        let statistics = |(link, kind): (usize, &LinkKind)| match *kind {
            LinkKind::Link(index) => self.elements.links[index as usize].statistics(),
            LinkKind::Queue(index) => *self.elements.queues[index as usize].statistics(),
            LinkKind::Private => self.private_statistics(link),
            LinkKind::Process(index) => self.elements.processes[index as usize].process.statistics(),
            LinkKind::Channel(end) => {
                self.channels.as_ref().map_or_else(LinkStatistics::default, |all| all.statistics(end))
            }
        };
        let mut links: Vec<LinkStatistics> = self.link_kinds.iter().enumerate().map(statistics).collect();
        for LossSlot { link, lost, .. } in &self.elements.losses {
            let counted = &mut links[*link as usize];
            counted.lost = *lost;
            (counted.arrived[0], counted.arrived[1]) = (counted.arrived[0] + lost[0], counted.arrived[1] + lost[1]);
        }
        links
    }

    /// Returns what the links with classes counted of each class.
    pub(crate) fn class_rows(&self) -> Vec<ClassRow> {
        self.elements.class_rows()
    }

    /// Returns the distributions of delays at the end of the run, if they are measured.
    pub(crate) fn take_delays(&mut self) -> Option<Delays> {
        let flows = std::mem::take(&mut self.delays);
        let waits = || self.link_kinds.iter().enumerate().map(|(link, kind)| self.waits(link, *kind)).collect();
        (!flows.is_empty()).then(|| Delays { flows, waits: waits() })
    }

    /// Returns the waits at an element.
    fn waits(&self, link: usize, kind: LinkKind) -> Histogram {
        let elements = &self.elements;
        match kind {
            LinkKind::Link(index) => elements.links[index as usize].waits(),
            LinkKind::Queue(index) => elements.queues[index as usize].waits(),
            LinkKind::Private => {
                let groups = elements.private_groups.iter().filter(|group| group.link as usize == link);
                let mut all = Histogram::default();
                groups.for_each(|group| all.add(&group.links.waits()));
                all
            }
            LinkKind::Process(index) => elements.processes[index as usize].process.waits().clone(),
            LinkKind::Channel(end) => {
                self.channels.as_ref().map_or_else(Histogram::default, |all| all.waits(end).clone())
            }
        }
    }

    /// Returns the counters of all copies of a private link: sums, and the longest queue of any.
    fn private_statistics(&self, link: usize) -> LinkStatistics {
        let groups = self.elements.private_groups.iter().filter(|group| group.link as usize == link);
        let mut all = LinkStatistics::default();
        groups.for_each(|group| all.add(&group.links.statistics()));
        all
    }

    /// Counts a packet that a queue drops.
    #[cold]
    #[inline(never)]
    pub(crate) fn count_drop(&mut self, time: Time, packet: Packet) {
        if packet.kind.is_data() {
            let index = self.measurement.index(time);
            let slot = &mut self.flows[packet.flow as usize];
            let counts = &mut self.accounts[slot.account as usize];
            counts.dropped[index] += 1;
            counts.gone_of_warmup += self.measurement.carried_over(packet.stamp, time);
            if let (Some(source), 1) = (slot.source(), index) {
                // A retransmission that outlives its transfer does not count for the next one.
                if let Some(number) = packet.sequence.checked_sub(slot.receiver.first()) {
                    self.transfers.drop(source, number);
                }
            }
            self.loss_logs.of(&mut slot.loss_log).count_drop();
            self.note_gone(time, &packet);
        }
    }

    /// Records that a data packet is dropped, or lost on a link.
    pub(super) fn note_gone(&mut self, time: Time, packet: &Packet) {
        let slot = &mut self.flows[packet.flow as usize];
        let log = self.loss_logs.of(&mut slot.loss_log);
        if packet.sequence >= slot.receiver.first() {
            log.count_gone();
        }
        let not_spurious = log.on_drop(packet.sequence, packet.stamp, time);
        self.pings.count_lost(packet.flow, packet.stamp, &self.measurement);
        let Some(start) = not_spurious else { return };
        if self.measurement.index(start) == 1 {
            let counted = self.recoveries.get_mut(slot.account as usize);
            counted.into_iter().for_each(|counted| counted.spurious_fast_retransmits -= 1);
        }
        if let Some(observers) = &mut self.observers {
            observers.not_spurious(packet.flow, start);
        }
    }

    /// Forgets a flow's losses, as a transfer ends or begins, and returns their counters.
    #[inline(always)]
    pub(crate) fn forget_losses(&mut self, flow: u32) -> Losses {
        self.loss_logs.forget(&mut self.flows[flow as usize].loss_log)
    }

    /// Prefetches the log of a flow's losses, if there is one.
    #[inline(always)]
    pub(crate) fn prefetch_losses(&self, flow: u32) {
        self.flows[flow as usize].loss_log.into_iter().for_each(|log| self.loss_logs.prefetch(log));
    }

    /// Records that a sender detects a loss.
    pub(crate) fn on_loss(&mut self, flow: u32, now: Time, loss: LossEvent) {
        let index = self.measurement.index(now);
        let slot = &mut self.flows[flow as usize];
        let (counts, stalled) = (&mut self.accounts[slot.account as usize], now - slot.last_sent);
        let mut counted = self.recoveries.get_mut(slot.account as usize).filter(|_| index == 1);
        let spurious = self.loss_logs.of(&mut slot.loss_log).on_loss(now, loss, stalled, counted.as_deref_mut());
        if let Some(counted) = &mut counted {
            counted.begin(now, &loss);
        }
        let repair = match loss.cause {
            LossCause::Timeout => {
                counts.timeouts[index] += 1;
                counted.into_iter().for_each(|counted| counted.add_timeout(&loss, stalled));
                Some(Repair::timeout(loss, spurious, stalled))
            }
            LossCause::FastRetransmit => {
                counts.fast_retransmits[index] += 1;
                None
            }
        };
        if let Some(observers) = &mut self.observers {
            observers.loss(flow, now, loss, spurious);
            repair.iter().for_each(|repair| observers.repair(flow, now, *repair));
        }
    }

    /// Records a retransmission; all packets below `una` are acknowledged.
    pub(crate) fn on_retransmission(&mut self, flow: u32, now: Time, sequence: u64, una: u64) {
        let slot = &mut self.flows[flow as usize];
        self.accounts[slot.account as usize].retransmitted[self.measurement.index(now)] += 1;
        self.loss_logs.of(&mut slot.loss_log).on_retransmission(sequence, una, now);
    }

    /// Records that a fast recovery has succeeded.
    pub(crate) fn on_recovered(&mut self, flow: u32, now: Time, recovered: Recovered) {
        let slot = &mut self.flows[flow as usize];
        let counted = self.recoveries.get_mut(slot.account as usize).filter(|_| self.measurement.index(now) == 1);
        let repair = self.loss_logs.of(&mut slot.loss_log).on_recovered(now, recovered, counted);
        if let (Some(observers), Some(repair)) = (&mut self.observers, repair) {
            observers.repair(flow, now, repair);
        }
    }
}
