//! The delivery rate: how many packets the network delivered, in which time (draft-ietf-ccwg-bbr section 4.1; Linux
//! `tcp_rate.c`).

use base::cast::{low_u32, to_index};
use base::{Ring, Time};

use super::scoreboard::Segment;
use crate::cc::{KernelClock, Lost, RateSample, Span};

/// The packets that were delivered and marked lost, in all, and those in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) delivered: u64,
    pub(super) lost: u64,
    pub(super) in_flight: u32,
}

/// The state of the connection when a packet was sent last, but what the scoreboard has. Times are in microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Snapshot {
    /// Transmission of the packet that began the flight of this one (`first_tx_mstamp`).
    first_sent: u64,
    /// Last delivery before (`delivered_mstamp`).
    delivered_at: u64,
    /// Packets that had been marked lost, modulo 2^32.
    lost: u32,
    /// Packets in flight with this one.
    in_flight: u32,
}

// A long path has thousands of them, which are read and written in turn.
const _: () = assert!(size_of::<Snapshot>() == 24);

impl Snapshot {
    /// Bit of `in_flight` of a packet that the application limited, and not the network. Fewer packets than that are in
    /// flight.
    const APP_LIMITED: u32 = 1 << 31;

    fn in_flight(&self) -> u32 {
        self.in_flight & !Snapshot::APP_LIMITED
    }

    fn app_limited(&self) -> bool {
        self.in_flight & Snapshot::APP_LIMITED != 0
    }

    /// Returns how many packets were marked lost since, of `lost` in all.
    fn lost_since(&self, lost: u64) -> u32 {
        low_u32(lost).wrapping_sub(self.lost)
    }
}

/// The packet sent last among those that an ACK reports as delivered.
#[derive(Clone, Copy, Debug)]
struct Newest {
    sequence: u64,
    /// Last transmission of it \[us\].
    sent: u64,
    /// Packets that had been delivered then, modulo 2^32.
    delivered: u32,
    at: Snapshot,
    retransmitted: bool,
}

/// The deliveries of a connection. Times are in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    clock: KernelClock,
    /// The packets from SND.UNA to SND.NXT.
    snapshots: Ring<Snapshot>,
    first_sent: u64,
    delivered_at: u64,
    /// Number of delivered packets up to which samples are limited by the application (`app_limited`).
    app_limited: Option<u64>,
    newest: Option<Newest>,
    /// The smallest round trip of the last ACK, and what it is in microseconds.
    min_rtt: (Time, u64),
    /// Packets and time of the sample that is shown: the newest one, unless the application limited it to less
    /// (`rate_delivered`, `rate_interval_us`).
    shown: Option<(u32, u64)>,
}

impl Rate {
    pub(super) fn new(clock: KernelClock) -> Rate {
        let snapshots = Ring::default();
        Rate {
            clock,
            snapshots,
            first_sent: 0,
            delivered_at: 0,
            app_limited: None,
            newest: None,
            min_rtt: (Time::ZERO, 0),
            shown: None,
        }
    }

    /// Marks what is sent from now on as limited by something else than the network, until what is in flight has been
    /// delivered (`tcp_rate_check_app_limited`).
    pub(super) fn limit(&mut self, totals: Totals) {
        self.app_limited = Some(totals.delivered + u64::from(totals.in_flight));
    }

    /// Returns whether what is sent now is so marked.
    pub(super) fn is_limited(&self) -> bool {
        self.app_limited.is_some()
    }

    fn snapshot(&self, totals: Totals) -> Snapshot {
        let limited = if self.app_limited.is_some() { Snapshot::APP_LIMITED } else { 0 };
        let (first_sent, delivered_at) = (self.first_sent, self.delivered_at);
        Snapshot { first_sent, delivered_at, lost: low_u32(totals.lost), in_flight: totals.in_flight | limited }
    }

    /// Takes note of the transmission of a new packet; `idle`: nothing else is outstanding (`tcp_rate_skb_sent`).
    #[inline(always)]
    pub(super) fn send(&mut self, now: Time, totals: Totals, idle: bool) {
        if idle {
            let sent = self.clock.microseconds(now);
            (self.first_sent, self.delivered_at) = (sent, sent);
        }
        self.snapshots.push(self.snapshot(totals));
    }

    /// Takes note of the retransmission of a packet, by its index from SND.UNA.
    pub(super) fn resend(&mut self, index: u64, totals: Totals) {
        let snapshot = self.snapshot(totals);
        if let Some(known) = self.snapshots.nth_mut(to_index(index)) {
            *known = snapshot;
        }
    }

    /// Takes note that a packet was delivered that had not been before, by its index from SND.UNA and what the scoreboard
    /// has of it (`tcp_rate_skb_delivered`).
    pub(super) fn deliver(&mut self, index: u64, sequence: u64, segment: &Segment) {
        let Some(&at) = self.snapshots.nth(to_index(index)) else { return };
        self.note_delivery(sequence, segment, at);
    }

    /// Takes note that the packets from SND.UNA, `una`, to `end` were delivered, each of which was sent once, and removes
    /// them; `last` is the last one, which was sent last.
    pub(super) fn deliver_first(&mut self, una: u64, end: u64, last: &Segment) {
        if let Some(at) = self.snapshots.pop_many(to_index(end - una)) {
            self.note_delivery(end - 1, last, at);
        }
    }

    /// Takes note that an ACK, the first one since the last sample, delivers the packets from SND.UNA, `una`, to `end`, each
    /// of which was sent once, and removes them; returns the sample of the ACK. `last` is the last one.
    #[inline(always)]
    pub(super) fn deliver_in_order(
        &mut self,
        (una, end): (u64, u64),
        last: &Segment,
        now: Time,
        totals: Totals,
        min_rtt: Time,
    ) -> RateSample {
        debug_assert!(self.newest.is_none(), "the last sample took it");
        let at = self.snapshots.pop_many(to_index(end - una));
        let newest = at.map(|at| self.delivered(end - 1, last, at));
        self.sample_of(newest, now, totals, low_u32(end - una), min_rtt)
    }

    /// Returns an instant as the kernel's clock shows it \[us\].
    pub(super) fn instant(&self, at: Time) -> u64 {
        self.clock.microseconds(at)
    }

    fn delivered(&self, sequence: u64, segment: &Segment, at: Snapshot) -> Newest {
        let (sent, retransmitted) = (self.instant(segment.sent), segment.marks.ever_retransmitted());
        Newest { sequence, sent, delivered: segment.delivered, at, retransmitted }
    }

    #[inline(always)]
    fn note_delivery(&mut self, sequence: u64, segment: &Segment, at: Snapshot) {
        let new = self.delivered(sequence, segment, at);
        if self.newest.is_none_or(|newest| (new.sent, sequence) > (newest.sent, newest.sequence)) {
            self.newest = Some(new);
        }
    }

    /// Removes the first packet, which is acknowledged.
    pub(super) fn pop(&mut self) {
        self.snapshots.pop();
    }

    /// Returns the report of a packet, by its index from SND.UNA, that was marked lost as the `lost`-th one of all.
    pub(super) fn lose(&self, sequence: u64, index: u64, now: Time, delivered: u64, lost: u64) -> Option<Lost> {
        let at = self.snapshots.nth(to_index(index))?;
        Some(Lost {
            now: self.clock.microseconds(now),
            sequence,
            delivered,
            in_flight: at.in_flight(),
            lost: at.lost_since(lost),
            app_limited: at.app_limited(),
        })
    }

    /// Returns the sample of an ACK (`tcp_rate_gen`), which delivers `fresh` packets.
    pub(super) fn sample(&mut self, now: Time, totals: Totals, fresh: u32, min_rtt: Time) -> RateSample {
        let newest = self.newest.take();
        self.sample_of(newest, now, totals, fresh, min_rtt)
    }

    #[inline(always)]
    fn sample_of(
        &mut self,
        newest: Option<Newest>,
        now: Time,
        totals: Totals,
        fresh: u32,
        min_rtt: Time,
    ) -> RateSample {
        let Totals { delivered, lost, .. } = totals;
        let now = self.clock.microseconds(now);
        if self.app_limited.is_some_and(|until| delivered > until) {
            self.app_limited = None;
        }
        if fresh > 0 {
            self.delivered_at = now;
        }
        if min_rtt != self.min_rtt.0 {
            self.min_rtt = (min_rtt, self.clock.microseconds(min_rtt));
        }
        let span = newest.map(|Newest { sent, delivered: before, at, retransmitted, .. }| {
            self.first_sent = sent;
            let fresh = low_u32(delivered).wrapping_sub(before);
            // Sending and receiving are phases of a pipeline; compressed ACKs make the second one too short.
            let interval = sent.saturating_sub(at.first_sent).max(now - at.delivered_at);
            Span {
                prior_delivered: delivered - u64::from(fresh),
                delivered: fresh,
                interval: (interval >= self.min_rtt.1).then_some(interval),
                app_limited: at.app_limited(),
                retransmitted,
                in_flight: at.in_flight(),
                lost: at.lost_since(lost),
            }
        });
        if let Some(Span { delivered, interval: Some(interval), app_limited, .. }) = span {
            let exceeds = |(packets, time)| u64::from(delivered) * time >= u64::from(packets) * interval;
            if !app_limited || self.shown.is_some_and(exceeds) {
                self.shown = Some((delivered, interval));
            }
        }
        RateSample { now, delivered_at: self.delivered_at, delivered, lost, span }
    }

    /// Returns the delivery rate \[packets/s\]; `None` before the first sample (`tcp_compute_delivery_rate`).
    pub(super) fn packets_per_second(&self) -> Option<f64> {
        let (delivered, interval) = self.shown.filter(|&(_, interval)| interval > 0)?;
        Some(f64::from(delivered) * 1e6 / interval as f64)
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::super::marks::Marks;
    use super::*;

    /// Linux `tcp_stamp_us_delta`: a packet that a timer sent has the pacer's time, which may be later than that of the packet
    /// whose flight it began.
    #[test]
    fn an_interval_of_sending_is_never_below_zero() {
        let at = |ms: u64| Time::from_ticks(1_000_000_000 * ms);
        let mut rate = Rate::new(KernelClock::new(Clock::PICOSECONDS));
        let totals = Totals { delivered: 0, lost: 0, in_flight: 1 };
        (rate.first_sent, rate.delivered_at) = (150_000, 90_000);
        rate.send(at(100), totals, false);
        let (now, totals) = (at(140), Totals { delivered: 1, in_flight: 0, ..totals });
        let segment = Segment { sent: at(100), delivered: 0, marks: Marks::default() };
        let sample = rate.deliver_in_order((0, 1), &segment, now, totals, at(10));
        assert_eq!(sample.span.and_then(|span| span.interval), Some(50_000));
    }
}
