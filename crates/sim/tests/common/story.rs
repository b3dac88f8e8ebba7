//! A run as text: the window once a round trip, and the events in between in words.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::cast::to_u32;
use base::{PacketKind, Time};
use sim::{CwndRow, DropRow, LossRow, Outcome, Scenario, SequenceKind, SequenceRow, Traces};
use tcp::LossCause;

/// Largest number of sequence numbers that are listed; more are written as a range.
const MOST_LISTED: usize = 8;

/// Returns a line for every event, and for every `every`-th round trip, counted from the last loss.
pub fn narrate(scenario: &Scenario, outcome: &Outcome, every: usize) -> String {
    let story = Story { scenario, traces: &outcome.traces };
    let mut notes = story.notes(every);
    // The sort is stable: at one instant drops come before their consequences.
    notes.sort_by_key(|&(time, _)| time);
    let mut text = format!("{:>10}{:>9}{:>10}\n", "time_s", "cwnd", "ssthresh");
    for same in notes.chunk_by(|(_, a), (_, b)| matches!((a, b), (Note::Drop(_), Note::Drop(_)))) {
        for (time, words) in story.lines(same) {
            let _ = writeln!(text, "{:>10.4}{}", outcome.clock.seconds(time), words.trim_end());
        }
    }
    text
}

enum Note {
    Drop(DropRow),
    Loss(LossRow),
    Round(u32),
}

struct Story<'a> {
    scenario: &'a Scenario,
    traces: &'a Traces,
}

impl Story<'_> {
    fn notes(&self, every: usize) -> Vec<(Time, Note)> {
        let drops = self.traces.drops.iter().flatten().map(|&row| (row.time, Note::Drop(row)));
        let losses = self.traces.losses.iter().flatten().map(|&row| (row.time, Note::Loss(row)));
        let flows = 0..to_u32(self.scenario.flows.len());
        let rounds = flows.flat_map(|flow| {
            let rounds = self.rounds(flow, every);
            rounds.into_iter().map(move |time| (time, Note::Round(flow)))
        });
        drops.chain(losses).chain(rounds).collect()
    }

    /// Returns the ends of round trips, every `every`-th since the last loss: a packet that was sent in it is
    /// acknowledged.
    fn rounds(&self, flow: u32, every: usize) -> Vec<Time> {
        let losses: Vec<Time> =
            self.traces.losses.iter().flatten().filter(|row| row.flow == flow).map(|row| row.time).collect();
        let (mut sent, mut una, mut start) = (BTreeMap::new(), 0, Time::ZERO);
        let (mut lost, mut count, mut rounds) = (0, 0, Vec::new());
        for &SequenceRow { time, kind, sequence, .. } in
            self.traces.sequence.iter().flatten().filter(|row| row.flow == flow)
        {
            if kind != SequenceKind::Acked {
                sent.insert(sequence, time);
                continue;
            }
            if sequence <= una || sent[&(sequence - 1)] < start {
                continue;
            }
            (una, start) = (sequence, time);
            let before = losses.partition_point(|&loss| loss < time);
            count = if before > lost { 0 } else { count + 1 };
            lost = before;
            if count % every == 0 {
                rounds.push(time);
            }
        }
        rounds
    }

    /// Returns the last change of the window for which `until` holds.
    fn window(&self, flow: u32, until: impl Fn(Time) -> bool) -> Option<&CwndRow> {
        let rows = self.traces.cwnd.iter().flatten().filter(|row| row.flow == flow);
        rows.take_while(|row| until(row.time)).last()
    }

    fn window_line(&self, flow: u32, time: Time) -> String {
        let row = self.window(flow, |change| change <= time);
        row.map_or_else(|| " ".repeat(19), |row| format!("{:>9.2}{:>10.2}", row.cwnd, row.ssthresh))
    }

    /// Returns the name of the flow, if there are several.
    fn flow_word(&self, flow: u32) -> String {
        match self.scenario.flows.as_slice() {
            [_] => String::new(),
            flows => format!("  {}", flows[flow as usize].name),
        }
    }

    fn loss_words(&self, row: &LossRow) -> String {
        let what = match row.loss.cause {
            LossCause::Timeout => "timeout",
            LossCause::FastRetransmit => "fast retransmit",
        };
        let again = if row.loss.retransmission { ", sent again before" } else { "" };
        let slow_start = if row.loss.slow_start { ", in slow start" } else { "" };
        let before = self.window(row.flow, |change| change < row.time).map_or(f64::NAN, |row| row.cwnd);
        let flow = self.flow_word(row.flow);
        format!("{flow}  {what}: packet {}{again}{slow_start}; cwnd was {before:.2}", row.loss.sequence)
    }

    /// Returns the lines of drops, or of one other note.
    fn lines(&self, notes: &[(Time, Note)]) -> Vec<(Time, String)> {
        let mut drops: Vec<Vec<DropRow>> = Vec::new();
        let mut lines = Vec::new();
        for &(time, ref note) in notes {
            match note {
                Note::Drop(row) => match drops.iter_mut().find(|group| alike(&group[0], row)) {
                    Some(group) => group.push(*row),
                    None => drops.push(vec![*row]),
                },
                Note::Loss(loss) => lines.push((time, self.window_line(loss.flow, time) + &self.loss_words(loss))),
                Note::Round(flow) => lines.push((time, self.window_line(*flow, time) + &self.flow_word(*flow))),
            }
        }
        lines.extend(drops.iter().map(|group| (group[0].time, self.drop_words(group))));
        lines
    }

    fn drop_words(&self, group: &[DropRow]) -> String {
        let first = &group[0];
        let sequences: Vec<u64> = group.iter().map(|row| row.packet.sequence).collect();
        let what = match first.packet.kind {
            PacketKind::Data => "data",
            PacketKind::Retransmission => "retransmission",
            PacketKind::Ack => "ACK",
            PacketKind::Request | PacketKind::Answer | PacketKind::Open => "handshake",
            PacketKind::Close => "close",
        };
        let which = if sequences.len() > MOST_LISTED {
            let (least, most) = (sequences.iter().min(), sequences.iter().max());
            format!("{} from {} to {}", sequences.len(), least.unwrap_or(&0), most.unwrap_or(&0))
        } else {
            sequences.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
        };
        let link = self.scenario.elements[first.link as usize].name();
        let how = if first.lost { "loss" } else { "drop" };
        format!("{:19}{}  {how} at {link}: {what} {which}", "", self.flow_word(first.packet.flow))
    }
}

/// Returns whether two drops are of one flow and kind, at one link.
fn alike(a: &DropRow, b: &DropRow) -> bool {
    let kind = |row: &DropRow| (row.link, row.packet.flow, row.packet.kind, row.lost);
    kind(a) == kind(b)
}
