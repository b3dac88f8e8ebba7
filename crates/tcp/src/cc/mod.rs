//! Congestion control: how much may be in flight. One file and one line of [`ALGORITHMS`] each.
//!
//! A control knows no packets, no timers and no network. Which packets are lost, and how cwnd comes down to ssthresh in
//! recovery, is the sender's affair.

mod absent;
mod aimd;
mod bbr;
mod bbr3;
mod common;
mod cube_root;
mod cubic;
mod cubic_rfc;
mod dctcp;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod hystart_plus;
mod illinois;
mod kernel;
mod phase;
mod prague;
mod provided;
mod rate;
mod reno;
mod scalable;
mod settings;
mod slow_start;
mod vegas;
mod westwood;

use std::fmt::Debug;

use base::{RandomStream, Time};

pub(crate) use common::Counter;
pub(crate) use kernel::KernelClock;
pub use phase::{Phase, StartProgress};
pub use provided::{Provided, Provider};
pub use rate::{Lost, RateSample, Span};
pub use settings::{Dialect, Parameter, Settings, SlowStart};

use crate::State;

/// The congestion window and the slow start threshold \[packets\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Packets that may be in flight.
    pub cwnd: f64,
    /// Slow start threshold; infinite at first.
    pub ssthresh: f64,
}

impl Window {
    /// Returns whether cwnd is below ssthresh.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// The result of an ACK, for the congestion control.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// The instant at which the ACK arrives.
    pub now: Time,
    /// Packets that the ACK acknowledges, cumulatively or selectively, for the first time.
    pub acked: u32,
    /// Packets of these that the receiver reports as marked (Linux's `delivered_ce`).
    pub marked: u32,
    /// Packets that the ACK shows to be lost, lost retransmissions included; not those that timers found (Linux
    /// `rate_sample.losses`).
    pub lost: u32,
    /// Packets that were taken to be lost so far, by ACKs and by timers.
    pub lost_total: u64,
    /// State of congestion after the ACK.
    pub state: State,
    /// Whether the window may grow: no reduction is going on, and in-order or selectively acknowledged data arrived.
    pub may_grow: bool,
    /// Whether cwnd, and not the application or the receiver, limits what is in flight.
    pub cwnd_limited: bool,
    /// Whether all of cwnd was in flight at some time in the current round.
    pub cwnd_used: bool,
    /// Round trip of the newest packet that the ACK acknowledges and that was sent once.
    pub rtt: Option<Time>,
    /// Smallest round trip of the connection so far; [`Time::NEVER`] before the first sample.
    pub min_rtt: Time,
    /// Smoothed round trip; [`Time::ZERO`] before the first sample.
    pub srtt: Time,
    /// SND.UNA after the ACK: number of the first packet that is not acknowledged.
    pub una: u64,
    /// SND.NXT: number of the next packet that has not been sent.
    pub nxt: u64,
    /// Packets that were taken to be in the network before the ACK, and those that are after it.
    pub in_flight: [u32; 2],
    /// Whether the ACK advances SND.UNA without blocks and without ECE.
    pub plain: bool,
    /// Window that the ACK announces \[packets\]; [`u64::MAX`]: none.
    pub window: u64,
    /// Earliest departure of the next packet, if packets are paced; not later than `now` if none waits.
    pub departure: Time,
    /// Sample of the delivery rate, if the control needs one.
    pub rate: Option<RateSample>,
}

impl AckSample {
    /// Returns whether no reordering, reduction or recovery is going on after the ACK.
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }
}

/// A transmission, of new data or again, with nothing in flight (Linux `CA_EVENT_TX_START`).
#[derive(Clone, Copy, Debug)]
pub struct Restart {
    /// Instant of the transmission.
    pub now: Time,
    /// Instant of the transmission before it.
    pub idle_since: Time,
    /// Whether the application had nothing to send meanwhile.
    pub app_limited: bool,
    /// SND.NXT before the transmission.
    pub nxt: u64,
}

/// Services of the sender that a congestion control asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Samples of the delivery rate with each ACK.
    pub rate: bool,
    /// Pacing at its own rate.
    pub pacing: bool,
    /// cwnd to itself in reductions too: PRR leaves it alone (Linux `cong_control`).
    pub window: bool,
    /// Random numbers of the flow.
    pub random: bool,
    /// Each packet that is taken to be lost ([`CongestionControl::on_lost`]); with samples of the delivery rate only.
    pub losses: bool,
    /// The codepoint ECT(1) for its packets, with ECN, as it answers marks as L4S demands (RFC 9331).
    pub l4s: bool,
}

/// The reason for a reduction of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Packets are lost, and recovery begins.
    Loss,
    /// The network marked packets (RFC 3168).
    Ecn,
    /// The retransmission timer expired.
    Timeout,
}

/// A congestion control.
pub trait CongestionControl: Debug + Send + Sync {
    /// Takes note of an ACK before the sender reacts to it, perhaps by [`CongestionControl::on_congestion`] (Linux
    /// `in_ack_event`, `pkts_acked`); `may_grow` is false, and what else depends on the reaction is as before the ACK.
    fn measure(&mut self, _ack: &AckSample, _window: &Window) {}

    /// Takes note of an ACK that acknowledges something, after the reaction to it, and grows the window if it may (Linux
    /// `cong_avoid`).
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window);

    /// Returns the new ssthresh at a congestion; called at most once for all losses of a window of data.
    fn on_congestion(&mut self, signal: Signal, now: Time, window: &Window) -> f64;

    /// Returns the cwnd to restore after a reduction that was spurious; `prior` is the one before it.
    fn undo(&mut self, prior: f64, window: &Window) -> f64 {
        window.cwnd.max(prior)
    }

    /// Takes note that recovery begins, also where a reduction for marks goes on, to which a loss adds none (Linux
    /// `set_state`).
    fn on_recovery(&mut self, _window: &mut Window) {}

    /// Takes note of the end of a recovery or a reduction, at which cwnd is ssthresh, unless the reduction was undone
    /// (Linux `CA_EVENT_COMPLETE_CWR`).
    fn on_recovery_end(&mut self, _window: &mut Window) {}

    /// Takes note of an expiry of the retransmission timer; `nxt` is SND.NXT.
    ///
    /// The sender calls it at every expiry, repeated ones and those in recovery included, as Linux enters its state
    /// Loss; where the expiry is a new congestion, after [`CongestionControl::on_congestion`].
    fn on_timeout(&mut self, _now: Time, _nxt: u64) {}

    /// Takes note of a packet that is taken to be lost, after the reduction that may begin with it, and before an ACK that
    /// shows the loss is handled.
    fn on_lost(&mut self, _lost: &Lost, _window: &Window) {}

    /// Takes note of a transmission with nothing in flight.
    fn on_restart(&mut self, _restart: &Restart, _window: &mut Window) {}

    /// Returns the services that it needs; the same ones at all times.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Takes note of the start of a transfer, with the smoothed round trip and the smallest one of the handshake;
    /// [`Time::ZERO`] and [`Time::NEVER`] if none was measured. The window is the initial one, which it may change (Linux
    /// `tcp_init_transfer`).
    fn on_start(&mut self, _now: Time, _srtt: Time, _min_rtt: Time, _window: &mut Window) {}

    /// Takes note that the handshake measured no round trip, as SYNs were sent again and have no timestamps; the start follows.
    fn on_unmeasured_handshake(&mut self) {}

    /// Returns the rate at which packets are to be paced \[byte/s\]; `None`: as the sender's setting says.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }

    /// Returns whether it holds back what it could send, so that the delivery rate says nothing about the path.
    fn holds_back(&self) -> bool {
        false
    }

    /// Returns the progress of its slow start, for traces.
    fn start_progress(&self) -> StartProgress {
        StartProgress::default()
    }

    /// Returns its phase, for traces; `in_slow_start`: cwnd is below ssthresh, and no reduction goes on.
    fn phase(&self, in_slow_start: bool) -> Phase {
        self.start_progress().phase(in_slow_start)
    }

    /// Takes the random numbers of the flow.
    fn set_random(&mut self, _random: RandomStream) {}

    /// Takes the reason for which the control cannot go on; the run ends then.
    ///
    /// Only a control that a run brings along is asked ([`Provided`]).
    fn failure(&mut self) -> Option<String> {
        None
    }

    /// Returns to the state at the start of a connection, for the next transfer of the flow.
    fn restart(&mut self);

    /// Returns a copy with its state.
    fn clone_box(&self) -> Box<dyn CongestionControl>;
}

impl Clone for Box<dyn CongestionControl> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

/// A row of the list of congestion controls.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// Name in scenarios, as Linux writes it.
    pub name: &'static str,
    /// Numbers that scenarios may set, in the order of [`Settings::parameters`].
    pub parameters: &'static [Parameter],
    /// End of slow start that Linux has with it.
    pub slow_start: SlowStart,
    /// Whether its window grows until a loss or the receiver's window ends it, as far as is known.
    pub grows_until_loss: bool,
    /// Creates it, as of the start of a connection.
    pub new: fn(&Settings) -> Box<dyn CongestionControl>,
}

/// All congestion controls.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "aimd",
        parameters: &aimd::PARAMETERS,
        slow_start: SlowStart::Standard,
        grows_until_loss: true,
        new: aimd::new,
    },
    Algorithm { name: "bbr", parameters: &[], slow_start: SlowStart::Standard, grows_until_loss: false, new: bbr::new },
    Algorithm {
        name: "bbr3",
        parameters: &[],
        slow_start: SlowStart::Standard,
        grows_until_loss: false,
        new: bbr3::new,
    },
    Algorithm {
        name: "cubic",
        parameters: &cubic::PARAMETERS,
        slow_start: SlowStart::HyStart,
        grows_until_loss: true,
        new: cubic::new,
    },
    Algorithm {
        name: "dctcp",
        parameters: &dctcp::PARAMETERS,
        slow_start: SlowStart::Standard,
        grows_until_loss: false,
        new: dctcp::new,
    },
    Algorithm {
        name: "highspeed",
        parameters: &[],
        slow_start: SlowStart::Standard,
        grows_until_loss: true,
        new: highspeed::new,
    },
    Algorithm {
        name: "htcp",
        parameters: &[],
        slow_start: SlowStart::Standard,
        grows_until_loss: true,
        new: htcp::new,
    },
    Algorithm {
        name: "hybla",
        parameters: &hybla::PARAMETERS,
        slow_start: SlowStart::Standard,
        grows_until_loss: true,
        new: hybla::new,
    },
    Algorithm {
        name: "illinois",
        parameters: &[],
        slow_start: SlowStart::Standard,
        grows_until_loss: true,
        new: illinois::new,
    },
    Algorithm {
        name: "prague",
        parameters: &prague::PARAMETERS,
        slow_start: SlowStart::Standard,
        grows_until_loss: false,
        new: prague::new,
    },
    Algorithm {
        name: "reno",
        parameters: &reno::PARAMETERS,
        slow_start: SlowStart::Standard,
        grows_until_loss: true,
        new: reno::new,
    },
    Algorithm {
        name: "scalable",
        parameters: &scalable::PARAMETERS,
        slow_start: SlowStart::Standard,
        grows_until_loss: true,
        new: scalable::new,
    },
    Algorithm {
        name: "vegas",
        parameters: &vegas::PARAMETERS,
        slow_start: SlowStart::Standard,
        grows_until_loss: false,
        new: vegas::new,
    },
    Algorithm {
        name: "westwood",
        parameters: &[],
        slow_start: SlowStart::Standard,
        grows_until_loss: true,
        new: westwood::new,
    },
];

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns an ACK of packets at an instant, of a sender whose window limits it.
    pub(crate) fn ack(now: Time, acked: u32) -> AckSample {
        AckSample {
            now,
            acked,
            marked: 0,
            lost: 0,
            lost_total: 0,
            state: State::Open,
            may_grow: true,
            cwnd_limited: true,
            cwnd_used: true,
            rtt: None,
            min_rtt: Time::NEVER,
            srtt: Time::ZERO,
            una: 0,
            nxt: 0,
            in_flight: [0; 2],
            plain: true,
            window: u64::MAX,
            departure: Time::ZERO,
            rate: None,
        }
    }
}
