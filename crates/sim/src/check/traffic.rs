//! Faults of what flows send and when.

use base::Time;

use super::{Faults, RATES_BPS};
use crate::scenario::{FlowConfig, SizeLaw, TimeLaw, TrafficConfig};
use crate::traffic::{gap, Sizes};

const LONGEST_TIME_S: f64 = 1e7;
const LARGEST_SIZE: f64 = 1e12;
/// Below so many packets in a mean time of sending, looking for the next packet becomes the work.
const LEAST_PACKETS_AN_ON_TIME: f64 = 1e-3;

impl Faults {
    pub(super) fn traffic(&mut self, place: &str, flow: &FlowConfig) {
        let Some(traffic) = &flow.traffic else { return };
        if flow.size_packets.is_some() {
            self.say(format!("{place}.size_packets: stands beside traffic; given a number; allowed null"));
        }
        let place = format!("{place}.traffic");
        match traffic {
            TrafficConfig::Web { size, off, classes } => {
                self.size(&format!("{place}.size"), size);
                self.time(&format!("{place}.off"), off);
                if classes.windows(2).any(|pair| pair[0] >= pair[1]) || classes.first() == Some(&0) {
                    self.say(format!("{place}.classes: not in rising order from 1 on; given {classes:?}"));
                }
                self.number(&format!("{place}.classes"), classes.len() as f64, 0.0, 1000.0);
            }
            TrafficConfig::Constant { rate_bps } | TrafficConfig::Poisson { rate_bps } => {
                self.source_rate(&place, *rate_bps, flow.packet_bytes);
            }
            TrafficConfig::OnOff { rate_bps, on, off } | TrafficConfig::PoissonOnOff { rate_bps, on, off } => {
                self.source_rate(&place, *rate_bps, flow.packet_bytes);
                self.time(&format!("{place}.on"), on);
                self.time(&format!("{place}.off"), off);
                let packets = on.mean_s() * rate_bps / 8.0 / f64::from(flow.packet_bytes.max(1));
                self.number(&format!("{place}.on (packets in it)"), packets, LEAST_PACKETS_AN_ON_TIME, f64::MAX);
            }
        }
    }

    fn source_rate(&mut self, place: &str, rate_bps: f64, bytes: u16) {
        self.number(&format!("{place}.rate_bps"), rate_bps, RATES_BPS.0, RATES_BPS.1);
        if gap(rate_bps, bytes) == Time::ZERO {
            self.say(format!("{place}.rate_bps: no time between two packets; given {rate_bps}; allowed 1 ps and more"));
        }
    }

    fn time(&mut self, place: &str, law: &TimeLaw) {
        self.number(&format!("{place}.mean_s"), law.mean_s(), 0.0, LONGEST_TIME_S);
    }

    fn size(&mut self, place: &str, law: &SizeLaw) {
        let packets = |name: &str| format!("{place}.{name}_packets");
        match law {
            SizeLaw::Fixed { packets } => self.number(&format!("{place}.packets"), *packets as f64, 1.0, LARGEST_SIZE),
            SizeLaw::Empirical { packets } => {
                self.number(&format!("{place}.packets (how many)"), packets.len() as f64, 1.0, 1e7);
                for &size in packets.iter().filter(|&&size| !(1.0..=LARGEST_SIZE).contains(&(size as f64))).take(1) {
                    self.number(&format!("{place}.packets"), size as f64, 1.0, LARGEST_SIZE);
                }
            }
            SizeLaw::Pareto { mean_packets, shape } => {
                self.number(&packets("mean"), *mean_packets, 1.0, LARGEST_SIZE);
                self.shape(place, *shape);
            }
            SizeLaw::Exponential { mean_packets, min_packets } => {
                self.minimum(place, *mean_packets, *min_packets);
            }
            SizeLaw::ExponentialPareto { mean_packets, min_packets, tail_fraction, shape } => {
                self.minimum(place, *mean_packets, *min_packets);
                self.tail_fraction(place, *tail_fraction);
                self.shape(place, *shape);
            }
            SizeLaw::ExponentialExponential { mean_packets, min_packets, tail_fraction, tail_packets } => {
                self.minimum(place, *mean_packets, *min_packets);
                self.tail_fraction(place, *tail_fraction);
                self.number(&packets("tail"), *tail_packets, 0.0, LARGEST_SIZE);
            }
        }
        if !Sizes::new(law).is_sound() {
            self.say(format!("{place}.mean_packets: too small for its tail; given {law:?}; allowed more"));
        }
    }

    fn minimum(&mut self, place: &str, mean: f64, minimum: f64) {
        self.number(&format!("{place}.mean_packets"), mean, 1.0, LARGEST_SIZE);
        self.number(&format!("{place}.min_packets"), minimum, 1.0, mean);
    }

    fn tail_fraction(&mut self, place: &str, fraction: f64) {
        self.number(&format!("{place}.tail_fraction"), fraction, 1e-9, 0.999);
    }

    /// The mean is finite above 1.
    fn shape(&mut self, place: &str, shape: f64) {
        self.number(&format!("{place}.shape"), shape, 1.001, 1000.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(size: SizeLaw) -> Vec<String> {
        let mut faults = Faults::default();
        faults.size("size", &size);
        faults.into_inner()
    }

    #[test]
    fn a_tail_that_leaves_nothing_for_the_body_is_refused() {
        let law = |tail_packets| SizeLaw::ExponentialExponential {
            mean_packets: 5.0,
            min_packets: 3.0,
            tail_fraction: 0.1,
            tail_packets,
        };
        assert_eq!(faults(law(19.5)), Vec::<String>::new());
        assert!(faults(law(35.0))[0].starts_with("size.mean_packets: too small for its tail"));
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        assert!(faults(SizeLaw::Pareto { mean_packets: f64::NAN, shape: 1.0 }).len() >= 2);
        assert!(!faults(SizeLaw::Empirical { packets: vec![] }).is_empty());
        assert!(!faults(SizeLaw::Empirical { packets: vec![3, 0] }).is_empty());
        assert!(!faults(SizeLaw::Fixed { packets: 0 }).is_empty());
    }
}
