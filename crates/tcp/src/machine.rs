use base::Time;

use crate::actions::{Ack, Actions};
use crate::{Classic, Sack1, Selective};

/// A sender as an ACK finds it: the same questions for each machine. Code that is generic in the machine looks it up
/// once.
pub trait Machine {
    /// Returns the congestion window \[packets\].
    fn cwnd(&self) -> f64;

    /// Returns the first unacknowledged packet.
    fn una(&self) -> u64;

    /// Returns the number of packets that the sender takes to be in the network.
    fn flight_size(&self) -> u64;

    /// Returns the start of the transfer; an ACK that echoes an older stamp belongs to the previous transfer.
    fn opened(&self) -> Time;

    /// Returns whether the whole transfer is acknowledged.
    fn finished(&self) -> bool;

    /// Returns when the timer expires; [`Time::NEVER`] while no timer runs.
    fn deadline(&self) -> Time;

    /// Returns the deadline if it is before `limit`; else an instant that is not, [`Time::NEVER`] only for that.
    #[inline(always)]
    fn deadline_before(&self, _limit: Time) -> Time {
        self.deadline()
    }

    /// Handles an ACK that arrives.
    fn on_ack(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions);
}

/// Passes the methods of [`Machine`] on to those that a machine has itself.
macro_rules! machine {
    ($name:ident $(, $own:item)?) => {
        impl Machine for $name {
            #[inline(always)]
            fn cwnd(&self) -> f64 {
                $name::cwnd(self)
            }

            #[inline(always)]
            fn una(&self) -> u64 {
                $name::una(self)
            }

            #[inline(always)]
            fn flight_size(&self) -> u64 {
                $name::flight_size(self)
            }

            #[inline(always)]
            fn opened(&self) -> Time {
                $name::opened(self)
            }

            #[inline(always)]
            fn finished(&self) -> bool {
                $name::finished(self)
            }

            #[inline(always)]
            fn deadline(&self) -> Time {
                $name::deadline(self)
            }

            #[inline(always)]
            fn on_ack(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
                $name::on_ack(self, now, ack, actions);
            }

            $(#[inline(always)] $own)?
        }
    };
}

machine!(Classic);
machine!(Sack1);
machine!(
    Selective,
    fn deadline_before(&self, limit: Time) -> Time {
        Selective::deadline_before(self, limit)
    }
);
