//! Faults of queue disciplines.

use net::{
    AqmConfig, BucketConfig, CakeConfig, CobaltConfig, CodelConfig, Discipline, DualPi2Config, PiConfig, PieConfig,
    RedAdaptation, RedConfig, RedLinuxConfig, SchedulerConfig, SfqConfig,
};

use crate::scenario::ElementConfig;

use super::limits::{limits, Limit, MOST_BYTES, MOST_LEVELS, RATES_BPS};
use super::Faults;

/// Largest threshold of Linux's RED: scaled by any weight it fits 64 bits.
const MOST_RED_BYTES: f64 = 4_294_967_295.0;

limits! {
    LEVELS = "elements[].queue.scheduler.levels", "1", 1.0, MOST_LEVELS;
    QUANTUM = "elements[].queue.scheduler.quantum_bytes", "bytes", 256.0, 1e6;
    DEPTH = "elements[].queue.scheduler.depth_packets", "packets", 1.0, 65536.0;
    QUEUES = "elements[].queue.scheduler.queues", "1", 1.0, 65536.0;
    /// Narrowed by the maximum threshold.
    MIN_THRESHOLD = "elements[].queue.aqm.min_threshold_packets", "packets", 0.0, 1e9;
    MAX_THRESHOLD = "elements[].queue.aqm.max_threshold_packets", "packets", f64::MIN_POSITIVE, 1e9;
    WEIGHT = "elements[].queue.aqm.weight", "1", f64::MIN_POSITIVE, 1.0;
    MAX_PROBABILITY = "elements[].queue.aqm.max_probability", "1", 0.0, 1.0;
    LEAST_QUEUE = "elements[].queue.aqm.least_queue_packets", "packets", 0.0, 1e9;
    /// Narrowed by the maximum threshold.
    MIN_THRESHOLD_BYTES = "elements[].queue.aqm.min_threshold_bytes", "bytes", 0.0, MOST_RED_BYTES;
    MAX_THRESHOLD_BYTES = "elements[].queue.aqm.max_threshold_bytes", "bytes", 1.0, MOST_RED_BYTES;
    WEIGHT_LOG = "elements[].queue.aqm.weight_log", "1", 1.0, 31.0;
    BURST_BYTES = "elements[].token_bucket.burst_bytes", "bytes", 0.0, 1e9;
    CLASSIC_PERCENT = "elements[].queue.scheduler.classic_percent", "%", 0.0, 100.0;
    SCHEDULER_MTU = "elements[].queue.scheduler.mtu_bytes", "bytes", 1.0, MOST_BYTES;
    BANDWIDTH = "elements[].queue.scheduler.bandwidth_bps", "bit/s", RATES_BPS.0, RATES_BPS.1;
    MTU_TIME = "elements[].queue.aqm.mtu_s", "s", 0.0, 1000.0;
    STEP_THRESHOLD = "elements[].queue.aqm.threshold_packets", "packets", 0.0, 1e9;
    COUPLING = "elements[].queue.aqm.coupling", "1", 0.0, 100.0;
    STEP = "elements[].queue.aqm.step_s", "s", 0.0, 100.0;
    RAMP = "elements[].queue.aqm.ramp_s", "s", 0.0, 100.0;
    TARGET = "elements[].queue.aqm.target_s", "s", 1e-6, 100.0;
    INTERVAL = "elements[].queue.aqm.interval_s", "s", 1e-6, 1000.0;
    CE_THRESHOLD = "elements[].queue.aqm.ce_threshold_s", "s", 0.0, 100.0;
    UPDATE = "elements[].queue.aqm.update_s", "s", 1e-4, 100.0;
    FIRST_UPDATE = "elements[].queue.aqm.first_update_s", "s", 0.0, 100.0;
    ALPHA = "elements[].queue.aqm.alpha", "1/s", 0.0, 1000.0;
    BETA = "elements[].queue.aqm.beta", "1/s", 0.0, 1000.0;
    BURST = "elements[].queue.aqm.burst_s", "s", 0.0, 100.0;
    TARGET_PACKETS = "elements[].queue.aqm.target_packets", "packets", 0.0, 1e9;
    FACTOR_NEW = "elements[].queue.aqm.factor_new", "1", 0.0, 1.0;
    FACTOR_OLD = "elements[].queue.aqm.factor_old", "1", 0.0, 1.0;
    ADAPTATION_INTERVAL = "elements[].queue.aqm.adaptation.interval_s", "s", 0.0, 1000.0;
    STEP_UP = "elements[].queue.aqm.adaptation.step_up", "1", 0.0, 1.0;
    FACTOR_DOWN = "elements[].queue.aqm.adaptation.factor_down", "1", 0.0, 1.0;
    TOP = "elements[].queue.aqm.adaptation.top", "1", 0.0, 1.0;
    BOTTOM = "elements[].queue.aqm.adaptation.bottom", "1", 0.0, 1.0;
    MTU = "elements[].queue.aqm.mtu_bytes", "bytes", 1.0, MOST_BYTES;
    MEAN_PACKET = "elements[].queue.aqm.mean_packet_bytes", "bytes", 1.0, MOST_BYTES;
}

impl Faults {
    pub(super) fn token_bucket(&mut self, place: &str, element: &ElementConfig, bucket: &BucketConfig) {
        self.field(&format!("{place}.token_bucket"), BURST_BYTES, bucket.burst_bytes as f64);
        if element.rate_bps().is_none() || element.rate_process().is_some() {
            self.say(format!("{place}.token_bucket: needs a constant rate"));
        }
        if element.link().is_some_and(|link| link.queue.scheduler.bandwidth_bps().is_some()) {
            self.say(format!("{place}.token_bucket: its queue has a shaper already"));
        }
    }

    pub(super) fn queue(&mut self, place: &str, queue: &Discipline) {
        match queue.scheduler {
            SchedulerConfig::Fifo {} => {}
            SchedulerConfig::Priority { levels } => {
                self.field(&format!("{place}.scheduler"), LEVELS, f64::from(levels))
            }
            SchedulerConfig::Fq(fq) => {
                self.field(&format!("{place}.scheduler"), QUANTUM, f64::from(fq.quantum_bytes));
                if let Some(queues) = fq.queues {
                    self.field(&format!("{place}.scheduler"), QUEUES, f64::from(queues));
                }
            }
            SchedulerConfig::Wfq(wfq) => {
                if let Some(queues) = wfq.queues {
                    self.field(&format!("{place}.scheduler"), QUEUES, f64::from(queues));
                }
            }
            SchedulerConfig::Sfq(sfq) => self.sfq(&format!("{place}.scheduler"), &sfq),
            SchedulerConfig::Drr(drr) => {
                self.field(&format!("{place}.scheduler"), QUANTUM, f64::from(drr.quantum_bytes));
                if let Some(queues) = drr.queues {
                    self.field(&format!("{place}.scheduler"), QUEUES, f64::from(queues));
                }
            }
            SchedulerConfig::Cake(cake) => self.cake(&format!("{place}.scheduler"), &cake),
            SchedulerConfig::Dual(dual) => {
                self.field(&format!("{place}.scheduler"), CLASSIC_PERCENT, f64::from(dual.classic_percent));
                self.field(&format!("{place}.scheduler"), SCHEDULER_MTU, f64::from(dual.mtu_bytes));
            }
        }
        match &queue.aqm {
            AqmConfig::None {} => {}
            AqmConfig::Red(red) => self.red(&format!("{place}.aqm"), red),
            AqmConfig::RedLinux(red) => self.red_linux(&format!("{place}.aqm"), red),
            AqmConfig::Codel(codel) => self.codel(&format!("{place}.aqm"), codel),
            AqmConfig::Cobalt(cobalt) => self.cobalt(&format!("{place}.aqm"), cobalt),
            AqmConfig::Step(step) => self.field(&format!("{place}.aqm"), STEP_THRESHOLD, step.threshold_packets),
            AqmConfig::DualPi2(pi2) => self.dual_pi2(&format!("{place}.aqm"), pi2),
            AqmConfig::Pi(pi) => self.pi(&format!("{place}.aqm"), pi),
            AqmConfig::Pie(pie) => self.pie(&format!("{place}.aqm"), pie),
        }
    }

    fn sfq(&mut self, place: &str, sfq: &SfqConfig) {
        self.field(place, QUEUES, f64::from(sfq.queues));
        self.field(place, QUANTUM, f64::from(sfq.quantum_bytes));
        self.field(place, DEPTH, f64::from(sfq.depth_packets));
    }

    fn cake(&mut self, place: &str, cake: &CakeConfig) {
        self.field(place, QUANTUM, f64::from(cake.quantum_bytes));
        if let Some(bandwidth_bps) = cake.bandwidth_bps {
            self.field(place, BANDWIDTH, bandwidth_bps);
        }
    }

    fn cobalt(&mut self, place: &str, cobalt: &CobaltConfig) {
        self.field(place, TARGET, cobalt.target_s);
        self.field(place, INTERVAL, cobalt.interval_s);
        self.field(place, MTU_TIME, cobalt.mtu_s);
    }

    fn dual_pi2(&mut self, place: &str, pi2: &DualPi2Config) {
        self.field(place, TARGET, pi2.target_s);
        self.field(place, UPDATE, pi2.update_s);
        self.field(place, ALPHA, pi2.alpha);
        self.field(place, BETA, pi2.beta);
        self.field(place, COUPLING, pi2.coupling);
        self.field(place, STEP, pi2.step_s);
        self.field(place, RAMP, pi2.ramp_s);
        self.field(place, MTU, f64::from(pi2.mtu_bytes));
    }

    fn pi(&mut self, place: &str, pi: &PiConfig) {
        self.field(place, TARGET_PACKETS, pi.target_packets);
        self.field(place, FACTOR_NEW, pi.factor_new);
        self.field(place, FACTOR_OLD, pi.factor_old);
        self.field(place, UPDATE, pi.update_s);
        self.field(place, MEAN_PACKET, f64::from(pi.mean_packet_bytes));
    }

    fn pie(&mut self, place: &str, pie: &PieConfig) {
        self.field(place, TARGET, pie.target_s);
        self.field(place, UPDATE, pie.update_s);
        self.field(place, FIRST_UPDATE, pie.first_update_s);
        self.field(place, ALPHA, pie.alpha);
        self.field(place, BETA, pie.beta);
        self.field(place, BURST, pie.burst_s);
        self.field(place, MTU, f64::from(pie.mtu_bytes));
    }

    fn codel(&mut self, place: &str, codel: &CodelConfig) {
        self.field(place, TARGET, codel.target_s);
        self.field(place, INTERVAL, codel.interval_s);
        if let Some(threshold) = codel.ce_threshold_s {
            self.field(place, CE_THRESHOLD, threshold);
        }
        self.field(place, MTU, f64::from(codel.mtu_bytes));
    }

    fn red_linux(&mut self, place: &str, red: &RedLinuxConfig) {
        let (min, max) = (f64::from(red.min_threshold_bytes), f64::from(red.max_threshold_bytes));
        self.field(place, MAX_THRESHOLD_BYTES, max);
        self.field(place, Limit { high: max - 1.0, ..MIN_THRESHOLD_BYTES }, min);
        self.field(place, MAX_PROBABILITY, red.max_probability);
        self.field(place, WEIGHT_LOG, f64::from(red.weight_log));
        self.field(place, MEAN_PACKET, f64::from(red.mean_packet_bytes));
    }

    fn red(&mut self, place: &str, red: &RedConfig) {
        let (min, max) = (red.min_threshold_packets, red.max_threshold_packets);
        self.field(place, MAX_THRESHOLD, max);
        self.field(place, Limit { high: max, ..MIN_THRESHOLD }, min);
        if min >= max {
            self.say(format!("{place}.min_threshold_packets: not below the maximum threshold; given {min}"));
        }
        self.field(place, WEIGHT, red.weight);
        self.field(place, MAX_PROBABILITY, red.max_probability);
        self.field(place, LEAST_QUEUE, red.least_queue_packets);
        self.field(place, MEAN_PACKET, f64::from(red.mean_packet_bytes));
        if let Some(adaptation) = &red.adaptation {
            self.adaptation(&format!("{place}.adaptation"), adaptation);
        }
    }

    fn adaptation(&mut self, place: &str, adaptation: &RedAdaptation) {
        self.field(place, ADAPTATION_INTERVAL, adaptation.interval_s);
        self.field(place, STEP_UP, adaptation.step_up);
        self.field(place, FACTOR_DOWN, adaptation.factor_down);
        self.field(place, TOP, adaptation.top);
        if let Some(bottom) = adaptation.bottom {
            self.field(place, BOTTOM, bottom);
        }
    }
}
