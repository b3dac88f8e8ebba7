//! Faults of the flows' traffic.

use super::limits::*;
use super::Faults;
use crate::scenario::{FlowConfig, SizeLaw, TrafficConfig};
use crate::traffic::Sizes;

impl Faults {
    pub(super) fn traffic(&mut self, place: &str, flow: &FlowConfig) {
        match &flow.traffic {
            TrafficConfig::Tcp { size_packets: None, .. } => {}
            TrafficConfig::Tcp { size_packets: Some(size), .. } => self.field(place, TRANSFER, *size as f64),
            TrafficConfig::Web { size, off, classes, .. } => {
                self.size(&format!("{place}.size"), size);
                self.field(&format!("{place}.off"), OFF_TIME, off.mean_s());
                self.field(place, SIZE_CLASSES, classes.len() as f64);
                for (index, &bound) in classes.iter().enumerate() {
                    self.within(&format!("{place}.classes[{index}]"), SIZE_CLASS, bound as f64);
                }
                if let Some(index) = classes.windows(2).position(|pair| pair[0] >= pair[1]) {
                    let given = classes[index + 1];
                    self.say(format!("{place}.classes[{}]: not above the one before; given {given}", index + 1));
                }
            }
            TrafficConfig::Constant { rate_bps } | TrafficConfig::Poisson { rate_bps } => {
                self.field(place, SOURCE_RATE, *rate_bps);
            }
            TrafficConfig::OnOff { rate_bps, on, off } | TrafficConfig::PoissonOnOff { rate_bps, on, off } => {
                self.field(place, SOURCE_RATE, *rate_bps);
                self.field(&format!("{place}.on"), ON_TIME, on.mean_s());
                self.field(&format!("{place}.off"), OFF_TIME, off.mean_s());
                let packets = on.mean_s() * rate_bps / 8.0 / f64::from(flow.packet_bytes.max(1));
                self.field(place, PACKETS_PER_ON_TIME, packets);
            }
            TrafficConfig::Ping { interval_s, .. } => self.field(place, PING_INTERVAL, *interval_s),
        }
    }

    fn size(&mut self, place: &str, law: &SizeLaw) {
        match law {
            SizeLaw::Fixed { packets } => self.field(place, SIZE, *packets as f64),
            SizeLaw::Empirical { packets } => {
                self.field(place, SIZES, packets.len() as f64);
                if let Some(&size) = packets.iter().find(|&&size| !(SIZE.low..=SIZE.high).contains(&(size as f64))) {
                    self.field(place, SIZE, size as f64);
                }
            }
            SizeLaw::Pareto { mean_packets, shape } => {
                self.field(place, SIZE_MEAN, *mean_packets);
                self.field(place, SIZE_SHAPE, *shape);
            }
            SizeLaw::Exponential { mean_packets, min_packets } => {
                self.minimum(place, *mean_packets, *min_packets);
            }
            SizeLaw::ExponentialPareto { mean_packets, min_packets, tail_fraction, shape } => {
                self.minimum(place, *mean_packets, *min_packets);
                self.field(place, TAIL_FRACTION, *tail_fraction);
                self.field(place, SIZE_SHAPE, *shape);
            }
            SizeLaw::ExponentialExponential { mean_packets, min_packets, tail_fraction, tail_packets } => {
                self.minimum(place, *mean_packets, *min_packets);
                self.field(place, TAIL_FRACTION, *tail_fraction);
                self.field(place, SIZE_TAIL, *tail_packets);
            }
        }
        if !Sizes::new(law).is_sound() {
            self.say(format!("{place}.mean_packets: too small for its tail; given {law:?}; allowed more"));
        }
    }

    fn minimum(&mut self, place: &str, mean: f64, minimum: f64) {
        self.field(place, SIZE_MEAN, mean);
        self.field(place, Limit { high: mean, ..SIZE_MIN }, minimum);
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
