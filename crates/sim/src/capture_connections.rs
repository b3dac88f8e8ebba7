//! The connections of a source in captures. They follow one another between the same ports, and a packet says only its number
//! among all of the source: where each begins is found from the SYNs and FINs that were captured.

use std::collections::{BTreeMap, BTreeSet};

use base::cast::to_u32;
use base::{Marks, Packet, PacketKind, Time};

use crate::handshake::is_syn;
use crate::observe::CaptureRow;
use crate::scenario::{ConnectionConfig, Scenario, TrafficConfig};

/// The connections of all flows that open several, and of those that close theirs.
#[derive(Debug)]
pub(crate) struct Connections(BTreeMap<u32, Vec<Start>>);

/// A connection of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Connection {
    /// Number of connections before it.
    pub(crate) number: u32,
    /// Number of its first data packet.
    pub(crate) first: u64,
    /// Number of the packet after its last one, which had a FIN; `None`: no such packet is known.
    pub(crate) end: Option<u64>,
}

/// The start of a connection that follows another one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start {
    /// Number of its first data packet.
    first: u64,
    /// Transmission of its first SYN; [`Time::NEVER`]: none was captured.
    syn: Time,
    /// Whether the connection before it ended with a FIN.
    follows_fin: bool,
}

impl Connections {
    /// Finds the connections in all that was captured in a run, in the order of the captures.
    pub(crate) fn new(scenario: &Scenario, rows: &[CaptureRow]) -> Connections {
        let is_followed: Vec<bool> = scenario
            .members()
            .map(|(entry, _)| {
                let flow = &scenario.flows[entry];
                matches!(flow.traffic, TrafficConfig::Web { .. })
                    || flow.connection().is_some_and(ConnectionConfig::closes)
            })
            .collect();
        let mut seen = BTreeMap::<u32, Seen>::new();
        for row in rows.iter().filter(|row| is_followed[row.packet.flow as usize]) {
            seen.entry(row.packet.flow).or_default().take(row);
        }
        Connections(seen.into_iter().map(|(flow, seen)| (flow, seen.starts())).collect())
    }

    /// Returns the connection that a captured packet is of.
    pub(crate) fn of(&self, packet: &Packet) -> Connection {
        let starts = self.starts(packet.flow);
        let begun = match packet.kind {
            PacketKind::Data | PacketKind::Retransmission => return self.of_data(packet.flow, packet.sequence),
            // An ACK that asks for the first packet of a connection may be of the one before, however late it comes: it then
            // echoes what was sent before the SYN. Without a SYN its numbers are the same in both.
            PacketKind::Ack => starts.partition_point(|start| {
                start.first < packet.sequence || (start.first == packet.sequence && start.syn <= packet.stamp)
            }),
            PacketKind::Close => starts.partition_point(|start| start.first < packet.journal.into()),
            PacketKind::Request | PacketKind::Answer | PacketKind::Open => {
                starts.partition_point(|start| start.syn <= packet.stamp)
            }
        };
        connection(starts, begun)
    }

    /// Returns the connection that a data packet of a flow is of.
    pub(crate) fn of_data(&self, flow: u32, packet: u64) -> Connection {
        let starts = self.starts(flow);
        connection(starts, starts.partition_point(|start| start.first <= packet))
    }

    fn starts(&self, flow: u32) -> &[Start] {
        self.0.get(&flow).map_or(&[][..], Vec::as_slice)
    }
}

/// Returns the connection with a number of others before it.
fn connection(starts: &[Start], begun: usize) -> Connection {
    let first = begun.checked_sub(1).map_or(0, |last| starts[last].first);
    let end = starts.get(begun).filter(|next| next.follows_fin).map(|next| next.first);
    Connection { number: to_u32(begun), first, end }
}

/// Parts of what was captured of a flow that say where its connections begin.
#[derive(Debug, Default)]
struct Seen {
    /// Numbers of the packets after those that were sent before an instant, or by it (`true`).
    reached: Vec<(Time, bool, u64)>,
    /// Transmissions of SYNs that arrive.
    syns: BTreeSet<Time>,
    /// Numbers of the packets after those with a FIN.
    ends: BTreeSet<u64>,
}

impl Seen {
    fn take(&mut self, row: &CaptureRow) {
        let packet = &row.packet;
        let (time, by_then, reached) = match packet.kind {
            PacketKind::Data | PacketKind::Retransmission => (packet.stamp, false, packet.sequence + 1),
            PacketKind::Ack => (row.time, true, packet.sequence),
            PacketKind::Request | PacketKind::Answer if is_syn(packet.journal) => {
                self.syns.insert(packet.stamp);
                return;
            }
            _ => return,
        };
        self.reached.push((time, by_then, reached));
        if packet.marks.has(Marks::FIN) {
            self.ends.insert(reached);
        }
    }

    /// Returns the starts of the connections after the first one, in order.
    fn starts(mut self) -> Vec<Start> {
        self.reached.sort_unstable();
        let mut firsts: BTreeMap<u64, Time> = self.ends.iter().map(|&end| (end, Time::NEVER)).collect();
        let (mut reached, mut first) = (self.reached.into_iter().peekable(), 0);
        for syn in self.syns {
            // All packets of the connections before were sent before the SYN; their last ACK may have come at that instant.
            while let Some((.., next)) = reached.next_if(|&(time, by_then, _)| time < syn || (by_then && time == syn)) {
                first = first.max(next);
            }
            let known = firsts.entry(first).or_insert(syn);
            *known = syn.min(*known);
        }
        firsts.remove(&0);
        firsts.into_iter().map(|(first, syn)| Start { first, syn, follows_fin: self.ends.contains(&first) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> Time {
        Time::from_ticks(ticks)
    }

    /// Returns a row of a packet that was sent at an instant and leaves the link 5 ticks later.
    fn sent(kind: PacketKind, stamp: u64, sequence: u64) -> CaptureRow {
        let packet = Packet { kind, sequence, stamp: at(stamp), ..Packet::default() };
        CaptureRow { time: at(stamp + 5), link: 0, packet }
    }

    fn finish(mut row: CaptureRow) -> CaptureRow {
        row.packet.marks = Marks::FIN;
        row
    }

    fn connections(rows: &[CaptureRow]) -> Connections {
        let mut seen = Seen::default();
        rows.iter().for_each(|row| seen.take(row));
        Connections(BTreeMap::from([(0, seen.starts())]))
    }

    const SYN: u64 = u64::MAX;

    fn syn(stamp: u64) -> CaptureRow {
        let mut row = sent(PacketKind::Request, stamp, SYN);
        row.packet.journal = 1;
        row
    }

    #[test]
    fn each_syn_begins_a_connection_behind_all_data_before_it_and_a_repeated_one_does_not() {
        let data = |stamp, sequence| sent(PacketKind::Data, stamp, sequence);
        let again = sent(PacketKind::Retransmission, 30, 1);
        let rows = [syn(0), data(10, 0), data(11, 2), again, syn(100), syn(103), data(120, 3), data(121, 4), syn(200)];
        let found = connections(&rows);
        assert_eq!(
            found.0[&0],
            [(3, 100), (5, 200)].map(|(first, syn)| Start { first, syn: at(syn), follows_fin: false })
        );
        let number = |row: &CaptureRow| (found.of(&row.packet).number, found.of(&row.packet).first);
        let each = [(0, 0), (0, 0), (0, 0), (0, 0), (1, 3), (1, 3), (1, 3), (1, 3), (2, 5)];
        assert_eq!(rows.each_ref().map(number), each);
        // An ACK that asks for the first packet of a connection is of the one before if it echoes what was sent there, whenever
        // it comes.
        let ack = |echo, sequence| sent(PacketKind::Ack, echo, sequence);
        let acks = [ack(50, 2), ack(99, 3), ack(100, 3), ack(131, 4)];
        assert_eq!(acks.each_ref().map(number), [(0, 0), (0, 0), (1, 3), (1, 3)]);
    }

    #[test]
    fn a_fin_ends_a_connection_where_nothing_opens_the_next() {
        let data = |stamp, sequence| sent(PacketKind::Data, stamp, sequence);
        let mut close = sent(PacketKind::Close, 60, SYN);
        close.packet.journal = 2;
        let rows = [data(10, 0), finish(data(11, 1)), sent(PacketKind::Ack, 40, 2), close, data(100, 2)];
        let found = connections(&rows);
        assert_eq!(found.0[&0], [Start { first: 2, syn: Time::NEVER, follows_fin: true }]);
        let each = rows.each_ref().map(|row| found.of(&row.packet)).map(|one| (one.number, one.end));
        assert_eq!(each, [(0, Some(2)), (0, Some(2)), (0, Some(2)), (0, Some(2)), (1, None)]);
    }

    #[test]
    fn acks_alone_show_where_connections_begin() {
        let answer = |time: u64, stamp: u64| {
            let mut row = syn(stamp);
            (row.packet.kind, row.time) = (PacketKind::Answer, at(time));
            row
        };
        let ack = |time: u64, sequence| sent(PacketKind::Ack, time - 5, sequence);
        // The last one passes the link as the next SYN is sent, where nothing lies between.
        let rows = [answer(20, 0), ack(40, 1), ack(100, 2), answer(120, 100), ack(140, 3)];
        assert_eq!(connections(&rows).0[&0], [Start { first: 2, syn: at(100), follows_fin: false }]);
    }
}
