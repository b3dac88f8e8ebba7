//! The points on which the dialects of TCP differ, one field each. A dialect is one row of values.

#[cfg(test)]
mod tests;

use crate::Dialect;

/// One value for each point on which the dialects differ; the types of the fields document the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quirks {
    pub(crate) halve: Halve,
    /// Whether ssthresh is in whole packets even if the half is not: `ssthresh_` of ns-2's `TcpAgent` is an integer.
    pub(crate) whole_ssthresh: bool,
    pub(crate) recovery_window: RecoveryWindow,
    pub(crate) full_ack: FullAck,
    pub(crate) second_fast_retransmit: SecondFastRetransmit,
    /// Whether the duplicate ACK that triggers a fast retransmit also sends the new data that the window then allows;
    /// [engset, section 3.1]: "no new data is sent here even if it were possible". Without effect on Tahoe.
    pub(crate) fast_retransmit_sends_new_data: bool,
    /// Whether a fast retransmit restarts the retransmission timer. [engset, section 3.1] sets it for each
    /// retransmission, ns-2 in `RenoTcpAgent::dupack_action`; RFC 6298 section 5 leaves it running. Tahoe restarts it
    /// in every dialect.
    pub(crate) fast_retransmit_restarts_timer: bool,
    pub(crate) newreno_burst: NewrenoBurst,
    pub(crate) limited_transmit: LimitedTransmit,
    pub(crate) timeout_ssthresh: TimeoutSsthresh,
    /// Whether a timeout resets the count of duplicate ACKs of Tahoe and OldTahoe too; ns-2 resets it in
    /// `RenoTcpAgent::timeout` only. Reno's and NewReno's is reset in every dialect.
    pub(crate) timeout_resets_tahoe_dupacks: bool,
    /// Whether a repeated timeout of the same packet resets RFC 6582's `recover`, so that a fast retransmit may follow;
    /// [engset, section 3.1]: "recover = 0" for subsequent retransmissions of the same packet.
    pub(crate) repeated_timeout_resets_recover: bool,
    pub(crate) timer_restart: TimerRestart,
    /// Whether a partial ACK gives a sample of the round trip: RFC 7323 section 4.1, each ACK that advances SND.UNA.
    pub(crate) partial_ack_is_sampled: bool,
    /// Whether a segment that fast recovery sends for the first time can be the timed one; [engset, section 3.1]: "on
    /// FR, normal operation resumes and the first segment sent is timed".
    pub(crate) recovery_is_timed: bool,
    /// Whether a sample by timestamps ends the timer's backoff: RFC 6298 section 5, last paragraph. In ns-2's
    /// `TcpAgent::newack` without `ts_resetRTO_` only an ACK of the timed segment does.
    pub(crate) timestamp_ends_backoff: bool,
    /// Whether the receiver delays the ACK of a retransmission of the last packet in order, if it delays ACKs: ns-2
    /// `DelAckSink::recv`. RFC 9293 section 3.10.7.4 sends it at once.
    pub(crate) duplicate_of_last_is_delayed: bool,
    /// Whether the receiver takes ECN bits in as it sends an ACK, those of the delayed packet and of the new one
    /// together, and echoes the first packet of a transfer, which asks for ECN: ns-2 `TcpSink::ack`. RFC 3168 section
    /// 6.1.3 takes them in packet by packet.
    pub(crate) echoes_with_acks: bool,
}

/// The quantity whose half becomes ssthresh at a loss; [`crate::HalfWindow`] says whether in whole packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halve {
    /// The window, min(cwnd, W_R), with the inflation of a recovery that goes on: ns-2 `TcpAgent::slowdown`.
    Window,
    /// FlightSize: RFC 5681 (4); [engset, section 3.1], S = max(floor(theta / 2), 2).
    Flight,
}

/// The congestion window on entering fast recovery, before its inflation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryWindow {
    /// The half that [`Halve`] gives: one packet although ssthresh has its minimum of two.
    Half,
    /// ssthresh: RFC 5681 section 3.2 step 2.
    Ssthresh,
}

/// The effect of the ACK that ends fast recovery on cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FullAck {
    /// Opens cwnd, which recovery has lowered already, as any ACK of new data does: ns-2.
    Opens,
    /// Sets cwnd to ssthresh: RFC 5681 section 3.2 step 6. NewReno takes min(ssthresh, max(FlightSize, 1) + 1): RFC
    /// 6582 section 3.2 step 3 (1).
    Deflates,
    /// Sets cwnd to ssthresh and opens it, as any ACK of new data does: [engset, section 3.1].
    DeflatesAndOpens,
}

/// The condition for a second fast retransmit in the window of data in which a loss was found before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecondFastRetransmit {
    /// Never: ns-2's `bugFix_`. Its `bugfix_ss_` allows one while only the first packet of all is acknowledged.
    Never,
    /// Reno at any time, as RFC 5681 has no such rule; else never: RFC 6582 section 3.2 step 1 (`recover`).
    RenoOnly,
}

/// The number of packets that NewReno sends for one ACK in recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewrenoBurst {
    /// Two packets at most: ns-2 `NewRenoTcpAgent::recv`.
    TwoPackets,
    /// All packets that the window allows.
    Window,
}

/// The duplicate ACKs for which limited transmit sends a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitedTransmit {
    /// Each one below the threshold, and after a timeout the next packet even if it was sent before: ns-2
    /// `TcpAgent::send_one`.
    EachDuplicate,
    /// The first two, and new data only: RFC 3042 section 2.
    FirstTwo,
}

/// The timeouts that lower ssthresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutSsthresh {
    /// Each timeout: ns-2.
    Always,
    /// All but repeated timeouts of the same packet: RFC 5681 section 3.1. A timeout in fast recovery never raises
    /// ssthresh.
    UnlessTimedOut,
    /// All but timeouts of a packet that was retransmitted before, by a timeout or a fast retransmit: [engset, section
    /// 3.1], "S is left unchanged in case of multiple retransmissions of the same packet".
    UnlessRetransmitted,
}

/// The ACKs of new data that restart the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerRestart {
    /// Each one: RFC 6298 (5.3).
    EachNewAck,
    /// Those for which the sender sends a packet: [engset, section 3.1], "the timer must be set on each packet sent".
    /// So the last packets of a transfer may time out while their ACKs arrive [engset, section 4.2].
    SendingAck,
}

impl Quirks {
    /// ns-2.35's one-way agents: tcp.cc, tcp-reno.cc, tcp-newreno.cc.
    pub(crate) const NS2: Quirks = Quirks {
        halve: Halve::Window,
        whole_ssthresh: true,
        recovery_window: RecoveryWindow::Half,
        full_ack: FullAck::Opens,
        second_fast_retransmit: SecondFastRetransmit::Never,
        fast_retransmit_sends_new_data: true,
        fast_retransmit_restarts_timer: true,
        newreno_burst: NewrenoBurst::TwoPackets,
        limited_transmit: LimitedTransmit::EachDuplicate,
        timeout_ssthresh: TimeoutSsthresh::Always,
        timeout_resets_tahoe_dupacks: false,
        repeated_timeout_resets_recover: false,
        timer_restart: TimerRestart::EachNewAck,
        partial_ack_is_sampled: false,
        recovery_is_timed: true,
        timestamp_ends_backoff: false,
        duplicate_of_last_is_delayed: true,
        echoes_with_acks: true,
    };

    /// RFC 5681, 6582, 6298, 3042.
    pub(crate) const RFC: Quirks = Quirks {
        halve: Halve::Flight,
        whole_ssthresh: false,
        recovery_window: RecoveryWindow::Ssthresh,
        full_ack: FullAck::Deflates,
        second_fast_retransmit: SecondFastRetransmit::RenoOnly,
        fast_retransmit_sends_new_data: true,
        fast_retransmit_restarts_timer: false,
        newreno_burst: NewrenoBurst::Window,
        limited_transmit: LimitedTransmit::FirstTwo,
        timeout_ssthresh: TimeoutSsthresh::UnlessTimedOut,
        timeout_resets_tahoe_dupacks: true,
        repeated_timeout_resets_recover: false,
        timer_restart: TimerRestart::EachNewAck,
        partial_ack_is_sampled: true,
        recovery_is_timed: true,
        timestamp_ends_backoff: true,
        duplicate_of_last_is_delayed: false,
        echoes_with_acks: false,
    };

    /// The RFCs, except for what [engset, section 3.1] states of its TCP.
    pub(crate) const ENGSET: Quirks = Quirks {
        full_ack: FullAck::DeflatesAndOpens,
        fast_retransmit_sends_new_data: false,
        fast_retransmit_restarts_timer: true,
        timeout_ssthresh: TimeoutSsthresh::UnlessRetransmitted,
        repeated_timeout_resets_recover: true,
        timer_restart: TimerRestart::SendingAck,
        partial_ack_is_sampled: false,
        recovery_is_timed: false,
        ..Quirks::RFC
    };

    /// Returns the row of a dialect.
    pub(crate) const fn of(dialect: Dialect) -> Quirks {
        match dialect {
            Dialect::Ns2 => Quirks::NS2,
            Dialect::Rfc => Quirks::RFC,
            Dialect::Engset => Quirks::ENGSET,
        }
    }
}
