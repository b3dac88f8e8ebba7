use std::collections::BTreeSet;

use crate::aal5::CELL_BITS;
use crate::config::{
    AbrParameters, AllocationConfig, AtmConfig, ChannelConfig, CrossConfig, EndConfig, IpService, PortConfig,
};

/// Allowed rates \[bit/s\]; at the highest one a bit takes a picosecond.
const RATES_BPS: (f64, f64) = (1.0, 1e12);
/// Longest allowed time \[s\].
const LONGEST_S: f64 = 1e5;
/// Largest number of cells on a link at once, for the sake of memory.
const MOST_CELLS_ON_A_LINK: f64 = 2e7;

/// Most ports, and most channels and sources of cross-traffic.
const MOST_PORTS: f64 = 2000.0;
const MOST_CHANNELS: f64 = 1000.0;

/// Returns all faults of a network, each as `field: what is wrong; given ...; allowed ...`. Without faults it can run.
pub fn check(config: &AtmConfig) -> Vec<String> {
    let mut faults = Faults(Vec::new());
    faults.number("ports (how many)", config.ports.len() as f64, 0.0, MOST_PORTS);
    faults.number("channels (how many)", config.channels.len() as f64, 0.0, MOST_CHANNELS);
    faults.number("cross (how many)", config.cross.len() as f64, 0.0, MOST_CHANNELS);
    if !faults.0.is_empty() {
        return faults.0;
    }
    for (index, port) in config.ports.iter().enumerate() {
        faults.port(&format!("ports[{index}]"), port);
    }
    for (index, channel) in config.channels.iter().enumerate() {
        faults.channel(&format!("channels[{index}]"), channel, config.ports.len());
    }
    for (index, cross) in config.cross.iter().enumerate() {
        faults.cross(&format!("cross[{index}]"), cross, config.ports.len());
    }
    faults.capacities(config);
    faults.0
}

struct Faults(Vec<String>);

impl Faults {
    fn number(&mut self, field: &str, value: f64, low: f64, high: f64) {
        if !(low..=high).contains(&value) {
            self.0.push(format!("{field}: out of range; given {value}; allowed {low} to {high}"));
        }
    }

    fn rate(&mut self, field: &str, value: f64) {
        self.number(field, value, RATES_BPS.0, RATES_BPS.1);
    }

    fn port(&mut self, field: &str, port: &PortConfig) {
        self.rate(&format!("{field}.rate_bps"), port.rate_bps);
        self.number(&format!("{field}.delay_s"), port.delay_s, 0.0, LONGEST_S);
        let cells = port.rate_bps * port.delay_s / CELL_BITS;
        if cells > MOST_CELLS_ON_A_LINK {
            self.number(&format!("{field}.delay_s (cells on the link)"), cells, 0.0, MOST_CELLS_ON_A_LINK);
        }
        if let Some(cells) = port.buffer_cells {
            self.number(&format!("{field}.buffer_cells"), cells as f64, 1.0, 1e12);
        }
        self.allocation(&format!("{field}.allocation"), port.allocation);
    }

    fn cross(&mut self, field: &str, cross: &CrossConfig, ports: usize) {
        self.path(&format!("{field}.path"), &cross.path, ports);
        self.rate(&format!("{field}.rate_bps"), cross.rate_bps);
        self.number(&format!("{field}.start_s"), cross.start_s, 0.0, LONGEST_S);
        if let Some(stop) = cross.stop_s {
            self.number(&format!("{field}.stop_s"), stop, cross.start_s, LONGEST_S);
        }
    }

    /// Checks that cross-traffic leaves some of each port's rate.
    fn capacities(&mut self, config: &AtmConfig) {
        let mut taken = vec![0.0; config.ports.len()];
        for cross in &config.cross {
            for &port in cross.path.iter().filter(|&&port| port < config.ports.len()) {
                taken[port] += cross.rate_bps;
            }
        }
        for (index, (port, taken)) in config.ports.iter().zip(taken).enumerate() {
            if taken >= port.rate_bps {
                self.0.push(format!(
                    "ports[{index}].rate_bps: all of it is taken by cross-traffic; given {}; allowed more than {taken}",
                    port.rate_bps
                ));
            }
        }
    }

    fn allocation(&mut self, field: &str, config: AllocationConfig) {
        match config {
            AllocationConfig::None {} => {}
            AllocationConfig::TwoPass { utilization } | AllocationConfig::ByCcr { utilization } => {
                self.number(&format!("{field}.utilization"), utilization, 0.01, 1.0);
            }
            AllocationConfig::Erica { utilization, interval_s } => {
                self.number(&format!("{field}.utilization"), utilization, 0.01, 1.0);
                self.number(&format!("{field}.interval_s"), interval_s, 1e-9, LONGEST_S);
            }
        }
    }

    fn channel(&mut self, field: &str, channel: &ChannelConfig, ports: usize) {
        self.path(&format!("{field}.forward"), &channel.forward, ports);
        self.path(&format!("{field}.backward"), &channel.backward, ports);
        if channel.forward.len() != channel.backward.len() {
            self.0.push(format!(
                "{field}.backward: the backward path crosses other nodes; given {} ports; allowed {}",
                channel.backward.len(),
                channel.forward.len()
            ));
        }
        self.end(&format!("{field}.near"), &channel.near);
        self.end(&format!("{field}.far"), &channel.far);
    }

    fn path(&mut self, field: &str, path: &[usize], ports: usize) {
        if path.is_empty() {
            self.0.push(format!("{field}: empty; given []; allowed at least one port"));
        }
        let mut seen = BTreeSet::new();
        for &port in path {
            if port >= ports {
                self.0.push(format!("{field}: no such port; given {port}; allowed 0 to {}", ports.saturating_sub(1)));
            } else if !seen.insert(port) {
                self.0.push(format!("{field}: crosses a port twice; given {port}; allowed once"));
            }
        }
    }

    fn end(&mut self, field: &str, end: &EndConfig) {
        if let IpService::RateBps(rate) = end.ip_service {
            self.rate(&format!("{field}.ip_service.rate_bps"), rate);
        }
        let AbrParameters { pcr_bps, mcr_bps, icr_bps, nrm, mrm, trm_s, rif, rdf, cdf, adtf_s, tbe_cells } = end.abr;
        self.rate(&format!("{field}.abr.pcr_bps"), pcr_bps);
        self.number(&format!("{field}.abr.mcr_bps"), mcr_bps, 0.0, pcr_bps);
        self.number(&format!("{field}.abr.icr_bps"), icr_bps, mcr_bps.max(RATES_BPS.0), pcr_bps);
        // TM 4.0 section 5.10.3 gives these ranges; any other number of cells works as well.
        self.number(&format!("{field}.abr.nrm"), f64::from(nrm), 2.0, 256.0);
        self.number(&format!("{field}.abr.mrm"), f64::from(mrm), 1.0, 256.0);
        self.number(&format!("{field}.abr.trm_s"), trm_s, 0.0, LONGEST_S);
        self.number(&format!("{field}.abr.adtf_s"), adtf_s, 0.0, LONGEST_S);
        self.number(&format!("{field}.abr.tbe_cells"), tbe_cells as f64, 0.0, 16_777_215.0);
        for (name, value) in [("rif", rif), ("rdf", rdf), ("cdf", cdf)] {
            self.number(&format!("{field}.abr.{name}"), value, 0.0, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(cross: usize) -> AtmConfig {
        let port = PortConfig {
            name: "port".to_owned(),
            rate_bps: 1e9,
            delay_s: 0.0,
            buffer_cells: None,
            efci_cells: None,
            allocation: AllocationConfig::None {},
        };
        let source = CrossConfig { name: "cross".to_owned(), path: vec![0], rate_bps: 1e6, start_s: 0.0, stop_s: None };
        AtmConfig { ports: vec![port], cross: vec![source; cross], ..AtmConfig::default() }
    }

    #[test]
    fn the_number_of_sources_is_limited_and_their_rates_leave_something() {
        assert_eq!(check(&network(999)), Vec::<String>::new());
        let all =
            "ports[0].rate_bps: all of it is taken by cross-traffic; given 1000000000; allowed more than 1000000000";
        assert_eq!(check(&network(1000)), [all]);
        assert_eq!(check(&network(1001)), ["cross (how many): out of range; given 1001; allowed 0 to 1000"]);
    }

    #[test]
    fn a_path_crosses_each_port_once() {
        let mut network = network(1);
        network.cross[0].path = vec![0, 0];
        assert_eq!(check(&network), ["cross[0].path: crosses a port twice; given 0; allowed once"]);
    }
}
