use base::{Clock, Histogram, Packet, RandomStream, Rate, Time};

use crate::buffer::Buffer;
use crate::queue::{Discipline, Queue, Signal, Transmitter, Waiting};
use crate::rate::RateProcess;
use crate::sampling::LinkSample;
use crate::statistics::{LinkStatistics, Measurement};

/// A link whose discipline may drop a waiting packet, or let others overtake it; so departures are events.
///
/// Packets may arrive at several priority levels, 0 the highest. A packet in transmission is neither interrupted nor
/// dropped.
#[derive(Clone, Debug)]
pub struct QueuedLink {
    rate: Rate,
    queue: Queue,
    in_transmission: Option<InTransmission>,
    /// The last departure.
    idle_since: Time,
    statistics: LinkStatistics,
    /// Instant from which on waits are measured.
    waits_from: Time,
    waits: Histogram,
    /// The service in place of `rate`, if the rate changes.
    process: Option<Box<RateProcess>>,
}

#[derive(Clone, Copy, Debug)]
struct InTransmission {
    packet: Packet,
    departure: Time,
}

impl QueuedLink {
    /// Returns an empty link.
    pub fn new(rate: Rate, buffer: Buffer, discipline: &Discipline, clock: Clock, random: RandomStream) -> QueuedLink {
        QueuedLink {
            rate,
            queue: Queue::new(discipline, buffer, rate, clock, random),
            in_transmission: None,
            idle_since: Time::ZERO,
            statistics: LinkStatistics::default(),
            waits_from: Time::NEVER,
            waits: Histogram::default(),
            process: None,
        }
    }

    /// Returns the link with a rate that changes; what is made from its rate, such as the time scale of an AQM, stays so.
    pub fn with_rate_process(self, process: Option<RateProcess>) -> QueuedLink {
        QueuedLink { process: process.map(Box::new), ..self }
    }

    /// Lets the link measure waits, from a packet's arrival until its transmission begins, of the packets that arrive
    /// from the end of the warm-up on.
    pub fn measure_waits(&mut self, warmup: Time) {
        self.waits_from = warmup;
    }

    /// Returns the waits of the packets that arrived in the measured part and whose transmission has begun.
    pub fn waits(&self) -> &Histogram {
        &self.waits
    }

    /// Returns the counters. [`QueuedLink::close`] adds the packets that wait at the end of the run.
    pub fn statistics(&self) -> &LinkStatistics {
        &self.statistics
    }

    /// Returns the number of packets in the link.
    pub fn packets(&self) -> u64 {
        self.queue.len() as u64 + u64::from(self.in_transmission.is_some())
    }

    /// Returns the departure of the packet in transmission.
    pub fn next_departure(&self) -> Time {
        self.in_transmission.map_or(Time::NEVER, |sent| sent.departure)
    }

    /// Handles the arrival of a packet at a level, and reports each packet that is marked or dropped, perhaps itself.
    pub fn arrive(
        &mut self,
        now: Time,
        packet: Packet,
        level: u8,
        measurement: &Measurement,
        signalled: &mut impl FnMut(Signal, Packet),
    ) {
        self.statistics.arrived[measurement.index(now)] += 1;
        let transmitter = match self.in_transmission {
            Some(sent) => Transmitter::Busy { bytes: sent.packet.bytes },
            None => Transmitter::Idle { since: self.idle_since },
        };
        let arriving = Waiting { packet, since: now };
        self.queue.enqueue(
            arriving,
            level,
            transmitter,
            &mut counted(&mut self.statistics, now, measurement, signalled),
        );
        self.transmit_next(now, measurement, signalled);
        self.statistics.observe_queue(self.packets(), now, measurement);
    }

    /// Ends the transmission of a packet, which is returned, and begins the next one; reports each packet that is
    /// marked or dropped.
    pub fn depart(
        &mut self,
        now: Time,
        measurement: &Measurement,
        signalled: &mut impl FnMut(Signal, Packet),
    ) -> Option<Packet> {
        let sent = self.in_transmission.take()?;
        self.idle_since = now;
        self.transmit_next(now, measurement, signalled);
        Some(sent.packet)
    }

    /// Counts the packets that wait at the end of the run.
    pub fn close(&mut self, measurement: &Measurement) {
        for waiting in self.queue.iter() {
            self.statistics.in_link(waiting.since, measurement.end, measurement);
        }
    }

    /// Returns the counters at an instant, before all that happens then: what was counted for later is taken off.
    pub fn sample(&self, instant: Time, measurement: &Measurement) -> LinkSample {
        let mut sample = LinkSample::of(&self.statistics);
        if let Some(sent) = &self.in_transmission {
            let later = sent.departure.min(measurement.end) - instant;
            sample.queue_area -= u128::from(later.ticks());
            sample.busy -= u128::from(later.ticks());
            if sent.departure <= measurement.end {
                sample.departed_bytes -= u64::from(sent.packet.bytes);
            }
        }
        for waiting in self.queue.iter() {
            sample.queue_area += u128::from((instant - waiting.since.max(measurement.warmup)).ticks());
        }
        sample
    }

    fn transmit_next(&mut self, now: Time, measurement: &Measurement, signalled: &mut impl FnMut(Signal, Packet)) {
        if self.in_transmission.is_some() {
            return;
        }
        let next = self.queue.dequeue(now, &mut counted(&mut self.statistics, now, measurement, signalled));
        let Some(Waiting { packet, since }) = next else { return };
        if self.idle_since < now {
            self.rate.restart();
        }
        let departure = match &mut self.process {
            None => now + self.rate.service_time(packet.bytes),
            Some(process) => process.departure(since, now, packet.bytes),
        };
        if since >= self.waits_from {
            self.waits.record(now - since);
        }
        self.statistics.in_link(since, departure, measurement);
        self.statistics.transmitted(now, departure, packet.bytes, measurement);
        self.in_transmission = Some(InTransmission { packet, departure });
    }
}

/// Returns a function that counts a marked or dropped packet and reports it.
fn counted<'a>(
    statistics: &'a mut LinkStatistics,
    now: Time,
    measurement: &'a Measurement,
    signalled: &'a mut impl FnMut(Signal, Packet),
) -> impl FnMut(Signal, Waiting) + 'a {
    move |signal, waiting| {
        match signal {
            Signal::Marked => statistics.marked[measurement.index(now)] += 1,
            Signal::Dropped => {
                statistics.drop_later(waiting.since, now, measurement);
                statistics.in_link(waiting.since, now, measurement);
            }
        }
        signalled(signal, waiting.packet);
    }
}

#[cfg(test)]
mod tests {
    use base::cast::to_index;
    use base::Marks;

    use super::*;
    use crate::buffer::{BufferLimit, Counting};
    use crate::queue::{AqmConfig, Overflow, RedConfig, RedEcn, SchedulerConfig};

    const MEASUREMENT: Measurement = Measurement { warmup: Time::ZERO, end: Time::NEVER };
    const FRONT: Discipline = Discipline { overflow: Overflow::Front, ..Discipline::DROP_TAIL };
    const RANDOM: Discipline = Discipline { overflow: Overflow::Random, ..Discipline::DROP_TAIL };

    fn priority(overflow: Overflow) -> Discipline {
        Discipline::new(SchedulerConfig::Priority { levels: 3 }, AqmConfig::None {}, overflow)
    }

    fn seeded(limit: Option<BufferLimit>, discipline: &Discipline, seed: u64) -> QueuedLink {
        // 1000 bytes take 1 ms.
        let (rate, buffer) = (Rate::new(8e6, Clock::PICOSECONDS), Buffer::new(limit, Counting::WithService));
        QueuedLink::new(rate, buffer, discipline, Clock::PICOSECONDS, RandomStream::named(seed, 0, "link"))
    }

    fn link(limit: u64, discipline: &Discipline) -> QueuedLink {
        seeded(Some(BufferLimit::Packets(limit)), discipline, 1)
    }

    fn packet(sequence: u64) -> Packet {
        Packet { sequence, bytes: 1000, ..Packet::default() }
    }

    /// Returns the numbers of the packets that are dropped when a packet arrives.
    fn arrive(link: &mut QueuedLink, packet: Packet, level: u8) -> Vec<u64> {
        let mut dropped = Vec::new();
        link.arrive(Time::ZERO, packet, level, &MEASUREMENT, &mut |_, packet| dropped.push(packet.sequence));
        dropped
    }

    /// Returns the numbers of the dropped packets when several arrive, given as numbers and levels.
    fn arrive_all(link: &mut QueuedLink, packets: &[(u64, u8)]) -> Vec<u64> {
        packets.iter().flat_map(|&(number, level)| arrive(link, packet(number), level)).collect()
    }

    fn transmitted(link: &mut QueuedLink) -> Vec<u64> {
        let next = || link.depart(link.next_departure(), &MEASUREMENT, &mut |_, _| panic!("nothing is dropped"));
        std::iter::from_fn(next).map(|packet| packet.sequence).collect()
    }

    /// A mark is of the arriving packet, whatever packet the overflow rule drops.
    #[test]
    fn an_early_signal_marks_a_capable_packet_and_drops_for_another_one() {
        let red =
            RedConfig { weight: 1.0, min_threshold_packets: 0.0, max_threshold_packets: 1.0, ..RedConfig::TYPICAL };
        let aqm = AqmConfig::Red(RedConfig { gentle: false, ecn: RedEcn::All, ..red });
        let mut link = link(9, &Discipline { aqm, ..FRONT });
        let mut signals = Vec::new();
        for (number, marks) in [(0, Marks::ECT), (1, Marks::ECT), (2, Marks::NONE), (3, Marks::ECT)] {
            let packet = Packet { marks, ..packet(number) };
            link.arrive(Time::ZERO, packet, 0, &MEASUREMENT, &mut |signal, packet| signals.push((signal, packet)));
        }
        let found: Vec<_> = signals.iter().map(|(signal, packet)| (*signal, packet.sequence)).collect();
        assert_eq!(found, [(Signal::Marked, 1), (Signal::Dropped, 1), (Signal::Marked, 3)]);
        assert!(signals[0].1.marks.has(Marks::CE));
        assert_eq!((link.statistics().marked, link.statistics().dropped), ([0, 2], [0, 1]));
        assert_eq!(transmitted(&mut link), [0, 2, 3]);
    }

    #[test]
    fn drop_from_front_keeps_the_newcomer_and_spares_the_packet_in_transmission() {
        let mut link = link(3, &FRONT);
        assert_eq!(arrive_all(&mut link, &[(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]), [1, 2]);
        assert_eq!(transmitted(&mut link), [0, 3, 4]);
    }

    #[test]
    fn drop_from_front_drops_the_newcomer_where_none_waits() {
        let mut link = link(1, &FRONT);
        assert_eq!(arrive_all(&mut link, &[(0, 0), (1, 0)]), [1]);
    }

    #[test]
    fn drop_from_front_drops_the_oldest_packet_of_any_level() {
        let mut link = link(3, &priority(Overflow::Front));
        let mut dropped = Vec::new();
        for (number, level) in [(0, 0), (1, 2), (2, 0), (3, 1), (4, 0)] {
            let now = Time::from_ticks(number);
            link.arrive(now, packet(number), level, &MEASUREMENT, &mut |_, packet| dropped.push(packet.sequence));
        }
        assert_eq!(dropped, [1, 2]);
        assert_eq!(transmitted(&mut link), [0, 4, 3]);
    }

    #[test]
    fn random_drop_draws_evenly_among_all_waiting_packets_and_the_newcomer() {
        let mut counts = [0_u32; 5];
        for seed in 0..20_000 {
            let mut link = seeded(Some(BufferLimit::Packets(5)), &RANDOM, seed);
            let dropped = arrive_all(&mut link, &[(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]);
            counts[to_index(dropped[0]) - 1] += 1;
        }
        // 4000 expected each; four standard deviations are 226.
        assert!(counts.iter().all(|&count| count.abs_diff(4000) < 226), "{counts:?}");
    }

    #[test]
    fn a_higher_level_goes_first_but_interrupts_none() {
        let mut link = link(9, &priority(Overflow::Arriving));
        let arrivals = [(0, 2), (1, 2), (2, 1), (3, 0), (4, 1), (5, 2), (6, 0)];
        assert_eq!(arrive_all(&mut link, &arrivals), []);
        assert_eq!(transmitted(&mut link), [0, 3, 6, 2, 4, 1, 5]);
    }

    #[test]
    fn a_full_buffer_drops_the_arriving_packet_or_the_last_of_the_lowest_level() {
        let arrivals = [(0, 1), (1, 1), (2, 0), (3, 1), (4, 0), (5, 0), (6, 0)];
        let fates = |overflow| -> (Vec<u64>, Vec<u64>) {
            let mut link = link(4, &priority(overflow));
            (arrive_all(&mut link, &arrivals), transmitted(&mut link))
        };
        assert_eq!(fates(Overflow::Arriving), (vec![4, 5, 6], vec![0, 2, 1, 3]));
        // The packet in transmission is safe, whatever its level.
        assert_eq!(fates(Overflow::Lowest), (vec![3, 1, 6], vec![0, 2, 4, 5]));
    }

    #[test]
    fn waits_are_those_of_the_transmitted_packets() {
        let mut link = link(4, &priority(Overflow::Lowest));
        link.measure_waits(Time::ZERO);
        arrive_all(&mut link, &[(0, 1), (1, 1), (2, 0), (3, 1), (4, 0)]);
        assert_eq!(transmitted(&mut link), [0, 2, 4, 1]);
        let milliseconds = |duration: Time| duration.ticks() / 1_000_000_000;
        let counts: Vec<u64> = link.waits().buckets().map(|(_, count)| count).collect();
        assert_eq!((counts, milliseconds(link.waits().longest())), (vec![1, 1, 1, 1], 3));
        // A packet that arrived before the measured part does not count.
        link.measure_waits(Clock::PICOSECONDS.time(1.0));
        arrive_all(&mut link, &[(5, 0)]);
        assert_eq!((transmitted(&mut link), link.waits().total()), (vec![5], 4));
    }

    #[test]
    fn none_is_pushed_out_for_a_packet_that_finds_no_room_then() {
        let mut link = seeded(Some(BufferLimit::Bytes(2100)), &priority(Overflow::Lowest), 1);
        let small = |sequence| Packet { bytes: 100, ..packet(sequence) };
        for (packet, level) in [(packet(0), 1), (packet(1), 0), (small(2), 1)] {
            assert_eq!(arrive(&mut link, packet, level), []);
        }
        assert_eq!(arrive(&mut link, packet(3), 0), [3]);
        assert_eq!(arrive(&mut link, small(4), 0), [2]);
        assert_eq!(transmitted(&mut link), [0, 1, 4]);
    }

    #[test]
    fn an_aqm_drops_several_packets_as_their_turn_comes() {
        let mut link = link(9, &Discipline::DROP_TAIL);
        link.queue.be_impatient(Clock::PICOSECONDS.time(1.5e-3));
        assert_eq!(arrive_all(&mut link, &[(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]), []);
        let mut fates = Vec::new();
        while link.packets() > 0 {
            let mut dropped = Vec::new();
            let sent = link.depart(link.next_departure(), &MEASUREMENT, &mut |_, packet| dropped.push(packet.sequence));
            fates.push((sent.map(|packet| packet.sequence), dropped));
        }
        assert_eq!(fates, [(Some(0), vec![]), (Some(1), vec![2, 3]), (Some(4), vec![])]);
        let counted = link.statistics();
        assert_eq!((counted.arrived, counted.dropped, counted.departed), ([0, 5], [0, 2], [0, 3]));
        // Departures at 1, 2 and 3 ms; the dropped ones have waited for 2 ms each.
        assert_eq!(counted.queue_area, u128::from(Clock::PICOSECONDS.time(10e-3).ticks()));
    }

    /// Cobham 1954: without interruption a packet of level k waits R / ((1 - s_{k-1}) (1 - s_k)), with s_k the load of
    /// the levels down to k and R the mean rest of a service. Here 1 ms each, loads 0.3 and 0.5: R = 0.4 ms.
    #[test]
    fn mean_waits_are_cobhams() {
        let mut random = RandomStream::named(1, 0, "arrivals");
        let mut link = link(u64::MAX, &priority(Overflow::Arriving));
        let (mut waits, mut counts, mut now) = ([0.0; 2], [0_u32; 2], 0.0);
        let mut came = Vec::new();
        for number in 0..1_000_000 {
            now += random.exponential(1e-3 / 0.8);
            let arrival = Clock::PICOSECONDS.time(now);
            while link.next_departure() <= arrival {
                let departure = link.next_departure();
                let packet = link.depart(departure, &MEASUREMENT, &mut |_, _| {}).unwrap();
                let (since, level): (Time, u8) = came[to_index(packet.sequence)];
                waits[usize::from(level)] += Clock::PICOSECONDS.seconds(departure - since) - 1e-3;
                counts[usize::from(level)] += 1;
            }
            let level = u8::from(random.uniform() >= 0.3 / 0.8);
            came.push((arrival, level));
            link.arrive(arrival, packet(number), level, &MEASUREMENT, &mut |_, _| {});
        }
        for (level, theory) in [0.4e-3 / 0.7, 0.4e-3 / (0.7 * 0.2)].into_iter().enumerate() {
            let mean = waits[level] / f64::from(counts[level]);
            // 1 % and 4 %: the queue of the lower level has a long memory.
            let tolerance = if level == 0 { 0.01 } else { 0.04 };
            assert!((mean / theory - 1.0).abs() < tolerance, "level {level}: {mean} s, {theory} s in theory");
        }
    }
}
