//! The round trip that a handshake gives the sender, and the consequences of lost SYNs.

use base::Time;

use super::Selective;
use crate::rto::AFTER_LOST_SYN_S;
use crate::TimeoutRules;

impl Selective {
    /// Takes the round trip of the handshake, before the transfer starts, if it is known which SYN was answered: if none was
    /// sent again, or by timestamps, which count whole jiffies (Linux `tcp_ack_update_rtt`). Else, and by the RFC in any case,
    /// the timeout after a repeated SYN is three seconds (RFC 6298 (5.7); Linux `tcp_init_metrics`).
    ///
    /// Begins with a window of one packet if SYNs were sent again more than once (RFC 6928 section 2; Linux `tcp_init_cwnd`),
    /// unless the answer's timestamp is that of the first, so that none was lost (`tcp_try_undo_spurious_syn`).
    pub fn on_handshake(&mut self, now: Time, rtt: Time, repeated: u32, of_first: bool) {
        let is_known = repeated == 0 || self.rules.config.timestamps;
        if is_known {
            let sample = if repeated > 0 { self.rules.wheel.elapsed(now - rtt, now) } else { rtt };
            self.take_sample(now, sample, sample);
            self.rack.begin(rtt);
        } else {
            self.control.on_unmeasured_handshake();
        }
        if repeated > 0 && (!is_known || self.rules.config.rto.rules == TimeoutRules::Rfc6298) {
            let timeout = self.rules.clock.time(AFTER_LOST_SYN_S).max(self.timer.rto()).min(self.rules.rto_max);
            self.timer.set_rto(timeout, &self.rules.wheel);
        }
        if repeated > 1 && !(of_first && self.rules.config.timestamps) {
            self.window.cwnd = 1.0;
        }
    }

    /// Takes the window of the answer to the SYN \[packets\], before the transfer starts.
    pub fn hear_first_window(&mut self, window: u64) {
        self.pushes.begin(window.saturating_mul(u64::from(self.rules.config.segment_bytes)));
        self.take_window(window, true);
    }
}

#[cfg(test)]
mod tests {
    use base::{Clock, Marks};

    use super::*;
    use crate::actions::{Actions, LossEvent, Segment};
    use crate::SelectiveConfig;

    struct Unobserved;

    impl Actions for Unobserved {
        fn transmit(&mut self, _: Segment) {}

        fn loss(&mut self, _: LossEvent) {}
    }

    /// The kernel's flow with a receive buffer of 40000 bytes, whose SYN is answered with a window of 13 segments: all of them
    /// leave at first, and the seventh has PSH, as it ends more than half of that window (`forced_push`).
    #[test]
    fn the_window_of_the_answer_to_the_syn_limits_the_first_flight_and_sets_psh() {
        #[derive(Default)]
        struct Pushed(Vec<bool>);

        impl Actions for Pushed {
            fn transmit(&mut self, segment: Segment) {
                self.0.push(segment.marks.has(Marks::PSH));
            }

            fn loss(&mut self, _: LossEvent) {}
        }

        let push = Some(crate::PushConfig { write_bytes: Some(1 << 20) });
        let send_buffer = Some(crate::SendBuffer { buffer_bytes: 1 << 20, most_buffer_bytes: 1 << 20 });
        let config = SelectiveConfig { initial_window: 32.0, push, send_buffer, ..SelectiveConfig::default() };
        for (window, flight, first) in [(Some(13), 13, 6), (None, 32, 22)] {
            let (mut sender, mut sent) = (Selective::new(&config, None, Clock::new(1_000_000)), Pushed::default());
            if let Some(window) = window {
                sender.hear_first_window(window);
            }
            sender.on_start(Time::from_ticks(1), &mut sent);
            assert_eq!((sent.0.len(), sent.0.iter().position(|&pushed| pushed)), (flight, Some(first)), "{window:?}");
        }
    }

    /// A flow of the kernel's whose second SYN was answered and whose data were all lost: a probe, then timeouts. The
    /// round trip of 124.449 ms is 124 by the timestamps; with the other each of the first two would be 8 ms later.
    #[test]
    fn the_round_trip_of_a_repeated_syn_is_in_whole_jiffies() {
        let (us, clock_s) = (Time::from_ticks, 224.389);
        let mut config = SelectiveConfig::default();
        config.rto.clock_offset_s = clock_s;
        let mut sender = Selective::new(&config, None, Clock::new(1_000_000));
        sender.on_handshake(us(1_975_449), us(124_449), 1, false);
        sender.on_start(us(1_975_449), &mut Unobserved);
        let fired = [(); 6].map(|()| {
            let due = sender.deadline();
            sender.on_timer(due, &mut Unobserved);
            due.ticks()
        });
        assert_eq!(fired, [2_227_000, 2_603_000, 3_387_000, 4_923_000, 7_931_000, 14_203_000]);
    }
}
