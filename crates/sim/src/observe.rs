//! What a run records on request. Observers only look: a run is the same bit for bit with and without them.

use base::{Packet, Time};
use net::Phase;
use tcp::{Loss, Segment, Sender};

use crate::capture::{self, duplex};
use crate::scenario::Scenario;

/// The recorded rows, each kind in order of time.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// cwnd and its companions, at each change.
    pub cwnd: Option<Vec<CwndRow>>,
    /// Round trips of the ACKs of new data.
    pub rtt: Option<Vec<RttRow>>,
    /// Packets sent, ACKs received.
    pub sequence: Option<Vec<SequenceRow>>,
    /// Queue lengths.
    pub queue: Option<Vec<QueueRow>>,
    /// Time at each queue length.
    pub queue_distribution: Option<Vec<QueueDistributionRow>>,
    /// Packets dropped.
    pub drops: Option<Vec<DropRow>>,
    /// Losses found by senders.
    pub losses: Option<Vec<LossRow>>,
    /// Thinned cwnd and queues.
    pub overview: Option<Vec<OverviewRow>>,
    /// Packets as they leave the captured links, with the link's index.
    pub capture: Option<Vec<(Time, u32, Packet)>>,
}

/// A sender's state after a change of cwnd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CwndRow {
    /// Flow.
    pub flow: u32,
    /// Instant.
    pub time: Time,
    /// Congestion window \[packets\].
    pub cwnd: f64,
    /// Slow start threshold \[packets\].
    pub ssthresh: f64,
    /// Packets in flight.
    pub flight_size: u64,
    /// Timeout in force.
    pub rto: Time,
}

/// The round trip of an ACK of new data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttRow {
    /// Flow.
    pub flow: u32,
    /// Instant of the ACK.
    pub time: Time,
    /// Since the segment that it answers was sent.
    pub rtt: Time,
}

/// What a row of the sequence plot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A packet's first sending.
    Sent = 0,
    /// A retransmission.
    Retransmitted = 1,
    /// An ACK; the sequence is the number expected next.
    Acked = 2,
}

/// A point of the sequence plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequenceRow {
    /// Flow.
    pub flow: u32,
    /// Instant.
    pub time: Time,
    /// Sent or acknowledged.
    pub kind: Kind,
    /// Number.
    pub sequence: u64,
}

/// A queue's length after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueRow {
    /// Link.
    pub link: u32,
    /// Instant.
    pub time: Time,
    /// Packets in the link, the one in transmission included.
    pub packets: u64,
}

/// How long a link held so many packets, and how many arrivals found so many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueDistributionRow {
    /// Link.
    pub link: u32,
    /// Packets, the one in transmission included.
    pub packets: u64,
    /// Time in the measurement.
    pub time: Time,
    /// Arrivals in the measurement.
    pub arrivals: u64,
}

/// A packet that was thrown away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropRow {
    /// Instant.
    pub time: Time,
    /// Link.
    pub link: u32,
    /// Flow.
    pub flow: u32,
    /// The packet.
    pub packet: Packet,
}

/// A loss that a sender found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossRow {
    /// Instant.
    pub time: Time,
    /// Flow.
    pub flow: u32,
    /// What was found.
    pub loss: Loss,
}

/// An extreme of a thinned series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverviewRow {
    /// Whether the series is a queue (or a cwnd).
    pub queue: bool,
    /// Link or flow.
    pub index: u32,
    /// Instant.
    pub time: Time,
    /// Packets.
    pub value: f64,
}

/// Keeps the smallest and the largest value of each interval.
#[derive(Clone, Debug, Default)]
struct Thinner {
    interval_end: Time,
    smallest: Option<(Time, f64)>,
    largest: Option<(Time, f64)>,
}

impl Thinner {
    fn observe(&mut self, time: Time, value: f64, interval: Time, mut emit: impl FnMut(Time, f64)) {
        if time >= self.interval_end {
            self.flush(&mut emit);
            let index = time.picoseconds() / interval.picoseconds();
            self.interval_end = interval.times(index + 1);
        }
        if self.smallest.is_none_or(|(_, least)| value < least) {
            self.smallest = Some((time, value));
        }
        if self.largest.is_none_or(|(_, most)| value > most) {
            self.largest = Some((time, value));
        }
    }

    fn flush(&mut self, mut emit: impl FnMut(Time, f64)) {
        let (Some(a), Some(b)) = (self.smallest.take(), self.largest.take()) else { return };
        let (first, second) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        emit(first.0, first.1);
        if second != first {
            emit(second.0, second.1);
        }
    }
}

/// Follows one link's length.
#[derive(Clone, Debug, Default)]
struct QueueFollower {
    since: Time,
    packets: u64,
    time_at: Vec<Time>,
    arrivals_at: Vec<u64>,
    thinner: Thinner,
}

/// The observers of a run.
#[derive(Clone, Debug)]
pub(crate) struct Observers {
    traces: Traces,
    phase: Phase,
    interval: Time,
    followers: Vec<QueueFollower>,
    windows: Vec<Thinner>,
    captured: Vec<bool>,
    captured_bytes: u64,
}

fn wanted<T>(wanted: bool) -> Option<Vec<T>> {
    wanted.then(Vec::new)
}

impl Observers {
    /// None where nothing is asked for.
    pub(crate) fn new(scenario: &Scenario, phase: Phase) -> Option<Box<Observers>> {
        let asked = &scenario.trace;
        let captured = asked.capture.as_ref().map_or(Vec::new(), |names| {
            scenario.links.iter().map(|link| names.iter().any(|name| duplex(name) == duplex(&link.name))).collect()
        });
        let follows = asked.queue || asked.queue_distribution || asked.overview_interval_s.is_some();
        let traces = Traces {
            cwnd: wanted(asked.cwnd),
            rtt: wanted(asked.rtt),
            sequence: wanted(asked.sequence),
            queue: wanted(asked.queue),
            queue_distribution: wanted(asked.queue_distribution),
            drops: wanted(asked.drops),
            losses: wanted(asked.losses),
            overview: wanted(asked.overview_interval_s.is_some()),
            capture: wanted(asked.capture.is_some()),
        };
        let nothing = !follows
            && !(asked.cwnd || asked.rtt || asked.sequence || asked.drops || asked.losses)
            && asked.capture.is_none();
        (!nothing).then(|| {
            Box::new(Observers {
                traces,
                phase,
                interval: Time::from_seconds(asked.overview_interval_s.unwrap_or(0.0)).max(Time::from_picoseconds(1)),
                followers: if follows { vec![QueueFollower::default(); scenario.links.len()] } else { Vec::new() },
                windows: vec![Thinner::default(); scenario.flows.len()],
                captured,
                captured_bytes: 0,
            })
        })
    }

    /// Whether queue lengths are of interest.
    #[inline]
    pub(crate) fn follows_queues(&self) -> bool {
        !self.followers.is_empty()
    }

    pub(crate) fn cwnd(&mut self, flow: u32, time: Time, sender: &Sender) {
        if let Some(rows) = &mut self.traces.cwnd {
            rows.push(CwndRow {
                flow,
                time,
                cwnd: sender.cwnd(),
                ssthresh: sender.ssthresh(),
                flight_size: sender.flight_size(),
                rto: sender.rto(),
            });
        }
        if let Some(rows) = &mut self.traces.overview {
            let emit = |time, value| rows.push(OverviewRow { queue: false, index: flow, time, value });
            self.windows[flow as usize].observe(time, sender.cwnd(), self.interval, emit);
        }
    }

    pub(crate) fn ack(&mut self, flow: u32, time: Time, next: u64, rtt: Option<Time>) {
        if let Some(rows) = &mut self.traces.sequence {
            rows.push(SequenceRow { flow, time, kind: Kind::Acked, sequence: next });
        }
        if let (Some(rows), Some(rtt)) = (&mut self.traces.rtt, rtt) {
            rows.push(RttRow { flow, time, rtt });
        }
    }

    pub(crate) fn sent(&mut self, flow: u32, time: Time, segment: &Segment) {
        if let Some(rows) = &mut self.traces.sequence {
            let kind = if segment.retransmission { Kind::Retransmitted } else { Kind::Sent };
            rows.push(SequenceRow { flow, time, kind, sequence: segment.sequence });
        }
    }

    pub(crate) fn loss(&mut self, flow: u32, time: Time, loss: Loss) {
        if let Some(rows) = &mut self.traces.losses {
            rows.push(LossRow { time, flow, loss });
        }
    }

    pub(crate) fn dropped(&mut self, time: Time, link: u32, flow: u32, packet: &Packet) {
        if let Some(rows) = &mut self.traces.drops {
            rows.push(DropRow { time, link, flow, packet: *packet });
        }
    }

    /// Why the run should not go on until its end, where it should not.
    pub(crate) fn failure(&self, now: Time) -> Option<String> {
        let too_large = self.captured_bytes > capture::MOST_BYTES;
        too_large.then(|| capture::too_large(self.captured_bytes, now))
    }

    /// A packet's last bit leaves the link.
    pub(crate) fn left(&mut self, time: Time, link: u32, packet: &Packet) {
        if time <= self.phase.end && self.captured.get(link as usize) == Some(&true) {
            if let Some(rows) = &mut self.traces.capture {
                rows.push((time, link, *packet));
                self.captured_bytes += capture::block_bytes(packet);
            }
        }
    }

    /// An arrival, before it is let in or not.
    pub(crate) fn arrival(&mut self, link: u32, time: Time) {
        let Some(follower) = self.followers.get_mut(link as usize) else { return };
        if time >= self.phase.warmup {
            grow_to(&mut follower.arrivals_at, follower.packets);
            follower.arrivals_at[follower.packets as usize] += 1;
        }
    }

    /// The link holds `packets` from now on.
    pub(crate) fn queue(&mut self, link: u32, time: Time, packets: u64) {
        let Some(follower) = self.followers.get_mut(link as usize) else { return };
        if time > self.phase.end || packets == follower.packets {
            return;
        }
        follower.spend_until(time, &self.phase);
        follower.packets = packets;
        if let Some(rows) = &mut self.traces.queue {
            rows.push(QueueRow { link, time, packets });
        }
        if let Some(rows) = &mut self.traces.overview {
            let emit = |time, value| rows.push(OverviewRow { queue: true, index: link, time, value });
            follower.thinner.observe(time, packets as f64, self.interval, emit);
        }
    }

    /// The rows, once the run is over.
    pub(crate) fn finish(mut self) -> Traces {
        self.flush_thinners();
        if let Some(rows) = &mut self.traces.queue_distribution {
            for (link, follower) in self.followers.iter_mut().enumerate() {
                follower.spend_until(self.phase.end, &self.phase);
                rows.extend(follower.distribution(link as u32));
            }
        }
        // Links whose departures are known on arrival report ahead of the clock; each in its own order.
        let Traces { queue, drops, overview, capture, .. } = &mut self.traces;
        queue.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.time));
        drops.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.time));
        overview.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.time));
        capture.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.0));
        self.traces
    }

    fn flush_thinners(&mut self) {
        let Some(rows) = &mut self.traces.overview else { return };
        for (queue, thinners) in [
            (false, &mut self.windows.iter_mut().collect::<Vec<_>>()),
            (true, &mut self.followers.iter_mut().map(|follower| &mut follower.thinner).collect()),
        ] {
            for (index, thinner) in thinners.iter_mut().enumerate() {
                thinner.flush(|time, value| rows.push(OverviewRow { queue, index: index as u32, time, value }));
            }
        }
    }
}

impl QueueFollower {
    fn spend_until(&mut self, time: Time, phase: &Phase) {
        grow_to(&mut self.time_at, self.packets);
        self.time_at[self.packets as usize] += self.since.overlap(time, phase.warmup, phase.end);
        self.since = time;
    }

    fn distribution(&self, link: u32) -> impl Iterator<Item = QueueDistributionRow> + '_ {
        let lengths = self.time_at.len().max(self.arrivals_at.len());
        (0..lengths).map(move |packets| QueueDistributionRow {
            link,
            packets: packets as u64,
            time: self.time_at.get(packets).copied().unwrap_or_default(),
            arrivals: self.arrivals_at.get(packets).copied().unwrap_or_default(),
        })
    }
}

fn grow_to<T: Clone + Default>(values: &mut Vec<T>, index: u64) {
    let length = index as usize + 1;
    if values.len() < length {
        values.resize(length, T::default());
    }
}
