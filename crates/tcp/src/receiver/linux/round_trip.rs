//! The round trip as the receiver knows it, from timestamps or from the windows of data that arrive.

use base::Time;

use super::LinuxAcks;

impl LinuxAcks {
    /// Takes a sample from the timestamp that a segment echoes, `echo_age` older than it (`tcp_rcv_rtt_measure_ts`).
    #[inline(always)]
    pub(super) fn sample_rtt(&mut self, now: Time, stamp: Time, echo_age: u32) {
        let echoed = stamp - self.common.echo_age.span(echo_age);
        if echoed >= self.sampled && echoed - self.sampled < self.common.millisecond() {
            return;
        }
        let echoed_ms = self.common.milliseconds(echoed);
        self.sampled = self.common.millisecond().times(echoed_ms);
        let now_ms = self.common.milliseconds(now + self.common.return_delay);
        if self.first_rtt_ms == 0 {
            self.first_rtt_ms = (now_ms - self.common.milliseconds(stamp)).max(1);
            // The application reads from the last ACK of the handshake on (`tcp_init_buffer_space`).
            self.read_from.1 = now - self.common.service;
        }
        self.update_rtt(1000 * (now_ms - echoed_ms).max(1), false);
    }

    /// Takes the time in which a window of data arrived that ends before packet `next`, which is a round trip at least
    /// (`tcp_rcv_rtt_measure`).
    #[inline(never)]
    pub(super) fn measure_window(&mut self, now: Time, next: u64) {
        if self.window_start != Time::NEVER {
            self.update_rtt(self.common.microseconds(now - self.window_start).max(1), true);
        }
        (self.window_end, self.window_start) = (next + self.common.segments_up(self.window), now);
    }

    /// Smooths the round trip; where the sample is an upper bound only, takes its least (`tcp_rcv_rtt_update`).
    fn update_rtt(&mut self, sample_us: u64, upper_bound: bool) {
        if self.rtt8_us == 0 || 8 * sample_us < self.rtt8_us {
            self.rtt8_us = 8 * sample_us;
        } else if !upper_bound {
            self.rtt8_us += sample_us - self.rtt8_us / 8;
        }
        self.read_until = self.read_from.1 + self.common.span(self.rtt8_us / 8);
    }
}
