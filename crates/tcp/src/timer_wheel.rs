//! Linux's timer wheel.

use base::{Clock, Divisor, Time};

use crate::{SenderConfig, TimeoutConfig};

/// Slots of a level of the wheel, less one: a timer of the first level waits for fewer jiffies.
const SLOTS: u64 = 63;

/// The ticks of a kernel's clock, and the timers that run by them (`kernel/time/timer.c`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jiffies {
    length: Divisor,
    /// Time on this clock at the start of the run.
    offset: Time,
}

impl Jiffies {
    /// Creates a clock of jiffies that shows `offset` at the start of the run.
    pub(crate) fn new(length: Time, offset: Time) -> Jiffies {
        Jiffies { length: Divisor::new(length.ticks()), offset }
    }

    /// Returns the number of the jiffy in which an instant lies.
    #[inline(always)]
    pub(crate) fn number(&self, instant: Time) -> u64 {
        self.length.quotient((instant + self.offset).ticks())
    }

    /// Returns the start of a jiffy.
    #[inline(always)]
    pub(crate) fn start(&self, number: u64) -> Time {
        self.span(number) - self.offset
    }

    /// Returns the duration of a number of jiffies.
    #[inline(always)]
    pub(crate) fn span(&self, jiffies: u64) -> Time {
        Time::from_ticks(self.length.number()).times(jiffies)
    }

    /// Returns the number of jiffies of a duration, rounded up.
    #[inline(always)]
    pub(crate) fn up(&self, duration: Time) -> u64 {
        self.length.quotient_up(duration.ticks())
    }

    /// Returns the number of jiffies of a duration, rounded down.
    #[inline(always)]
    pub(crate) fn down(&self, duration: Time) -> u64 {
        self.length.quotient(duration.ticks())
    }

    /// Returns the number of the jiffy as which a timer fires that is set `now`, in the jiffy `number`, for the jiffy `timeout`
    /// (`calc_wheel_index`).
    #[inline(always)]
    pub(crate) fn expiry(&self, now: Time, number: u64, timeout: u64) -> u64 {
        if timeout - number < SLOTS {
            return timeout + 1;
        }
        self.late_expiry(now, number, timeout)
    }

    #[inline(never)]
    fn late_expiry(&self, now: Time, number: u64, timeout: u64) -> u64 {
        // As a timer fires the wheel has come to the next jiffy already (`__run_timers`), and timers fire as jiffies begin.
        let wheel = number + u64::from(self.start(number) == now);
        let wait = timeout - wheel;
        // Each level of the wheel has slots eight times as long as those of the level below.
        let level = (0..8_u32).find(|level| wait < SLOTS << (3 * level)).unwrap_or(8);
        ((timeout >> (3 * level)) + 1) << (3 * level)
    }
}

/// The clock that timers run by: Linux's jiffies and its timer wheel, which fires long timers at multiples of 8, 64,
/// ... jiffies only; or an exact one.
#[derive(Clone, Copy, Debug)]
pub struct TimerWheel {
    /// `None`: timers are exact.
    jiffies: Option<Jiffies>,
}

impl TimerWheel {
    /// Returns the clock of a sender, and of the host at its connection's other end.
    pub fn of(config: &SenderConfig, clock: Clock) -> TimerWheel {
        match config {
            SenderConfig::Selective(config) => TimerWheel::of_timeouts(&config.rto, clock),
            SenderConfig::Classic(_) => TimerWheel { jiffies: None },
        }
    }

    /// Returns the clock by these settings.
    pub(crate) fn of_timeouts(config: &TimeoutConfig, clock: Clock) -> TimerWheel {
        TimerWheel::new(clock.time(config.granularity_s), clock.time(config.clock_offset_s))
    }

    /// Creates a clock that shows `offset` at the start of the run. It counts jiffies, or is exact if these are of
    /// [`Time::ZERO`].
    fn new(jiffy: Time, offset: Time) -> TimerWheel {
        TimerWheel { jiffies: (jiffy > Time::ZERO).then(|| Jiffies::new(jiffy, offset)) }
    }

    /// Returns its jiffies; `None` if timers are exact.
    pub(crate) fn jiffies(&self) -> Option<Jiffies> {
        self.jiffies
    }

    /// Returns the time between two instants by timestamps, whole jiffies and one at least (Linux `TCP_TS_HZ`).
    pub(crate) fn elapsed(&self, from: Time, to: Time) -> Time {
        let least = self.jiffies.map_or(Time::ZERO, |jiffies| jiffies.span(1));
        (self.whole_down(to) - self.whole_down(from)).max(least)
    }

    /// Returns whether the timestamp of an instant is older than that of another one.
    pub(crate) fn is_older(&self, one: Time, other: Time) -> bool {
        self.whole_down(one) < self.whole_down(other)
    }

    /// Returns a duration in whole jiffies, rounded up.
    pub(crate) fn whole(&self, duration: Time) -> Time {
        self.jiffies.map_or(duration, |jiffies| jiffies.span(jiffies.up(duration)))
    }

    /// Returns a duration in whole jiffies, rounded down.
    pub(crate) fn whole_down(&self, duration: Time) -> Time {
        self.jiffies.map_or(duration, |jiffies| jiffies.span(jiffies.down(duration)))
    }

    /// Returns when a timer that is set `now` for `deadline` fires; [`Time::NEVER`] if that is never.
    pub fn fires(&self, now: Time, deadline: Time) -> Time {
        let Some(jiffies) = self.jiffies.filter(|_| deadline != Time::NEVER) else { return deadline };
        let number = jiffies.number(now);
        jiffies.start(jiffies.expiry(now, number, number + jiffies.up(deadline - now)))
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

    /// The kernel's timeouts of a Reno flow whose retransmissions were all lost \[us\]: the third one, of 504 ms, was set as the
    /// second expired. From there it is 503 ms to the wheel, of which it has slots of 8 ms up to 503, and of 64 ms beyond.
    #[test]
    fn a_timer_that_is_set_as_another_one_fires_is_a_jiffy_nearer() {
        // The kernel's ticks show 224.3891 s as the run begins.
        let wheel = TimerWheel::new(Time::from_ticks(1000), Time::from_ticks(224_389_100));
        let fires = |now: u64, timeout_ms: u64| {
            wheel.fires(Time::from_ticks(now), Time::from_ticks(now + 1000 * timeout_ms)).ticks()
        };
        assert_eq!(fires(6_209_832, 252), 6_466_900);
        assert_eq!(fires(6_466_900, 504), 6_978_900);
        assert_eq!(fires(6_978_900, 1008), 7_994_900);
        assert_eq!(fires(7_994_900, 2016), 10_042_900);
        assert_eq!(fires(6_466_901, 504), 7_034_900, "set by a packet in the same millisecond");
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
