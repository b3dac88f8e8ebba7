use base::{Clock, Histogram, Packet, RandomStream, Rate, Time};

use crate::bucket::{BucketConfig, BucketKind, TokenBucket};
use crate::buffer::Buffer;
use crate::by_class::{ByClass, ClassStatistics, FlowGroups};
use crate::link::Size;
use crate::queue::{
    AqmState, Cause, Discipline, FlowEntry, Origin, Queue, SchedulerConfig, Signal, Transmitter, Waiting,
};
use crate::rate::RateProcess;
use crate::sampling::LinkSample;
use crate::shaper::Shaper;
use crate::statistics::{LinkStatistics, Measurement};

/// A link whose discipline may drop a waiting packet, or let others overtake it; so departures are events.
///
/// Packets may arrive at several priority levels, 0 the highest. A packet in transmission is neither interrupted nor
/// dropped.
#[derive(Clone, Debug)]
pub struct QueuedLink {
    rate: Rate,
    /// The size of the latest packets whose service time is a whole number of ticks.
    latest: Size,
    queue: Queue,
    /// End of the transmission of the packet that was dequeued last; `None` if none is in transmission.
    departure: Option<Time>,
    /// The last departure.
    idle_since: Time,
    statistics: LinkStatistics,
    /// Instant from which on waits are measured.
    waits_from: Time,
    /// The waits, if the link does not count them by class.
    waits: Histogram,
    /// The counters of the scheduler's classes, or of groups of flows, if the link counts several.
    by_class: Option<Box<ByClass>>,
    /// The link counts a single group of flows, whose counters are the link's own.
    has_one_group: bool,
    /// The service in place of `rate`, if the rate changes.
    process: Option<Box<RateProcess>>,
    /// The token bucket in place of a line, if there is one.
    bucket: Option<Box<TokenBucket>>,
    /// The scheduler's own shaper, if it has one.
    shaper: Option<Box<Shaper>>,
}

impl QueuedLink {
    /// Returns an empty link.
    pub fn new(rate: Rate, buffer: Buffer, discipline: &Discipline, clock: Clock, random: RandomStream) -> QueuedLink {
        QueuedLink {
            rate,
            latest: Size::default(),
            queue: Queue::new(discipline, buffer, rate, clock, random),
            departure: None,
            idle_since: Time::ZERO,
            statistics: LinkStatistics::default(),
            waits_from: Time::NEVER,
            waits: Histogram::default(),
            by_class: None,
            has_one_group: false,
            process: None,
            bucket: None,
            shaper: discipline.scheduler.bandwidth_bps().map(|rate| Box::new(Shaper::new(Rate::new(rate, clock)))),
        }
    }

    /// Returns the link with a rate that changes; what is made from its rate, such as the time scale of an AQM, stays so.
    pub fn with_rate_process(self, process: Option<RateProcess>) -> QueuedLink {
        QueuedLink { process: process.map(Box::new), ..self }
    }

    /// Returns the link with a token bucket in place of a line: packets leave at once while it has tokens.
    pub fn with_bucket(self, bucket: Option<BucketConfig>) -> QueuedLink {
        let bucket = bucket.map(|config| Box::new(TokenBucket::new(config, self.rate)));
        QueuedLink { bucket, ..self }
    }

    /// Lets the link measure waits, from a packet's arrival until its transmission begins, of the packets that arrive
    /// from the end of the warm-up on.
    pub fn measure_waits(&mut self, warmup: Time) {
        self.waits_from = warmup;
    }

    /// Takes the entries of the scenario, in rising order of their flows: a fair queue gives each its weight, and may let the
    /// flows of one share a queue.
    pub fn set_entries(&mut self, entries: &[FlowEntry]) {
        self.queue.set_entries(entries);
    }

    /// Lets the link count the classes of its scheduler apart, or groups of flows where the scheduler gives flows queues of
    /// their own; a scheduler with one class has none, and a policer no queue. [`QueuedLink::measure_waits`] lets it measure the
    /// waits of a single group.
    pub fn count_classes(&mut self, scheduler: &SchedulerConfig, flows: FlowGroups) {
        let polices = self.bucket.as_ref().is_some_and(|bucket| bucket.kind() == BucketKind::Policer);
        let by_class = ByClass::new(scheduler, flows).filter(|_| !polices).map(Box::new);
        self.has_one_group = by_class.as_ref().is_some_and(|by_class| by_class.each().len() == 1);
        self.by_class = by_class.filter(|_| !self.has_one_group);
    }

    /// Returns the counters of the classes, or of the groups of flows; none if the link does not count them.
    pub fn classes(&self) -> Vec<ClassStatistics> {
        match &self.by_class {
            Some(by_class) => by_class.each().to_vec(),
            None if self.has_one_group => vec![ClassStatistics::of_all(&self.statistics, &self.waits)],
            None => Vec::new(),
        }
    }

    /// Lets the queue keep which states of its AQM may have changed.
    pub fn trace_aqm(&mut self) {
        self.queue.trace_aqm();
    }

    /// Reports the states of the AQM that may have changed since the last time.
    pub fn report_aqm(&mut self, report: impl FnMut(AqmState)) {
        self.queue.report_aqm(report);
    }

    /// Returns the waits of the packets that arrived in the measured part and whose transmission has begun.
    pub fn waits(&self) -> Histogram {
        let mut all = self.waits.clone();
        self.by_class.iter().flat_map(|by_class| by_class.each()).for_each(|class| all.add(&class.waits));
        all
    }

    /// Returns the counters. [`QueuedLink::close`] adds the packets that wait at the end of the run.
    pub fn statistics(&self) -> &LinkStatistics {
        &self.statistics
    }

    /// Returns the number of packets in the link.
    pub fn packets(&self) -> u64 {
        self.queue.len() as u64 + u64::from(self.departure.is_some())
    }

    /// Returns the departure of the packet in transmission, or the instant at which the bucket or the shaper lets a packet
    /// go.
    pub fn next_departure(&self) -> Time {
        match &self.bucket {
            None => self.departure.unwrap_or_else(|| self.release()),
            Some(bucket) => bucket.release(),
        }
    }

    /// Returns the instant at which the shaper lets a waiting packet go.
    fn release(&self) -> Time {
        self.shaper.as_ref().filter(|_| self.queue.len() > 0).map_or(Time::NEVER, |shaper| shaper.release())
    }

    /// Returns whether an arriving packet is never dropped or marked while one is in transmission and the buffer has room.
    pub fn decides_later(&self) -> bool {
        self.bucket.is_none() && self.shaper.is_none() && self.queue.decides_later()
    }

    /// Returns whether a number of packets that arrive during a transmission surely find room.
    #[inline(always)]
    pub fn can_take_later(&self, packets: usize) -> bool {
        self.departure.is_some() && self.queue.has_room_for(packets, self.queue.dequeued().packet.bytes)
    }

    /// Returns the end of the transmission that goes on, and its packet.
    #[inline(always)]
    pub fn transmission(&self) -> Option<(Time, &Packet)> {
        self.departure.map(|departure| (departure, &self.queue.dequeued().packet))
    }

    /// Returns whether a token bucket lets a waiting packet go now.
    pub fn lets_go(&self, now: Time) -> bool {
        self.bucket.as_ref().is_some_and(|bucket| bucket.release() <= now)
    }

    /// Handles the arrival of a packet of an origin, and reports each packet that is marked or dropped, perhaps itself.
    pub fn arrive(
        &mut self,
        now: Time,
        packet: Packet,
        origin: impl Into<Origin>,
        measurement: &Measurement,
        signalled: &mut impl FnMut(Signal, Packet),
    ) {
        self.statistics.arrived[measurement.index(now)] += 1;
        let transmitter = match &self.bucket {
            _ if self.departure.is_some() => Transmitter::Busy { bytes: self.queue.dequeued().packet.bytes },
            Some(_) => Transmitter::Closed,
            None => Transmitter::Idle { since: self.idle_since },
        };
        let arriving = Waiting { packet, since: now };
        if self.bucket.as_ref().is_some_and(|bucket| !bucket.admits(now, packet.bytes)) {
            let mut counted = counted(&mut self.statistics, &mut self.by_class, now, measurement, signalled);
            return counted(Signal::Dropped(Cause::Policer), 0, arriving);
        }
        let mut counted = counted(&mut self.statistics, &mut self.by_class, now, measurement, signalled);
        let class = self.queue.enqueue(arriving, origin.into(), transmitter, &mut counted);
        drop(counted);
        if let Some(by_class) = &mut self.by_class {
            by_class.arrive(class, packet.flow, now, measurement);
        }
        match &mut self.bucket {
            None => self.transmit_next(now, measurement, signalled),
            Some(bucket) => bucket.plan(now, self.queue.len()),
        }
        self.statistics.observe_queue(self.packets(), now, measurement);
    }

    /// Handles the arrival of a packet during a transmission, where it is neither marked nor dropped
    /// ([`QueuedLink::decides_later`], [`QueuedLink::can_take_later`]).
    #[inline(always)]
    pub fn join(&mut self, now: Time, packet: &Packet, origin: Origin, measurement: &Measurement) {
        self.statistics.arrived[measurement.index(now)] += 1;
        let class = self.queue.join(now, packet, origin);
        if let Some(by_class) = &mut self.by_class {
            by_class.arrive(class, packet.flow, now, measurement);
        }
        self.statistics.observe_queue(self.packets(), now, measurement);
    }

    /// Ends the transmission of a packet, which is returned, and begins the next one; reports each packet that is
    /// marked or dropped. None ends where the shaper lets a packet go.
    #[inline(always)]
    pub fn depart(
        &mut self,
        now: Time,
        measurement: &Measurement,
        signalled: &mut impl FnMut(Signal, Packet),
    ) -> Option<Packet> {
        if self.bucket.is_some() {
            return self.let_go(now, measurement, signalled);
        }
        let sent = self.departure.take().map(|_| self.queue.dequeued().packet);
        if sent.is_some() {
            self.idle_since = now;
        }
        self.transmit_next(now, measurement, signalled);
        sent
    }

    /// Lets a packet go, which takes its tokens.
    fn let_go(
        &mut self,
        now: Time,
        measurement: &Measurement,
        signalled: &mut impl FnMut(Signal, Packet),
    ) -> Option<Packet> {
        let mut counted = counted(&mut self.statistics, &mut self.by_class, now, measurement, signalled);
        let next = self.queue.dequeue(now, &mut counted);
        drop(counted);
        let bucket = self.bucket.as_mut()?;
        let Waiting { packet, since } = *self.queue.dequeued();
        if let Some(class) = next {
            match &mut self.by_class {
                Some(by_class) => by_class.send(class, self.queue.dequeued(), now, now, measurement),
                None if since >= self.waits_from => self.waits.record(now - since),
                None => {}
            }
            let service = bucket.take(now, packet.bytes);
            self.statistics.in_link(since, now, measurement);
            self.statistics.released(now, service, packet.bytes, measurement);
        }
        bucket.plan(now, self.queue.len());
        next.map(|_| packet)
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
        if let Some((departure, packet)) = self.transmission() {
            let later = departure.min(measurement.end) - instant;
            sample.queue_area -= u128::from(later.ticks());
            sample.busy -= u128::from(later.ticks());
            if departure <= measurement.end {
                sample.departed_bytes -= u64::from(packet.bytes);
            }
        }
        for waiting in self.queue.iter() {
            sample.queue_area += u128::from((instant - waiting.since.max(measurement.warmup)).ticks());
        }
        sample
    }

    /// Returns the service time of a packet whose size is not `latest`. If the time is a whole number of ticks, the size becomes
    /// `latest`.
    fn service_time(&mut self, bytes: u16) -> Time {
        match Size::of(bytes, &self.rate) {
            Some(size) => {
                self.latest = size;
                size.service
            }
            None => self.rate.service_time(bytes),
        }
    }

    #[inline(always)]
    fn transmit_next(&mut self, now: Time, measurement: &Measurement, signalled: &mut impl FnMut(Signal, Packet)) {
        if self.departure.is_some() || self.shaper.as_ref().is_some_and(|shaper| shaper.release() > now) {
            return;
        }
        let mut counted = counted(&mut self.statistics, &mut self.by_class, now, measurement, signalled);
        let next = self.queue.dequeue(now, &mut counted);
        drop(counted);
        let Some(class) = next else { return };
        let (since, bytes) = (self.queue.dequeued().since, self.queue.dequeued().packet.bytes);
        if let Some(shaper) = &mut self.shaper {
            shaper.take(now, bytes);
        }
        if self.idle_since < now {
            self.rate.restart();
        }
        let departure = match &mut self.process {
            None if bytes == self.latest.bytes => now + self.latest.service,
            None => now + self.service_time(bytes),
            Some(process) => process.departure(since, now, bytes),
        };
        match &mut self.by_class {
            Some(by_class) => by_class.send(class, self.queue.dequeued(), now, departure, measurement),
            None if since >= self.waits_from => self.waits.record(now - since),
            None => {}
        }
        self.statistics.carry(since, now, departure, bytes, measurement);
        self.departure = Some(departure);
    }
}

/// Returns a function that counts a marked or dropped packet of a class and reports it.
fn counted<'a>(
    statistics: &'a mut LinkStatistics,
    by_class: &'a mut Option<Box<ByClass>>,
    now: Time,
    measurement: &'a Measurement,
    signalled: &'a mut impl FnMut(Signal, Packet),
) -> impl FnMut(Signal, usize, Waiting) + 'a {
    move |signal, class, waiting| {
        statistics.signal(signal, waiting.since, now, measurement);
        if let Some(by_class) = by_class {
            by_class.signal(signal, class, &waiting, now, measurement);
        }
        signalled(signal, waiting.packet);
    }
}

#[cfg(test)]
mod tests;
