//! What the network counts of links and losses; off the path of a packet.

use base::{Packet, PacketKind, Time};
use net::LinkStatistics;
use tcp::{Loss, LossCause};

use super::{FlowSlot, Network, Traffic};
use crate::losses::LossSlot;
use crate::recovery::{LossLog, RecoveryStatistics};
use crate::route::Place;

impl Network {
    /// What the links counted, in the order of the scenario; with the run's end applied.
    pub(crate) fn link_statistics(&mut self) -> Vec<LinkStatistics> {
        for queue in &mut self.queues {
            queue.close(&self.phase);
        }
        let statistics = |(link, place): (usize, &Place)| match *place {
            Place::Link(index) => self.links[index as usize].statistics(),
            Place::Queue(index) => *self.queues[index as usize].statistics(),
            Place::Private => self.private_statistics(link),
            Place::Process(index) => self.processes[index as usize].process.statistics(),
            Place::Channel(end) => {
                self.channels.as_ref().map_or_else(LinkStatistics::default, |all| all.statistics(end))
            }
        };
        let mut links: Vec<LinkStatistics> = self.places.iter().enumerate().map(statistics).collect();
        for LossSlot { link, lost, .. } in &self.losses {
            let counted = &mut links[*link as usize];
            counted.lost = *lost;
            (counted.arrived[0], counted.arrived[1]) = (counted.arrived[0] + lost[0], counted.arrived[1] + lost[1]);
        }
        links
    }

    /// Of all copies of a link: sums, and the longest queue of any.
    fn private_statistics(&self, link: usize) -> LinkStatistics {
        let groups = self.private_groups.iter().filter(|group| group.link as usize == link);
        let mut all = LinkStatistics::default();
        groups.for_each(|group| all.add(&group.links.statistics()));
        all
    }

    /// Of a packet that crosses hops of its own flow alone.
    #[cold]
    #[inline(never)]
    pub(super) fn count_own_drop(&mut self, time: Time, packet: &Packet) {
        self.count_drop(self.flow_of(packet), time, packet);
    }

    #[cold]
    pub(crate) fn count_drop(&mut self, flow: u32, time: Time, packet: &Packet) {
        if packet.kind != PacketKind::Ack {
            let index = self.phase.index(time);
            self.flows[flow as usize].rare.dropped[index] += 1;
            if let (Traffic::Transfers(source), 1) = (self.flows[flow as usize].traffic, index) {
                self.transfers.drop(source, packet.sequence);
            }
            self.loss_log(flow).on_drop(packet.sequence, packet.stamp, time);
        }
    }

    pub(crate) fn loss_log(&mut self, flow: u32) -> &mut LossLog {
        self.flows[flow as usize].loss_log.get_or_insert_with(Box::default)
    }

    /// The sender takes a packet for lost; it had last sent at `last_sent`.
    pub(crate) fn on_loss(&mut self, flow: u32, now: Time, loss: Loss, last_sent: Time) {
        let measured = self.phase.index(now) == 1;
        let statistics = self.flows[flow as usize].statistics();
        let log = self.loss_log(flow);
        let spurious = log.on_loss(now, loss, &statistics, measured);
        let repair =
            (loss.cause == LossCause::Timeout).then(|| log.on_timeout(now, loss, spurious, last_sent, measured));
        if let Some(observers) = &mut self.observers {
            observers.loss(flow, now, loss, spurious);
            repair.iter().for_each(|repair| observers.repair(flow, now, *repair));
        }
    }

    /// A fast recovery has succeeded; its last ACK let so many packets out, `resent` of them not for the first time.
    pub(crate) fn on_recovered(&mut self, flow: u32, now: Time, sent: u64, resent: u64) {
        let measured = self.phase.index(now) == 1;
        let statistics = self.flows[flow as usize].statistics();
        let repair = self.loss_log(flow).on_recovered(now, (sent, resent), &statistics, measured);
        if let (Traffic::Transfers(source), Some(repair)) = (self.flows[flow as usize].traffic, repair) {
            self.transfers.recover(source, repair.retransmissions);
        }
        if let (Some(observers), Some(repair)) = (&mut self.observers, repair) {
            observers.repair(flow, now, repair);
        }
    }

    /// What the flows counted of their losses, in their order.
    pub(crate) fn recovery_statistics(&self) -> Vec<RecoveryStatistics> {
        let statistics = |slot: &FlowSlot| slot.loss_log.as_ref().map_or_else(Default::default, |log| log.statistics);
        self.flows.iter().map(statistics).collect()
    }
}
