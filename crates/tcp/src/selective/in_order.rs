//! An ACK that acknowledges packets in order and nothing else: most ACKs are such ones, and they need few of the questions
//! that `on_ack` asks.

use base::cast::low_u32;
use base::{Marks, Time};

use super::scoreboard::Segment;
use super::{Selective, State};
use crate::actions::{Ack, Actions};
use crate::cc::AckSample;
use crate::{Ecn, SelectiveConfig};

/// Returns whether senders with these settings may take ACKs by [`Selective::on_ack_in_order`]: selective acknowledgment, no
/// counted marks, and a control that cannot fail.
pub(super) fn applies(config: &SelectiveConfig) -> bool {
    config.sack && config.ecn != Ecn::Accurate && config.congestion_control.provided.is_none()
}

impl Selective {
    /// Returns whether an ACK acknowledges packets in order and nothing else, in the state Open, and all packets that are
    /// outstanding were sent once.
    #[inline(always)]
    pub(super) fn is_in_order(&self, ack: &Ack<'_>) -> bool {
        let open = self.state == State::Open && self.probe.is_none() && self.board.is_untouched();
        let plain = ack.selected.is_empty() && !ack.marks.has(Marks::ECE);
        open && plain && ack.next > self.board.una() && self.rules.takes_in_order
    }

    /// Handles an ACK of which [`Selective::is_in_order`] holds: what `on_any_ack` does with it, in a third of the
    /// instructions. `PACED`: the sender paces, or samples the delivery rate.
    #[inline(never)]
    pub(super) fn on_ack_in_order<const PACED: bool>(&mut self, now: Time, ack: &Ack<'_>, actions: &mut impl Actions) {
        if PACED && self.pacer.deadline() <= now {
            self.release(now, actions);
        }
        let (una, in_flight) = (self.board.una(), self.board.outstanding());
        self.take_window(ack.window, true);
        (self.timeouts, self.heard) = (0, now - ack.waited);
        let Some((first, last)) = self.board.pop_untouched(ack.next) else { return };
        self.undo.acked = low_u32(ack.next - una);
        self.rack.deliver(now, ack.next - 1, &last, self.min_rtt.get());
        let rtt = now - last.sent;
        self.take_sample(now, now - first.sent, rtt);
        self.rack.adapt(self.board.delivered_before(last.delivered), self.board.delivered);
        let mut sample = self.sample_in_order(now, ack, (una, in_flight), rtt);
        self.control.measure(&sample, &self.window);
        sample.may_grow = !std::mem::take(&mut self.undo.responded);
        if PACED {
            self.control_paced(&mut sample, una, &last);
            return self.send_paced(now, actions);
        }
        self.control.on_ack(&sample, &mut self.window);
        self.send_after_in_order(now, actions);
        self.run_application(now, actions);
    }

    /// Returns the ACK as the congestion control sees it before the window grows; SND.UNA was `una` before it, and `in_flight`
    /// packets were outstanding.
    #[inline(always)]
    fn sample_in_order(&self, now: Time, ack: &Ack<'_>, (una, in_flight): (u64, u32), rtt: Time) -> AckSample {
        AckSample {
            now,
            acked: low_u32(ack.next - una),
            marked: 0,
            lost: 0,
            lost_total: self.board.marked_lost,
            state: State::Open,
            may_grow: false,
            cwnd_limited: self.is_cwnd_limited(),
            cwnd_used: self.usage.is_limited(),
            rtt: Some(rtt),
            min_rtt: self.min_rtt.get(),
            srtt: self.rtt.smoothed(),
            una: ack.next,
            nxt: self.board.nxt(),
            in_flight: [in_flight, self.board.outstanding()],
            plain: true,
            window: ack.window,
            departure: self.pacer.release(),
            rate: None,
        }
    }

    /// Lets the control see the delivery rate of the packets from `una` on, of which `last` was the last one, and set the
    /// window and the pacing rate.
    #[inline(always)]
    fn control_paced(&mut self, sample: &mut AckSample, una: u64, last: &Segment) {
        let totals = self.board.totals();
        if let Some(rate) = &mut self.rate {
            let found = rate.deliver_in_order((una, sample.una), last, sample.now, totals, sample.min_rtt);
            sample.rate = self.rules.needs.rate.then_some(found);
        }
        self.control.on_ack(sample, &mut self.window);
        if let Some(rate) = self.rate.as_mut().filter(|_| self.control.holds_back()) {
            rate.limit(totals);
        }
        self.update_pacing();
    }

    /// Sends what the ACK and the pacer allow, now and ahead of the clock. The timer that the ACK sets is set only where no
    /// probe that is scheduled for what is sent replaces it.
    #[inline(always)]
    fn send_paced(&mut self, now: Time, actions: &mut impl Actions) {
        let (probes, room) = (self.rules.config.tail_loss_probe, self.room_for_new());
        if !probes {
            self.set_timer(now);
        }
        let waits = room > 0 && self.pacer.is_on() && self.pacer.blocks(now);
        let sent = !waits && self.send_new(now, actions);
        if !sent {
            self.check_room();
        }
        if waits && probes && !self.is_writing() && self.is_undisturbed() {
            let expiry = now + self.timer.rto().min(self.least_probe_wait());
            if !self.depart_ahead(expiry, room, actions) {
                self.set_timer(now);
            }
        } else {
            if probes && !sent {
                self.set_timer(now);
            }
            self.run_application(now, actions);
            if self.board.una() == self.end {
                self.pacer.stop();
            }
            self.go_ahead(actions);
        }
    }

    /// Sends what the ACK allows. A probe that is scheduled for what is sent replaces the timer that the ACK sets.
    #[inline(always)]
    fn send_after_in_order(&mut self, now: Time, actions: &mut impl Actions) {
        let probes = self.rules.config.tail_loss_probe;
        if !probes {
            self.set_timer(now);
        }
        if !self.send_burst(now, actions) {
            if probes {
                self.set_timer(now);
            }
            self.check_room();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use base::Clock;

    use super::*;
    use crate::actions::{LossEvent, Segment};
    use crate::cc::{Algorithm, ALGORITHMS};
    use crate::{Acknowledgment, Dialect, LinuxReceiver, Pacing, Receiver, ReceiverConfig, SendBuffer};

    const CLOCK: Clock = Clock::PICOSECONDS;

    /// A link with a buffer of packets that loses some at random, and the return path.
    #[derive(Default)]
    struct Path {
        now: Time,
        free: Time,
        random: u64,
        data: VecDeque<(Time, Segment, Time)>,
        acks: VecDeque<(Time, Acknowledgment)>,
    }

    /// Packets of a second, the one-way delay, and packets that the buffer holds.
    const RATE: u64 = 1000;
    const DELAY_S: f64 = 0.02;
    const BUFFER: u64 = 30;

    impl Actions for Path {
        fn transmit(&mut self, segment: Segment) {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let service = Time::from_ticks(CLOCK.ticks_per_second() / RATE);
            let is_full = self.free > self.now + service.times(BUFFER);
            if is_full || self.random >> 32 < u64::from(u32::MAX) / 200 {
                return;
            }
            self.free = self.free.max(self.now) + service;
            self.data.push_back((self.free + CLOCK.time(DELAY_S), segment, self.now));
        }

        fn loss(&mut self, _: LossEvent) {}
    }

    /// Passes an ACK to a sender; where it is one in order, a copy takes it as any other one.
    fn pass(sender: &mut Selective, path: &mut Path, ack: &Ack<'_>) -> bool {
        let in_order = sender.is_in_order(ack) && ack.next <= sender.board.nxt() && ack.echo >= sender.opened;
        let mut other =
            (sender.clone(), Path { now: path.now, random: path.random, free: path.free, ..Path::default() });
        let sent = path.data.len();
        sender.on_ack(path.now, *ack, path);
        if in_order {
            other.0.on_any_ack(path.now, ack, &mut other.1);
            assert_eq!(format!("{sender:?}"), format!("{:?}", other.0), "{ack:?}");
            assert_eq!(path.data.range(sent..).collect::<Vec<_>>(), other.1.data.iter().collect::<Vec<_>>());
        }
        in_order
    }

    /// Runs a transfer of 4,000 packets; returns how many ACKs there were, and how many of them in order.
    fn run(config: &SelectiveConfig) -> (u32, u32) {
        let linux = LinuxReceiver { announced: true, ..LinuxReceiver::default() };
        let receiver = ReceiverConfig { selective: true, linux: Some(linux), ..ReceiverConfig::default() };
        let mut receiver = Receiver::new(&receiver, Dialect::Rfc, CLOCK).with_path(CLOCK.time(DELAY_S), Time::ZERO);
        let (mut sender, mut path) = (Selective::new(config, Some(4_000), CLOCK), Path::default());
        receiver.begin_transfer(Time::ZERO);
        sender.on_start(Time::ZERO, &mut path);
        let (mut acks, mut in_order) = (0, 0);
        while !sender.finished() {
            let front = |time: Option<Time>| time.unwrap_or(Time::NEVER);
            let arrivals = [front(path.data.front().map(|data| data.0)), front(path.acks.front().map(|ack| ack.0))];
            path.now =
                arrivals.into_iter().chain([receiver.deadline(), sender.deadline()]).min().expect("four instants");
            let now = path.now;
            let mut answer = None;
            if now == arrivals[1] {
                let (_, ack) = path.acks.pop_front().expect("an ACK arrives");
                let mut selected = Vec::new();
                receiver.read_journal(ack.journal, ack.next, &mut selected);
                let window = receiver.announced_window();
                let ack = Ack {
                    next: ack.next,
                    echo: ack.echo,
                    selected: &selected,
                    window,
                    marks: ack.marks,
                    waited: Time::ZERO,
                };
                in_order += u32::from(pass(&mut sender, &mut path, &ack));
                acks += 1;
            } else if now == arrivals[0] {
                let (_, segment, stamp) = path.data.pop_front().expect("a packet arrives");
                answer = receiver.on_data(now, segment.sequence, stamp, Marks::NONE, segment.echo_age);
            } else if now == receiver.deadline() {
                answer = Some(receiver.on_timer());
            } else {
                sender.on_timer(now, &mut path);
            }
            path.acks.extend(answer.map(|ack| (now + CLOCK.time(DELAY_S), ack)));
        }
        (acks, in_order)
    }

    #[test]
    fn an_ack_in_order_does_what_any_ack_does() {
        let mut taken = 0;
        for &Algorithm { name, .. } in ALGORITHMS {
            for (tail_loss_probe, pacing) in
                [(true, Pacing::None), (true, Pacing::Linux), (false, Pacing::None), (false, Pacing::Linux)]
            {
                let mut config = SelectiveConfig { tail_loss_probe, pacing, ..SelectiveConfig::default() };
                config.congestion_control.name = name.to_owned();
                config.send_buffer = Some(SendBuffer { buffer_bytes: 20_000, most_buffer_bytes: 4_000_000 });
                let (acks, in_order) = run(&config);
                assert_eq!(in_order > 0, applies(&config), "{name}");
                assert!(in_order == 0 || (in_order > acks / 2 && in_order < acks), "{name}: {in_order} of {acks}");
                taken += u32::from(in_order > 0);
            }
        }
        assert!(taken >= 4 * 14, "{taken} controls and settings take such ACKs");
    }

    /// Linux `tcp_may_update_window`: without an advance of SND.UNA the window has to be larger.
    #[test]
    fn an_ack_that_was_overtaken_makes_the_window_no_smaller() {
        let mut sender = Selective::new(&SelectiveConfig::default(), None, CLOCK);
        let mut path = Path::default();
        sender.on_start(Time::ZERO, &mut path);
        let mut known = Vec::new();
        for (next, window) in [(0, 50), (2, 40), (2, 30), (2, 60), (2, 50), (3, 20)] {
            path.now += CLOCK.time(0.01);
            let ack = Ack { next, echo: Time::ZERO, selected: &[], window, marks: Marks::NONE, waited: Time::ZERO };
            sender.on_ack(path.now, ack, &mut path);
            known.push(sender.receiver_window);
        }
        assert_eq!(known, [50, 40, 40, 60, 60, 20]);
    }
}
