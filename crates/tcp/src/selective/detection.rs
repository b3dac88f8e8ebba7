//! Evaluation of an ACK: which packets arrived, what round trip they had, and which ones are lost.

use base::{Marks, Time};

use super::rack::Reordering;
use super::scoreboard::Segment;
use super::{Selective, State};
use crate::actions::{Ack, Selected};
use crate::LossDetection;

/// Most packets that reordering is taken to move a packet by (Linux `tcp_max_reordering`).
pub(super) const MOST_REORDERING: u64 = 300;

/// The news of an ACK (Linux's `FLAG_` values of `tcp_ack`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Whether SND.UNA advanced.
    pub(super) una_advanced: bool,
    /// Whether packets were acknowledged cumulatively.
    pub(super) acked: bool,
    /// Whether packets were acknowledged selectively.
    pub(super) sacked: bool,
    /// Whether one that was sent once, before the state was entered, was acknowledged (RFC 5682).
    pub(super) original: bool,
    /// Whether the receiver reported a duplicate (RFC 2883).
    pub(super) duplicate: bool,
    /// Whether that is the packet of the tail loss probe.
    pub(super) duplicate_of_probe: bool,
    /// Whether the receiver's window grew.
    window_grew: bool,
    /// Whether the ACK advances SND.UNA without blocks and without ECE.
    pub(super) plain: bool,
    /// Window that the ACK announces \[packets\]; [`u64::MAX`]: none.
    pub(super) window: u64,
    /// Whether the receiver echoes a mark (ECE, RFC 3168).
    pub(super) marked: bool,
    /// Packets that it reports as marked.
    pub(super) marks: u32,
    /// Whether a retransmission was lost.
    pub(super) retransmission_lost: bool,
    /// Whether the timer starts again.
    pub(super) restarts_timer: bool,
    /// Round trip for the congestion control: that of the packet acknowledged last.
    pub(super) control_rtt: Option<Time>,
    /// Transmissions of the first and the last packet that was sent once and that the ACK acknowledges, cumulatively and
    /// selectively.
    in_order: Option<(Time, Time)>,
    beyond: Option<(Time, Time)>,
    /// Whether a retransmitted packet was acknowledged cumulatively.
    retransmitted_acked: bool,
    /// Lowest packet that was sent once and arrived after a higher one.
    lowest_late: Option<u64>,
    /// Transmission of the packet sent last among those that were delivered, the packet, and how many had been
    /// delivered before, modulo 2^32.
    newest: Option<(Time, u64, u32)>,
}

impl Seen {
    /// Returns whether the ACK does anything else than acknowledge packets in order (Linux `tcp_ack_is_dubious`).
    pub(super) fn is_dubious(&self) -> bool {
        !(self.acked || self.window_grew) || self.sacked || self.duplicate || self.marked
    }

    /// Returns whether the ACK counts as a duplicate one, with or without news of packets beyond a hole (RFC 5681 section
    /// 2).
    pub(super) fn counts_as_duplicate(&self) -> bool {
        !self.una_advanced && !self.window_grew && !self.duplicate
    }

    /// Returns whether the ACK is a duplicate without news.
    pub(super) fn is_pure_duplicate(&self) -> bool {
        !self.brings_news() && !self.duplicate
    }

    /// Returns whether the ACK acknowledges packets or opens the window.
    pub(super) fn brings_news(&self) -> bool {
        self.una_advanced || self.window_grew || self.sacked
    }

    fn note_delivery(&mut self, sequence: u64, segment: &Segment) {
        // The order of tuples, without a copy of them through memory.
        let later = |(sent, number, _)| segment.sent > sent || (segment.sent == sent && sequence > number);
        if self.newest.is_none_or(later) {
            self.newest = Some((segment.sent, sequence, segment.delivered));
        }
    }

    fn note(spans: &mut Option<(Time, Time)>, sent: Time) {
        *spans = Some((spans.map_or(sent, |(first, _)| first), sent));
    }

    fn note_late(&mut self, sequence: u64) {
        self.lowest_late = Some(self.lowest_late.map_or(sequence, |lowest| lowest.min(sequence)));
    }
}

impl Selective {
    /// Updates the scoreboard and the estimates with an ACK (Linux `tcp_sacktag_write_queue`, `tcp_clean_rtx_queue`).
    pub(super) fn take_in(&mut self, now: Time, ack: &Ack<'_>, seen: &mut Seen) {
        (seen.una_advanced, seen.marked) = (ack.next > self.board.una(), ack.marks.has(Marks::ECE));
        (seen.window, seen.window_grew) = (ack.window, self.take_window(ack.window, seen.una_advanced));
        let highest = self.board.highest_sacked();
        if seen.una_advanced {
            self.timeouts = 0;
        }
        let selected = if self.rules.config.sack { ack.selected } else { &[] };
        for run in selected {
            self.take_in_selected(now, run, ack.next, seen);
        }
        if let Some(late) = seen.lowest_late.take() {
            // A packet sent once filled a hole (Linux `tcp_sacktag_write_queue`).
            if self.state != State::Loss || self.undo.marker.is_some() {
                self.observe_reordering(late, self.board.highest_sacked());
            }
        }
        self.remove_acknowledged(now, ack, seen);
        let blocks = !ack.selected.is_empty() || (self.rules.config.sack && self.board.sacked() > 0);
        seen.plain = seen.una_advanced && !seen.marked && !blocks;
        let sampled = self.sample_rtt(now, ack, seen);
        seen.control_rtt = sampled.map(|(_, control)| control);
        seen.restarts_timer = seen.acked || self.was_sent_after_head(sampled, seen);
        if let Some(late) = seen.lowest_late.filter(|_| self.rules.config.sack) {
            // It did so cumulatively, below what had been acknowledged before this ACK (Linux `prior_fack`).
            if late < highest {
                self.observe_reordering(late, self.board.highest_sacked());
            }
        }
        if let Some((_, _, before)) = seen.newest {
            self.rack.adapt(self.board.delivered_before(before), self.board.delivered);
        }
    }

    /// Takes the window that an ACK announces \[packets\], [`u64::MAX`]: none; returns whether it grew. An ACK that does not
    /// advance SND.UNA may be older than the one before it: it cannot make the window smaller (Linux
    /// `tcp_may_update_window`; RFC 9293 section 3.10.7.4, SND.WL2).
    #[inline(always)]
    pub(super) fn take_window(&mut self, announced: u64, una_advanced: bool) -> bool {
        let before = self.receiver_window;
        if announced != u64::MAX {
            let window = announced.min(self.rules.limit);
            // The limit itself was not announced by an ACK.
            let newer = una_advanced || before == self.rules.limit;
            self.receiver_window = if newer { window } else { window.max(before) };
        }
        self.pushes.announce(self.receiver_window.saturating_mul(u64::from(self.rules.config.segment_bytes)));
        self.receiver_window > before
    }

    #[inline(never)]
    fn take_in_selected(&mut self, now: Time, run: &Selected, next: u64, seen: &mut Seen) {
        if run.duplicate {
            return self.take_in_duplicates(run, seen);
        }
        // Of a run, only the packet that was sent last can give the ACK's rate: the snapshots of the others are not read.
        let mut latest: Option<(u64, u64, Segment)> = None;
        for sequence in run.first.max(next)..run.end.min(self.board.nxt()) {
            let highest = self.board.highest_sacked();
            let Some(before) = self.board.mark_sacked(sequence) else { continue };
            seen.sacked = true;
            seen.note_delivery(sequence, &before);
            if let Some(rate) = &self.rate {
                let sent = rate.instant(before.sent);
                if latest.is_none_or(|(last, ..)| sent >= last) {
                    latest = Some((sent, sequence, before));
                }
            }
            self.rack.deliver(now, sequence, &before, self.min_rtt.get());
            if before.marks.ever_retransmitted() {
                continue;
            }
            if sequence < highest {
                seen.note_late(sequence);
            }
            seen.original |= sequence < self.high;
            Seen::note(&mut seen.beyond, before.sent);
        }
        if let (Some(rate), Some((_, sequence, segment))) = (&mut self.rate, latest) {
            rate.deliver(sequence - self.board.una(), sequence, &segment);
        }
    }

    /// Takes note of packets that arrived twice (Linux `tcp_check_dsack`).
    fn take_in_duplicates(&mut self, run: &Selected, seen: &mut Seen) {
        let count = run.end - run.first;
        seen.duplicate_of_probe |= count == 1 && self.probe.is_some_and(|(end, _)| end == run.end);
        self.duplicates += count;
        // The network made these, not the sender.
        if self.duplicates > self.total_retransmitted {
            return;
        }
        self.rack.duplicate_seen |= self.reordering_seen && !seen.duplicate_of_probe;
        seen.duplicate = true;
        self.board.delivered += count;
        for sequence in run.first..run.end {
            let known = self.board.get(sequence).map(|segment| segment.marks);
            if known.is_none_or(|marks| marks.retransmitted() || marks.ever_retransmitted()) {
                self.undo.count_duplicate(sequence);
                if known.is_some_and(|marks| marks.sacked()) {
                    // The original had arrived, after packets above it (`tcp_sacktag_one`).
                    seen.note_late(sequence);
                }
            }
            self.board.end_retransmission(sequence);
        }
    }

    fn remove_acknowledged(&mut self, now: Time, ack: &Ack<'_>, seen: &mut Seen) {
        let una = self.board.una();
        while self.board.una() < ack.next {
            let sequence = self.board.una();
            if let Some(ends) = self.board.pop_untouched(ack.next) {
                self.note_untouched(now, sequence, &ends, seen);
                break;
            }
            let Some(segment) = self.board.pop() else { break };
            self.note_acknowledged(now, ack, sequence, &segment, seen);
        }
        if seen.acked && !self.rules.config.sack {
            self.acknowledge_duplicates(self.board.una() - una);
            // A packet that was sent once may be one that a duplicate ACK reported before.
            seen.original &= !seen.retransmitted_acked;
        }
    }

    /// Takes note of a packet that is acknowledged cumulatively.
    #[inline(never)]
    fn note_acknowledged(&mut self, now: Time, ack: &Ack<'_>, sequence: u64, segment: &Segment, seen: &mut Seen) {
        let Segment { sent, marks, .. } = *segment;
        if let Some(rate) = &mut self.rate {
            if !marks.sacked() {
                rate.deliver(0, sequence, segment);
            }
            rate.pop();
        }
        seen.acked = true;
        if !marks.sacked() {
            seen.note_delivery(sequence, segment);
        }
        if marks.ever_retransmitted() {
            seen.retransmitted_acked = true;
        } else if !marks.sacked() {
            Seen::note(&mut seen.in_order, sent);
            seen.note_late(sequence);
            seen.original |= sequence < self.high;
        }
        let spurious = marks.ever_retransmitted() && self.echoes_before(ack, sent);
        if !marks.sacked() && !spurious && self.rules.config.sack {
            self.rack.deliver(now, sequence, segment, self.min_rtt.get());
        }
    }

    /// Takes note of packets from `begin` to SND.UNA that were sent once and of which nothing else was known, given the
    /// first and the last one: what the other packets say, the last one says as well.
    #[inline(always)]
    fn note_untouched(&mut self, now: Time, begin: u64, (first, last): &(Segment, Segment), seen: &mut Seen) {
        let end = self.board.una();
        if let Some(rate) = &mut self.rate {
            rate.deliver_first(begin, end, last);
        }
        seen.acked = true;
        seen.note_delivery(end - 1, last);
        Seen::note(&mut seen.in_order, first.sent);
        Seen::note(&mut seen.in_order, last.sent);
        seen.note_late(begin);
        seen.original |= begin < self.high;
        if self.rules.config.sack {
            self.rack.deliver(now, end - 1, last, self.min_rtt.get());
        }
    }

    /// Takes a sample of the round trip; returns it, and that for the congestion control (Linux `tcp_ack_update_rtt`).
    fn sample_rtt(&mut self, now: Time, ack: &Ack<'_>, seen: &Seen) -> Option<(Time, Time)> {
        let in_order = seen.in_order.filter(|_| !seen.retransmitted_acked);
        let mut control = in_order.map(|(_, last)| now - last);
        let mut sample = in_order.map(|(first, _)| now - first);
        if let Some((first, last)) = seen.beyond {
            control = Some(now - last);
            sample = sample.or(Some(now - first));
        }
        if sample.is_none() && self.rules.config.timestamps && seen.acked {
            // RFC 7323 section 4.1: only an ACK that advances SND.UNA.
            sample = Some(self.rules.wheel.elapsed(ack.echo, now));
            control = sample;
        }
        let (sample, control) = (sample?, control?);
        self.take_sample(now, sample, control);
        Some((sample, control))
    }

    /// Updates the estimates with a sample of the round trip, and one for the smallest.
    pub(super) fn take_sample(&mut self, now: Time, sample: Time, control: Time) {
        self.min_rtt.sample(now, control, self.rules.min_rtt_window);
        self.rtt.sample(sample, self.rules.timeout, self.board.una(), self.board.nxt());
        if let Some(timeout) = self.rtt.timeout() {
            self.timer.set_rto(timeout.min(self.rules.rto_max), &self.rules.wheel);
        }
    }

    /// Returns whether an ACK that acknowledges selectively alone is of packets sent after the first one's last
    /// transmission, so that the timer may start again.
    fn was_sent_after_head(&self, sampled: Option<(Time, Time)>, seen: &Seen) -> bool {
        let (Some((first, _)), Some(_)) = (seen.beyond, sampled) else { return false };
        self.board.head().is_some_and(|head| first < head.sent)
    }

    /// Takes note that a packet arrived after a higher one (Linux `tcp_check_sack_reordering`).
    #[cold]
    pub(super) fn observe_reordering(&mut self, late: u64, highest: u64) {
        if late >= highest {
            return;
        }
        let by = (highest - late).min(MOST_REORDERING);
        self.reordering = self.reordering.max(base::cast::to_u32(base::cast::to_index(by)));
        self.reordering_seen = true;
    }

    /// Marks the packets that are lost (Linux `tcp_identify_packet_loss`, `tcp_update_scoreboard`).
    pub(super) fn detect(&mut self, now: Time, seen: &mut Seen) {
        match self.rules.config.loss_detection {
            _ if !self.rules.config.sack => self.detect_by_duplicates(seen),
            LossDetection::Rack if self.rack.advanced => {
                let (wait, again) = self.detect_by_time(now);
                seen.retransmission_lost |= again;
                if wait > Time::ZERO {
                    self.start_reordering(now, wait);
                    seen.restarts_timer = false;
                }
            }
            LossDetection::Rack | LossDetection::Dupack => {}
        }
    }

    /// Marks the packets that are lost by RACK; returns how long others may yet take, and whether a retransmission was
    /// lost.
    pub(super) fn detect_by_time(&mut self, now: Time) -> (Time, bool) {
        let reordering = self.reordering();
        self.rack.detect(&mut self.board, now, &reordering)
    }

    /// Returns the bounds of RACK's reordering window.
    pub(super) fn reordering(&self) -> Reordering {
        let repairing = self.state >= State::Recovery;
        let enough = self.board.sacked() >= self.reordering;
        Reordering {
            none: !self.reordering_seen && (repairing || enough),
            min_rtt: self.min_rtt.get(),
            srtt: self.rtt.smoothed(),
        }
    }

    /// Marks the packets as lost that have enough selectively acknowledged ones above them, if these are counted (RFC
    /// 6675 `IsLost`, Linux `tcp_mark_head_lost`); at the beginning of recovery at least the first one.
    pub(super) fn detect_by_count(&mut self, begins: bool) {
        if !self.rules.config.sack || self.rules.config.loss_detection != LossDetection::Dupack {
            return;
        }
        if self.board.sacked() < self.reordering {
            if begins && self.board.head().is_some_and(|head| !head.marks.lost()) {
                self.board.mark_lost(self.board.una());
            }
            return;
        }
        self.board.mark_lost_by_count(self.reordering);
    }

    /// Marks packets as lost when the timer expires: the first one, and with RACK those that are older than a round trip
    /// (RFC 8985 section 6.3, Linux `tcp_timeout_mark_lost`).
    pub(super) fn mark_all_lost(&mut self, now: Time) {
        self.forget_duplicate_acks();
        let una = self.board.una();
        for sequence in una..self.board.nxt() {
            let Some(segment) = self.board.get(sequence) else { break };
            let by_time = self.rules.config.loss_detection == LossDetection::Rack;
            if sequence == una || !by_time || !self.rack.is_recent(now, segment) {
                self.board.mark_lost(sequence);
            }
        }
    }
}
