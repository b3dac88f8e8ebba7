//! The congestion control's part of an ACK: what it sees, and the window that it sets.

use base::cast::{to_index, to_u32};
use base::{RandomStream, Time};

use super::detection::Seen;
use super::Selective;
use crate::cc::AckSample;

impl Selective {
    /// Returns whether the congestion control asks for [`Selective::set_random`].
    pub fn needs_random(&self) -> bool {
        self.rules.needs.random
    }

    /// Sets the random numbers of the flow.
    pub fn set_random(&mut self, random: RandomStream) {
        self.control.set_random(random);
    }

    /// Returns an ACK as the congestion control sees it before the reaction; `delivered` packets were so before it, and
    /// `in_flight` were in the network.
    #[inline(always)]
    pub(super) fn sample(&self, now: Time, delivered: u64, in_flight: u32, seen: &Seen) -> AckSample {
        let acked = to_u32(to_index(self.board.delivered - delivered));
        AckSample {
            now,
            acked,
            marked: seen.marks,
            lost: 0,
            lost_total: self.board.marked_lost,
            state: self.state,
            may_grow: false,
            cwnd_limited: self.is_cwnd_limited(),
            cwnd_used: self.usage.is_limited(),
            rtt: seen.control_rtt,
            min_rtt: self.min_rtt.get(),
            srtt: self.rtt.smoothed(),
            una: self.board.una(),
            nxt: self.board.nxt(),
            in_flight: [in_flight, self.board.in_flight()],
            plain: seen.plain,
            window: seen.window,
            departure: self.pacer.release(),
            rate: None,
        }
    }

    /// Lets PRR or the congestion control set the window (Linux `tcp_cong_control`).
    #[inline(always)]
    pub(super) fn control_window(&mut self, sample: &mut AckSample, seen: &Seen) {
        self.report_lost(sample.now);
        let reducing = self.is_reducing();
        let grows_beyond_holes = self.reordering > self.rules.config.dupack_threshold && seen.sacked;
        let was_set = std::mem::take(&mut self.undo.responded);
        sample.may_grow = !reducing && !was_set && (seen.acked || grows_beyond_holes);
        (sample.state, sample.cwnd_limited) = (self.state, self.is_cwnd_limited());
        sample.in_flight[1] = self.board.in_flight();
        if let Some(rate) = &mut self.rate {
            let found = rate.sample(sample.now, self.board.totals(), sample.acked, sample.min_rtt);
            sample.rate = Some(found).filter(|_| self.rules.needs.rate);
        }
        self.control.on_ack(sample, &mut self.window);
        if let Some(rate) = self.rate.as_mut().filter(|_| self.control.holds_back()) {
            rate.limit(self.board.totals());
        }
        if reducing && sample.acked > 0 {
            self.reduce(sample.acked, sample.lost, seen.una_advanced);
        }
        self.update_pacing();
    }

    /// Reports the packets that were marked lost to the congestion control, before they are sent again.
    #[inline(always)]
    pub(super) fn report_lost(&mut self, now: Time) {
        if let Some(unreported) = self.board.take_unreported() {
            self.report_each_lost(now, unreported);
        }
    }

    #[cold]
    fn report_each_lost(&mut self, now: Time, unreported: Vec<(u64, u64)>) {
        let (una, delivered) = (self.board.una(), self.board.delivered);
        for (sequence, total) in unreported {
            let index = sequence.checked_sub(una);
            let lost = index
                .zip(self.rate.as_ref())
                .and_then(|(index, rate)| rate.lose(sequence, index, now, delivered, total));
            if let Some(lost) = lost {
                self.control.on_lost(&lost, &self.window);
            }
        }
    }
}
