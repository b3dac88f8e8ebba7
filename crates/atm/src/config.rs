//! Configuration of an ATM network: SI units, nothing implicit.

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
    /// Sources of cross-traffic.
    pub cross: Vec<CrossConfig>,
    /// Values to record.
    pub trace: TraceConfig,
}

/// An output port and the link behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortConfig {
    /// Name of the port.
    pub name: String,
    /// Rate \[bit/s\], headers of cells included.
    pub rate_bps: f64,
    /// Propagation delay \[s\].
    pub delay_s: f64,
    /// Capacity of the queue \[cells\], the one in transmission included; `None`: unlimited.
    pub buffer_cells: Option<u64>,
    /// Queue length above which arriving data cells get EFCI \[cells\]; `None`: never.
    pub efci_cells: Option<u64>,
    /// Allocation of explicit rates.
    pub allocation: AllocationConfig,
}

/// The algorithm by which a port allocates explicit rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "algorithm", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AllocationConfig {
    /// The port stamps no explicit rates.
    None {},
    /// Reconstruction of [two-way, reference 12] from its published principle: rates are stamped into forward RM cells
    /// and recorded from backward ones.
    TwoPass {
        /// Fraction of the link's rate that is allocated.
        utilization: f64,
    },
    /// Reconstruction, closest to the published description: current rates are recorded from forward RM cells.
    ByCcr {
        /// Fraction of the link's rate that is allocated.
        utilization: f64,
    },
    /// Explicit Rate Indication for Congestion Avoidance (Jain, Kalyanaraman, Goyal, Fahmy, Viswanathan).
    Erica {
        /// Target fraction of the link's rate.
        utilization: f64,
        /// Length of the measurement interval \[s\].
        interval_s: f64,
    },
}

/// A duplex virtual channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelConfig {
    /// Name of the channel.
    pub name: String,
    /// Ports from the near end to the far one, the near host's own first.
    pub forward: Vec<usize>,
    /// Ports from the far end to the near one, through the same nodes: the last one belongs to the node that
    /// `forward[0]` leads to.
    pub backward: Vec<usize>,
    /// The channel's near end.
    pub near: EndConfig,
    /// The channel's far end.
    pub far: EndConfig,
}

/// One end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndConfig {
    /// Parameters of its ABR source.
    pub abr: AbrParameters,
    /// Service of its IP queue.
    pub ip_service: IpService,
}

/// The service by which the IP queue of an end passes packets to its channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum IpService {
    /// The channel's own rate: a packet waits at the IP layer until its last cell has left.
    ChannelRate,
    /// A rate of its own \[bit/s\]: a packet waits for the channel after it has been served.
    RateBps(f64),
    /// Immediate: all packets wait at the ATM layer, in a queue of their channel.
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
    /// Number of cells from one forward RM cell to the next (Nrm).
    pub nrm: u32,
    /// Least number of cells between two forward RM cells (Mrm).
    pub mrm: u32,
    /// Time after the last forward RM cell from which `mrm` cells suffice \[s\] (Trm).
    pub trm_s: f64,
    /// Rate increase factor.
    pub rif: f64,
    /// Rate decrease factor.
    pub rdf: f64,
    /// Cutoff decrease factor.
    pub cdf: f64,
    /// Time without forward RM cells after which the rate falls back to the initial one \[s\] (ADTF).
    pub adtf_s: f64,
    /// Transient buffer exposure \[cells\].
    pub tbe_cells: u64,
}

impl AbrParameters {
    /// Returns TM 4.0's defaults for a peak cell rate.
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

    /// Returns the parameters of [two-way, section 5.1]: RIF = 1/64, ICR = PCR / 50.
    pub fn two_way(pcr_bps: f64) -> AbrParameters {
        AbrParameters { icr_bps: pcr_bps / 50.0, rif: 1.0 / 64.0, ..AbrParameters::standard(pcr_bps) }
    }
}

/// Cross-traffic: cells at a constant rate, which share the queues with all others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossConfig {
    /// Name of the source.
    pub name: String,
    /// Ports that it crosses.
    pub path: Vec<usize>,
    /// Rate \[bit/s\], headers of cells included.
    pub rate_bps: f64,
    /// Start of the source \[s\].
    pub start_s: f64,
    /// End of the source \[s\]; `None`: never.
    pub stop_s: Option<f64>,
}

/// The values to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// Allowed cell rate of each end, at each change.
    pub acr: bool,
    /// Packets in the queues of each end, at each change.
    pub ip_queue: bool,
    /// Cells in each port, after each arrival.
    pub cell_queue: bool,
    /// Each dropped cell.
    pub drops: bool,
    /// Intervals for which the extremes of rates and queues are recorded, for a picture.
    #[serde(skip)]
    pub overview: Option<Steps>,
}
