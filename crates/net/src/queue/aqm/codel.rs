//! Controlled Delay: RFC 8289, and as Linux has it (`include/net/codel_impl.h`).

use base::cast::{round_to_u64, trunc_to_u64};
use base::{Clock, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, Departing, Verdict};
mod state;
/// Parameters of Controlled Delay (CoDel).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodelConfig {
    /// Sojourn time that a packet may always have (TARGET) \[s\].
    pub target_s: f64,
    /// Time for which sojourn times must stay above the target before the first drop (INTERVAL) \[s\].
    pub interval_s: f64,
    /// Whether CoDel marks packets of ECN-capable transports and drops only the others.
    pub ecn: bool,
    /// Sojourn time above which all packets of ECN-capable transports are marked \[s\]; `None`: there is no such time.
    pub ce_threshold_s: Option<f64>,
    /// Packets that wait behind a departing one do not count while they have this length or less: that of the largest
    /// packet (MAXPACKET, Linux `mtu`) \[bytes\].
    pub mtu_bytes: u16,
    /// Whose rules the rest has.
    pub rules: CodelRules,
}

/// The rules in which Linux and RFC 8289 differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodelRules {
    /// RFC 8289 section 5: exact times and square roots.
    Rfc,
    /// Linux: times in units of 1024 ns, and an inverse square root of 16 bits that a Newton step follows the count with
    /// (`codel_Newton_step`).
    Linux,
}

impl CodelConfig {
    /// The defaults of RFC 8289 section 4, and of Linux.
    pub const TYPICAL: CodelConfig = CodelConfig {
        target_s: 0.005,
        interval_s: 0.1,
        ecn: false,
        ce_threshold_s: None,
        mtu_bytes: 1500,
        rules: CodelRules::Linux,
    };
}

/// CoDel of a queue. Times are readings of its clock: ticks by the RFC's rules, units of 1024 ns by Linux's.
#[derive(Clone, Debug)]
pub(crate) struct Codel {
    ecn: bool,
    mtu_bytes: u64,
    rules: CodelRules,
    /// Units of the clock in a tick.
    units_per_tick: f64,
    target: u64,
    interval: u64,
    ce_threshold: u64,
    /// Reading at which the first drop may be (`first_above_time`); `None`: the last sojourn time was acceptable.
    first_above: Option<u64>,
    dropping: bool,
    /// Reading at which the next drop is (`drop_next`).
    drop_next: u64,
    /// Drops since dropping began, and what it was when it began last (`count`, `lastcount`).
    count: u32,
    last_count: u32,
    /// 1 / sqrt(count) as a fraction of 2^16 (`rec_inv_sqrt`).
    inverse_root: u16,
    /// Whether the last decision was the drop with which the state of dropping began.
    began: bool,
}

/// Length of a unit of Linux's clock \[ns\].
const UNIT_NS: f64 = 1024.0;

impl Codel {
    /// Returns the CoDel of an empty queue.
    pub(crate) fn new(config: CodelConfig, clock: Clock) -> Codel {
        let units_per_second = match config.rules {
            CodelRules::Rfc => clock.ticks_per_second() as f64,
            CodelRules::Linux => 1e9 / UNIT_NS,
        };
        let units = |seconds: f64| match config.rules {
            CodelRules::Rfc => clock.time(seconds).ticks(),
            CodelRules::Linux => trunc_to_u64(seconds * units_per_second),
        };
        Codel {
            ecn: config.ecn,
            mtu_bytes: config.mtu_bytes.into(),
            rules: config.rules,
            units_per_tick: units_per_second / clock.ticks_per_second() as f64,
            target: units(config.target_s),
            interval: units(config.interval_s),
            ce_threshold: config.ce_threshold_s.map_or(u64::MAX, units),
            first_above: None,
            dropping: false,
            drop_next: 0,
            count: 0,
            last_count: 0,
            inverse_root: 0,
            began: false,
        }
    }

    fn reading(&self, time: Time) -> u64 {
        match self.rules {
            CodelRules::Rfc => time.ticks(),
            CodelRules::Linux => trunc_to_u64(time.ticks() as f64 * self.units_per_tick),
        }
    }

    /// Returns whether a packet may be dropped: sojourn times have been above the target for an interval (RFC 8289
    /// section 5.6 `dodequeue`, Linux `codel_should_drop`).
    fn may_drop(&mut self, now: u64, sojourn: u64, left_bytes: u64) -> bool {
        if sojourn < self.target || left_bytes <= self.mtu_bytes {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now.saturating_add(self.interval));
                false
            }
            Some(since) => match self.rules {
                CodelRules::Rfc => now >= since,
                CodelRules::Linux => now > since,
            },
        }
    }

    /// Begins to drop: with the count that controlled the queue last if that is not long ago.
    fn begin(&mut self, now: u64) {
        let grown = self.count.wrapping_sub(self.last_count);
        self.dropping = true;
        if grown > 1 && now < self.drop_next.saturating_add(self.interval.saturating_mul(16)) {
            self.count = grown;
            self.step();
        } else {
            (self.count, self.inverse_root) = (1, u16::MAX);
        }
        self.last_count = self.count;
        self.schedule(now);
    }

    /// Schedules the next drop, 1 / sqrt(count) intervals after a reading (`control_law`).
    fn schedule(&mut self, from: u64) {
        let wait = match self.rules {
            CodelRules::Rfc => round_to_u64(self.interval as f64 / f64::from(self.count.max(1)).sqrt()),
            CodelRules::Linux => (self.interval * (u64::from(self.inverse_root) << 16)) >> 32,
        };
        self.drop_next = from.saturating_add(wait);
    }

    /// Takes a Newton step of 1 / sqrt(count) (Linux `codel_Newton_step`).
    fn step(&mut self) {
        let root = u64::from(self.inverse_root) << 16;
        let square = (root * root) >> 32;
        let left = (3_u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(square)) >> 2;
        let next = left.wrapping_mul(root) >> 31;
        // The upper 16 of 32 bits.
        self.inverse_root = (next >> 16) as u16;
    }

    /// Decides about the drop whose time has come: a mark schedules the next one at once.
    fn signal(&mut self, capable: bool) -> Verdict {
        self.count = self.count.wrapping_add(1);
        self.step();
        if self.ecn && capable {
            self.schedule(self.drop_next);
            return Verdict::Mark;
        }
        Verdict::Drop
    }

    fn decide(&mut self, now: u64, may_drop: bool, departing: &Departing<'_>) -> Verdict {
        let began = std::mem::take(&mut self.began);
        if departing.again && began {
            // Whatever follows the drop that began the state is sent.
            return Verdict::Pass;
        }
        if self.dropping {
            if !may_drop {
                self.dropping = false;
                return Verdict::Pass;
            }
            if departing.again {
                self.schedule(self.drop_next);
            }
            return if now >= self.drop_next { self.signal(departing.capable) } else { Verdict::Pass };
        }
        if !may_drop {
            return Verdict::Pass;
        }
        self.begin(now);
        if self.ecn && departing.capable {
            return Verdict::Mark;
        }
        self.began = true;
        Verdict::Drop
    }
}

impl Algorithm for Codel {
    fn on_departure(&mut self, departing: &Departing<'_>) -> Verdict {
        let now = self.reading(departing.now);
        let sojourn = now - self.reading(departing.now - departing.sojourn);
        let left_bytes = match self.rules {
            CodelRules::Rfc => departing.left_bytes,
            // All flows' (`sch->qstats.backlog`), where each has a queue of its own.
            CodelRules::Linux => departing.left.bytes,
        };
        let may_drop = self.may_drop(now, sojourn, left_bytes);
        match self.decide(now, may_drop, departing) {
            Verdict::Pass if departing.capable && sojourn > self.ce_threshold => Verdict::Mark,
            verdict => verdict,
        }
    }

    fn on_overflow(&mut self, packets: u32, _now: Time) {
        if self.rules == CodelRules::Linux {
            self.count = self.count.wrapping_add(packets);
        }
    }

    fn on_empty(&mut self, _now: Time) -> bool {
        self.first_above = None;
        // The drop that began the state leaves it, though nothing follows it.
        self.dropping &= std::mem::take(&mut self.began);
        true
    }
}

#[cfg(test)]
mod tests {
    use base::{Marks, Packet, RandomStream, Rate};

    use super::*;
    use crate::buffer::{Buffer, Counting};
    use crate::queue::{AqmConfig, Cause, Discipline, Overflow, SchedulerConfig, Signal};
    use crate::queued::QueuedLink;
    use crate::statistics::Measurement;

    const MEASUREMENT: Measurement = Measurement { warmup: Time::ZERO, end: Time::NEVER };
    const RFC: CodelConfig = CodelConfig { mtu_bytes: 1000, rules: CodelRules::Rfc, ..CodelConfig::TYPICAL };
    const LINUX: CodelConfig = CodelConfig { rules: CodelRules::Linux, ..RFC };

    /// The instants \[ms\] of the signals while `packets` of 1000 bytes come, one in `gap_us`, to a link that takes 1 ms
    /// for each.
    fn signals(config: CodelConfig, packets: u64, gap_us: u64, marks: Marks) -> Vec<(Signal, f64)> {
        let discipline = Discipline::new(SchedulerConfig::Fifo {}, AqmConfig::Codel(config), Overflow::Arriving);
        let (rate, buffer) = (Rate::new(8e6, Clock::PICOSECONDS), Buffer::new(None, Counting::WithService));
        let random = RandomStream::named(1, 0, "link");
        let mut link = QueuedLink::new(rate, buffer, &discipline, Clock::PICOSECONDS, random);
        let (mut found, mut sent) = (Vec::new(), 0);
        let ms = |time: Time| Clock::PICOSECONDS.seconds(time) * 1e3;
        loop {
            let arrival = if sent < packets { Time::from_ticks(sent * gap_us * 1_000_000) } else { Time::NEVER };
            let now = arrival.min(link.next_departure());
            if now == Time::NEVER {
                return found;
            }
            let mut note = |signal, _| found.push((signal, ms(now)));
            if link.next_departure() <= arrival {
                link.depart(now, &MEASUREMENT, &mut note);
            } else {
                sent += 1;
                let packet = Packet { sequence: sent, bytes: 1000, marks, ..Packet::default() };
                link.arrive(now, packet, 0, &MEASUREMENT, &mut note);
            }
        }
    }

    fn instants(found: &[(Signal, f64)]) -> Vec<f64> {
        found.iter().map(|&(_, at)| at).collect()
    }

    /// Rounds up to a departure, of which there is one in a millisecond.
    fn next_departure(at: f64) -> f64 {
        (at - 1e-6).ceil()
    }

    /// RFC 8289 section 5: twice the load; the packet that departs after 10 ms is the first to have waited for 5 ms. The
    /// first drop is an interval later, each one 1 / sqrt(count) intervals after the time at which the one before was due.
    #[test]
    fn drops_come_as_the_control_law_says() {
        let found = signals(RFC, 1200, 500, Marks::NONE);
        let mut due = 110.0;
        let mut expected = vec![110.0];
        for count in 1..20 {
            due += 100.0 / f64::from(count).sqrt();
            expected.push(next_departure(due));
        }
        assert_eq!(instants(&found)[..20], expected);
        assert!(found.iter().all(|&(signal, _)| signal == Signal::Dropped(Cause::Aqm)));
    }

    /// A mark takes the place of a drop at the same instants, and the packet is sent: one packet more waits.
    #[test]
    fn packets_are_marked_if_they_can_be() {
        let marked = signals(CodelConfig { ecn: true, ..RFC }, 1200, 500, Marks::ECT);
        assert!(marked.iter().all(|&(signal, _)| signal == Signal::Marked));
        let dropped = signals(CodelConfig { ecn: true, ..RFC }, 1200, 500, Marks::NONE);
        assert!(dropped.iter().all(|&(signal, _)| signal == Signal::Dropped(Cause::Aqm)));
        assert_eq!(instants(&marked)[..10], instants(&dropped)[..10]);
        let not_asked = signals(RFC, 1200, 500, Marks::ECT);
        assert_eq!(not_asked, dropped);
    }

    #[test]
    fn packets_that_are_marked_depart_with_the_mark() {
        let config = CodelConfig { target_s: 1e-6, interval_s: 1e-6, ecn: true, mtu_bytes: 1, ..RFC };
        let discipline = Discipline::new(SchedulerConfig::Fifo {}, AqmConfig::Codel(config), Overflow::Arriving);
        let (rate, buffer) = (Rate::new(8e6, Clock::PICOSECONDS), Buffer::new(None, Counting::WithService));
        let random = RandomStream::named(1, 0, "link");
        let mut link = QueuedLink::new(rate, buffer, &discipline, Clock::PICOSECONDS, random);
        for sequence in 0..10 {
            let packet = Packet { sequence, bytes: 1000, marks: Marks::ECT, ..Packet::default() };
            link.arrive(Time::ZERO, packet, 0, &MEASUREMENT, &mut |_, _| ());
        }
        let next = || link.depart(link.next_departure(), &MEASUREMENT, &mut |_, _| ());
        let marked: Vec<bool> = std::iter::from_fn(next).map(|packet| packet.marks.has(Marks::CE)).collect();
        assert_eq!(marked, [false, false, true, true, true, true, true, true, true, false]);
    }

    /// A target that is never exceeded for an interval drops nothing; one packet of the largest length may always wait.
    #[test]
    fn short_queues_and_single_packets_are_left_alone() {
        // 100 packets at twice the rate are gone after 100 ms.
        assert_eq!(signals(RFC, 100, 500, Marks::NONE), []);
        // One packet is sent and one waits, each for 0.9 ms, far above the target.
        let tight = CodelConfig { target_s: 1e-5, interval_s: 0.01, ..RFC };
        assert_eq!(signals(tight, 1000, 1000, Marks::NONE), []);
        assert!(!signals(tight, 1000, 990, Marks::NONE).is_empty());
    }

    /// Linux `ce_threshold`: each packet above it is marked, whatever CoDel decides.
    #[test]
    fn a_threshold_marks_each_packet_above_it() {
        let config = CodelConfig { ce_threshold_s: Some(0.001), ..LINUX };
        let found = signals(config, 20, 500, Marks::ECT);
        // Packet n leaves the queue after n ms, having come after n / 2 ms. The second one, from 0 on, waits from unit 976 to
        // unit 1953, and the threshold is 976 units.
        assert_eq!(instants(&found), (2..20).map(f64::from).collect::<Vec<_>>());
        assert!(signals(config, 20, 500, Marks::NONE).is_empty());
    }

    /// Linux: the same law with units of 1024 ns and the Newton step, which overshoots at small counts: 1 / sqrt(2) is
    /// 0.5, then 0.5625 for 1 / sqrt(3).
    #[test]
    fn linux_approximates_the_square_root() {
        let mut codel = Codel::new(LINUX, Clock::PICOSECONDS);
        codel.begin(0);
        assert_eq!((codel.inverse_root, codel.count), (u16::MAX, 1));
        let mut roots = Vec::new();
        for _ in 0..8 {
            codel.signal(false);
            roots.push(f64::from(codel.inverse_root) / 65536.0);
        }
        assert!((roots[0] - 0.5).abs() < 1e-3 && (roots[1] - 0.5625).abs() < 1e-3, "{roots:?}");
        assert!((roots[7] * 3.0 - 1.0).abs() < 0.01, "{roots:?}");
        let found = instants(&signals(LINUX, 1200, 500, Marks::NONE));
        assert!((found[0] - 110.0).abs() <= 1.0 && (found[1] - found[0] - 100.0).abs() <= 1.0, "{found:?}");
        assert!((found[2] - found[1] - 50.0).abs() <= 1.0, "{found:?}");
    }

    /// RFC 8289 section 5.4, Linux: a state that begins soon after the last one takes up the count that it grew by.
    #[test]
    fn the_count_is_taken_up_again() {
        for config in [RFC, LINUX] {
            let mut codel = Codel::new(config, Clock::PICOSECONDS);
            codel.begin(1000);
            (1..10).for_each(|_| assert_eq!(codel.signal(false), Verdict::Drop));
            assert_eq!((codel.count, codel.last_count), (10, 1));
            let due = codel.drop_next;
            codel.begin(due + 16 * codel.interval - 1);
            assert_eq!((codel.count, codel.last_count), (9, 9));
            codel.begin(due + 1);
            assert_eq!((codel.count, codel.last_count), (1, 1), "it has not grown");
            codel.count = 7;
            let due = codel.drop_next;
            codel.begin(due + 16 * codel.interval);
            assert_eq!(codel.count, 1, "too late");
        }
    }

    /// RFC 8289 section 5.5: the state ends where drops leave nothing; but the first drop of a state does not end it.
    #[test]
    fn an_empty_queue_ends_the_state_of_dropping() {
        let mut codel = Codel::new(RFC, Clock::PICOSECONDS);
        codel.begin(0);
        codel.began = true;
        codel.on_empty(Time::ZERO);
        assert!(codel.dropping && codel.first_above.is_none());
        codel.on_empty(Time::ZERO);
        assert!(!codel.dropping);
    }
}
