//! HighSpeed TCP (RFC 3649), with the table of its appendix B as Linux's `tcp_highspeed.c` uses it, or its formulas.

use std::sync::LazyLock;

use base::cast::{to_index, to_u32, trunc_to_u64};
use base::Time;

use super::common::Common;
use super::kernel::packets;
use super::{AckSample, CongestionControl, Dialect, Settings, Signal, StartProgress, Window};

/// RFC 3649 section 5: Low_Window, High_Window and High_Decrease.
const LOW: f64 = 38.0;
const HIGH: f64 = 83_000.0;
const HIGH_DECREASE: f64 = 0.1;
/// Largest window of the table of appendix B \[packets\].
const LAST: u32 = 89_053;

/// RFC 3649 section 5, b(w).
fn decrease(cwnd: f64) -> f64 {
    0.5 + (HIGH_DECREASE - 0.5) * (cwnd / LOW).ln() / (HIGH / LOW).ln()
}

/// RFC 3649 section 5, a(w), with the p(w) of appendix B, 1 / (12.8 w^1.2).
fn increase(cwnd: f64) -> f64 {
    let decrease = decrease(cwnd);
    cwnd * cwnd * 2.0 * decrease / ((2.0 - decrease) * cwnd.powf(1.2) * 12.8)
}

/// A row of appendix B: a window, and the fraction that a loss there takes in 2^-8.
type Row = (u32, u32);

/// The rows of appendix B: each begins where a(w) is more than one above that of the row before.
static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let row = |cwnd: u32| (cwnd, to_u32(to_index(trunc_to_u64(256.0 * decrease(f64::from(cwnd))))));
    let mut last = 1.0;
    let mut table = vec![row(38)];
    for cwnd in 39..=LAST {
        let increase = increase(f64::from(cwnd));
        if increase > last + 1.0 {
            table.push(row(cwnd));
            last = increase;
        }
    }
    table
});

#[derive(Clone, Debug)]
struct HighSpeed {
    common: Common,
    dialect: Dialect,
    /// Row of the table that limits the window from above.
    row: usize,
    /// Increases that are not yet a packet.
    count: u32,
}

/// Creates HighSpeed's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    Box::new(HighSpeed { common: Common::new(settings), dialect: settings.dialect, row: 0, count: 0 })
}

impl HighSpeed {
    /// Grows the window as Linux does (`hstcp_cong_avoid`): by the row's increase for each ACK, not for each packet.
    fn grow_by_table(&mut self, window: &mut Window) {
        let cwnd = packets(window.cwnd);
        self.row = TABLE.partition_point(|row| row.0 < cwnd).min(TABLE.len() - 1);
        self.count += to_u32(self.row) + 1;
        if self.count >= cwnd {
            self.count -= cwnd;
            window.cwnd += 1.0;
        }
    }
}

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        let avoids = !window.in_slow_start();
        let left = self.common.slow_start.on_ack(ack, window);
        if left == 0 {
            return;
        }
        match self.dialect {
            // Linux leaves the rest of the ACK that ends slow start uncounted.
            Dialect::Linux if avoids => self.grow_by_table(window),
            Dialect::Linux => {}
            Dialect::Rfc => {
                let increase = if window.cwnd > LOW { increase(window.cwnd).max(1.0) } else { 1.0 };
                window.cwnd += increase * (f64::from(left) / window.cwnd).min(1.0);
            }
        }
    }

    fn on_congestion(&mut self, _signal: Signal, _now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        self.count = 0;
        match self.dialect {
            Dialect::Linux => {
                let cwnd = u64::from(packets(window.cwnd));
                let taken = (cwnd * u64::from(TABLE[self.row].1)) >> 8;
                ((cwnd - taken) as f64).max(2.0)
            }
            Dialect::Rfc => {
                let taken = decrease(window.cwnd.max(LOW)).max(HIGH_DECREASE);
                (window.cwnd * (1.0 - taken)).max(2.0)
            }
        }
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
        self.count = 0;
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = HighSpeed { common: self.common.fresh(), row: 0, count: 0, ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;

    #[test]
    fn the_table_is_that_of_appendix_b() {
        assert_eq!(TABLE.len(), 72);
        // Rows of RFC 3649 appendix B: w, a(w), b(w).
        for (cwnd, increase, decrease) in
            [(38, 1, 0.50), (118, 2, 0.44), (221, 3, 0.41), (1058, 8, 0.33), (10_661, 30, 0.21), (84_035, 71, 0.10)]
        {
            let index = TABLE.iter().position(|row| row.0 == cwnd).unwrap();
            assert_eq!(index + 1, increase);
            assert!((f64::from(TABLE[index].1) / 256.0 - decrease).abs() < 0.009);
        }
    }

    #[test]
    fn a_row_holds_up_to_its_window() {
        for (cwnd, row, halved) in
            [(38.0, 0, 19.0), (39.0, 1, 22.0), (118.0, 1, 67.0), (119.0, 2, 71.0), (2e5, 71, 1.8125e5)]
        {
            let mut control = HighSpeed {
                common: Common::new(&Settings::linux(Clock::PICOSECONDS)),
                dialect: Dialect::Linux,
                row: 5,
                count: 0,
            };
            let mut window = Window { cwnd, ssthresh: 2.0 };
            control.grow_by_table(&mut window);
            assert_eq!((control.row, control.count), (row, to_u32(row) + 1));
            assert_eq!(control.on_congestion(Signal::Loss, Time::ZERO, &Window { cwnd, ssthresh: 2.0 }), halved);
        }
    }

    #[test]
    fn each_ack_adds_the_increase_of_the_row() {
        let mut control = new(&Settings::linux(Clock::PICOSECONDS));
        let mut window = Window { cwnd: 119.0, ssthresh: 2.0 };
        // Three for each ACK up to 221 packets: 120 in 40 ACKs, of which one is left over 119, then one over 120.
        let windows = [39, 1, 39, 1, 40].map(|acks| {
            (0..acks).for_each(|_| control.on_ack(&crate::cc::tests::ack(Time::ZERO, 2), &mut window));
            window.cwnd
        });
        assert_eq!(windows, [119.0, 120.0, 120.0, 121.0, 122.0]);
    }

    #[test]
    fn the_formulas_are_those_of_section_5() {
        let settings = Settings { dialect: Dialect::Rfc, ..Settings::linux(Clock::PICOSECONDS) };
        for (cwnd, growth, remains) in [(38.0, 1.0, 0.5), (10_661.0, 30.0, 0.79), (83_000.0, 71.0, 0.9)] {
            let mut control = new(&settings);
            let mut window = Window { cwnd, ssthresh: 2.0 };
            control.on_ack(&crate::cc::tests::ack(Time::ZERO, packets(cwnd)), &mut window);
            assert!((window.cwnd - cwnd - growth).abs() < 0.03 * growth, "{window:?}");
            let ssthresh = control.on_congestion(Signal::Loss, Time::ZERO, &Window { cwnd, ssthresh: 2.0 });
            assert!((ssthresh / cwnd - remains).abs() < 0.005, "{ssthresh}");
        }
    }
}
