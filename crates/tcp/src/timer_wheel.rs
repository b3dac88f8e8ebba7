//! Linux's timer wheel.

use base::{Clock, Divisor, Time};

use crate::{SenderConfig, TimeoutConfig};

/// The clock that timers run by: Linux's jiffies and its timer wheel, which fires long timers at multiples of 8, 64,
/// ... jiffies only (`kernel/time/timer.c`); or an exact one.
#[derive(Clone, Copy, Debug)]
pub struct TimerWheel {
    /// Ticks of a jiffy; `None`: timers are exact.
    jiffy: Option<Divisor>,
    /// Time on this clock at the start of the run.
    offset: Time,
}

impl TimerWheel {
    /// Returns the clock of a sender, and of the host at its connection's other end.
    pub fn of(config: &SenderConfig, clock: Clock) -> TimerWheel {
        match config {
            SenderConfig::Selective(config) => TimerWheel::of_timeouts(&config.rto, clock),
            SenderConfig::Classic(_) => TimerWheel::new(Time::ZERO, Time::ZERO),
        }
    }

    /// Returns the clock by these settings.
    pub(crate) fn of_timeouts(config: &TimeoutConfig, clock: Clock) -> TimerWheel {
        TimerWheel::new(clock.time(config.granularity_s), clock.time(config.clock_offset_s))
    }

    /// Creates a clock that shows `offset` at the start of the run. It counts jiffies, or is exact if these are of
    /// [`Time::ZERO`].
    fn new(jiffy: Time, offset: Time) -> TimerWheel {
        TimerWheel { jiffy: (jiffy > Time::ZERO).then(|| Divisor::new(jiffy.ticks())), offset }
    }

    /// Returns the time between two instants by timestamps, whole jiffies and one at least (Linux `TCP_TS_HZ`).
    pub(crate) fn elapsed(&self, from: Time, to: Time) -> Time {
        let least = self.jiffy.map_or(Time::ZERO, |jiffy| Time::from_ticks(jiffy.number()));
        (self.whole_down(to) - self.whole_down(from)).max(least)
    }

    /// Returns a duration in whole jiffies, rounded up.
    pub(crate) fn whole(&self, duration: Time) -> Time {
        self.jiffy.map_or(duration, |jiffy| Time::from_ticks(jiffy.number()).times(jiffy.quotient_up(duration.ticks())))
    }

    /// Returns a duration in whole jiffies, rounded down.
    pub(crate) fn whole_down(&self, duration: Time) -> Time {
        let down = |jiffy: Divisor| Time::from_ticks(jiffy.number()).times(jiffy.quotient(duration.ticks()));
        self.jiffy.map_or(duration, down)
    }

    /// Returns when a timer that is set `now` for `deadline` fires; [`Time::NEVER`] if that is never.
    pub fn fires(&self, now: Time, deadline: Time) -> Time {
        let Some(jiffy) = self.jiffy.filter(|_| deadline != Time::NEVER) else { return deadline };
        let wait = jiffy.quotient_up((deadline - now).ticks());
        // Each level of the wheel has 64 slots, eight times as long as those of the level below.
        let level = (0..8_u32).find(|level| wait < 63 << (3 * level)).unwrap_or(8);
        let due = jiffy.quotient((now + self.offset).ticks()) + wait;
        let slot = (due >> (3 * level)) + 1;
        Time::from_ticks(jiffy.number()).times(slot << (3 * level)) - self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's SYNs of four flows in a full queue, recorded as they were dropped \[us\]: timers of a second and more
    /// expire at multiples of 64 ms, so that flows which began apart send again at one instant.
    #[test]
    fn syns_are_sent_again_when_the_kernels_are() {
        // The kernel's ticks show 224.3891 s as the run begins, less what a SYN takes to the bottleneck.
        let wheel = TimerWheel::new(Time::from_ticks(1000), Time::from_ticks(224_389_100));
        let recorded = [
            [741_295, 1_786_947, 3_834_947],
            [769_095, 1_786_947, 3_834_947],
            [851_476, 1_914_947, 3_962_947],
            [895_721, 1_914_947, 3_962_947],
        ];
        for instants in recorded {
            for (sent, timeout) in [(0, 1_000_000), (1, 2_000_000)] {
                let now = Time::from_ticks(instants[sent]);
                let again = wheel.fires(now, now + Time::from_ticks(timeout));
                assert!(again.ticks().abs_diff(instants[sent + 1]) < 100, "{instants:?}, {again:?}");
            }
        }
    }

    #[test]
    fn timestamps_count_jiffies_that_begin_in_between() {
        let us = |microseconds: u64| Time::from_ticks(microseconds);
        let wheel = TimerWheel::new(us(1000), Time::ZERO);
        assert_eq!(
            [(900, 5100), (100, 5900), (100, 200)].map(|(from, to)| wheel.elapsed(us(from), us(to)).ticks()),
            [5000, 5000, 1000]
        );
        assert_eq!(TimerWheel::new(Time::ZERO, Time::ZERO).elapsed(us(900), us(5100)), us(4200));
    }
}
