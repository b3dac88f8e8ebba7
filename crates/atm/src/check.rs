use crate::aal5::CELL_BITS;
use crate::config::{AbrParameters, AllocationConfig, AtmConfig, ChannelConfig, EndConfig, IpService};

/// At the fastest a bit takes a picosecond.
const RATES_BPS: (f64, f64) = (1.0, 1e12);
const LONGEST_S: f64 = 1e5;
/// More cells than this on a link at once are more than a machine holds.
const MOST_CELLS_ON_A_LINK: f64 = 2e7;

/// All faults of a network, one a line: `place: what is wrong; given ...; allowed ...`. Empty: it can run.
pub fn check(config: &AtmConfig) -> Vec<String> {
    let mut faults = Faults(Vec::new());
    let ports = config.ports.len();
    for (index, port) in config.ports.iter().enumerate() {
        let place = format!("ports[{index}]");
        faults.rate(&format!("{place}.rate_bps"), port.rate_bps);
        faults.number(&format!("{place}.delay_s"), port.delay_s, 0.0, LONGEST_S);
        let cells = port.rate_bps * port.delay_s / CELL_BITS;
        if cells > MOST_CELLS_ON_A_LINK {
            faults.number(&format!("{place}.delay_s (cells on the link)"), cells, 0.0, MOST_CELLS_ON_A_LINK);
        }
        if let Some(cells) = port.buffer_cells {
            faults.number(&format!("{place}.buffer_cells"), cells as f64, 1.0, 1e12);
        }
        faults.allocation(&format!("{place}.allocation"), port.allocation);
    }
    for (index, channel) in config.channels.iter().enumerate() {
        faults.channel(&format!("channels[{index}]"), channel, ports);
    }
    for (index, cross) in config.cross.iter().enumerate() {
        let place = format!("cross[{index}]");
        faults.path(&format!("{place}.path"), &cross.path, ports);
        faults.rate(&format!("{place}.rate_bps"), cross.rate_bps);
        faults.number(&format!("{place}.start_s"), cross.start_s, 0.0, LONGEST_S);
        if let Some(stop) = cross.stop_s {
            faults.number(&format!("{place}.stop_s"), stop, cross.start_s, LONGEST_S);
        }
    }
    for (index, port) in config.ports.iter().enumerate() {
        let crossing = config.cross.iter().filter(|cross| cross.path.contains(&index));
        let taken: f64 = crossing.map(|cross| cross.rate_bps).sum();
        if taken >= port.rate_bps {
            faults.0.push(format!(
                "ports[{index}].rate_bps: all of it is taken by cross-traffic; given {}; allowed more than {taken}",
                port.rate_bps
            ));
        }
    }
    faults.0
}

struct Faults(Vec<String>);

impl Faults {
    fn number(&mut self, place: &str, value: f64, low: f64, high: f64) {
        if !(low..=high).contains(&value) {
            self.0.push(format!("{place}: out of range; given {value}; allowed {low} to {high}"));
        }
    }

    fn rate(&mut self, place: &str, value: f64) {
        self.number(place, value, RATES_BPS.0, RATES_BPS.1);
    }

    fn allocation(&mut self, place: &str, config: AllocationConfig) {
        match config {
            AllocationConfig::None {} => {}
            AllocationConfig::TwoPass { utilization } | AllocationConfig::ByCcr { utilization } => {
                self.number(&format!("{place}.utilization"), utilization, 0.01, 1.0);
            }
            AllocationConfig::Erica { utilization, interval_s } => {
                self.number(&format!("{place}.utilization"), utilization, 0.01, 1.0);
                self.number(&format!("{place}.interval_s"), interval_s, 1e-9, LONGEST_S);
            }
        }
    }

    fn channel(&mut self, place: &str, channel: &ChannelConfig, ports: usize) {
        self.path(&format!("{place}.forward"), &channel.forward, ports);
        self.path(&format!("{place}.backward"), &channel.backward, ports);
        if channel.forward.len() != channel.backward.len() {
            self.0.push(format!(
                "{place}.backward: the way back crosses other nodes; given {} ports; allowed {}",
                channel.backward.len(),
                channel.forward.len()
            ));
        }
        self.end(&format!("{place}.near"), &channel.near);
        self.end(&format!("{place}.far"), &channel.far);
    }

    fn path(&mut self, place: &str, path: &[usize], ports: usize) {
        if path.is_empty() {
            self.0.push(format!("{place}: empty; given []; allowed at least one port"));
        }
        for (hop, &port) in path.iter().enumerate() {
            if port >= ports {
                self.0.push(format!("{place}: no such port; given {port}; allowed 0 to {}", ports.saturating_sub(1)));
            } else if path[..hop].contains(&port) {
                self.0.push(format!("{place}: crosses a port twice; given {port}; allowed once"));
            }
        }
    }

    fn end(&mut self, place: &str, end: &EndConfig) {
        if let IpService::RateBps(rate) = end.ip_service {
            self.rate(&format!("{place}.ip_service.rate_bps"), rate);
        }
        let AbrParameters { pcr_bps, mcr_bps, icr_bps, nrm, mrm, trm_s, rif, rdf, cdf, adtf_s, tbe_cells } = end.abr;
        self.rate(&format!("{place}.abr.pcr_bps"), pcr_bps);
        self.number(&format!("{place}.abr.mcr_bps"), mcr_bps, 0.0, pcr_bps);
        self.number(&format!("{place}.abr.icr_bps"), icr_bps, mcr_bps.max(RATES_BPS.0), pcr_bps);
        // TM 4.0 section 5.10.3 gives these ranges; any other number of cells works as well.
        self.number(&format!("{place}.abr.nrm"), f64::from(nrm), 2.0, 256.0);
        self.number(&format!("{place}.abr.mrm"), f64::from(mrm), 1.0, 256.0);
        self.number(&format!("{place}.abr.trm_s"), trm_s, 0.0, LONGEST_S);
        self.number(&format!("{place}.abr.adtf_s"), adtf_s, 0.0, LONGEST_S);
        self.number(&format!("{place}.abr.tbe_cells"), tbe_cells as f64, 0.0, 16_777_215.0);
        for (field, value) in [("rif", rif), ("rdf", rdf), ("cdf", cdf)] {
            self.number(&format!("{place}.abr.{field}"), value, 0.0, 1.0);
        }
    }
}
