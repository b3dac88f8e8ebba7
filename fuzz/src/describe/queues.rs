//! Any parameters of a scheduler and an AQM.

use net::{
    AqmConfig, CakeConfig, CobaltConfig, CodelConfig, CodelRules, DrrConfig, DualConfig, DualPi2Config, DualPi2Rules,
    FqConfig, PiConfig, PieConfig, RedAdaptation, RedConfig, RedEcn, RedLinuxConfig, SchedulerConfig, SfqConfig,
    StepConfig, WfqConfig,
};

use super::scaled;

/// Returns a scheduler of the kind of another one, with parameters that four numbers describe.
pub(super) fn scheduler(typical: SchedulerConfig, [quantum, queues, bandwidth, options]: [u8; 4]) -> SchedulerConfig {
    match typical {
        fifo @ SchedulerConfig::Fifo {} => fifo,
        SchedulerConfig::Priority { .. } => SchedulerConfig::Priority { levels: 8 },
        SchedulerConfig::Dual(_) => {
            SchedulerConfig::Dual(DualConfig { classic_percent: quantum % 101, mtu_bytes: 1 + u16::from(queues) * 8 })
        }
        SchedulerConfig::Fq(_) => SchedulerConfig::Fq(FqConfig {
            quantum_bytes: 256 + 16 * u32::from(quantum),
            queues: (options & 1 == 1).then(|| 1 + u32::from(queues)),
            sparse_first: options & 2 == 2,
            by_entry: options & 4 == 4,
            emptied_becomes_old: options & 8 == 8,
        }),
        SchedulerConfig::Sfq(sfq) => SchedulerConfig::Sfq(SfqConfig {
            queues: 1 + u32::from(queues),
            hashed: options & 1 == 1,
            quantum_bytes: 256 + 16 * u32::from(quantum),
            depth_packets: 1 + u32::from(options),
            ..sfq
        }),
        SchedulerConfig::Drr(_) => SchedulerConfig::Drr(DrrConfig {
            quantum_bytes: 256 + 16 * u32::from(quantum),
            queues: (options & 1 == 1).then(|| 1 + u32::from(queues)),
        }),
        SchedulerConfig::Wfq(_) => SchedulerConfig::Wfq(WfqConfig {
            queues: (options & 1 == 1).then(|| 1 + u32::from(queues)),
            by_entry: options & 4 == 4,
        }),
        SchedulerConfig::Cake(_) => SchedulerConfig::Cake(CakeConfig {
            quantum_bytes: 256 + 16 * u32::from(quantum),
            hashed: options & 1 == 1,
            by_host: options & 2 == 2,
            bandwidth_bps: (options & 4 == 4).then(|| scaled(bandwidth, 1e4, 1e9)),
        }),
    }
}

/// Returns an AQM of the kind of another one, with parameters that four numbers describe.
pub(super) fn aqm(typical: AqmConfig, numbers: [u8; 4]) -> AqmConfig {
    match typical {
        AqmConfig::Red(_) => AqmConfig::Red(red(numbers)),
        AqmConfig::RedLinux(_) => AqmConfig::RedLinux(red_linux(numbers)),
        AqmConfig::Codel(_) => AqmConfig::Codel(codel(numbers)),
        AqmConfig::Cobalt(_) => AqmConfig::Cobalt(cobalt(numbers)),
        AqmConfig::Pi(_) => AqmConfig::Pi(pi(numbers)),
        AqmConfig::Pie(_) => AqmConfig::Pie(pie(numbers)),
        AqmConfig::Step(_) => AqmConfig::Step(StepConfig { threshold_packets: f64::from(numbers[0]) / 4.0 }),
        AqmConfig::DualPi2(_) => AqmConfig::DualPi2(dual_pi2(numbers)),
        none @ AqmConfig::None {} => none,
    }
}

fn dual_pi2([target, update, factors, options]: [u8; 4]) -> DualPi2Config {
    DualPi2Config {
        target_s: scaled(target, 1e-6, 0.1),
        update_s: scaled(update, 1e-4, 1.0),
        alpha: f64::from(factors & 15) / 4.0,
        beta: f64::from(factors >> 4),
        coupling: f64::from(options & 15) / 4.0,
        step_s: f64::from(options >> 4) / 1000.0,
        ramp_s: f64::from(options & 15) / 1000.0,
        rules: if factors & 1 == 1 { DualPi2Rules::Rfc } else { DualPi2Rules::Linux },
        mtu_bytes: 1 + u16::from(options) * 8,
    }
}

fn red_linux([threshold, weight, probability, options]: [u8; 4]) -> RedLinuxConfig {
    let min_threshold_bytes = u32::from(threshold) * 100;
    RedLinuxConfig {
        min_threshold_bytes,
        max_threshold_bytes: min_threshold_bytes * 3 + 1,
        max_probability: f64::from(probability) / 255.0,
        weight_log: 1 + weight % 31,
        adaptive: options & 1 == 1,
        ecn: [RedEcn::Off, RedEcn::Early, RedEcn::All][usize::from(options >> 4) % 3],
        mean_packet_bytes: 1 + u16::from(options) * 8,
    }
}

fn codel([target, interval, threshold, options]: [u8; 4]) -> CodelConfig {
    CodelConfig {
        target_s: scaled(target, 1e-6, 0.1),
        interval_s: scaled(interval, 1e-6, 1.0),
        ecn: options & 1 == 1,
        ce_threshold_s: (options & 2 == 2).then(|| f64::from(threshold) / 1e4),
        mtu_bytes: 1 + u16::from(options) * 8,
        rules: if options & 4 == 4 { CodelRules::Rfc } else { CodelRules::Linux },
    }
}

fn cobalt([target, interval, packet, _]: [u8; 4]) -> CobaltConfig {
    CobaltConfig {
        target_s: scaled(target, 1e-6, 0.1),
        interval_s: scaled(interval, 1e-6, 1.0),
        mtu_s: f64::from(packet) / 1e4,
    }
}

fn pi([target, update, factors, options]: [u8; 4]) -> PiConfig {
    PiConfig {
        target_packets: f64::from(target) / 4.0,
        factor_new: f64::from(factors & 15) / 150.0,
        factor_old: f64::from(factors >> 4) / 150.0,
        update_s: scaled(update, 1e-4, 1.0),
        in_bytes: options & 1 == 1,
        by_size: options & 2 == 2,
        mean_packet_bytes: 1 + u16::from(options) * 8,
        ecn: options & 4 == 4,
    }
}

fn pie([target, update, factors, options]: [u8; 4]) -> PieConfig {
    PieConfig {
        target_s: scaled(target, 1e-6, 0.1),
        update_s: scaled(update, 1e-4, 1.0),
        first_update_s: f64::from(options) / 100.0,
        alpha: f64::from(factors & 15) / 4.0,
        beta: f64::from(factors >> 4),
        burst_s: f64::from(options >> 1 & 15) / 100.0,
        ecn: options & 1 == 1,
        mtu_bytes: 1 + u16::from(options) * 8,
    }
}

fn red([threshold, weight, probability, options]: [u8; 4]) -> RedConfig {
    let min_threshold_packets = f64::from(threshold) / 4.0;
    RedConfig {
        min_threshold_packets,
        max_threshold_packets: min_threshold_packets * 3.0 + 0.5,
        weight: scaled(weight, 1e-6, 1.0),
        max_probability: f64::from(probability) / 255.0,
        gentle: options & 1 == 1,
        mean_packet_bytes: 1 + u16::from(options) * 8,
        ecn: [RedEcn::Off, RedEcn::Early, RedEcn::All][usize::from(options >> 4) % 3],
        wait: options & 2 == 2,
        least_queue_packets: f64::from(options >> 6),
        first_passes: options & 4 == 4,
        overflow_restarts: options & 8 == 8,
        in_bytes: options & 32 == 32,
        by_size: options & 64 == 64,
        adaptation: (options & 128 == 128).then(|| RedAdaptation {
            interval_s: f64::from(probability) / 100.0,
            step_up: f64::from(weight) / 255.0,
            factor_down: f64::from(threshold) / 255.0,
            top: f64::from(weight) / 255.0,
            bottom: (options & 16 == 16).then(|| f64::from(threshold) / 1000.0),
        }),
    }
}
