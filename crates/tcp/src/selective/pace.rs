//! Pacing: packets leave one by one at a rate, by a timer of the sender's own (Linux `tcp_pacing_check`,
//! `tcp_update_skb_after_send`).

use base::cast::{low_u64, trunc_to_u64};
use base::{Clock, Time};

use super::{Selective, State};
use crate::actions::Actions;
use crate::cc::Window;
use crate::{Pacing, MOST_IN_FLIGHT};

/// Packets at the start of a connection that are not paced.
const UNPACED: u32 = 10;
/// Window of a connection before the initial one is known (`TCP_INIT_CWND`) \[packets\].
const FIRST_WINDOW: f64 = 10.0;
/// Percentages of cwnd in a round trip at which Linux paces, in slow start far below ssthresh and else
/// (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const RATIOS: [u64; 2] = [200, 120];
const NANOSECONDS: u64 = 1_000_000_000;

/// The departures of packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// Earliest departure of the next packet (`tcp_wstamp_ns`).
    release: Time,
    /// Rate \[byte/s\]; `None`: unlimited so far.
    rate: Option<u64>,
    /// Time from one departure to the next at this rate.
    interval: Time,
    /// Packets sent, counted to [`UNPACED`].
    sent: u32,
    on: bool,
    /// Whether a packet waits for its departure.
    waits: bool,
}

impl Pacer {
    /// Creates the pacer of a connection, which paces if `on`.
    pub(super) fn new(on: bool) -> Pacer {
        Pacer { release: Time::ZERO, rate: None, interval: Time::ZERO, sent: 0, on, waits: false }
    }

    /// Returns whether packets are paced.
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Returns the earliest departure of the next packet.
    pub(super) fn release(&self) -> Time {
        self.release
    }

    /// Returns when the departure is that a packet waits for; [`Time::NEVER`] if none does.
    pub(super) fn deadline(&self) -> Time {
        if self.waits {
            self.release
        } else {
            Time::NEVER
        }
    }

    /// Returns the rate \[byte/s\]; `None`: unlimited.
    pub(super) fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// Returns whether a packet that could leave now has to wait.
    pub(super) fn blocks(&mut self, now: Time) -> bool {
        self.waits = self.release > now;
        self.waits
    }

    /// Waits for nothing any more, as all packets are acknowledged.
    pub(super) fn stop(&mut self) {
        self.waits = false;
    }

    /// Sets the rate, for packets of `bytes`. It changes more seldom than packets leave.
    #[inline(always)]
    fn set_rate(&mut self, rate: Option<u64>, bytes: u32, clock: Clock) {
        if rate != self.rate {
            self.rate = rate;
            self.interval = rate.filter(|&rate| rate > 0).map_or(Time::ZERO, |rate| interval(rate, bytes, clock));
        }
    }

    /// Returns the time of a packet that leaves now, as it is kept. A timeout and a probe send a packet for which the pacer would
    /// have waited; it has the time for which it would have (`tcp_skb_timestamp_us` of `tcp_wstamp_ns`).
    pub(super) fn departure(&self, now: Time) -> Time {
        self.release.max(now)
    }

    /// Takes note that a packet leaves now. One that left late shortens the next interval by that, to half of it at
    /// least.
    #[inline(always)]
    fn depart(&mut self, now: Time) {
        let start = self.departure(now);
        let late = start - self.release;
        self.release = start;
        self.sent = (self.sent + 1).min(UNPACED);
        if self.sent == UNPACED {
            self.release = start + (self.interval - late.min(Time::from_ticks(self.interval.ticks() / 2)));
        }
    }
}

/// Returns the time in which packets of `bytes` leave at a rate \[byte/s\], in whole nanoseconds.
fn interval(rate: u64, bytes: u32, clock: Clock) -> Time {
    ticks(u64::from(bytes) * NANOSECONDS / rate, clock)
}

fn ticks(nanoseconds: u64, clock: Clock) -> Time {
    let per_second = clock.ticks_per_second();
    Time::from_ticks(match per_second % NANOSECONDS {
        0 => nanoseconds.saturating_mul(per_second / NANOSECONDS),
        _ => low_u64(u128::from(nanoseconds) * u128::from(per_second) / u128::from(NANOSECONDS)),
    })
}

impl Selective {
    /// Returns the rate at which packets are paced \[byte/s\]; `None` if they are not.
    pub fn pacing_rate(&self) -> Option<u64> {
        self.pacer.rate()
    }

    /// Takes note of a transmission.
    pub(super) fn depart(&mut self, now: Time) {
        if self.pacer.on {
            self.pacer.depart(now);
        }
    }

    /// Sets the pacing rate of a new connection. One by the window is that of the answer to the SYN, which comes before the
    /// initial window is known (`tcp_rcv_synsent_state_process`, `tcp_init_transfer`).
    pub(super) fn start_pacing(&mut self) {
        let first = Window { cwnd: FIRST_WINDOW, ssthresh: f64::INFINITY };
        let window = std::mem::replace(&mut self.window, first);
        self.update_pacing();
        self.window = window;
    }

    /// Sets the pacing rate: the control's own, or a multiple of cwnd in a round trip (`tcp_update_pacing_rate`).
    #[inline(always)]
    pub(super) fn update_pacing(&mut self) {
        if self.pacer.on {
            self.set_pacing_rate();
        }
    }

    fn set_pacing_rate(&mut self) {
        let rate = match (self.control.pacing_rate(), self.rules.config.pacing) {
            (Some(rate), _) => Some(rate),
            (None, Pacing::Linux) => self.window_rate().or(self.pacer.rate),
            (None, Pacing::None) => None,
        };
        self.pacer.set_rate(rate, self.rules.config.segment_bytes, self.rules.clock);
    }

    /// Returns the pacing rate of Linux for a control that has none \[byte/s\]; `None` before the first round trip.
    fn window_rate(&self) -> Option<u64> {
        let eighths = self.rules.kernel_clock.microseconds(self.rtt.smoothed().times(8));
        let grows = self.window.cwnd < (self.window.ssthresh / 2.0).floor();
        let packets = trunc_to_u64(self.window.cwnd).max(u64::from(self.board.outstanding()));
        let bytes = u64::from(self.rules.config.segment_bytes) * packets;
        let percent = 80_000 * RATIOS[usize::from(!grows)];
        (eighths > 0).then(|| low_u64(u128::from(bytes) * u128::from(percent) / u128::from(eighths)))
    }

    /// Returns how long the pacer holds the next packet, in whole jiffies, by which timers start later (Linux
    /// `tcp_pacing_delay`).
    pub(super) fn pacing_delay(&self, now: Time) -> Time {
        match self.pacer.release - now {
            Time::ZERO => Time::ZERO,
            wait => self.rules.wheel.whole_down(wait),
        }
    }

    /// Sends what waited for its departure, retransmissions first (Linux `tcp_tsq_write`).
    #[inline(never)]
    pub(super) fn release(&mut self, now: Time, actions: &mut impl Actions) {
        self.pacer.stop();
        if self.board.lost() > self.board.retransmitted() {
            self.retransmit_lost(now, actions);
        }
        self.send_new(now, actions);
    }

    /// Goes ahead of the clock to the departures of packets that wait, as far as nothing else can happen to the sender
    /// before.
    #[inline(always)]
    pub(super) fn go_ahead(&mut self, actions: &mut impl Actions) {
        if self.pacer.waits && self.is_undisturbed() {
            self.depart_ahead(self.timer.earliest(), self.room_for_new(), actions);
        }
    }

    /// Returns whether departures alone happen to the sender until the next ACK or timer: no packet is missing, and the
    /// application does not write.
    pub(super) fn is_undisturbed(&self) -> bool {
        let intact = self.state == State::Open && self.board.is_intact() && self.board.outstanding() > 0;
        intact && self.probes_tails() && !self.is_writing() && self.pacer.interval > Time::ZERO
    }

    /// Lets the packets leave that wait, `room` ones at most, each at its departure, as [`Selective::on_timer`] does one by
    /// one; returns whether any left. `expiry`: an instant before which the timer does not fire.
    ///
    /// Each departure sets the timer again, for an instant that depends on the last one alone; `expiry` is one before which
    /// no timer fires that the departures so far have set. The buffer has no more room than when the pacer began to hold
    /// packets back: cwnd is the same, and was not all in flight then, unless a FIN alone is left.
    #[inline(never)]
    pub(super) fn depart_ahead(&mut self, mut expiry: Time, room: u64, actions: &mut impl Actions) -> bool {
        if room == 0 || !actions.leave_clock(self.pacer.release) {
            return false;
        }
        let room = room.min(MOST_IN_FLIGHT + 1);
        let (wait, latest, mut left) = (self.least_probe_wait(), self.expiry(), room);
        while left > 0 && self.pacer.release < expiry && actions.is_quiet(self.pacer.release) {
            let now = self.pacer.release;
            expiry = latest.min(now + wait);
            actions.go_ahead(now);
            // The last departure schedules a probe, whatever the timer waits for.
            self.add_new::<false>(now, self.board.nxt(), actions);
            left -= 1;
        }
        if left < room {
            self.pacer.waits = left > 0;
            self.record_usage(self.board.in_flight() >= self.cwnd_packets());
            self.schedule_probe(self.last_sent, latest);
        }
        left < room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::{Ack, LossEvent, Segment};
    use crate::SelectiveConfig;

    const CLOCK: Clock = Clock::PICOSECONDS;

    struct Unobserved;

    impl Actions for Unobserved {
        fn transmit(&mut self, _: Segment) {}

        fn loss(&mut self, _: LossEvent) {}
    }

    fn us(microseconds: u64) -> Time {
        Time::from_ticks(microseconds * 1_000_000)
    }

    /// A network in which nothing else happens to the sender before an instant.
    struct Quiet {
        now: Time,
        until: Time,
        /// Departures, and the packets.
        sent: Vec<(Time, u64)>,
        ahead: usize,
    }

    impl Actions for Quiet {
        fn transmit(&mut self, segment: Segment) {
            self.sent.push((self.now, segment.sequence));
        }

        fn loss(&mut self, _: LossEvent) {}

        fn leave_clock(&mut self, to: Time) -> bool {
            to < self.until
        }

        fn is_quiet(&self, to: Time) -> bool {
            to < self.until
        }

        fn go_ahead(&mut self, to: Time) {
            self.now = to;
            self.ahead += 1;
        }
    }

    /// Lets a sender receive an ACK of ten packets after 100 ms and go ahead of the clock up to `until`; then passes all
    /// its events before 150 ms. Returns what it has become, its departures, and how many were ahead.
    fn after_an_ack(control: &str, until: Time) -> (String, Vec<(Time, u64)>, usize) {
        let mut config = SelectiveConfig { pacing: Pacing::Linux, initial_window: 20.0, ..SelectiveConfig::default() };
        control.clone_into(&mut config.congestion_control.name);
        let mut sender = Selective::new(&config, None, CLOCK);
        let mut network = Quiet { now: us(0), until: us(0), sent: Vec::new(), ahead: 0 };
        sender.on_handshake(us(0), us(100_000), 0, true);
        sender.on_start(us(0), &mut network);
        let run = |sender: &mut Selective, network: &mut Quiet, end: Time| {
            while sender.deadline() < end {
                network.now = sender.deadline();
                sender.on_timer(network.now, network);
            }
        };
        run(&mut sender, &mut network, us(100_000));
        (network.now, network.until) = (us(100_000), until);
        let ack = Ack {
            next: 10,
            echo: us(0),
            selected: &[],
            window: u64::MAX,
            marks: base::Marks::NONE,
            waited: Time::ZERO,
        };
        sender.on_ack(network.now, ack, &mut network);
        network.until = us(0);
        run(&mut sender, &mut network, us(150_000));
        (format!("{sender:?}"), network.sent, network.ahead)
    }

    #[test]
    fn who_goes_ahead_of_the_clock_does_what_it_would_do_by_it() {
        for control in ["bbr", "cubic"] {
            let (state, sent, none) = after_an_ack(control, us(0));
            assert!(none == 0 && sent.len() > 25, "{control}: {}", sent.len());
            for until in [100_001, 105_000, 110_000, 200_000].map(us) {
                let (state_ahead, sent_ahead, ahead) = after_an_ack(control, until);
                assert_eq!(sent_ahead, sent, "{control}");
                assert_eq!(state_ahead, state, "{control}");
                let due = sent.iter().filter(|(at, _)| us(100_000) < *at && *at < until).count();
                assert_eq!(ahead, due, "{control}, ahead up to {until:?}");
            }
        }
    }

    /// Sends at each instant, and returns the earliest departures of the packets after them [us].
    fn departures(sent: u32, instants: &[u64]) -> Vec<u64> {
        let mut pacer = Pacer { sent, ..Pacer::new(true) };
        pacer.set_rate(Some(1_000_000), 1000, CLOCK);
        let after = |&now: &u64| {
            pacer.depart(us(now));
            pacer.release.ticks() / 1_000_000
        };
        instants.iter().map(after).collect()
    }

    #[test]
    fn packets_leave_at_the_rate_from_the_tenth_on() {
        assert_eq!(departures(0, &[5; 11]), [vec![5; 9], vec![1005, 2005]].concat());
    }

    #[test]
    fn a_late_packet_shortens_the_next_interval_by_half_at_most() {
        // On time twice, 300 us late, and 2200 us late.
        assert_eq!(departures(10, &[0, 1000, 2300, 5200]), [1000, 2000, 3000, 5700]);
    }

    #[test]
    fn who_may_leave_does_not_wait() {
        let mut pacer = Pacer { release: us(10), ..Pacer::new(true) };
        assert!(pacer.blocks(us(9)) && pacer.deadline() == us(10));
        assert!(!pacer.blocks(us(10)) && pacer.deadline() == Time::NEVER);
    }

    /// Linux `tcp_retransmit_timer`: a timer does not wait for the pacer, but its packet has the pacer's time.
    #[test]
    fn what_a_timer_sends_ahead_of_the_pacer_has_the_time_of_its_departure() {
        let config = SelectiveConfig { pacing: Pacing::Linux, ..SelectiveConfig::default() };
        let mut sender = Selective::new(&config, None, CLOCK);
        sender.on_handshake(us(0), us(100_000), 0, true);
        sender.on_start(us(0), &mut Unobserved);
        let last = sender.nxt() - 1;
        for (release, expected) in [(200_700, 200_700), (200_000, 200_100)] {
            sender.pacer.release = us(release);
            sender.retransmit(us(200_100), 0, &mut Unobserved);
            sender.pacer.release = us(release);
            sender.repeat_last(us(200_100), &mut Unobserved);
            let sent = [0, last].map(|sequence| sender.board.get(sequence).map(|segment| segment.sent));
            assert_eq!(sent, [Some(us(expected)); 2]);
        }
    }

    #[test]
    fn nanoseconds_are_whole_in_each_clock() {
        assert_eq!(ticks(1_401_425, CLOCK).ticks(), 1_401_425_000);
        assert_eq!(ticks(1_500_000_000, Clock::new(3)).ticks(), 4);
    }

    /// Linux `tcp_pace_kick`: a soft timer, which runs before what has arrived is received.
    #[test]
    fn a_packet_that_is_due_leaves_before_an_ack_of_that_instant_is_read() {
        let config = SelectiveConfig { pacing: Pacing::Linux, initial_window: 20.0, ..SelectiveConfig::default() };
        let mut first = Selective::new(&config, None, CLOCK);
        first.on_handshake(us(0), us(100_000), 0, true);
        first.on_start(us(0), &mut Unobserved);
        let due = first.deadline();
        assert!((1..us(100_000).ticks()).contains(&due.ticks()), "{due:?}");
        let mut second = first.clone();
        let ack =
            Ack { next: 1, echo: us(0), selected: &[], window: u64::MAX, marks: base::Marks::NONE, waited: Time::ZERO };
        first.on_timer(due, &mut Unobserved);
        first.on_ack(due, ack, &mut Unobserved);
        second.on_ack(due, ack, &mut Unobserved);
        assert_eq!((first.nxt(), first.deadline()), (second.nxt(), second.deadline()));
    }
}
