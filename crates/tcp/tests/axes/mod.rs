//! All combinations of the axes, for property tests.

use proptest::prelude::*;
use tcp::{
    ClassicConfig, Dialect, Ecn, Estimator, HalfWindow, Increase, PartialAckTimer, ReceiverConfig, Recovery, RtoConfig,
    RttSample, SlowStartWhile,
};

/// Returns a strategy for all senders.
pub fn sender() -> impl Strategy<Value = ClassicConfig> {
    let windows = (1.0..20.0_f64, prop::option::of(1.0..40.0_f64), prop::option::of(1.0..40.0_f64));
    (axes(), windows, prop::option::weighted(0.9, 1_u32..6), any::<([bool; 3], Option<u8>)>(), rto()).prop_map(
        |(
            (dialect, recovery, slow_start_while, increase, half_window, partial_ack_timer),
            (initial_window, initial_ssthresh, max_window),
            dupack_threshold,
            ([whole, limited_transmit, ecn], burst),
            rto,
        )| ClassicConfig {
            dialect,
            recovery,
            // People give whole windows; the others must work too.
            initial_window: if whole { initial_window.floor() } else { initial_window },
            initial_ssthresh,
            max_window,
            slow_start_while,
            increase,
            half_window,
            dupack_threshold,
            limited_transmit,
            max_burst: burst.map(|burst| 1 + u32::from(burst % 6)),
            partial_ack_timer,
            rto,
            ecn: if ecn && dialect == Dialect::Ns2 { Ecn::Classic } else { Ecn::Off },
        },
    )
}

/// The recoveries that know cumulative ACKs alone.
const RECOVERIES: [Recovery; 4] = [Recovery::OldTahoe, Recovery::Tahoe, Recovery::Reno, Recovery::Newreno];

fn axes() -> impl Strategy<Value = (Dialect, Recovery, SlowStartWhile, Increase, HalfWindow, PartialAckTimer)> {
    (
        prop::sample::select(Dialect::ALL),
        prop::sample::select(&RECOVERIES[..]),
        prop::sample::select(SlowStartWhile::ALL),
        prop::sample::select(Increase::ALL),
        prop::sample::select(HalfWindow::ALL),
        prop::sample::select(PartialAckTimer::ALL),
    )
}

fn rto() -> impl Strategy<Value = RtoConfig> {
    let axes = (prop::sample::select(Estimator::ALL), prop::sample::select(RttSample::ALL));
    // Fine clocks too.
    let granularity_s = prop_oneof![3 => 0.001..0.5_f64, 1 => 1e-6..1e-4_f64];
    (axes, 1_u32..8, granularity_s, 0.0..1.0_f64, 1.0..60.0_f64, 0.05..3.0_f64, 1_u32..100).prop_map(
        |((estimator, sample), k, granularity_s, min_s, max_s, initial_s, max_backoff)| RtoConfig {
            estimator,
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

/// Returns a strategy for all receivers.
pub fn receiver() -> impl Strategy<Value = ReceiverConfig> {
    (1_u32..5, 0.0..0.5_f64).prop_map(|(ack_every, ack_delay_s)| ReceiverConfig {
        ack_every,
        ack_delay_s,
        ..ReceiverConfig::default()
    })
}
