//! The TCP options of captured packets: timestamps (RFC 7323), SACK blocks (RFC 2018, RFC 2883), and those of a SYN and its
//! answer, in the order of Linux (`tcp_options_write`).
//!
//! The engine carries neither of them in packets: a packet has a stamp, and an ACK the number of what it makes known. The
//! blocks are made again from the receiver's log. Timestamps count milliseconds, from 1 at time zero.

use std::collections::BTreeMap;

use base::cast::low_u32;
use base::{Clock, Packet, PacketKind, Time};
use tcp::{AckKey, Selected, SenderConfig};

use crate::capture_connections::{Connection, Connections};
use crate::capture_size::{HEADERS, LEAST_PAYLOAD};
use crate::handshake::is_syn;
use crate::observe::CaptureRow;
use crate::outcome::Outcome;
use crate::scenario::{FlowConfig, HandshakeConfig, Scenario};

/// Sequence number of the first byte that an end sends in its first connection.
const FIRST_BYTE: u32 = 1;
/// Length of the timestamps option with its padding \[bytes\].
const TIMESTAMPS: u16 = 12;
/// Most SACK blocks with timestamps, and without them.
const MOST_BLOCKS: [usize; 2] = [3, 4];
const NANOSECONDS_PER_MS: u64 = 1_000_000;

const NOP: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMP: u8 = 8;

/// The layout of a flow's segments in one of its connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Payload of a data packet \[bytes\].
    pub(crate) payload: u16,
    pub(crate) timestamps: bool,
    /// Numbers of packets in the hellos of TLS: of the sender, and of the receiver.
    pub(crate) hellos: [u32; 2],
    /// Number of the last packet of the transfer and its payload, if that is another one \[bytes\].
    pub(crate) last: Option<(u64, u16)>,
    /// Largest payload that the ends announce in their SYNs \[bytes\].
    pub(crate) mss: u16,
    /// Whether they permit selective acknowledgment.
    pub(crate) sack: bool,
    /// Shift of the windows that they announce, if they scale them.
    pub(crate) shift: Option<u8>,
    /// Sequence numbers that a SYN and a FIN take, of each end in each connection.
    pub(crate) flags: u32,
    /// The connection whose segments these are.
    pub(crate) connection: Connection,
}

impl Layout {
    /// Returns the layout of a flow's segments in its first connection.
    pub(crate) fn of(flow: &FlowConfig) -> Layout {
        let Some(tcp) = flow.connection() else { return Layout::new(flow.packet_bytes, false) };
        let timestamps = matches!(&tcp.sender, SenderConfig::Selective(config) if config.timestamps);
        let layout = Layout::new(flow.packet_bytes, timestamps);
        let last = flow.size_packets().zip(tcp.last_packet_bytes());
        Layout {
            hellos: hellos(flow),
            last: last.map(|(packets, bytes)| (packets - 1, Layout::new(bytes, timestamps).payload)),
            sack: tcp.receiver.selective,
            shift: tcp.receiver.linux.map(|linux| linux.window_shift()),
            flags: u32::from(tcp.handshake.is_some()) + u32::from(tcp.closes()),
            ..layout
        }
    }

    /// Returns the layout of data packets of a length, with timestamps or without.
    pub(crate) fn new(packet_bytes: u16, timestamps: bool) -> Layout {
        let options = if timestamps { TIMESTAMPS } else { 0 };
        Layout {
            payload: packet_bytes.saturating_sub(HEADERS + options).max(LEAST_PAYLOAD),
            timestamps,
            hellos: [0; 2],
            last: None,
            mss: packet_bytes.saturating_sub(HEADERS).max(LEAST_PAYLOAD),
            sack: false,
            shift: None,
            flags: 0,
            connection: Connection::default(),
        }
    }

    /// Returns the layout of the segments of another connection.
    pub(crate) fn in_connection(self, connection: Connection) -> Layout {
        Layout { connection, ..self }
    }

    /// Returns the payload of a data packet \[bytes\].
    pub(crate) fn payload_of(&self, packet: u64) -> u16 {
        self.last.filter(|&(last, _)| last == packet).map_or(self.payload, |(_, payload)| payload)
    }

    /// Returns the sequence number of the first byte of a data packet, which follow the hello.
    pub(crate) fn byte(&self, packet: u64) -> u32 {
        let missing = self.last.filter(|&(last, _)| low_u32(packet) == low_u32(last + 1));
        let short = missing.map_or(0, |(_, payload)| u32::from(self.payload.saturating_sub(payload)));
        let sent = packet.wrapping_sub(self.connection.first).wrapping_add(self.hellos[0].into());
        self.sender_byte(sent).wrapping_sub(short)
    }

    /// Returns the sequence number of the first byte of a packet of the sender, counted from its hello on.
    pub(crate) fn sender_byte(&self, packet: u64) -> u32 {
        self.number(0, self.connection.first.wrapping_add(packet))
    }

    /// Returns the sequence number of the first byte of a packet of the receiver's hello.
    pub(crate) fn receiver_byte(&self, packet: u64) -> u32 {
        self.number(1, packet)
    }

    /// Returns the sequence number of an end behind the SYNs, hellos and FINs of its connections before, and some packets.
    fn number(&self, end: usize, packets: u64) -> u32 {
        let bytes = |packets: u64| low_u32(packets.wrapping_mul(self.payload.into()));
        let before = self.flags.wrapping_add(bytes(self.hellos[end].into())).wrapping_mul(self.connection.number);
        FIRST_BYTE.wrapping_add(before).wrapping_add(bytes(packets))
    }
}

/// Returns the numbers of packets in the hellos of a flow: of its sender, and of its receiver.
fn hellos(flow: &FlowConfig) -> [u32; 2] {
    match flow.connection().and_then(|tcp| tcp.handshake) {
        Some(HandshakeConfig { client_hello_packets: client @ 1.., server_hello_packets: server, .. }) => {
            [client, server.max(1)]
        }
        _ => [0, 0],
    }
}

/// The options of all packets of a run's captures.
#[derive(Debug)]
pub(crate) struct PacketOptions {
    clock: Clock,
    /// Blocks of ACKs by flow.
    blocks: BTreeMap<u32, BTreeMap<AckKey, Vec<Selected>>>,
    connections: Connections,
    /// Departures of each flow's ACKs and answers of its handshake from the link, in order.
    acks: BTreeMap<u32, Vec<Time>>,
}

impl PacketOptions {
    /// Returns the options of packets that are captured on a duplex link, whose directions `here` has; their lengths are
    /// those of all links.
    pub(crate) fn new(scenario: &Scenario, outcome: &Outcome, rows: &[CaptureRow], here: &[bool]) -> PacketOptions {
        let members: Vec<usize> = scenario.members().map(|(entry, _)| entry).collect();
        let (mut keys, mut acks) = (BTreeMap::<u32, Vec<AckKey>>::new(), BTreeMap::<u32, Vec<Time>>::new());
        for CaptureRow { time, link, packet } in rows.iter().filter(|row| row.packet.kind.goes_back()) {
            if scenario.flows[members[packet.flow as usize]].connection().is_none() {
                continue;
            }
            if packet.kind == PacketKind::Ack {
                keys.entry(packet.flow).or_default().push((packet.sequence, packet.journal));
            }
            if here[*link as usize] {
                acks.entry(packet.flow).or_default().push(*time);
            }
        }
        let of_flow = |(flow, log): (&u32, &tcp::SackLog)| (*flow, log.blocks(keys.remove(flow).into_iter().flatten()));
        let blocks = outcome.traces.sack_logs.iter().map(of_flow).collect();
        PacketOptions { clock: outcome.clock, blocks, connections: Connections::new(scenario, rows), acks }
    }

    /// Returns the connection that a captured packet is of.
    pub(crate) fn connection(&self, packet: &Packet) -> Connection {
        self.connections.of(packet)
    }

    /// Returns the options of a packet that left the link at an instant.
    pub(crate) fn of(&self, time: Time, packet: &Packet, layout: Layout) -> Vec<u8> {
        let mut bytes = Vec::new();
        let timestamps = layout.timestamps.then(|| self.timestamps(time, packet));
        if is_of_handshake(packet) && is_syn(packet.journal) {
            return syn_options(layout, timestamps);
        }
        if let Some(timestamps) = timestamps {
            bytes.extend([NOP, NOP].into_iter().chain(timestamps));
        }
        let blocks = self.blocks_of(packet, layout);
        if !blocks.is_empty() {
            let length = u8::try_from(2 + 8 * blocks.len()).expect("four blocks at most");
            bytes.extend([NOP, NOP, SACK, length]);
            for block in blocks {
                // A duplicate may be of an earlier connection than the ACK.
                let layout = layout.in_connection(self.connections.of_data(packet.flow, block.first));
                bytes.extend([block.first, block.end].into_iter().flat_map(|edge| layout.byte(edge).to_be_bytes()));
            }
        }
        bytes
    }

    /// Returns the timestamps of a packet as an option.
    fn timestamps(&self, time: Time, packet: &Packet) -> [u8; 10] {
        let (value, echo) = self.stamps(time, packet);
        let ([a, b, c, d], [e, f, g, h]) = (value.to_be_bytes(), echo.to_be_bytes());
        [TIMESTAMP, 10, a, b, c, d, e, f, g, h]
    }

    /// Returns the SACK blocks of a packet, as many as fit.
    fn blocks_of(&self, packet: &Packet, layout: Layout) -> &[Selected] {
        if packet.kind != PacketKind::Ack {
            return &[];
        }
        let found = self.blocks.get(&packet.flow).and_then(|acks| acks.get(&(packet.sequence, packet.journal)));
        let blocks = found.map_or(&[][..], Vec::as_slice);
        &blocks[..blocks.len().min(MOST_BLOCKS[usize::from(!layout.timestamps)])]
    }

    /// Returns TSval and TSecr of a packet. Data know when they were sent, and echo the newest answer that had left the link
    /// by then, a SYN nothing; ACKs and answers know what they echo, and are stamped as they leave the link.
    fn stamps(&self, time: Time, packet: &Packet) -> (u32, u32) {
        if packet.kind.goes_back() {
            return (self.milliseconds(time), self.milliseconds(packet.stamp));
        }
        if packet.kind == PacketKind::Request && is_syn(packet.journal) {
            return (self.milliseconds(packet.stamp), 0);
        }
        let acks = self.acks.get(&packet.flow).map_or(&[][..], Vec::as_slice);
        let newest = acks.partition_point(|&left| left <= packet.stamp).checked_sub(1);
        (self.milliseconds(packet.stamp), newest.map_or(0, |index| self.milliseconds(acks[index])))
    }

    fn milliseconds(&self, time: Time) -> u32 {
        low_u32(1 + self.clock.nanoseconds(time) / NANOSECONDS_PER_MS)
    }
}

fn is_of_handshake(packet: &Packet) -> bool {
    matches!(packet.kind, PacketKind::Request | PacketKind::Answer)
}

/// Returns the options of a SYN or of its answer: the largest segment (RFC 9293 section 3.7.1), whether selective
/// acknowledgment is permitted (RFC 2018 section 2), timestamps and the shift of windows (RFC 7323 sections 2.2, 3.2).
fn syn_options(layout: Layout, timestamps: Option<[u8; 10]>) -> Vec<u8> {
    let [high, low] = layout.mss.to_be_bytes();
    let mut bytes = vec![MAXIMUM_SEGMENT_SIZE, 4, high, low];
    match (layout.sack, timestamps) {
        (sack, Some(timestamps)) => {
            bytes.extend(if sack { [SACK_PERMITTED, 2] } else { [NOP, NOP] });
            bytes.extend(timestamps);
        }
        (true, None) => bytes.extend([NOP, NOP, SACK_PERMITTED, 2]),
        (false, None) => {}
    }
    if let Some(shift) = layout.shift {
        bytes.extend([NOP, WINDOW_SCALE, 3, shift]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The orders are those of Linux's SYNs, as `tcpdump` shows them.
    #[test]
    fn a_syn_has_the_options_of_its_connection() {
        let plain = Layout::new(1500, false);
        assert_eq!(syn_options(plain, None), [2, 4, 5, 0xb4]);
        let sack = Layout { sack: true, shift: Some(7), ..plain };
        assert_eq!(syn_options(sack, None), [2, 4, 5, 0xb4, 1, 1, 4, 2, 1, 3, 3, 7]);
        let stamps = [8, 10, 0, 0, 0, 1, 0, 0, 0, 0];
        let all = [&[2, 4, 5, 0xb4, 4, 2], &stamps[..], &[1, 3, 3, 7]].concat();
        assert_eq!(syn_options(sack, Some(stamps)), all);
        let no_sack = [&[2, 4, 5, 0xb4, 1, 1], &stamps[..]].concat();
        assert_eq!(syn_options(plain, Some(stamps)), no_sack);
    }

    #[test]
    fn numbers_behind_a_short_packet_are_smaller() {
        let layout = Layout { last: Some((3, 100)), ..Layout::new(1040, false) };
        assert_eq!([2, 3, 4].map(|packet| layout.byte(packet)), [2001, 3001, 3101]);
        assert_eq!([2, 3].map(|packet| layout.payload_of(packet)), [1000, 100]);
    }
}
