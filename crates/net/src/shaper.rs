use base::{Rate, Time};

/// A shaper without a burst: the instant at which the next packet may go (Linux `net/sched/sch_cake.c`,
/// `time_next_packet`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shaper {
    rate: Rate,
    release: Time,
}

impl Shaper {
    /// Returns a shaper that lets a packet go at once.
    pub(crate) fn new(rate: Rate) -> Shaper {
        Shaper { rate, release: Time::ZERO }
    }

    /// Returns the instant from which on the next packet may go.
    pub(crate) fn release(&self) -> Time {
        self.release
    }

    /// Notes that a packet goes: the next one may when this one would have been sent at the shaper's rate.
    pub(crate) fn take(&mut self, now: Time, bytes: u16) {
        if self.release < now {
            self.rate.restart();
        }
        self.release = self.release.max(now) + self.rate.service_time(bytes);
    }
}
