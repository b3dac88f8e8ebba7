#[cfg(test)]
mod tests;

use base::{Clock, Histogram, RandomStream, Rate, Ring, Time};

use crate::buffer::{Buffer, Occupancy};
use crate::queue::{Aqm, AqmState, Arriving, Cause, Discipline, Verdict};
use crate::rate::RateProcess;
use crate::sampling::{batch_end, LinkSample, BATCHES};
use crate::statistics::{LinkStatistics, Measurement};

/// A link whose packets' departures are known on arrival: first in, first out, and no waiting packet is dropped.
///
/// `departure = max(now, last departure) + size / rate` (Lindley), so a packet costs arithmetic and no event.
/// Arrivals must come in order of time; they may be ahead of the simulation's clock.
///
/// Fields are ordered by use, and those of each packet begin a cache line: in the compiler's own order a packet on a path
/// of ten nodes costs 5% more, and off the lines up to 60% more, as memory happens to lie.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Link {
    /// The packet enqueued last.
    last: Enqueued,
    /// Part of the queue area that the packets in `passed` have.
    passed_area: u128,
    /// The packets in the link before the last one, the one in transmission first.
    before_last: Ring<Enqueued>,
    bytes_before_last: u64,
    latest: Size,
    /// First departure that is too late for `passed`: behind the end of the current batch, or of the run; zero in the
    /// warm-up.
    horizon: Time,
    /// Packets of the latest size that arrived and departed in the measured part and are not in `statistics` yet.
    passed: u64,
    buffer: Buffer,
    aqm: Option<Box<Aqm>>,
    /// Instant from which on waits are measured.
    waits_from: Time,
    /// The waits that are not zero.
    waits: Histogram,
    statistics: LinkStatistics,
    rate: Rate,
    /// The size before the latest one: where ACKs report blocks, two sizes often alternate.
    before_latest: Size,
    /// End of the current batch; [`Time::NEVER`] if batches are not counted.
    batch_end: Time,
    /// Packets that arrived before the end of the current batch, and depart after it.
    beyond: Vec<Enqueued>,
    /// Counters at the end of each batch so far.
    samples: Vec<LinkSample>,
    /// The service in place of `rate`, if the rate changes.
    process: Option<Box<RateProcess>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Enqueued {
    departure: Time,
    bytes: u16,
}

// A power of two, so that a shift of its index finds a link.
const _: () = assert!(size_of::<Link>() == 512);

/// A packet size whose service time is a whole number of ticks, and that time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    pub(crate) service: Time,
    pub(crate) bytes: u16,
}

impl Size {
    /// Returns a size with its service time at a rate; `None` if that is not a whole number of ticks.
    pub(crate) fn of(bytes: u16, rate: &Rate) -> Option<Size> {
        let (service, part) = rate.exact_service_time(bytes);
        (part == 0).then_some(Size { service, bytes })
    }
}

impl Link {
    /// Returns an empty link. As no waiting packet is overtaken or dropped, only the AQM of the discipline acts.
    pub fn new(rate: Rate, buffer: Buffer, discipline: &Discipline, clock: Clock, random: RandomStream) -> Link {
        Link {
            last: Enqueued::default(),
            before_last: Ring::default(),
            bytes_before_last: 0,
            latest: Size::default(),
            before_latest: Size::default(),
            horizon: Time::ZERO,
            rate,
            buffer,
            aqm: discipline.aqm.build(rate, clock, random).map(Box::new),
            passed: 0,
            passed_area: 0,
            batch_end: Time::NEVER,
            beyond: Vec::new(),
            samples: Vec::new(),
            statistics: LinkStatistics::default(),
            waits_from: Time::NEVER,
            waits: Histogram::default(),
            process: None,
        }
    }

    /// Returns the link with a rate that changes; what is made from its rate, such as the time scale of an AQM, stays so.
    pub fn with_rate_process(self, process: Option<RateProcess>) -> Link {
        Link { process: process.map(Box::new), ..self }
    }

    /// Lets the link measure waits, from a packet's arrival until its transmission begins, of the packets that arrive
    /// from the end of the warm-up on.
    pub fn measure_waits(&mut self, warmup: Time) {
        self.waits_from = warmup;
    }

    /// Returns the state of the AQM, if there is one.
    pub fn aqm_state(&self) -> Option<AqmState> {
        self.aqm.as_ref().map(|aqm| aqm.state())
    }

    /// Returns the waits of the packets that arrived in the measured part and were not dropped.
    pub fn waits(&self) -> Histogram {
        self.statistics().with_zeros(&self.waits)
    }

    /// Counts batches of the measured part from now on, before the first arrival.
    pub fn count_batches(&mut self, measurement: &Measurement) {
        self.batch_end = batch_end(1, measurement);
    }

    /// Returns the counters at the end of each batch, after the last arrival.
    pub fn batches(&mut self, measurement: &Measurement) -> Vec<LinkSample> {
        self.end_batches(measurement.end, measurement);
        let mut samples = std::mem::take(&mut self.samples);
        samples.push(LinkSample::of(&self.statistics()));
        samples
    }

    /// Ends the batches that end at `now` or before, before what arrives then is counted.
    fn end_batches(&mut self, now: Time, measurement: &Measurement) {
        while now >= self.batch_end {
            self.samples.push(self.sample(measurement));
            let next = self.samples.len() as u64 + 1;
            self.batch_end = if next < BATCHES { batch_end(next, measurement) } else { Time::NEVER };
            let end = self.batch_end;
            self.beyond.retain(|packet| packet.departure > end);
        }
    }

    /// Returns the counters at the end of the current batch: what was counted on arrival for later is taken off.
    fn sample(&self, measurement: &Measurement) -> LinkSample {
        let mut sample = LinkSample::of(&self.statistics());
        for packet in &self.beyond {
            let later = packet.departure.min(measurement.end) - self.batch_end;
            sample.queue_area -= u128::from(later.ticks());
            if packet.departure <= measurement.end {
                sample.departed_bytes -= u64::from(packet.bytes);
            }
        }
        let last = self.beyond.last().map_or(Time::ZERO, |packet| packet.departure.min(measurement.end));
        sample.busy -= u128::from((last - self.batch_end).ticks());
        sample
    }

    /// Returns the counters.
    pub fn statistics(&self) -> LinkStatistics {
        let mut statistics = self.statistics;
        statistics.pass(self.passed, self.latest, self.passed_area);
        statistics
    }

    /// Returns whether an AQM may mark or drop arriving packets.
    #[inline(always)]
    pub fn has_aqm(&self) -> bool {
        self.aqm.is_some()
    }

    /// Returns the number of packets in the link after the last arrival.
    pub fn packets(&self) -> u64 {
        self.before_last.len() as u64 + u64::from(self.last.departure > Time::ZERO)
    }

    /// Returns the departures after the last arrival, in order.
    pub fn departures(&self) -> impl Iterator<Item = Time> + '_ {
        let last = Some(self.last.departure).filter(|&departure| departure > Time::ZERO);
        self.before_last.iter().map(|enqueued| enqueued.departure).chain(last)
    }

    /// Handles the arrival of a packet of `bytes`; returns its departure, `None` if it is dropped. Where the AQM marks,
    /// `mark` marks the packet, and says whether its transport is ECN-capable.
    #[inline(always)]
    pub fn arrive(
        &mut self,
        now: Time,
        bytes: u16,
        measurement: &Measurement,
        mark: impl FnOnce() -> bool,
    ) -> Option<Time> {
        self.take::<true>(now, bytes, measurement, mark)
    }

    /// Handles the arrival of a packet of `bytes` at a link without AQM ([`Link::has_aqm`]), as [`Link::arrive`] does.
    #[inline(always)]
    pub fn arrive_without_aqm(&mut self, now: Time, bytes: u16, measurement: &Measurement) -> Option<Time> {
        self.take::<false>(now, bytes, measurement, || false)
    }

    #[inline(always)]
    fn take<const AQM: bool>(
        &mut self,
        now: Time,
        bytes: u16,
        measurement: &Measurement,
        mark: impl FnOnce() -> bool,
    ) -> Option<Time> {
        let mut start = now;
        if self.last.departure > now {
            self.remove_departed(now);
            let held = self.occupancy();
            let has_room = self.buffer.admits(&held, bytes);
            let refused = AQM && self.aqm.is_some() && self.drops_early(now, bytes, &held, has_room, measurement, mark);
            if refused || !has_room {
                return self.drop_arriving(if refused { Cause::Aqm } else { Cause::Buffer }, now, measurement);
            }
            self.statistics.observe_queue(held.packets + 1, now, measurement);
            self.before_last.push(self.last);
            self.bytes_before_last += u64::from(self.last.bytes);
            start = self.last.departure;
            if now >= self.waits_from {
                self.waits.record(start - now);
            }
        } else {
            self.before_last.clear();
            self.bytes_before_last = 0;
            if AQM && self.aqm.is_some() && self.drops_early(now, bytes, &Occupancy::default(), true, measurement, mark)
            {
                return self.drop_arriving(Cause::Aqm, now, measurement);
            }
        }
        if bytes != self.latest.bytes && !self.change_size(bytes) {
            return Some(self.transmit_in_parts(now, start, bytes, measurement));
        }
        let departure = start + self.latest.service;
        self.last = Enqueued { departure, bytes };
        if departure < self.horizon {
            self.passed += 1;
            self.passed_area += u128::from(departure.since(now));
        } else {
            self.count_at_boundary(now, start, measurement);
        }
        Some(departure)
    }

    /// Adds the passed packets of the old size to the statistics, and takes a new size if its service time is a whole
    /// number of ticks; returns whether it is.
    #[cold]
    #[inline(never)]
    fn change_size(&mut self, bytes: u16) -> bool {
        // Where the rate changes, no size has one service time.
        if self.process.is_some() {
            return false;
        }
        if bytes != self.before_latest.bytes {
            let Some(size) = Size::of(bytes, &self.rate) else { return false };
            self.before_latest = size;
        }
        self.statistics.pass(self.passed, self.latest, self.passed_area);
        (self.passed, self.passed_area) = (0, 0);
        std::mem::swap(&mut self.latest, &mut self.before_latest);
        true
    }

    /// Transmits a packet whose service time is not a whole number of ticks, or of a rate that changes; returns its
    /// departure. What is left of a tick goes to the next such packet, unless the link is idle then.
    #[cold]
    #[inline(never)]
    fn transmit_in_parts(&mut self, now: Time, start: Time, bytes: u16, measurement: &Measurement) -> Time {
        if self.last.departure < now {
            self.rate.restart();
        }
        let departure = match &mut self.process {
            None => start + self.rate.service_time(bytes),
            Some(process) => process.departure(now, start, bytes),
        };
        self.last = Enqueued { departure, bytes };
        self.count_at_boundary(now, start, measurement);
        departure
    }

    /// Counts the last packet, which arrives or departs outside the measured part, departs after the current batch, is
    /// the first one of either, or has a service time that is not a whole number of ticks.
    #[cold]
    #[inline(never)]
    fn count_at_boundary(&mut self, now: Time, start: Time, measurement: &Measurement) {
        self.end_batches(now, measurement);
        if now >= measurement.warmup {
            self.horizon = self.batch_end.min(measurement.end) + Time::TICK;
        }
        if self.last.departure > self.batch_end {
            self.beyond.push(self.last);
        }
        let Enqueued { departure, bytes } = self.last;
        self.statistics.arrived[measurement.index(now)] += 1;
        self.statistics.in_link(now, departure, measurement);
        self.statistics.transmitted(start, departure, bytes, measurement);
        self.statistics.observe_queue(1, now, measurement);
    }

    #[cold]
    #[inline(never)]
    fn drop_arriving(&mut self, cause: Cause, now: Time, measurement: &Measurement) -> Option<Time> {
        self.end_batches(now, measurement);
        if let Some(aqm) = &mut self.aqm {
            aqm.algorithm().on_drop(now);
        }
        self.statistics.arrived[measurement.index(now)] += 1;
        self.statistics.dropped[measurement.index(now)] += 1;
        self.statistics.drop_by(cause, now, measurement);
        None
    }

    /// Removes the packets that have departed. A departure precedes an arrival at the same instant.
    #[inline(always)]
    fn remove_departed(&mut self, now: Time) {
        while let Some(first) = self.before_last.front() {
            if first.departure > now {
                break;
            }
            self.bytes_before_last -= u64::from(first.bytes);
            self.before_last.pop();
        }
    }

    /// Returns the occupancy of a busy link.
    #[inline(always)]
    fn occupancy(&self) -> Occupancy {
        let first = self.before_last.front().unwrap_or(&self.last);
        Occupancy {
            packets: self.before_last.len() as u64 + 1,
            bytes: self.bytes_before_last + u64::from(self.last.bytes),
            bytes_in_service: u64::from(first.bytes),
        }
    }

    /// Lets the AQM decide about a packet; returns whether it is dropped. One that the buffer has no room for is not marked.
    #[inline(always)]
    fn drops_early(
        &mut self,
        now: Time,
        bytes: u16,
        held: &Occupancy,
        has_room: bool,
        measurement: &Measurement,
        mark: impl FnOnce() -> bool,
    ) -> bool {
        match self.verdict(now, bytes, held) {
            Verdict::Pass => false,
            Verdict::Mark if has_room && mark() => {
                self.statistics.marked[measurement.index(now)] += 1;
                false
            }
            Verdict::Mark | Verdict::Drop => true,
        }
    }

    // Out of line, so that the packet's bits stay in a register.
    #[inline(never)]
    fn verdict(&mut self, now: Time, bytes: u16, held: &Occupancy) -> Verdict {
        let idle = (held.packets == 0).then(|| now - self.last.departure);
        let (queue, waiting_bytes) = (self.buffer.counted_packets(held), held.bytes - held.bytes_in_service);
        let waiting = held.packets.saturating_sub(1);
        let arriving = Arriving { now, queue, idle, waiting, waiting_bytes, bytes };
        self.aqm.as_mut().map_or(Verdict::Pass, |aqm| aqm.algorithm().on_arrival(&arriving))
    }
}
