//! A sender is the classic machine, ns-2's extension of it by selective acknowledgment, or the machine that hosts run.

use base::{Clock, Marks, RandomStream, Time};

use crate::actions::{Ack, Actions};
use crate::classic::{Classic, Sack1};
use crate::{Recovery, Selective, SenderConfig};

/// A TCP sender.
///
/// The classic machine is stored in place, as the papers' scenarios have up to 100,000 of them; the others are boxed, so
/// that they cost them nothing.
#[derive(Clone, Debug)]
pub enum Sender {
    /// Cumulative ACKs alone: old Tahoe to NewReno, exact against ns-2.
    Classic(Classic),
    /// Selective acknowledgment as ns-2.35's `Agent/TCP/Sack1` has it.
    Sack1(Box<Sack1>),
    /// Selective acknowledgment: what hosts run today.
    Selective(Box<Selective>),
}

/// Calls a method of the machine that a sender is.
macro_rules! machine {
    ($sender:expr, $machine:ident => $call:expr) => {
        match $sender {
            Sender::Classic($machine) => $call,
            Sender::Sack1($machine) => $call,
            Sender::Selective($machine) => $call,
        }
    };
}

impl Sender {
    /// Creates a sender of `size` packets (`None`: endless) that has sent nothing yet.
    pub fn new(config: &SenderConfig, size: Option<u64>, clock: Clock) -> Sender {
        match config {
            SenderConfig::Classic(config) if config.recovery == Recovery::Sack1 => {
                Sender::Sack1(Box::new(Sack1::new(config, size, clock)))
            }
            SenderConfig::Classic(config) => Sender::Classic(Classic::new(config, size, clock)),
            SenderConfig::Selective(config) => Sender::Selective(Box::new(Selective::new(config, size, clock))),
        }
    }

    /// Creates a sender with the settings of this one, which has sent nothing, for a transfer of `size` packets that
    /// begins `now`. Its packets are numbered from `first` on, where the previous transfer ended, so that packets and
    /// ACKs of the two cannot be confused. `closed` is the sender of a transfer with the same settings that has ended,
    /// as [`Sender::close`] gave it: its memory is used again.
    pub fn open_at(&self, first: u64, size: u64, now: Time, closed: Option<Box<Selective>>) -> Sender {
        match self {
            Sender::Classic(sender) => Sender::Classic(sender.open_at(first, size, now)),
            Sender::Sack1(sender) => Sender::Sack1(Box::new(sender.open_at(first, size, now))),
            Sender::Selective(sender) => {
                let mut opened = closed.unwrap_or_else(|| sender.clone());
                opened.reopen_at(first, size, now);
                Sender::Selective(opened)
            }
        }
    }

    /// Ends a transfer, all of which is acknowledged; returns what the sender had allocated. What is left keeps the
    /// windows and has nothing to send, so that sources between two transfers take little memory.
    pub fn close(&mut self, idle: &Classic) -> Option<Box<Selective>> {
        let Sender::Selective(sender) = self else { return None };
        let idle = idle.idle_at(sender.una(), sender.opened(), (sender.cwnd(), sender.ssthresh()));
        match std::mem::replace(self, Sender::Classic(idle)) {
            Sender::Selective(sender) => Some(sender),
            Sender::Classic(_) | Sender::Sack1(_) => None,
        }
    }

    /// Sets the random numbers of the flow, if its congestion control draws some.
    pub fn set_random(&mut self, random: impl FnOnce() -> RandomStream) {
        if let Sender::Selective(sender) = self {
            if sender.needs_random() {
                sender.set_random(random());
            }
        }
    }

    /// Prefetches what an ACK needs.
    #[inline(always)]
    pub fn prefetch(&self) {
        match self {
            Sender::Classic(sender) => sender.prefetch(),
            Sender::Sack1(sender) => base::prefetch(&**sender),
            Sender::Selective(sender) => base::prefetch(&**sender),
        }
    }

    /// Prefetches the rest, needed at the beginning and the end of a transfer.
    #[inline(always)]
    pub fn prefetch_rest(&self) {
        if let Sender::Classic(sender) = self {
            sender.prefetch_rest();
        }
    }

    /// Takes the round trip of the handshake, before the transfer starts; SYNs were sent again `repeated` times, and the
    /// answer echoes the first one if it is `of_first`. Senders with cumulative ACKs alone take no sample of it.
    pub fn on_handshake(&mut self, now: Time, rtt: Time, repeated: u32, of_first: bool) {
        match self {
            Sender::Selective(sender) => sender.on_handshake(now, rtt, repeated, of_first),
            Sender::Classic(sender) if repeated > 0 => sender.on_lost_handshake(),
            Sender::Classic(_) | Sender::Sack1(_) => {}
        }
    }

    /// Takes the window that the receiver announces first \[packets\], before the transfer starts. Senders with cumulative ACKs
    /// alone have one of their own.
    pub fn hear_first_window(&mut self, window: u64) {
        if let Sender::Selective(sender) = self {
            sender.hear_first_window(window);
        }
    }

    /// Takes note that the SYN which reached the receiver did not ask for ECN. The sender with cumulative ACKs alone takes
    /// no note of it.
    pub fn on_plain_handshake(&mut self) {
        if let Sender::Selective(sender) = self {
            sender.on_plain_handshake();
        }
    }

    /// Returns the bits of a packet without data.
    pub fn marks_without_data(&self) -> Marks {
        self.marks_of(Selective::marks_without_data)
    }

    /// Returns the bits of an ACK without data behind the handshake.
    pub fn marks_of_ack(&self) -> Marks {
        self.marks_of(Selective::marks_of_ack)
    }

    /// Returns the bits of a SYN.
    pub fn marks_of_syn(&self, repeated: bool) -> Marks {
        self.marks_of(|sender| sender.marks_of_syn(repeated))
    }

    /// Returns the bits of the hellos of TLS.
    pub fn marks_of_hellos(&self) -> Marks {
        self.marks_of(Selective::marks_of_hellos)
    }

    /// Returns the bits that a sender sets. Those with cumulative ACKs alone set none, as in ns-2, where nothing is negotiated.
    fn marks_of(&self, marks: impl FnOnce(&Selective) -> Marks) -> Marks {
        match self {
            Sender::Selective(sender) => marks(sender),
            Sender::Classic(_) | Sender::Sack1(_) => Marks::NONE,
        }
    }

    /// Starts the transfer, after the handshake if there is one.
    pub fn on_start(&mut self, now: Time, actions: &mut impl Actions) {
        machine!(self, sender => sender.on_start(now, actions))
    }

    /// Handles an ACK that arrives.
    pub fn on_ack(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        machine!(self, sender => sender.on_ack(now, ack, actions))
    }

    /// Handles the expiry of the timer.
    pub fn on_timer(&mut self, now: Time, actions: &mut impl Actions) {
        machine!(self, sender => sender.on_timer(now, actions))
    }

    /// Returns the instant at which to call [`Sender::on_timer`]; [`Time::NEVER`] while no timer runs.
    #[inline(always)]
    pub fn deadline(&self) -> Time {
        machine!(self, sender => sender.deadline())
    }

    /// Returns whether an ACK that arrives at `time` may be handled before, as the sender's reaction depends on its own
    /// state alone. `news`: the ACK acknowledges packets beyond a hole; `in_order`: packets keep their order on their way.
    #[inline(always)]
    pub fn may_take_ahead(&self, time: Time, next: u64, news: bool, in_order: bool) -> bool {
        match self {
            Sender::Classic(sender) => !news && sender.only_opens(time, next),
            Sender::Sack1(_) => false,
            Sender::Selective(sender) => sender.may_take_ahead(time, next, news, in_order),
        }
    }

    /// Returns the congestion window \[packets\].
    #[inline(always)]
    pub fn cwnd(&self) -> f64 {
        machine!(self, sender => sender.cwnd())
    }

    /// Returns the slow start threshold \[packets\].
    pub fn ssthresh(&self) -> f64 {
        machine!(self, sender => sender.ssthresh())
    }

    /// Returns the number of packets that the sender takes to be in the network.
    #[inline(always)]
    pub fn flight_size(&self) -> u64 {
        machine!(self, sender => sender.flight_size())
    }

    /// Returns the current retransmission timeout.
    pub fn rto(&self) -> Time {
        machine!(self, sender => sender.rto())
    }

    /// Returns the first unacknowledged packet.
    #[inline(always)]
    pub fn una(&self) -> u64 {
        machine!(self, sender => sender.una())
    }

    /// Returns the first packet of the transfer.
    pub fn first(&self) -> u64 {
        machine!(self, sender => sender.first())
    }

    /// Returns the start of the transfer; an ACK that echoes an older stamp belongs to the previous transfer.
    #[inline(always)]
    pub fn opened(&self) -> Time {
        machine!(self, sender => sender.opened())
    }

    /// Returns whether the whole transfer is acknowledged.
    #[inline(always)]
    pub fn finished(&self) -> bool {
        machine!(self, sender => sender.finished())
    }

    /// Returns whether the ends close the connection after the transfer.
    pub fn closes(&self) -> bool {
        matches!(self, Sender::Selective(sender) if sender.closes())
    }

    /// Returns whether an ACK of all packets below `next` acknowledges the whole transfer.
    #[inline(always)]
    pub fn ends_before(&self, next: u64) -> bool {
        match self {
            Sender::Classic(sender) => sender.ends_before(next),
            Sender::Sack1(sender) => sender.ends_before(next),
            Sender::Selective(sender) => next >= sender.end(),
        }
    }
}
