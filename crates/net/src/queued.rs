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
    /// The arriving one.
    Arriving,
    /// The last one of the lowest level that waits, if the arriving one is of a higher level and then finds room; else the
    /// arriving one.
    Lowest,
}

/// A link whose discipline may throw out a packet that waits, or let others go before it; so departures are events.
///
/// Packets may come at several levels, 0 the highest: each level is served in order, and only when no packet of a higher
/// level waits. A packet in transmission is not interrupted.
#[derive(Clone, Debug)]
pub struct QueuedLink {
    rate: Rate,
    buffer: Buffer,
    victim: Victim,
    red: Option<Red>,
    in_service: Option<InService>,
    /// Highest level first.
    waiting: VecDeque<Waiting>,
    /// The level of each, where there are several.
    levels: VecDeque<u8>,
    by_level: bool,
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
        let by_level = matches!(victim, Victim::Arriving | Victim::Lowest);
        QueuedLink {
            levels: VecDeque::new(),
            by_level,
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

    /// A packet arrives at a level; the packet that is thrown away for it, if any (perhaps itself).
    pub fn arrive(&mut self, now: Time, packet: Packet, level: u8, phase: &Phase) -> Option<Packet> {
        self.statistics.arrived[phase.index(now)] += 1;
        let load = self.load();
        let early = self.early_drop(now, &load);
        let full = !self.buffer.admits(&load, packet.bytes);
        let victim =
            if early || full { self.throw_out(now, packet, level, phase) } else { self.wait(now, packet, level) };
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

    #[inline(always)]
    fn wait(&mut self, now: Time, packet: Packet, level: u8) -> Option<Packet> {
        self.bytes_waiting += u64::from(packet.bytes);
        let waiting = Waiting { packet, since: now };
        if self.by_level {
            self.wait_at(level, waiting);
        } else {
            self.waiting.push_back(waiting);
        }
        None
    }

    #[cold]
    #[inline(never)]
    fn wait_at(&mut self, level: u8, waiting: Waiting) {
        let place = self.levels.partition_point(|&other| other <= level);
        self.levels.insert(place, level);
        self.waiting.insert(place, waiting);
    }

    fn throw_out(&mut self, now: Time, arriving: Packet, level: u8, phase: &Phase) -> Option<Packet> {
        let place = match &mut self.victim {
            Victim::Front => 0,
            Victim::Random(random) => random.below(self.waiting.len() + 1),
            Victim::Arriving => return Some(arriving),
            Victim::Lowest => match self.lower_last(&arriving, level) {
                Some(last) => last,
                None => return Some(arriving),
            },
        };
        let Some(thrown) = self.waiting.remove(place) else { return Some(arriving) };
        if self.by_level {
            self.levels.remove(place);
        }
        self.bytes_waiting -= u64::from(thrown.packet.bytes);
        self.statistics.in_link(thrown.since, now, phase);
        self.wait(now, arriving, level);
        Some(thrown.packet)
    }

    /// The last packet that waits, if it is of a lower level and its place is large enough for the arriving one.
    fn lower_last(&self, arriving: &Packet, level: u8) -> Option<usize> {
        let last = self.waiting.back()?;
        if *self.levels.back()? <= level {
            return None;
        }
        let mut load = self.load();
        load.packets -= 1;
        load.bytes -= u64::from(last.packet.bytes);
        self.buffer.admits(&load, arriving.bytes).then(|| self.waiting.len() - 1)
    }

    fn serve_next(&mut self, now: Time, phase: &Phase) {
        if self.in_service.is_some() {
            return;
        }
        let Some(Waiting { packet, since }) = self.waiting.pop_front() else { return };
        if self.by_level {
            self.levels.pop_front();
        }
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
        let thrown: Vec<_> = (0..5).filter_map(|n| link.arrive(Time::ZERO, packet(n), 0, &PHASE)).collect();
        assert_eq!(thrown.iter().map(|packet| packet.sequence).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(served(&mut link), [0, 3, 4]);
    }

    #[test]
    fn the_newcomer_goes_where_none_waits() {
        let mut link = link(1, Victim::Front);
        link.arrive(Time::ZERO, packet(0), 0, &PHASE);
        assert_eq!(link.arrive(Time::ZERO, packet(1), 0, &PHASE).map(|packet| packet.sequence), Some(1));
    }

    #[test]
    fn random_drop_draws_evenly_among_all_that_wait_and_the_newcomer() {
        let mut counts = [0_u32; 5];
        let random = RandomStream::named(1, 0, "link");
        let mut draws = link(5, Victim::Random(random));
        for _ in 0..20_000 {
            let mut fresh = link(5, draws.victim.clone());
            let thrown: Vec<_> = (0..6).filter_map(|n| fresh.arrive(Time::ZERO, packet(n), 0, &PHASE)).collect();
            counts[thrown[0].sequence as usize - 1] += 1;
            draws.victim = fresh.victim;
        }
        // 4000 expected each; four standard deviations are 226.
        assert!(counts.iter().all(|&count| count.abs_diff(4000) < 226), "{counts:?}");
    }
    #[test]
    fn a_higher_level_goes_first_but_interrupts_none() {
        let mut link = link(9, Victim::Arriving);
        for (sequence, level) in [(0, 2), (1, 2), (2, 1), (3, 0), (4, 1), (5, 2), (6, 0)] {
            assert_eq!(link.arrive(Time::ZERO, packet(sequence), level, &PHASE), None);
        }
        assert_eq!(served(&mut link), [0, 3, 6, 2, 4, 1, 5]);
    }

    #[test]
    fn at_a_full_buffer_the_arriving_packet_goes_or_the_last_of_the_lowest_level() {
        let arrivals = [(0, 1), (1, 1), (2, 0), (3, 1), (4, 0), (5, 0), (6, 0)];
        let thrown = |victim| -> (Vec<u64>, Vec<u64>) {
            let mut link = link(4, victim);
            let thrown = arrivals.iter().filter_map(|&(n, level)| link.arrive(Time::ZERO, packet(n), level, &PHASE));
            (thrown.map(|packet| packet.sequence).collect(), served(&mut link))
        };
        assert_eq!(thrown(Victim::Arriving), (vec![4, 5, 6], vec![0, 2, 1, 3]));
        // The packet in transmission is safe, whatever its level.
        assert_eq!(thrown(Victim::Lowest), (vec![3, 1, 6], vec![0, 2, 4, 5]));
    }

    #[test]
    fn none_is_pushed_out_for_a_packet_that_finds_no_room_then() {
        let buffer = Buffer::new(Limit::Bytes(2100), Counting::WithService);
        let mut link = QueuedLink::new(Rate::from_bits_per_second(8e6), buffer, Victim::Lowest, None);
        let small = |sequence| Packet { bytes: 100, ..packet(sequence) };
        for (packet, level) in [(packet(0), 1), (packet(1), 0), (small(2), 1)] {
            assert_eq!(link.arrive(Time::ZERO, packet, level, &PHASE), None);
        }
        assert_eq!(link.arrive(Time::ZERO, packet(3), 0, &PHASE).map(|packet| packet.sequence), Some(3));
        assert_eq!(link.arrive(Time::ZERO, small(4), 0, &PHASE).map(|packet| packet.sequence), Some(2));
        assert_eq!(served(&mut link), [0, 1, 4]);
    }

    /// Cobham 1954: without interruption a packet of level k waits R / ((1 - s_{k-1}) (1 - s_k)), with s_k the load of the levels
    /// down to k and R the mean rest of a service. Here 1 ms each, loads 0.3 and 0.5: R = 0.4 ms.
    #[test]
    fn mean_waits_are_cobhams() {
        let mut random = RandomStream::named(1, 0, "arrivals");
        let mut link = link(u64::MAX, Victim::Arriving);
        let (mut waits, mut counts, mut now) = ([0.0; 2], [0_u32; 2], 0.0);
        let mut came = Vec::new();
        for number in 0..1_000_000 {
            now += random.exponential(1e-3 / 0.8);
            let arrival = Time::from_seconds(now);
            while link.next_departure() <= arrival {
                let departure = link.next_departure();
                let packet = link.depart(departure, &PHASE).unwrap();
                let (since, level): (Time, usize) = came[packet.sequence as usize];
                waits[level] += (departure - since).seconds() - 1e-3;
                counts[level] += 1;
            }
            let level = usize::from(random.uniform() >= 0.3 / 0.8);
            came.push((arrival, level));
            link.arrive(arrival, packet(number), level as u8, &PHASE);
        }
        for (level, theory) in [0.4e-3 / 0.7, 0.4e-3 / (0.7 * 0.2)].into_iter().enumerate() {
            let mean = waits[level] / f64::from(counts[level]);
            // 1 % and 4 %: the queue of the lower level has a long memory.
            let tolerance = if level == 0 { 0.01 } else { 0.04 };
            assert!((mean / theory - 1.0).abs() < tolerance, "level {level}: {mean} s, {theory} s in theory");
        }
    }
}
