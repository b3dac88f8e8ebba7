//! Settings, one enum for each axis. Fields and their order are those of the resolved scenario.

use serde::{Deserialize, Serialize};

/// Defines an axis: its values, the name of each in the resolved scenario, and the list of all.
macro_rules! axis {
    ($(#[$about:meta])* $axis:ident { $($(#[$meaning:meta])* $value:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $axis {
            $($(#[$meaning])* #[serde(rename = $name)] $value,)+
        }

        impl $axis {
            /// All values of the axis.
            pub const ALL: &'static [$axis] = &[$($axis::$value),+];

            /// Returns the name of the value in the resolved scenario.
            pub const fn name(self) -> &'static str {
                match self {
                    $($axis::$value => $name,)+
                }
            }
        }
    };
}

mod selective;
mod sender;

pub use selective::{
    Close, ControlConfig, ControlProgram, LossDetection, Pacing, PushConfig, SelectiveConfig, SendBuffer,
    TimeoutConfig, TimeoutRules, UndoResponse, WindowValidation, WritesConfig,
};
pub use sender::SenderConfig;

axis! {
    /// The set of choices where the RFCs leave a point open, or where ns-2 or a paper does otherwise; `quirks.rs`
    /// documents the points and their sources.
    ///
    #[doc = include_str!("quirks/dialects.md")]
    Dialect {
        /// ns-2.35's one-way agents: tcp.cc, tcp-reno.cc, tcp-newreno.cc.
        Ns2 = "ns2",
        /// RFC 5681, 6582, 6298, 3042.
        Rfc = "rfc",
        /// The RFCs with the choices of [engset, section 3.1].
        Engset = "engset",
    }
}

axis! {
    /// The reaction to a loss that duplicate ACKs reveal.
    Recovery {
        /// Timeouts only: duplicate ACKs cause no reaction.
        OldTahoe = "old-tahoe",
        /// Fast retransmit, then slow start from one packet.
        Tahoe = "tahoe",
        /// Fast retransmit and fast recovery: RFC 5681 section 3.2.
        Reno = "reno",
        /// Fast recovery that continues after partial ACKs: RFC 6582.
        Newreno = "newreno",
        /// Fast recovery with selective acknowledgment that counts the packets in the pipe: ns-2.35's `Agent/TCP/Sack1`.
        Sack1 = "sack1",
    }
}

impl Recovery {
    /// Returns whether duplicate ACKs trigger a fast retransmit: RFC 5681 section 3.2 step 2.
    pub const fn retransmits_fast(self) -> bool {
        !matches!(self, Recovery::OldTahoe)
    }

    /// Returns whether a fast retransmit halves cwnd, by fast recovery (RFC 5681 section 3.2), instead of reducing it
    /// to one packet.
    pub const fn halves_at_loss(self) -> bool {
        matches!(self, Recovery::Reno | Recovery::Newreno | Recovery::Sack1)
    }

    /// Returns whether one fast recovery, and so one reduction of cwnd, covers all losses of a window of data: RFC 6582
    /// section 3.2.
    pub const fn halves_once_a_window(self) -> bool {
        matches!(self, Recovery::Newreno | Recovery::Sack1)
    }
}

axis! {
    /// The comparison of cwnd with ssthresh that holds in slow start. RFC 5681 section 3.1 leaves equality open.
    SlowStartWhile {
        /// Slow start while cwnd < ssthresh; congestion avoidance from `W = S` on.
        Below = "below",
        /// Slow start while cwnd <= ssthresh; congestion avoidance from `W = S + 1` on.
        AtOrBelow = "at-or-below",
    }
}

axis! {
    /// The growth of cwnd in congestion avoidance.
    Increase {
        /// `1 / cwnd` for each ACK of new data: RFC 5681 (3).
        Reciprocal = "reciprocal",
        /// `1 / floor(cwnd)` for each ACK: exactly one packet a window [bottlenecks, section 3, footnote 1].
        ReciprocalFloor = "reciprocal-floor",
        /// One packet after cwnd ACKs.
        Counted = "counted",
    }
}

axis! {
    /// The half of the window, or of the FlightSize, that a loss leaves.
    HalfWindow {
        /// Whole packets, rounded down: [engset, section 3.1], and ns-2 without `precisionReduce_`, as the papers of
        /// 1999 used it.
        WholePackets = "whole-packets",
        /// The exact half: RFC 5681 (4), and ns-2.35's default (`TcpAgent::slowdown` with `precisionReduce_`).
        Fractional = "fractional",
    }
}

axis! {
    /// The partial ACKs that restart the retransmission timer, in RFC 6582's words.
    PartialAckTimer {
        /// The first partial ACK of a recovery only.
        Impatient = "impatient",
        /// Each partial ACK.
        SlowButSteady = "slow-but-steady",
    }
}

axis! {
    /// The estimator of the retransmission timeout.
    Estimator {
        /// A coarse clock and integer arithmetic, as in 4.3BSD and ns-2.
        Ticks = "ticks",
        /// RFC 6298 with exact samples.
        Rfc6298 = "rfc6298",
    }
}

axis! {
    /// The ACKs that give a sample of the round trip.
    RttSample {
        /// The ACK of one timed segment at a time; none if the segment was retransmitted (Karn).
        PerRound = "per-round",
        /// Each ACK of new data, by timestamps (RFC 7323).
        PerAck = "per-ack",
        /// Each ACK of new data that was sent once only, by timestamps (Karn) [abrupt-delay, section II].
        PerAckKarn = "per-ack-karn",
    }
}

axis! {
    /// Explicit congestion notification: whether packets may be marked instead of dropped, and how marks are echoed.
    Ecn {
        /// None: data are not ECN-capable.
        Off = "off",
        /// RFC 3168: ACKs echo a mark until the sender has reduced its window.
        Classic = "classic",
        /// RFC 8257 section 3.2: ACKs echo which packets were marked. All packets are ECN-capable, as in Linux.
        Dctcp = "dctcp",
        /// RFC 9768 (AccECN): ACKs count the packets that were marked, in three bits.
        Accurate = "accurate",
    }
}

/// Settings of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RtoConfig {
    /// Estimator of the timeout.
    pub estimator: Estimator,
    /// ACKs that give a sample.
    pub sample: RttSample,
    /// Factor k in RTO = srtt + k rttvar; 4 in RFC 6298.
    pub k: u32,
    /// Clock granularity G \[s\].
    pub granularity_s: f64,
    /// Smallest timeout \[s\].
    pub min_s: f64,
    /// Largest timeout, backoff included \[s\].
    pub max_s: f64,
    /// Timeout before the first sample \[s\].
    pub initial_s: f64,
    /// Largest factor by which repeated timeouts multiply the timeout.
    pub max_backoff: u32,
    /// Phase of the coarse clock at time zero \[s\] (ns-2's `boot_time_`).
    pub clock_offset_s: f64,
}

/// Settings of a sender with cumulative ACKs alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassicConfig {
    /// Choices where the RFCs leave a point open.
    pub dialect: Dialect,
    /// Reaction to duplicate ACKs.
    pub recovery: Recovery,
    /// cwnd at the start \[packets\].
    pub initial_window: f64,
    /// ssthresh at the start \[packets\]; `None`: the receiver's window.
    pub initial_ssthresh: Option<f64>,
    /// Receiver's window W_R \[packets\]; `None`: unlimited.
    pub max_window: Option<f64>,
    /// End of slow start.
    pub slow_start_while: SlowStartWhile,
    /// Growth in congestion avoidance.
    pub increase: Increase,
    /// Half of the window that a loss leaves.
    pub half_window: HalfWindow,
    /// Number of duplicate ACKs that count as a loss; `None`: infinite.
    pub dupack_threshold: Option<u32>,
    /// Whether the sender uses limited transmit: RFC 3042.
    pub limited_transmit: bool,
    /// Largest number of packets that one ACK releases (ns-2 `maxburst_`); `None`: as many as the window allows.
    #[serde(default)]
    pub max_burst: Option<u32>,
    /// Partial ACKs that restart NewReno's timer.
    pub partial_ack_timer: PartialAckTimer,
    /// Settings of the retransmission timer.
    pub rto: RtoConfig,
    /// Explicit congestion notification by ns-2's rules (`ecn_`), which know the classic echo alone.
    #[serde(default = "Ecn::off")]
    pub ecn: Ecn,
}

impl Default for ClassicConfig {
    /// Returns NewReno with the initial window of three packets and the timer of RFC 5681, 6582 and 6298.
    fn default() -> ClassicConfig {
        ClassicConfig {
            dialect: Dialect::Rfc,
            recovery: Recovery::Newreno,
            initial_window: 3.0,
            initial_ssthresh: None,
            max_window: None,
            slow_start_while: SlowStartWhile::Below,
            increase: Increase::Reciprocal,
            half_window: HalfWindow::Fractional,
            dupack_threshold: Some(3),
            limited_transmit: false,
            max_burst: None,
            partial_ack_timer: PartialAckTimer::Impatient,
            rto: RtoConfig::default(),
            ecn: Ecn::Off,
        }
    }
}

impl Default for RtoConfig {
    /// Returns the timer of RFC 6298 on a clock of 1 ms.
    fn default() -> RtoConfig {
        RtoConfig {
            estimator: Estimator::Rfc6298,
            sample: RttSample::PerAck,
            k: 4,
            granularity_s: 0.001,
            min_s: 1.0,
            max_s: 60.0,
            initial_s: 1.0,
            max_backoff: 64,
            clock_offset_s: 0.0,
        }
    }
}

impl Ecn {
    /// Returns what a run from before ECN had.
    pub(crate) const fn off() -> Ecn {
        Ecn::Off
    }
}

impl Default for ReceiverConfig {
    /// Returns a receiver that acknowledges each packet at once.
    fn default() -> ReceiverConfig {
        ReceiverConfig { ack_every: 1, ack_delay_s: 0.0, selective: false, ecn: Ecn::Off, linux: None, blocks: None }
    }
}

/// Settings of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiverConfig {
    /// Packets in order for each ACK; 1: no delayed ACKs.
    pub ack_every: u32,
    /// Longest delay of an ACK \[s\].
    pub ack_delay_s: f64,
    /// Whether ACKs acknowledge selectively too: RFC 2018, RFC 2883.
    #[serde(default)]
    pub selective: bool,
    /// Way in which it echoes marks of the network.
    #[serde(default = "Ecn::off")]
    pub ecn: Ecn,
    /// Linux's rules for sending ACKs, in place of the two numbers above; `None`: those (RFC 5681 section 4.2).
    #[serde(default)]
    pub linux: Option<LinuxReceiver>,
    /// Selective acknowledgment by ns-2's blocks, for [`Recovery::Sack1`]; `None`: none.
    #[serde(default)]
    pub blocks: Option<SackBlocks>,
}

impl ReceiverConfig {
    /// Returns whether the receiver may delay ACKs, so that it has a timer.
    pub const fn delays_acks(&self) -> bool {
        self.ack_every > 1 || self.linux.is_some()
    }
}

/// Settings of a receiver whose ACKs have the SACK blocks of ns-2.35's `Agent/TCPSink/Sack1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SackBlocks {
    /// Largest number of blocks of an ACK (`maxSackBlocks_`).
    pub most: u16,
    /// Length that each block adds to an ACK \[bytes\]; ns-2 adds 8.
    pub bytes: u16,
}

impl Default for SackBlocks {
    /// Returns ns-2's defaults.
    fn default() -> SackBlocks {
        SackBlocks { most: 3, bytes: 8 }
    }
}

/// Settings of a receiver that sends ACKs by Linux's rules: its window decides about ACKs for as long as it grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinuxReceiver {
    /// Payload of a full segment \[bytes\].
    pub segment_bytes: u32,
    /// Receive buffer of a new connection \[bytes\] (the second number of `tcp_rmem`).
    pub buffer_bytes: u64,
    /// Largest receive buffer \[bytes\] (the third number of `tcp_rmem`).
    pub most_buffer_bytes: u64,
    /// Whether ACKs announce the window, so that it limits the sender.
    #[serde(default)]
    pub announced: bool,
    /// Whether packets have timestamps, by which the receiver measures the round trip.
    #[serde(default = "with_timestamps")]
    pub timestamps: bool,
    /// The memory in which packets come.
    #[serde(default)]
    pub memory: PacketMemory,
}

/// The memory in which packets come to a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PacketMemory {
    /// Pages of the network card, one for each packet; packets beyond a hole share buffers.
    #[default]
    Paged,
    /// Pages of the sender, as between two namespaces of one machine: some packets lie in two of them.
    Veth,
    /// Memory of its own for each packet, as from a tun device.
    Linear,
}

/// Returns the value of scenarios that were resolved before the field was there.
fn with_timestamps() -> bool {
    true
}

impl LinuxReceiver {
    /// Returns the shift of its windows, which the largest buffer decides (RFC 7323 section 2.3; Linux
    /// `tcp_select_initial_window`).
    pub fn window_shift(&self) -> u8 {
        const UNSCALED: u64 = u16::MAX as u64;
        const MOST: u32 = 14;
        let shift = self.most_buffer_bytes.max(UNSCALED + 1).ilog2() - UNSCALED.ilog2();
        u8::try_from(shift.min(MOST)).unwrap_or(0)
    }
}

impl Default for LinuxReceiver {
    /// Returns the settings of a kernel as it comes, for packets of 1500 bytes with timestamps.
    fn default() -> LinuxReceiver {
        LinuxReceiver {
            segment_bytes: 1448,
            buffer_bytes: 131_072,
            most_buffer_bytes: 6_291_456,
            announced: true,
            timestamps: true,
            memory: PacketMemory::Paged,
        }
    }
}
