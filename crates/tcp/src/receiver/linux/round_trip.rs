//! The round trip as the receiver knows it, from timestamps or from the windows of data that arrive.

use base::Time;

use super::LinuxAcks;

impl LinuxAcks {
    /// Takes a sample from the timestamp that a segment echoes, `echo_age` older than it (`tcp_rcv_rtt_measure_ts`); without
    /// timestamps the handshake's alone.
    #[inline(always)]
    pub(super) fn sample_rtt(&mut self, now: Time, stamp: Time, echo_age: u32) {
        // The ACK's timestamp is that of its sending. Both times are taken later here by the return path, rounded up to whole
        // milliseconds, so that the sample is the same.
        let echoed = stamp - self.common.echo_age.span(echo_age) + self.common.return_rest;
        if echoed >= self.sampled && echoed - self.sampled < self.common.millisecond() {
            return;
        }
        let echoed_ms = self.common.milliseconds(echoed);
        self.sampled = self.common.millisecond().times(echoed_ms);
        let now_ms = self.common.milliseconds(now + self.common.return_delay + self.common.return_rest);
        if self.first_rtt_us == 0 {
            // The last ACK of the handshake is sent just before this segment.
            let opened = (now - self.common.service).max(stamp);
            let empty_path = opened + self.common.return_delay - stamp;
            self.open(opened, if self.answered == Time::NEVER { empty_path } else { opened - self.answered });
        }
        if self.common.settings.timestamps {
            self.update_rtt(1000 * (now_ms - echoed_ms).max(1), false);
        }
    }

    /// Returns whether a timestamp is older than the last one that was echoed by more than a millisecond, which a late
    /// packet's is behind a retransmission that overtook it (PAWS, RFC 7323 section 5.2; `tcp_paws_discard`).
    #[cold]
    pub(super) fn is_too_old(&self, stamp: Time, echoed: Time) -> bool {
        let [stamp, echoed] = [stamp, echoed].map(|time| self.common.milliseconds(time));
        self.common.settings.timestamps && echoed > stamp + 1
    }

    /// Takes note that the SYN is answered; the answers after the first one are copies of it.
    pub(in crate::receiver) fn answer_syn(&mut self, now: Time) {
        self.answered = self.answered.min(now);
    }

    /// Takes note that this end answers data within the shortest delay of an ACK (`tcp_event_data_sent`).
    pub(in crate::receiver) fn answer_data(&mut self) {
        self.interactive = true;
    }

    /// Takes note that the last ACK of the handshake arrives.
    pub(in crate::receiver) fn take_last_of_handshake(&mut self, now: Time) {
        if self.first_rtt_us == 0 && self.answered != Time::NEVER {
            self.open(now, now - self.answered);
        }
    }

    /// Takes the first round trip, from the answer to the SYN to the ACK of that answer (`tcp_synack_rtt_meas`). The application
    /// reads from then on (`tcp_init_buffer_space`), and the time between segments counts from then on
    /// (`tcp_create_openreq_child`).
    fn open(&mut self, now: Time, round_trip: Time) {
        self.first_rtt_us = u32::try_from(self.common.microseconds(round_trip).max(1)).unwrap_or(u32::MAX);
        (self.read_from.1, self.arrived) = (now, now);
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

#[cfg(test)]
mod tests {
    use base::{Clock, Marks};

    use super::*;
    use crate::{Dialect, LinuxReceiver, Receiver, ReceiverConfig};

    #[test]
    fn a_sample_is_from_the_millisecond_in_which_the_ack_was_sent() {
        let clock = Clock::new(1_000_000_000);
        let microseconds = |us: u64| Time::from_ticks(1000 * us);
        let fresh = LinuxAcks::new(LinuxReceiver::default(), clock).with_path(microseconds(41_188), Time::ZERO);
        // The sender has the ACK at 100 ms or 0.2 ms later, so that it was sent at 58.812 ms or 59.012 ms.
        for (stamp, expected) in [(100_000, 83_000), (100_187, 83_000), (100_188, 82_000), (100_200, 82_000)] {
            let mut rules = fresh.clone();
            rules.sample_rtt(microseconds(141_100), microseconds(stamp), 0);
            assert_eq!(rules.rtt8_us, 8 * expected, "{stamp}");
        }
    }

    /// An answer that waits for 480 ms behind ACKs, and data that take 20 ms: ACKs are then delayed by what is between segments.
    #[test]
    fn the_first_round_trip_is_from_the_answer_to_the_syn_to_its_ack_or_to_the_first_segment() {
        let clock = Clock::new(1_000_000_000);
        let at = |ms: u64| Time::from_ticks(1_000_000 * ms);
        let mut rules = LinuxAcks::new(LinuxReceiver::default(), clock).with_path(at(5), at(2));
        rules.begin(0);
        for ms in [100, 1100] {
            rules.answer_syn(at(ms));
        }
        let mut without_ack = rules.clone();
        rules.take_last_of_handshake(at(600));
        rules.sample_rtt(at(603), at(580), 0);
        without_ack.sample_rtt(at(603), at(580), 0);
        assert_eq!([rules.first_rtt_us, without_ack.first_rtt_us], [500_000, 501_000]);
        for (arrival, delay) in [(603, 40), (675, 40), (700, 45), (740, 62)] {
            rules.adapt_delay(at(arrival));
            (rules.arrived, rules.delayed) = (at(arrival), false);
            assert_eq!(rules.delay_ms, delay, "{arrival}");
        }
        rules.delay(at(740));
        assert_eq!(rules.delayed_until, at(740 + 1 + 62));
    }

    /// The kernel's flow whose first packet is lost: those behind it end quick ACK mode, and it comes sooner after the handshake
    /// than a timeout, so that the mode does not begin again.
    #[test]
    fn a_first_packet_that_comes_behind_others_starts_no_quick_acks() {
        let clock = Clock::new(1_000_000_000);
        let at = |ms: u64| Time::from_ticks(1_000_000 * ms);
        for (arrival, quick) in [(360, 0), (1700, 16)] {
            let mut rules = LinuxAcks::new(LinuxReceiver::default(), clock).with_path(at(20), Time::ZERO);
            rules.begin(0);
            rules.answer_syn(at(260));
            rules.take_last_of_handshake(at(300));
            rules.quick = 1;
            rules.sent(0, 10_000, true);
            assert_eq!((rules.quick, rules.delay_ms), (0, 40));
            rules.adapt_delay(at(arrival));
            assert_eq!(rules.quick, quick, "{arrival}");
        }
    }

    /// Linux `tcp_compressed_ack_kick`: the clock is as the last packet left it, which matters from one millisecond to the next. A
    /// timer of a delayed ACK reads it.
    #[test]
    fn the_ack_of_a_timer_beyond_a_hole_has_the_millisecond_of_the_last_packet() {
        let clock = Clock::new(1_000_000);
        let at = Time::from_ticks;
        let config =
            ReceiverConfig { selective: true, linux: Some(LinuxReceiver::default()), ..ReceiverConfig::default() };
        for (arrival, delayed_until, fires, old) in [
            (100_200, Time::NEVER, 100_500, false),
            (100_900, Time::NEVER, 101_200, true),
            (100_900, at(101_000), 101_000, false),
        ] {
            let mut receiver = Receiver::new(&config, Dialect::Rfc, clock).with_path(at(2000), Time::ZERO);
            receiver.on_data(at(90_000), 0, at(88_000), Marks::NONE, 0);
            let rules = receiver.linux_rules().expect("Linux's rules");
            (rules.quick, rules.duplicates, rules.limit) = (0, 3, rules.clamp);
            (rules.first_rtt_us, rules.rtt8_us, rules.delayed_until) = (4000, 32_000, delayed_until);
            assert_eq!(receiver.on_data(at(arrival), 2, at(arrival - 2000), Marks::NONE, 0), None);
            assert_eq!(receiver.deadline(), at(fires));
            assert_eq!(receiver.on_timer().marks.has(Marks::OLD_STAMP), old, "{fires}");
        }
    }

    #[test]
    fn without_timestamps_a_window_of_data_is_the_only_sample_after_the_handshake() {
        let clock = Clock::new(1_000_000_000);
        let at = |ms: u64| Time::from_ticks(1_000_000 * ms);
        let settings = LinuxReceiver { timestamps: false, ..LinuxReceiver::default() };
        let mut rules = LinuxAcks::new(settings, clock).with_path(at(20), Time::ZERO);
        rules.begin(0);
        rules.sample_rtt(at(40), at(20), 0);
        assert_eq!((rules.first_rtt_us, rules.rtt8_us), (40_000, 0), "that of the handshake sets timers alone");
        rules.measure_window(at(40), 1);
        let window = rules.window_end - 1;
        rules.sample_rtt(at(80), at(60), 0);
        assert_eq!((rules.rtt8_us, rules.read_until), (0, Time::NEVER));
        rules.measure_window(at(200), 1 + window);
        assert_eq!(rules.rtt8_us, 8 * 160_000);
    }
}
