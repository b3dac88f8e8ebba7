//! Rates that change.

use net::{RateLaw, RateState};

use super::{scaled, scaled_or_zero};

/// Returns the law of a link's rate; three links in six keep theirs.
pub(super) fn law([kind, low, high, stay, options]: [u8; 5]) -> Option<RateLaw> {
    let (low_bps, high_bps) = (scaled_or_zero(low, 1.0, 1e12), scaled(high, 1.0, 1e13));
    let stay_s = scaled(stay, 1e-3, 100.0);
    let state = |rate_bps| RateState {
        rate_bps,
        least_stay_s: if options & 2 == 2 { stay_s } else { 0.0 },
        mean_extra_s: stay_s,
    };
    match kind % 6 {
        0 => Some(RateLaw::Steps {
            steps_bps: vec![(0.0, low_bps), (stay_s, high_bps), (2.0 * stay_s, low_bps), (3.0 * stay_s, high_bps)],
            period_s: (options & 1 == 1).then_some(4.0 * stay_s),
        }),
        1 => Some(RateLaw::Alternating {
            states: vec![state(low_bps), state(high_bps)],
            start: usize::from(options & 4 == 4),
            transitions: (options & 8 == 8).then(|| vec![vec![0.5, 0.5], vec![1.0, 0.0]]),
        }),
        2 => {
            let gap = u64::from(stay) * u64::from(options);
            let times_ms = vec![u64::from(low), u64::from(low), u64::from(low) + gap, u64::from(low) + gap + 1];
            Some(RateLaw::Opportunities { times_ms, bytes: 64 + 16 * u32::from(high), header_bytes: options.into() })
        }
        _ => None,
    }
}
