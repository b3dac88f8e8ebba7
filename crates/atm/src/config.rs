//! What an ATM network is made of: SI numbers, nothing implicit.

use base::Steps;
use serde::{Deserialize, Serialize};

/// A whole network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtmConfig {
    /// Output ports with their simplex links: of switches, and of hosts.
    pub ports: Vec<PortConfig>,
    /// Duplex virtual channels.
    pub channels: Vec<ChannelConfig>,
    /// Cross-traffic.
    pub cross: Vec<CrossConfig>,
    /// What to record.
    pub trace: TraceConfig,
}

/// An output port and the link behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortConfig {
    /// Its name.
    pub name: String,
    /// Rate \[bit/s\], headers of cells included.
    pub rate_bps: f64,
    /// Propagation delay \[s\].
    pub delay_s: f64,
    /// Cells that it holds, with the one in transmission; none: unlimited.
    pub buffer_cells: Option<u64>,
    /// Data cells that find more cells than this get EFCI; none: never.
    pub efci_cells: Option<u64>,
    /// Who gets which rate.
    pub allocation: AllocationConfig,
}

/// How a port tells explicit rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "algorithm", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AllocationConfig {
    /// It does not.
    None {},
    /// Reconstruction of [two-way, reference 12] from its published principle: stamped on the way out, recorded on the way back.
    TwoPass {
        /// Share of the link's rate that it allocates.
        utilization: f64,
    },
    /// Reconstruction, closest to the published description: the current rate is recorded on the way out.
    ByCcr {
        /// Share of the link's rate that it allocates.
        utilization: f64,
    },
    /// Explicit Rate Indication for Congestion Avoidance (Jain, Kalyanaraman, Goyal, Fahmy, Viswanathan).
    Erica {
        /// Share of the link's rate that it aims at.
        utilization: f64,
        /// Over which it measures \[s\].
        interval_s: f64,
    },
}

/// A duplex virtual channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelConfig {
    /// Its name.
    pub name: String,
    /// The ports from the near end to the far one, the near host's own first.
    pub forward: Vec<usize>,
    /// The ports of the way back, through the same nodes: its last belongs to the node that `forward[0]` leads to.
    pub backward: Vec<usize>,
    /// The near end's source.
    pub near: EndConfig,
    /// The far end's.
    pub far: EndConfig,
}

/// One end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndConfig {
    /// Its source.
    pub abr: AbrParameters,
    /// How fast its IP queue is served.
    pub ip_service: IpService,
}

/// How the IP queue of an end hands packets to its channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum IpService {
    /// At the channel's own rate: a packet waits at the IP layer until its last cell has gone.
    ChannelRate,
    /// At a rate \[bit/s\]: a packet is the channel's once it has been served.
    RateBps(f64),
    /// At once: all wait at the ATM layer, in a queue of their channel.
    Immediate,
}

/// Parameters of an ABR source (TM 4.0 section 5.10.3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbrParameters {
    /// Peak cell rate \[bit/s\].
    pub pcr_bps: f64,
    /// Minimum cell rate \[bit/s\].
    pub mcr_bps: f64,
    /// Initial cell rate \[bit/s\].
    pub icr_bps: f64,
    /// Cells from one forward RM cell to the next.
    pub nrm: u32,
    /// Cells between two forward RM cells at least.
    pub mrm: u32,
    /// Time after which `mrm` cells are enough for the next \[s\].
    pub trm_s: f64,
    /// Rate increase factor.
    pub rif: f64,
    /// Rate decrease factor.
    pub rdf: f64,
    /// Cutoff decrease factor.
    pub cdf: f64,
    /// Time without forward RM cells after which the rate is the initial one again \[s\].
    pub adtf_s: f64,
    /// Transient buffer exposure \[cells\].
    pub tbe_cells: u64,
}

impl AbrParameters {
    /// TM 4.0's defaults for a peak cell rate.
    pub fn standard(pcr_bps: f64) -> AbrParameters {
        AbrParameters {
            pcr_bps,
            mcr_bps: 0.0,
            icr_bps: pcr_bps,
            nrm: 32,
            mrm: 2,
            trm_s: 0.1,
            rif: 1.0 / 16.0,
            rdf: 1.0 / 16.0,
            cdf: 1.0 / 16.0,
            adtf_s: 0.5,
            tbe_cells: 16_777_215,
        }
    }

    /// The paper's [two-way, section 5.1]: RIF 1/64, ICR a 50th of PCR.
    pub fn two_way(pcr_bps: f64) -> AbrParameters {
        AbrParameters { icr_bps: pcr_bps / 50.0, rif: 1.0 / 64.0, ..AbrParameters::standard(pcr_bps) }
    }
}

/// Cells at a constant rate, in the queues of all others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossConfig {
    /// Its name.
    pub name: String,
    /// The ports that it crosses.
    pub path: Vec<usize>,
    /// Its rate \[bit/s\], headers of cells included.
    pub rate_bps: f64,
    /// When it starts \[s\].
    pub start_s: f64,
    /// When it ends \[s\]; none: never.
    pub stop_s: Option<f64>,
}

/// What to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// The allowed cell rate of each end at each change.
    pub acr: bool,
    /// Packets in the queue of each end at each change.
    pub ip_queue: bool,
    /// Cells in each port, as each arriving cell leaves them.
    pub cell_queue: bool,
    /// Each cell dropped.
    pub drops: bool,
    /// Rates and queues by their extremes in each interval, for a picture.
    #[serde(skip)]
    pub overview: Option<Steps>,
}
