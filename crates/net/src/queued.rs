use base::{Packet, RandomStream, Rate, Time};
use std::collections::VecDeque;

use crate::buffer::{Buffer, Load};
use crate::red::{Red, RedVerdict};
use crate::statistics::{LinkStatistics, Phase};

/// Who goes when a packet must.
#[derive(Clone, Debug)]
pub enum Victim {
    /// The one that has waited longest; the arriving one where none waits.
    Front,
    /// One drawn among all that wait and the arriving one.
    Random(RandomStream),
}

/// A link whose discipline may throw out a packet that waits; so departures are events.
#[derive(Clone, Debug)]
pub struct QueuedLink {
    rate: Rate,
    buffer: Buffer,
    victim: Victim,
    red: Option<Red>,
    in_service: Option<InService>,
    waiting: VecDeque<Waiting>,
    bytes_waiting: u64,
    idle_since: Time,
    statistics: LinkStatistics,
}

#[derive(Clone, Copy, Debug)]
struct InService {
    packet: Packet,
    departure: Time,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    since: Time,
}

impl QueuedLink {
    /// An empty link; with `red`, packets may be dropped early.
    pub fn new(rate: Rate, buffer: Buffer, victim: Victim, red: Option<Red>) -> QueuedLink {
        QueuedLink {
            rate,
            buffer,
            victim,
            red,
            in_service: None,
            waiting: VecDeque::new(),
            bytes_waiting: 0,
            idle_since: Time::ZERO,
            statistics: LinkStatistics::default(),
        }
    }

    /// What it counted. Packets still waiting at the end of the run are told by [`QueuedLink::close`].
    pub fn statistics(&self) -> &LinkStatistics {
        &self.statistics
    }

    /// Packets in the link.
    pub fn packets(&self) -> u64 {
        self.waiting.len() as u64 + u64::from(self.in_service.is_some())
    }

    /// When the packet in transmission leaves.
    pub fn next_departure(&self) -> Time {
        self.in_service.map_or(Time::NEVER, |service| service.departure)
    }

    /// A packet arrives; the packet that is thrown away for it, if any (perhaps itself).
    pub fn arrive(&mut self, now: Time, packet: Packet, phase: &Phase) -> Option<Packet> {
        self.statistics.arrived[phase.index(now)] += 1;
        let load = self.load();
        let early = self.early_drop(now, &load);
        let full = !self.buffer.admits(&load, packet.bytes);
        let victim = if early || full { self.throw_out(now, packet, phase) } else { self.wait(now, packet) };
        if victim.is_some() {
            self.statistics.dropped[phase.index(now)] += 1;
        }
        self.serve_next(now, phase);
        self.statistics.observe_queue(self.packets(), now, phase);
        victim
    }

    /// The packet in transmission leaves, and the next begins.
    pub fn depart(&mut self, now: Time, phase: &Phase) -> Option<Packet> {
        let served = self.in_service.take()?;
        self.idle_since = now;
        self.serve_next(now, phase);
        Some(served.packet)
    }

    /// The run is over: what still waits counts until now.
    pub fn close(&mut self, phase: &Phase) {
        for waiting in &self.waiting {
            self.statistics.in_link(waiting.since, phase.end, phase);
        }
    }

    fn load(&self) -> Load {
        let bytes_in_service = self.in_service.map_or(0, |service| u64::from(service.packet.bytes));
        Load { packets: self.packets(), bytes: self.bytes_waiting + bytes_in_service, bytes_in_service }
    }

    fn early_drop(&mut self, now: Time, load: &Load) -> bool {
        let idle = (load.packets == 0).then(|| now - self.idle_since);
        let queue = self.buffer.counted_packets(load);
        self.red.as_mut().is_some_and(|red| red.on_arrival(queue, idle) == RedVerdict::Drop)
    }

    fn wait(&mut self, now: Time, packet: Packet) -> Option<Packet> {
        self.bytes_waiting += u64::from(packet.bytes);
        self.waiting.push_back(Waiting { packet, since: now });
        None
    }

    fn throw_out(&mut self, now: Time, arriving: Packet, phase: &Phase) -> Option<Packet> {
        let place = match &mut self.victim {
            Victim::Front => 0,
            Victim::Random(random) => random.below(self.waiting.len() + 1),
        };
        let Some(thrown) = self.waiting.remove(place) else { return Some(arriving) };
        self.bytes_waiting -= u64::from(thrown.packet.bytes);
        self.statistics.in_link(thrown.since, now, phase);
        self.wait(now, arriving);
        Some(thrown.packet)
    }

    fn serve_next(&mut self, now: Time, phase: &Phase) {
        if self.in_service.is_some() {
            return;
        }
        let Some(Waiting { packet, since }) = self.waiting.pop_front() else { return };
        self.bytes_waiting -= u64::from(packet.bytes);
        let departure = now + self.rate.service_time(packet.bytes);
        self.statistics.in_link(since, departure, phase);
        self.statistics.transmitted(now, departure, packet.bytes, phase);
        self.in_service = Some(InService { packet, departure });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::{Counting, Limit};

    const PHASE: Phase = Phase { warmup: Time::ZERO, end: Time::NEVER };

    fn link(limit: u64, victim: Victim) -> QueuedLink {
        let buffer = Buffer::new(Limit::Packets(limit), Counting::WithService);
        QueuedLink::new(Rate::from_bits_per_second(8e6), buffer, victim, None)
    }

    fn packet(sequence: u64) -> Packet {
        Packet { sequence, bytes: 1000, ..Packet::default() }
    }

    fn served(link: &mut QueuedLink) -> Vec<u64> {
        std::iter::from_fn(|| link.depart(link.next_departure(), &PHASE)).map(|packet| packet.sequence).collect()
    }

    #[test]
    fn drop_from_front_keeps_the_newcomer_and_spares_the_packet_in_transmission() {
        let mut link = link(3, Victim::Front);
        let thrown: Vec<_> = (0..5).filter_map(|n| link.arrive(Time::ZERO, packet(n), &PHASE)).collect();
        assert_eq!(thrown.iter().map(|packet| packet.sequence).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(served(&mut link), [0, 3, 4]);
    }

    #[test]
    fn the_newcomer_goes_where_none_waits() {
        let mut link = link(1, Victim::Front);
        link.arrive(Time::ZERO, packet(0), &PHASE);
        assert_eq!(link.arrive(Time::ZERO, packet(1), &PHASE).map(|packet| packet.sequence), Some(1));
    }

    #[test]
    fn random_drop_draws_evenly_among_all_that_wait_and_the_newcomer() {
        let mut counts = [0_u32; 5];
        let random = RandomStream::named(1, 0, "link");
        let mut draws = link(5, Victim::Random(random));
        for _ in 0..20_000 {
            let mut fresh = link(5, draws.victim.clone());
            let thrown: Vec<_> = (0..6).filter_map(|n| fresh.arrive(Time::ZERO, packet(n), &PHASE)).collect();
            counts[thrown[0].sequence as usize - 1] += 1;
            draws.victim = fresh.victim;
        }
        // 4000 expected each; four standard deviations are 226.
        assert!(counts.iter().all(|&count| count.abs_diff(4000) < 226), "{counts:?}");
    }
}
