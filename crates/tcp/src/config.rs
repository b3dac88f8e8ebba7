//! One choice an axis. The fields and their order are those of the resolved scenario.

use serde::{Deserialize, Serialize};

/// Whose reading applies where the RFCs leave a point open, or where ns-2 does otherwise.
///
/// | point | `Ns2` (ns-2.35, tcp.cc, tcp-reno.cc, tcp-newreno.cc) | `Rfc` |
/// |---|---|---|
/// | ssthresh after a loss | max(2, floor(min(cwnd, W_R) / 2)), in whole packets | max(FlightSize / 2, 2), RFC 5681 (4) |
/// | ssthresh at a repeated timeout | halved again | held, RFC 5681 section 3.1 |
/// | cwnd in Reno's and NewReno's recovery | floor(min(cwnd, W_R) / 2), perhaps below ssthresh | ssthresh |
/// | the ACK that ends recovery | also opens cwnd | sets cwnd = ssthresh, RFC 5681 section 3.2 |
/// | a second fast retransmit in one window | never (`bugFix_`) | Reno: yes; else RFC 6582's `recover` |
/// | a partial ACK | gives no sample of the round trip | gives one, RFC 7323 section 4.1 |
/// | bursts in NewReno's recovery | two packets for an ACK at most | what the window allows |
/// | timer at a fast retransmit | restarted | left running, RFC 6298 section 5 |
/// | ACK for a repetition of the last packet in order | delayed, where ACKs are | at once, RFC 9293 section 3.10.7.4 |
///
/// `Engset` is `Rfc`, but for what [engset, section 3.1] says of its own TCP:
///
/// | point | `Engset` |
/// |---|---|
/// | ssthresh after a loss | max(floor(FlightSize / 2), 2), in whole packets |
/// | ssthresh at a timeout of a packet that was sent again before | held, also where a fast retransmit sent it |
/// | the third duplicate ACK | sends no new data, even where the window allows it |
/// | timer at a fast retransmit | restarted: it is set for each retransmission |
/// | timer at an ACK of new data that lets no packet out | left running: it is set for packets sent |
/// | a partial ACK | gives no sample of the round trip; nor does what recovery sends |
/// | the ACK that ends recovery | sets cwnd = ssthresh and opens it, as any ACK |
/// | `recover` after a repeated timeout of the same packet | forgotten: a fast retransmit may follow |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// ns-2.35's one-way agents.
    Ns2,
    /// RFC 5681, 6582, 6298.
    Rfc,
    /// The RFCs with the choices of [engset, section 3.1].
    Engset,
}

/// What a loss found by duplicate ACKs leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// No fast retransmit: timeouts only.
    OldTahoe,
    /// Fast retransmit, then slow start from one packet.
    Tahoe,
    /// Fast retransmit and fast recovery, RFC 5681 section 3.2.
    Reno,
    /// Fast recovery that outlives partial ACKs, RFC 6582.
    Newreno,
}

/// Slow start goes on while cwnd is ... ssthresh. RFC 5681 section 3.1 leaves equality open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStartWhile {
    /// Avoidance from `W = S` on.
    Below,
    /// Avoidance from `W = S + 1` on.
    AtOrBelow,
}

/// How cwnd grows in congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Increase {
    /// `1 / cwnd` for each ACK of new data, RFC 5681 (3).
    Reciprocal,
    /// `1 / floor(cwnd)` for each ACK: exactly one packet a window [bottlenecks, section 3, footnote 1].
    ReciprocalFloor,
    /// One packet after as many ACKs as cwnd counts.
    Counted,
}

/// When a partial ACK restarts the retransmission timer, in RFC 6582's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartialAckTimer {
    /// At the first partial ACK of a recovery only.
    Impatient,
    /// At each partial ACK.
    SlowButSteady,
}

/// How the retransmission timer estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// A coarse clock and integer arithmetic, as in 4.3BSD and ns-2.
    Ticks,
    /// RFC 6298 with exact samples.
    Rfc6298,
}

/// Which ACKs give a sample of the round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RttSample {
    /// One timed segment at a time; none across a retransmission (Karn).
    PerRound,
    /// Each ACK of new data, by timestamps (RFC 7323).
    PerAck,
    /// As `PerAck`, but for ACKs of packets that were sent more than once (Karn) [abrupt-delay, section II].
    PerAckKarn,
}

/// The retransmission timer's settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RtoConfig {
    /// How it estimates.
    pub estimator: Estimator,
    /// Which ACKs it samples.
    pub sample: RttSample,
    /// RTO = srtt + k rttvar; 4 in RFC 6298.
    pub k: u32,
    /// Clock granularity G \[s\].
    pub granularity_s: f64,
    /// Smallest timeout \[s\].
    pub min_s: f64,
    /// Largest timeout, backoff included \[s\].
    pub max_s: f64,
    /// Timeout before the first sample \[s\].
    pub initial_s: f64,
    /// Largest factor that repeated timeouts lead to.
    pub max_backoff: u32,
    /// Phase of the coarse clock at time zero \[s\] (ns-2's `boot_time_`).
    pub clock_offset_s: f64,
}

/// A sender's settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SenderConfig {
    /// Whose reading applies where the RFCs are silent.
    pub dialect: Dialect,
    /// Reaction to duplicate ACKs.
    pub recovery: Recovery,
    /// cwnd at the start \[packets\].
    pub initial_window: f64,
    /// ssthresh at the start \[packets\]; none: the receiver's window.
    pub initial_ssthresh: Option<f64>,
    /// The receiver's window W_R \[packets\]; none: unlimited.
    pub max_window: Option<f64>,
    /// Where slow start ends.
    pub slow_start_while: SlowStartWhile,
    /// Growth in congestion avoidance.
    pub increase: Increase,
    /// Duplicate ACKs that make a loss; none: infinitely many.
    pub dupack_threshold: Option<u32>,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// NewReno's timer.
    pub partial_ack_timer: PartialAckTimer,
    /// Retransmission timer.
    pub rto: RtoConfig,
}

/// A receiver's settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiverConfig {
    /// An ACK for every so many packets in order; 1: no delayed ACKs.
    pub ack_every: u32,
    /// The longest that an ACK is held back \[s\].
    pub ack_delay_s: f64,
}
