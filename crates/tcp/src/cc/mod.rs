//! Congestion control: how much may be in flight. One file and one line of [`ALGORITHMS`] each.
//!
//! A control knows no packets, no timers and no network. Which packets are lost, and how cwnd comes down to ssthresh in
//! recovery, is the sender's affair.

mod aimd;
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
mod reno;
mod scalable;
mod settings;
mod slow_start;
mod vegas;
mod westwood;

use std::fmt::Debug;

use base::Time;

pub use settings::{Dialect, Parameter, Settings, SlowStart};

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
    /// Whether no reordering, reduction or recovery is going on after the ACK (Linux's state Open).
    pub open: bool,
    /// Whether the window may grow: no reduction is going on, and in-order or selectively acknowledged data arrived.
    pub may_grow: bool,
    /// Whether cwnd, and not the application or the receiver, limits what is in flight.
    pub cwnd_limited: bool,
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
    /// Takes note of an ACK that acknowledges something, and grows the window if it may.
    ///
    /// An ACK with which a reduction begins comes here first, with `may_grow` false, and then to
    /// [`CongestionControl::on_congestion`]: Linux measures before it reduces.
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window);

    /// Returns the new ssthresh at a congestion; called at most once for all losses of a window of data.
    fn on_congestion(&mut self, signal: Signal, now: Time, window: &Window) -> f64;

    /// Returns the cwnd to restore after a reduction that was spurious; `prior` is the one before it.
    fn undo(&mut self, prior: f64, window: &Window) -> f64 {
        window.cwnd.max(prior)
    }

    /// Takes note of the end of a recovery or a reduction, once cwnd is ssthresh; an undo is not such an end.
    fn on_recovery_end(&mut self, _window: &mut Window) {}

    /// Takes note of an expiry of the retransmission timer; `nxt` is SND.NXT.
    ///
    /// The sender calls it at every expiry, repeated ones and those in recovery included, as Linux enters its state
    /// Loss; where the expiry is a new congestion, after [`CongestionControl::on_congestion`].
    fn on_timeout(&mut self, _now: Time, _nxt: u64) {}

    /// Takes note of a transmission with nothing in flight; the one before it was at `idle_since`.
    fn on_restart(&mut self, _now: Time, _idle_since: Time) {}

    /// Returns a copy for another flow or transfer, as of the start of a connection.
    fn fresh(&self) -> Box<dyn CongestionControl>;

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
    /// Creates it, as of the start of a connection.
    pub new: fn(&Settings) -> Box<dyn CongestionControl>,
}

/// All congestion controls.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm { name: "aimd", parameters: &aimd::PARAMETERS, slow_start: SlowStart::Standard, new: aimd::new },
    Algorithm { name: "cubic", parameters: &cubic::PARAMETERS, slow_start: SlowStart::HyStart, new: cubic::new },
    Algorithm { name: "dctcp", parameters: &dctcp::PARAMETERS, slow_start: SlowStart::Standard, new: dctcp::new },
    Algorithm { name: "highspeed", parameters: &[], slow_start: SlowStart::Standard, new: highspeed::new },
    Algorithm { name: "htcp", parameters: &[], slow_start: SlowStart::Standard, new: htcp::new },
    Algorithm { name: "hybla", parameters: &hybla::PARAMETERS, slow_start: SlowStart::Standard, new: hybla::new },
    Algorithm { name: "illinois", parameters: &[], slow_start: SlowStart::Standard, new: illinois::new },
    Algorithm { name: "reno", parameters: &reno::PARAMETERS, slow_start: SlowStart::Standard, new: reno::new },
    Algorithm {
        name: "scalable",
        parameters: &scalable::PARAMETERS,
        slow_start: SlowStart::Standard,
        new: scalable::new,
    },
    Algorithm { name: "vegas", parameters: &vegas::PARAMETERS, slow_start: SlowStart::Standard, new: vegas::new },
    Algorithm { name: "westwood", parameters: &[], slow_start: SlowStart::Standard, new: westwood::new },
];

/// A window in whole packets that grows by one for a number of acknowledged packets, as Linux counts
/// (`tcp_cong_avoid_ai`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    acked: u32,
}

impl Counter {
    /// Counts acknowledged packets, and adds one packet to cwnd for each `packets` of them.
    pub(crate) fn grow(&mut self, cwnd: &mut f64, packets: u32, acked: u32) {
        let packets = packets.max(1);
        // Credits that were collected for a larger number count as one packet at most.
        if self.acked >= packets {
            self.acked = 0;
            *cwnd += 1.0;
        }
        self.acked += acked;
        *cwnd += f64::from(self.acked / packets);
        self.acked %= packets;
    }
}

/// Grows cwnd in slow start, to ssthresh at most; returns the acknowledged packets that are left for congestion
/// avoidance (Linux `tcp_slow_start`; RFC 3465 without its limit).
pub(crate) fn slow_start(window: &mut Window, acked: u32) -> u32 {
    let cwnd = (window.cwnd + f64::from(acked)).min(window.ssthresh);
    let used = base::cast::trunc_to_u64((cwnd - window.cwnd).ceil());
    window.cwnd = cwnd;
    acked.saturating_sub(base::cast::to_u32(base::cast::to_index(used)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns an ACK of packets at an instant, of a sender whose window limits it.
    pub(crate) fn ack(now: Time, acked: u32) -> AckSample {
        AckSample {
            now,
            acked,
            marked: 0,
            open: true,
            may_grow: true,
            cwnd_limited: true,
            rtt: None,
            min_rtt: Time::NEVER,
            srtt: Time::ZERO,
            una: 0,
            nxt: 0,
        }
    }
}
