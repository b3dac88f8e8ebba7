//! Flows: what they send, on which paths, by which TCP.

use serde::{Deserialize, Serialize};
use tcp::{Close, ReceiverConfig, SenderConfig};

use crate::traffic::{SizeLaw, TimeLaw};

/// A flow, or a group of identical flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Name of the flow, and of the random stream of its start.
    pub name: String,
    /// Number of identical flows; if there are several, they are called `name[0]`, `name[1]`, ...
    pub count: usize,
    /// Number of copies of the part of the network that the flows are in; each has an entry of its own in the scenario.
    #[serde(default = "one")]
    pub copies: usize,
    /// Start of the flow \[s\].
    pub start_s: f64,
    /// Uniform random addition to the start \[s\].
    pub start_spread_s: f64,
    /// Indices of the elements that data cross, in order.
    pub path: Vec<usize>,
    /// Propagation delay of the data after the last link \[s\].
    pub forward_delay_s: f64,
    /// Length of a data packet \[bytes\].
    pub packet_bytes: u16,
    /// Level of the data at links with priority, 0 the highest.
    pub priority: u8,
    /// Number of the host that the flow is of; queues that isolate hosts give flows of one host one share.
    #[serde(default)]
    pub host: u16,
    /// Share of the flow, or of all flows of the entry, at fair queues that give each a queue of its own.
    #[serde(default = "unweighted")]
    pub weight: u16,
    /// Traffic of the flow.
    pub traffic: TrafficConfig,
}

/// The traffic of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficConfig {
    /// One transfer over TCP, as fast as TCP allows.
    Tcp {
        /// Number of packets to transfer; `None`: unlimited.
        size_packets: Option<u64>,
        /// The TCP connection.
        connection: ConnectionConfig,
    },
    /// Transfers over TCP with silences between them, and one before the first.
    Web {
        /// Size of a transfer.
        size: SizeLaw,
        /// Silence from the last ACK of a transfer to the start of the next one.
        off: TimeLaw,
        /// Largest sizes of the classes of the statistics, without the unbounded last class, in rising order
        /// \[packets\].
        classes: Vec<u64>,
        /// The TCP connection of each transfer.
        connection: ConnectionConfig,
    },
    /// Packets at equal intervals, without ACKs.
    Constant {
        /// Mean rate \[bit/s\].
        rate_bps: f64,
    },
    /// A Poisson process of packets, without ACKs.
    Poisson {
        /// Mean rate \[bit/s\].
        rate_bps: f64,
    },
    /// Alternately `Constant` and silent, beginning with packets.
    OnOff {
        /// Rate during an on time \[bit/s\].
        rate_bps: f64,
        /// Duration of an on time, in which packets are sent.
        on: TimeLaw,
        /// Duration of an off time, in which nothing is sent.
        off: TimeLaw,
    },
    /// Alternately `Poisson` and silent, beginning with packets.
    PoissonOnOff {
        /// Mean rate during an on time \[bit/s\].
        rate_bps: f64,
        /// Duration of an on time, in which packets are sent.
        on: TimeLaw,
        /// Duration of an off time, in which nothing is sent.
        off: TimeLaw,
    },
    /// Echo requests at equal intervals; the far end sends each back at once, as long as it is.
    Ping {
        /// Time between two requests \[s\].
        interval_s: f64,
        /// Indices of the elements that echoes cross, in order.
        return_path: Vec<usize>,
        /// Propagation delay of the echoes before the first link \[s\].
        return_delay_s: f64,
    },
}

/// The way of what answers a flow's packets: ACKs, or echoes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WayBack<'a> {
    /// Indices of the elements that the answers cross, in order.
    pub path: &'a [usize],
    /// Propagation delay before the first link \[s\].
    pub delay_s: f64,
    /// Length of an answer \[bytes\].
    pub bytes: u16,
    /// Level of the answers at links with priority.
    pub priority: u8,
    /// Whether the answers are ACKs.
    pub is_acks: bool,
}

/// A TCP connection: its ends, and the path of its ACKs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionConfig {
    /// Indices of the elements that ACKs cross, in order.
    pub return_path: Vec<usize>,
    /// Propagation delay of the ACKs before the first link \[s\].
    pub return_delay_s: f64,
    /// Length of an ACK \[bytes\].
    pub ack_bytes: u16,
    /// Level of the ACKs at links with priority.
    pub ack_priority: u8,
    /// Settings of the sender.
    pub sender: SenderConfig,
    /// Settings of the receiver.
    pub receiver: ReceiverConfig,
    /// Packets before the data; `None`: the data are sent at once.
    #[serde(default)]
    pub handshake: Option<HandshakeConfig>,
}

/// The handshake of a connection: a SYN of the sender and its answer, then the hellos of TLS if there are any. The packets
/// of a hello are as long as data packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandshakeConfig {
    /// Length of a SYN and of its answer \[bytes\].
    pub syn_bytes: u16,
    /// Time after which a SYN is sent again for the first time \[s\].
    pub timeout_s: f64,
    /// Packets of the sender's hello; 0: no TLS.
    pub client_hello_packets: u32,
    /// Packets of the receiver's hello.
    pub server_hello_packets: u32,
}

impl ConnectionConfig {
    /// Returns whether the ends close the connection after the transfer.
    pub fn closes(&self) -> bool {
        matches!(&self.sender, SenderConfig::Selective(sender) if sender.close == Close::Tcp)
    }

    /// Returns the length of the last packet of the transfer, if it is not that of all \[bytes\].
    pub fn last_packet_bytes(&self) -> Option<u16> {
        match &self.sender {
            SenderConfig::Selective(sender) => sender.last_packet_bytes,
            SenderConfig::Classic(_) => None,
        }
    }
}

/// Returns the number of copies of what is not repeated.
fn one() -> usize {
    1
}

fn unweighted() -> u16 {
    1
}

impl FlowConfig {
    /// Returns the name of a flow of the group.
    pub fn member_name(&self, number: usize) -> String {
        if self.count == 1 {
            self.name.clone()
        } else {
            format!("{}[{number}]", self.name)
        }
    }

    /// Returns its TCP connection; `None` for packets without TCP.
    pub fn connection(&self) -> Option<&ConnectionConfig> {
        match &self.traffic {
            TrafficConfig::Tcp { connection, .. } | TrafficConfig::Web { connection, .. } => Some(connection),
            TrafficConfig::Constant { .. }
            | TrafficConfig::Poisson { .. }
            | TrafficConfig::OnOff { .. }
            | TrafficConfig::PoissonOnOff { .. }
            | TrafficConfig::Ping { .. } => None,
        }
    }

    /// Returns its TCP connection, to change it; `None` for packets without TCP.
    pub fn connection_mut(&mut self) -> Option<&mut ConnectionConfig> {
        match &mut self.traffic {
            TrafficConfig::Tcp { connection, .. } | TrafficConfig::Web { connection, .. } => Some(connection),
            TrafficConfig::Constant { .. }
            | TrafficConfig::Poisson { .. }
            | TrafficConfig::OnOff { .. }
            | TrafficConfig::PoissonOnOff { .. }
            | TrafficConfig::Ping { .. } => None,
        }
    }

    /// Returns the way of its ACKs or echoes; `None` for packets that nothing answers.
    pub fn way_back(&self) -> Option<WayBack<'_>> {
        if let TrafficConfig::Ping { return_path, return_delay_s, .. } = &self.traffic {
            let (bytes, priority) = (self.packet_bytes, self.priority);
            return Some(WayBack { path: return_path, delay_s: *return_delay_s, bytes, priority, is_acks: false });
        }
        let ConnectionConfig { return_path, return_delay_s, ack_bytes, ack_priority, .. } = self.connection()?;
        let (bytes, priority) = (*ack_bytes, *ack_priority);
        Some(WayBack { path: return_path, delay_s: *return_delay_s, bytes, priority, is_acks: true })
    }

    /// Returns the indices of the elements that ACKs or echoes cross; none without them.
    pub fn return_path(&self) -> &[usize] {
        self.way_back().map_or(&[], |back| back.path)
    }

    /// Returns the number of packets to transfer; `None` unless it is one transfer of a given size.
    pub fn size_packets(&self) -> Option<u64> {
        match self.traffic {
            TrafficConfig::Tcp { size_packets, .. } => size_packets,
            _ => None,
        }
    }
}
