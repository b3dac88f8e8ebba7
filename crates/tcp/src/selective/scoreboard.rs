//! The scoreboard: what the sender knows of each packet between SND.UNA and SND.NXT (RFC 6675 section 3).

use std::collections::VecDeque;

use base::cast::{low_u32, to_index};
use base::{make_room, Time};

use super::marks::Marks;
use super::rate::Totals;
use super::search::Search;

/// A packet that was sent and not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// Instant of the last transmission.
    pub(super) sent: Time,
    /// Packets that were delivered in all when it was sent last, modulo 2^32; see [`Scoreboard::delivered_before`].
    pub(super) delivered: u32,
    pub(super) marks: Marks,
}

const _: () = assert!(size_of::<Segment>() == 16);

/// Packets for which a transfer begins with memory: an initial window, and those that its first ACKs add.
const EXPECTED: usize = 12;

/// The packets from SND.UNA to SND.NXT, and how many of them have left the network.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    una: u64,
    segments: VecDeque<Segment>,
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    /// Packets acknowledged selectively right behind another such packet.
    merged: u32,
    /// One past the highest packet that was acknowledged selectively; not below `una`.
    highest: u64,
    /// Packets that were acknowledged, cumulatively or selectively, in all; a duplicate counts as well.
    pub(super) delivered: u64,
    /// Packets that were marked lost, in all; a lost retransmission counts as well.
    pub(super) marked_lost: u64,
    /// The search for the next packet to retransmit.
    search: Search,
    /// The packet that the last count of selectively acknowledged ones ended at.
    counted: u64,
    /// Number of selectively acknowledged packets below `counted`; all others below it are lost.
    sacked_below: u32,
    /// Lowest packet from which on all were sent once, and nothing else is known of them.
    untouched: u64,
    /// Whether packets are acknowledged selectively; else `sacked` counts those that duplicate ACKs report.
    selective: bool,
    /// Packets that were marked lost and are yet to be reported, with `marked_lost` after each; `None`: none is.
    #[expect(clippy::box_collection, reason = "a pointer takes a third of the place, and few runs ask for reports")]
    unreported: Option<Box<Vec<(u64, u64)>>>,
}

impl Scoreboard {
    /// Forgets all packets and begins at `first`, with selective acknowledgment or without, and with reports of lost
    /// packets or without; the memory stays.
    pub(super) fn restart(&mut self, first: u64, selective: bool, reports: bool) {
        let mut segments = std::mem::take(&mut self.segments);
        segments.clear();
        segments.reserve_exact(EXPECTED);
        let unreported = reports.then(|| {
            let mut unreported = self.unreported.take().unwrap_or_default();
            unreported.clear();
            unreported
        });
        *self = Scoreboard {
            segments,
            una: first,
            highest: first,
            search: Search::from(first),
            untouched: first,
            selective,
            unreported,
            ..Scoreboard::default()
        };
    }

    /// Returns SND.UNA, the first packet that is not acknowledged.
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// Returns SND.NXT, the next packet that has not been sent.
    pub(super) fn nxt(&self) -> u64 {
        self.una + self.segments.len() as u64
    }

    /// Returns the number of packets between SND.UNA and SND.NXT (Linux `packets_out`).
    pub(super) fn outstanding(&self) -> u32 {
        // Far fewer than 2^32: a run ends with an error before.
        low_u32(self.segments.len() as u64)
    }

    /// Returns the number of them that were acknowledged selectively (Linux `sacked_out`).
    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Returns the number of packets that were acknowledged selectively right behind another one: Linux keeps such packets
    /// in one buffer (`tcp_shift_skb_data`).
    pub(super) fn merged(&self) -> u32 {
        self.merged
    }

    /// Returns the number of them that are taken to be lost (Linux `lost_out`).
    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    /// Returns the number of retransmissions that are taken to be in flight (Linux `retrans_out`).
    pub(super) fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// Returns the number of packets that are taken to be in the network: RFC 6675's pipe, Linux
    /// `tcp_packets_in_flight`.
    pub(super) fn in_flight(&self) -> u32 {
        self.outstanding() + self.retransmitted - self.sacked - self.lost
    }

    /// Returns the packets that were delivered and lost so far, and those in flight.
    pub(super) fn totals(&self) -> Totals {
        Totals { delivered: self.delivered, lost: self.marked_lost, in_flight: self.in_flight() }
    }

    /// Returns whether all packets are taken to be in the network, each of them once.
    pub(super) fn is_intact(&self) -> bool {
        self.sacked + self.lost + self.retransmitted == 0
    }

    /// Returns whether all packets were sent once, and nothing else is known of any.
    pub(super) fn is_untouched(&self) -> bool {
        self.untouched <= self.una
    }

    /// Returns one past the highest packet that was acknowledged selectively, or SND.UNA.
    pub(super) fn highest_sacked(&self) -> u64 {
        self.highest.max(self.una)
    }

    /// Returns a packet between SND.UNA and SND.NXT.
    pub(super) fn get(&self, sequence: u64) -> Option<&Segment> {
        self.segments.get(to_index(sequence.checked_sub(self.una)?))
    }

    /// Returns the packets of which a retransmission may be in flight, and the instants of their last transmission.
    pub(super) fn retransmitted_in_flight(&self) -> impl Iterator<Item = (u64, Time)> + '_ {
        let resent = |segment: &Segment| segment.marks.ever_retransmitted() && segment.marks.in_flight();
        let segments = (self.una..).zip(&self.segments).filter(move |(_, segment)| resent(segment));
        segments.map(|(sequence, segment)| (sequence, segment.sent))
    }

    /// Returns the first packet that is not acknowledged.
    pub(super) fn head(&self) -> Option<&Segment> {
        self.segments.front()
    }

    /// Returns how many packets were delivered in all when one was sent that counted them modulo 2^32. Since then fewer
    /// were delivered than that, as it has been outstanding.
    pub(super) fn delivered_before(&self, count: u32) -> u64 {
        self.delivered - u64::from(low_u32(self.delivered).wrapping_sub(count))
    }

    fn is_sacked(&self, sequence: u64) -> bool {
        self.get(sequence).is_some_and(|segment| segment.marks.sacked())
    }

    fn get_mut(&mut self, sequence: u64) -> Option<&mut Segment> {
        let segment = self.segments.get_mut(to_index(sequence.checked_sub(self.una)?))?;
        self.untouched = self.untouched.max(sequence + 1);
        Some(segment)
    }

    /// Adds the packet SND.NXT, sent now for the first time, with the flag PSH or without.
    pub(super) fn push(&mut self, now: Time, pushed: bool) {
        let (delivered, mut marks) = (low_u32(self.delivered), Marks::default());
        marks.set(Marks::PUSHED, pushed);
        make_room(&mut self.segments);
        self.segments.push_back(Segment { sent: now, delivered, marks });
    }

    /// Removes the first packet, which is acknowledged.
    pub(super) fn pop(&mut self) -> Option<Segment> {
        let segment = self.segments.pop_front()?;
        self.sacked_below -= u32::from(segment.marks.sacked() && self.una < self.counted);
        self.una += 1;
        self.merged -= u32::from(segment.marks.sacked() && self.is_sacked(self.una));
        self.retransmitted -= u32::from(segment.marks.retransmitted());
        self.sacked -= u32::from(segment.marks.sacked());
        self.lost -= u32::from(segment.marks.lost());
        self.delivered += u64::from(self.selective && !segment.marks.sacked());
        Some(segment)
    }

    /// Removes the packets before `end`, which are acknowledged, if all were sent once and nothing else is known of them;
    /// returns the first and the last one.
    #[inline(always)]
    pub(super) fn pop_untouched(&mut self, end: u64) -> Option<(Segment, Segment)> {
        if self.una < self.untouched || end > self.nxt() {
            return None;
        }
        let count = end - self.una;
        let first = self.segments.pop_front()?;
        let mut last = first;
        for _ in 1..count {
            last = self.segments.pop_front()?;
        }
        self.una = end;
        self.delivered += if self.selective { count } else { 0 };
        Some((first, last))
    }

    /// Counts a packet beyond the hole that no ACK names.
    pub(super) fn arrive_beyond_hole(&mut self) {
        self.sacked += 1;
    }

    /// Counts packets that were acknowledged cumulatively, of which all but one may have arrived as unnamed ones.
    pub(super) fn deliver_cumulatively(&mut self, packets: u32) {
        self.delivered += u64::from(packets.saturating_sub(self.sacked).max(1));
        self.sacked = self.sacked.saturating_sub(packets.saturating_sub(1));
    }

    /// Forgets the packets that arrived unnamed.
    pub(super) fn forget_arrivals(&mut self) {
        self.sacked = 0;
    }

    /// Limits the packets that arrived unnamed to those that are not taken to be lost, and not the first one; returns
    /// whether there were more.
    pub(super) fn limit_arrivals(&mut self) -> bool {
        let holes = self.lost.max(1).min(self.outstanding());
        let most = self.outstanding() - holes;
        let exceeds = self.sacked > most;
        self.sacked = self.sacked.min(most);
        exceeds
    }

    /// Marks a packet as acknowledged selectively; returns what was known of it before, `None` if it was acknowledged.
    pub(super) fn mark_sacked(&mut self, sequence: u64) -> Option<Segment> {
        let segment = self.get_mut(sequence).filter(|segment| !segment.marks.sacked())?;
        let before = *segment;
        segment.marks.set(Marks::SACKED, true);
        segment.marks.set(Marks::LOST, false);
        // A retransmission of a packet that is not taken to be lost is still in flight (Linux `tcp_sacktag_one`).
        let arrived = before.marks.retransmitted() && before.marks.lost();
        if arrived {
            segment.marks.set(Marks::RETRANSMITTED, false);
        }
        self.lost -= u32::from(before.marks.lost());
        self.retransmitted -= u32::from(arrived);
        self.sacked += 1;
        self.sacked_below += u32::from(sequence < self.counted);
        let before_it = sequence > 0 && self.is_sacked(sequence - 1);
        self.merged += u32::from(before_it) + u32::from(self.is_sacked(sequence + 1));
        self.delivered += 1;
        self.highest = self.highest.max(sequence + 1);
        Some(before)
    }

    /// Takes the retransmission of a packet out of the network, as a duplicate arrived.
    pub(super) fn end_retransmission(&mut self, sequence: u64) {
        let Some(segment) = self.get_mut(sequence) else { return };
        let (ended, waits) = (segment.marks.retransmitted(), segment.marks.lost());
        segment.marks.set(Marks::RETRANSMITTED, false);
        self.retransmitted -= u32::from(ended);
        if waits {
            self.search.wait_again(sequence);
        }
    }

    /// Marks a packet as lost, or its retransmission if that is in flight; returns whether a retransmission was lost.
    pub(super) fn mark_lost(&mut self, sequence: u64) -> bool {
        let Some(segment) = self.get_mut(sequence).filter(|segment| !segment.marks.sacked()) else { return false };
        let before = segment.marks;
        segment.marks.set(Marks::LOST, true);
        let again = before.lost() && before.retransmitted();
        if again {
            segment.marks.set(Marks::RETRANSMITTED, false);
        }
        self.retransmitted -= u32::from(again);
        self.lost += u32::from(!before.lost());
        self.marked_lost += u64::from(again || !before.lost());
        if let Some(unreported) = self.unreported.as_mut().filter(|_| again || !before.lost()) {
            unreported.push((sequence, self.marked_lost));
        }
        self.search.lose(sequence);
        again
    }

    /// Marks the packets as lost that have at least `count` selectively acknowledged ones above them; there are `count` or more.
    pub(super) fn mark_lost_by_count(&mut self, count: u32) {
        let most_below = self.sacked - count;
        if self.sacked_below > most_below {
            return;
        }
        let mut sequence = self.counted.max(self.una);
        while let Some(&Segment { marks, .. }) = self.get(sequence) {
            if marks.sacked() && self.sacked_below == most_below {
                break;
            }
            self.sacked_below += u32::from(marks.sacked());
            if !marks.sacked() && !marks.lost() {
                self.mark_lost(sequence);
            }
            sequence += 1;
        }
        self.counted = sequence;
    }

    /// Marks a packet as lost by its age, which is not judged again before it is retransmitted; returns whether a
    /// retransmission was lost.
    pub(super) fn mark_aged(&mut self, sequence: u64) -> bool {
        if let Some(segment) = self.get_mut(sequence) {
            segment.marks.set(Marks::JUDGED, true);
        }
        self.mark_lost(sequence)
    }

    /// Returns the packets that were marked lost since the last call, with `marked_lost` after each, if they are asked for.
    #[inline(always)]
    pub(super) fn take_unreported(&mut self) -> Option<Vec<(u64, u64)>> {
        let unreported = self.unreported.as_deref_mut()?;
        (!unreported.is_empty()).then(|| std::mem::take(unreported))
    }

    /// Takes no packet to be lost any more.
    pub(super) fn unmark_lost(&mut self) {
        self.segments.iter_mut().for_each(|segment| segment.marks.set(Marks::LOST, false));
        self.lost = 0;
        (self.counted, self.sacked_below) = (self.una, 0);
        self.search = Search::from(self.nxt());
    }

    /// Returns the first packet that is lost and whose retransmission is not in flight.
    pub(super) fn next_to_retransmit(&mut self) -> Option<u64> {
        if self.lost <= self.retransmitted {
            return None;
        }
        let Scoreboard { una, segments, search, .. } = self;
        let (una, nxt) = (*una, *una + segments.len() as u64);
        let waits = |segment: &Segment| segment.marks.lost() && !segment.marks.retransmitted();
        search.next(una, nxt, |range| {
            let within = to_index(range.start - una)..to_index(range.end - una);
            segments.range(within).position(waits).map(|index| range.start + index as u64)
        })
    }

    /// Records that a packet is retransmitted now.
    pub(super) fn retransmit(&mut self, sequence: u64, now: Time) {
        let delivered = low_u32(self.delivered);
        let Some(segment) = self.get_mut(sequence) else { return };
        let under_way = segment.marks.retransmitted();
        (segment.sent, segment.delivered) = (now, delivered);
        segment.marks.set(Marks::RETRANSMITTED | Marks::EVER_RETRANSMITTED, true);
        segment.marks.set(Marks::JUDGED, false);
        self.retransmitted += u32::from(!under_way);
    }

    /// Records that a packet is sent again now as a probe, which is not taken to replace a lost one.
    pub(super) fn probe(&mut self, sequence: u64, now: Time) {
        let delivered = low_u32(self.delivered);
        let Some(segment) = self.get_mut(sequence) else { return };
        (segment.sent, segment.delivered) = (now, delivered);
        segment.marks.set(Marks::EVER_RETRANSMITTED, true);
        segment.marks.set(Marks::JUDGED, false);
    }

    /// Returns whether a retransmission is in flight, or the first packet was ever retransmitted (Linux
    /// `tcp_any_retrans_done`).
    pub(super) fn any_retransmitted(&self) -> bool {
        self.retransmitted > 0 || self.head().is_some_and(|head| head.marks.ever_retransmitted())
    }
}

#[cfg(test)]
mod tests;
