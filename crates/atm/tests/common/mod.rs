//! Networks for the tests.

pub mod max_min;

use atm::{
    AbrParameters, AllocationConfig, Arrival, AtmConfig, AtmNetwork, ChannelConfig, EndConfig, IpService, PortConfig,
};
use base::{Clock, Packet, PacketKind, Time};
use max_min::{max_min, Claim};

pub const TWO_PASS: AllocationConfig = AllocationConfig::TwoPass { utilization: 1.0 };
pub const BY_CCR: AllocationConfig = AllocationConfig::ByCcr { utilization: 1.0 };

pub fn port(name: &str, rate_bps: f64, delay_s: f64, allocation: AllocationConfig) -> PortConfig {
    PortConfig { name: name.to_owned(), rate_bps, delay_s, buffer_cells: None, efci_cells: None, allocation }
}

pub fn end(abr: AbrParameters) -> EndConfig {
    EndConfig { abr, ip_service: IpService::ChannelRate }
}

/// Two hosts on a duplex link, one channel: ports 0 (near to far) and 1.
pub fn two_hosts(rate_bps: f64, delay_s: f64) -> AtmConfig {
    let host = |name| port(name, rate_bps, delay_s, TWO_PASS);
    AtmConfig {
        ports: vec![host("near"), host("far")],
        channels: vec![channel(0, 1, rate_bps)],
        ..AtmConfig::default()
    }
}

fn channel(there: usize, back: usize, pcr: f64) -> ChannelConfig {
    let end = end(AbrParameters::two_way(pcr));
    ChannelConfig { name: "channel".to_owned(), forward: vec![there], backward: vec![back], near: end, far: end }
}

pub fn segment(sequence: u64) -> Packet {
    Packet { sequence, bytes: 9220, ..Packet::default() }
}

pub fn ack(sequence: u64) -> Packet {
    Packet { sequence, bytes: 40, kind: PacketKind::Ack, ..Packet::default() }
}

/// Offers a number of segments at the start.
pub fn greedy(network: &mut AtmNetwork, end: u32, segments: u64) {
    (0..segments).for_each(|sequence| network.offer(Time::ZERO, end, segment(sequence)));
}

pub fn run_until(network: &mut AtmNetwork, seconds: f64) -> Vec<Arrival> {
    std::iter::from_fn(|| network.advance(Clock::PICOSECONDS.time(seconds))).collect()
}

/// A line of switches: `trunks` are the rates between them, a channel crosses the trunks from `first` to `last` and has
/// hosts of its own.
#[derive(Clone, Debug)]
pub struct Line {
    pub trunks: Vec<f64>,
    pub channels: Vec<(usize, usize)>,
    pub access: f64,
    pub trunk_delay: f64,
    pub access_delay: f64,
}

impl Line {
    pub fn config(&self, allocation: AllocationConfig, abr: AbrParameters) -> AtmConfig {
        let mut config = AtmConfig::default();
        for &rate in &self.trunks {
            config.ports.push(port("there", rate, self.trunk_delay, allocation));
            config.ports.push(port("back", rate, self.trunk_delay, allocation));
        }
        for &(first, last) in &self.channels {
            let hosts = config.ports.len();
            config.ports.extend((0..4).map(|_| port("access", self.access, self.access_delay, allocation)));
            // Near host to switch, switches, last switch to far host; and the same nodes back.
            let there = std::iter::once(hosts).chain((first..=last).map(|trunk| 2 * trunk)).chain([hosts + 1]);
            let back =
                std::iter::once(hosts + 2).chain((first..=last).rev().map(|trunk| 2 * trunk + 1)).chain([hosts + 3]);
            let (forward, backward) = (there.collect(), back.collect());
            config.channels.push(ChannelConfig {
                name: "line".to_owned(),
                forward,
                backward,
                near: end(abr),
                far: end(abr),
            });
        }
        config
    }

    /// Returns the max-min share of each end, computed centrally.
    pub fn shares(&self, config: &AtmConfig) -> Vec<f64> {
        let capacities: Vec<f64> = config.ports.iter().map(|port| port.rate_bps).collect();
        let claim = |ports: &[usize], end: &EndConfig| Claim { ports: ports.to_vec(), demand: end.abr.pcr_bps };
        let both = config
            .channels
            .iter()
            .flat_map(|channel| [claim(&channel.forward, &channel.near), claim(&channel.backward, &channel.far)]);
        max_min(&capacities, &both.collect::<Vec<_>>())
    }
}

/// Returns GFC-2 as the notes on the paper describe it; channels in the order A, B, C, D, E, F, G, H with their
/// numbers.
pub fn gfc2(trunk_delay: f64) -> Line {
    let groups = [(3, 0, 3), (3, 2, 5), (3, 2, 2), (1, 4, 4), (2, 1, 1), (2, 0, 0), (7, 5, 5), (2, 3, 3)];
    let channels = groups.iter().flat_map(|&(count, first, last)| vec![(first, last); count]).collect();
    let trunks = [50e6, 100e6, 150e6, 150e6, 50e6, 50e6].to_vec();
    Line { trunks, channels, access: 150e6, trunk_delay, access_delay: trunk_delay / 10.0 }
}
