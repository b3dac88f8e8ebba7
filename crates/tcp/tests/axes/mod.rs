//! All combinations of the axes, for property tests.

use proptest::prelude::*;
use tcp::{
    Dialect, Estimator, Increase, PartialAckTimer, ReceiverConfig, Recovery, RtoConfig, RttSample, SenderConfig,
    SlowStartWhile,
};

/// Any sender.
pub fn sender() -> impl Strategy<Value = SenderConfig> {
    let windows = (1.0..20.0_f64, prop::option::of(1.0..40.0_f64), prop::option::of(1.0..40.0_f64));
    (axes(), windows, prop::option::weighted(0.9, 1_u32..6), any::<[bool; 3]>(), rto()).prop_map(
        |(
            (dialect, recovery, increase),
            (initial_window, ssthresh, window),
            threshold,
            [below, limited, patient],
            rto,
        )| {
            SenderConfig {
                dialect,
                recovery,
                // Whole windows are what people give; others must not hurt.
                initial_window: if below { initial_window.floor() } else { initial_window },
                initial_ssthresh: ssthresh,
                max_window: window,
                slow_start_while: if below { SlowStartWhile::Below } else { SlowStartWhile::AtOrBelow },
                increase,
                dupack_threshold: threshold,
                limited_transmit: limited,
                partial_ack_timer: if patient { PartialAckTimer::SlowButSteady } else { PartialAckTimer::Impatient },
                rto,
            }
        },
    )
}

fn axes() -> impl Strategy<Value = (Dialect, Recovery, Increase)> {
    (
        prop::sample::select(vec![Dialect::Ns2, Dialect::Rfc, Dialect::Engset]),
        prop::sample::select(vec![Recovery::OldTahoe, Recovery::Tahoe, Recovery::Reno, Recovery::Newreno]),
        prop::sample::select(vec![Increase::Reciprocal, Increase::ReciprocalFloor, Increase::Counted]),
    )
}

fn rto() -> impl Strategy<Value = RtoConfig> {
    let sample = prop::sample::select(vec![RttSample::PerRound, RttSample::PerAck, RttSample::PerAckKarn]);
    // Fine clocks too.
    let granularity_s = prop_oneof![3 => 0.001..0.5_f64, 1 => 1e-6..1e-4_f64];
    (any::<bool>(), sample, 1_u32..8, granularity_s, 0.0..1.0_f64, 1.0..60.0_f64, 0.05..3.0_f64, 1_u32..100).prop_map(
        |(ticks, sample, k, granularity_s, min_s, max_s, initial_s, max_backoff)| RtoConfig {
            estimator: if ticks { Estimator::Ticks } else { Estimator::Rfc6298 },
            sample,
            k,
            granularity_s,
            min_s,
            max_s,
            initial_s,
            max_backoff,
            clock_offset_s: granularity_s / 3.0,
        },
    )
}

/// Any receiver.
pub fn receiver() -> impl Strategy<Value = ReceiverConfig> {
    (1_u32..5, 0.0..0.5_f64).prop_map(|(ack_every, ack_delay_s)| ReceiverConfig { ack_every, ack_delay_s })
}
