//! All combinations of the axes of senders with selective acknowledgment, for property tests.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tcp::{
    Close, ControlConfig, Ecn, LossDetection, Pacing, PushConfig, SelectiveConfig, SendBuffer, TimeoutConfig,
    TimeoutRules, UndoResponse, WindowValidation, WritesConfig,
};

/// Returns a strategy for all senders with selective acknowledgment.
pub fn selective() -> impl Strategy<Value = SelectiveConfig> {
    let ways =
        (prop::sample::select(LossDetection::ALL), prop::sample::select(Ecn::ALL), prop::sample::select(Pacing::ALL));
    let choices = (control(), ways, any::<[bool; 4]>());
    let windows = (1_u32..40, prop::option::of(2.0..60.0_f64), prop::option::of(1_u32..80), 1_u32..5);
    (choices, windows, timeout(), (application(), ending())).prop_map(
        |(
            (congestion_control, (loss_detection, ecn, pacing), [sack, tail_loss_probe, frto, timestamps]),
            windows,
            rto,
            (own, (push, close, undo, cwnd_validation)),
        )| {
            SelectiveConfig {
                congestion_control,
                sack,
                loss_detection,
                tail_loss_probe,
                frto,
                timestamps,
                ecn,
                pacing,
                segment_bytes: 1448,
                last_packet_bytes: None,
                initial_window: f64::from(windows.0),
                initial_ssthresh: windows.1,
                max_window: windows.2.map(f64::from),
                dupack_threshold: windows.3,
                send_buffer: own.0,
                writes: own.1,
                push,
                close,
                undo,
                cwnd_validation,
                idle_restart: own.2,
                rto,
            }
        },
    )
}

fn control() -> impl Strategy<Value = ControlConfig> {
    let names: Vec<&str> = tcp::cc::ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
    let rules = (prop::sample::select(tcp::cc::Dialect::ALL), prop::sample::select(tcp::cc::SlowStart::ALL));
    (prop::sample::select(names), rules).prop_map(|(name, (dialect, slow_start))| ControlConfig {
        name: name.to_owned(),
        dialect,
        slow_start,
        parameters: BTreeMap::new(),
        ..SelectiveConfig::default().congestion_control
    })
}

fn timeout() -> impl Strategy<Value = TimeoutConfig> {
    let exact = prop_oneof![Just(0.0), 1e-6..0.02_f64];
    (0.0..1.0_f64, 1.0..60.0_f64, 0.05..3.0_f64, exact, (0.0..1.0_f64, prop::sample::select(TimeoutRules::ALL)))
        .prop_map(|(min_s, max_s, initial_s, granularity_s, (clock_offset_s, rules))| TimeoutConfig {
            rules,
            min_s,
            max_s,
            initial_s,
            granularity_s,
            clock_offset_s,
        })
}

/// Returns a strategy for send buffers, bursts of the application and whether a pause of it lowers cwnd.
fn application() -> impl Strategy<Value = (Option<SendBuffer>, Option<WritesConfig>, bool)> {
    let buffer = (1_u64..60_000, 0_u64..300_000)
        .prop_map(|(buffer_bytes, more)| SendBuffer { buffer_bytes, most_buffer_bytes: buffer_bytes + more });
    let writes = (1_u64..50, 1e-4..3.0_f64).prop_map(|(packets, interval_s)| WritesConfig { packets, interval_s });
    (prop::option::of(buffer), prop::option::weighted(0.3, writes), any::<bool>())
}

/// Returns a strategy for the flags that end writes and connections,
/// and for the rules of undo and of unused windows.
fn ending() -> impl Strategy<Value = (Option<PushConfig>, Close, UndoResponse, WindowValidation)> {
    let push = prop::option::of(1_u64..100_000).prop_map(|write_bytes| PushConfig { write_bytes });
    let rules = (prop::sample::select(UndoResponse::ALL), prop::sample::select(WindowValidation::ALL));
    (prop::option::of(push), prop::sample::select(Close::ALL), rules.0, rules.1)
}
