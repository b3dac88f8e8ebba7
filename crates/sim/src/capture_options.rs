//! The TCP options of captured packets: timestamps (RFC 7323) and SACK blocks (RFC 2018, RFC 2883).
//!
//! The engine carries neither of them in packets: a packet has a stamp, and an ACK the number of what it makes known. The
//! blocks are made again from the receiver's log. Timestamps count milliseconds, from 1 at time zero.

use std::collections::BTreeMap;

use base::cast::low_u32;
use base::{Clock, Packet, PacketKind, Time};
use tcp::{AckKey, Selected, SenderConfig};

use crate::capture_size::{HEADERS, LEAST_PAYLOAD};
use crate::observe::CaptureRow;
use crate::outcome::Outcome;
use crate::scenario::{FlowConfig, HandshakeConfig, Scenario};

/// Sequence number of the first byte of data, and of the first byte that a receiver would send.
pub(crate) const FIRST_BYTE: u32 = 1;
/// Length of the timestamps option with its padding \[bytes\].
const TIMESTAMPS: u16 = 12;
/// Most SACK blocks with timestamps, and without them.
const MOST_BLOCKS: [usize; 2] = [3, 4];
const NANOSECONDS_PER_MS: u64 = 1_000_000;

const NOP: u8 = 1;
const SACK: u8 = 5;
const TIMESTAMP: u8 = 8;

/// The layout of a flow's segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Payload of a data packet \[bytes\].
    pub(crate) payload: u16,
    pub(crate) timestamps: bool,
    /// Numbers of packets in the hellos of TLS: of the sender, and of the receiver.
    pub(crate) hellos: [u32; 2],
}

impl Layout {
    /// Returns the layout of a flow's segments.
    pub(crate) fn of(flow: &FlowConfig) -> Layout {
        let sender = flow.connection().map(|tcp| &tcp.sender);
        let timestamps = matches!(sender, Some(SenderConfig::Selective(config)) if config.timestamps);
        Layout { hellos: hellos(flow), ..Layout::new(flow.packet_bytes, timestamps) }
    }

    /// Returns the layout of data packets of a length, with timestamps or without.
    pub(crate) fn new(packet_bytes: u16, timestamps: bool) -> Layout {
        let options = if timestamps { TIMESTAMPS } else { 0 };
        Layout {
            payload: packet_bytes.saturating_sub(HEADERS + options).max(LEAST_PAYLOAD),
            timestamps,
            hellos: [0; 2],
        }
    }

    /// Returns the sequence number of the first byte of a data packet, which follow the hello.
    pub(crate) fn byte(&self, packet: u64) -> u32 {
        self.hello_byte(packet.wrapping_add(self.hellos[0].into()))
    }

    /// Returns the sequence number of the first byte of a packet of a hello.
    pub(crate) fn hello_byte(&self, packet: u64) -> u32 {
        FIRST_BYTE.wrapping_add(low_u32(packet.wrapping_mul(u64::from(self.payload))))
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
    /// Departures of each flow's ACKs from the link, in order.
    acks: BTreeMap<u32, Vec<Time>>,
}

impl PacketOptions {
    /// Returns the options of packets that are captured on a duplex link, whose directions `here` has; their lengths are
    /// those of all links.
    pub(crate) fn new(scenario: &Scenario, outcome: &Outcome, rows: &[CaptureRow], here: &[bool]) -> PacketOptions {
        let members: Vec<usize> = scenario.members().map(|(entry, _)| entry).collect();
        let (mut keys, mut acks) = (BTreeMap::<u32, Vec<AckKey>>::new(), BTreeMap::<u32, Vec<Time>>::new());
        for CaptureRow { time, link, packet } in rows.iter().filter(|row| row.packet.kind == PacketKind::Ack) {
            if scenario.flows[members[packet.flow as usize]].connection().is_none() {
                continue;
            }
            keys.entry(packet.flow).or_default().push((packet.sequence, packet.journal));
            if here[*link as usize] {
                acks.entry(packet.flow).or_default().push(*time);
            }
        }
        let of_flow = |(flow, log): (&u32, &tcp::SackLog)| (*flow, log.blocks(keys.remove(flow).into_iter().flatten()));
        let blocks = outcome.traces.sack_logs.iter().map(of_flow).collect();
        PacketOptions { clock: outcome.clock, blocks, acks }
    }

    /// Returns the options of a packet that left the link at an instant.
    pub(crate) fn of(&self, time: Time, packet: &Packet, layout: Layout) -> Vec<u8> {
        let mut bytes = Vec::new();
        if layout.timestamps {
            let (value, echo) = self.stamps(time, packet);
            bytes.extend([NOP, NOP, TIMESTAMP, 10]);
            bytes.extend(value.to_be_bytes().into_iter().chain(echo.to_be_bytes()));
        }
        let blocks = self.blocks_of(packet, layout);
        if !blocks.is_empty() {
            let length = u8::try_from(2 + 8 * blocks.len()).expect("four blocks at most");
            bytes.extend([NOP, NOP, SACK, length]);
            for block in blocks {
                bytes.extend([block.first, block.end].into_iter().flat_map(|edge| layout.byte(edge).to_be_bytes()));
            }
        }
        bytes
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

    /// Returns TSval and TSecr of a packet. Data know when they were sent, and echo the newest ACK that had left the link
    /// by then; ACKs know what they echo, and are stamped as they leave the link.
    fn stamps(&self, time: Time, packet: &Packet) -> (u32, u32) {
        if packet.kind == PacketKind::Ack {
            return (self.milliseconds(time), self.milliseconds(packet.stamp));
        }
        let acks = self.acks.get(&packet.flow).map_or(&[][..], Vec::as_slice);
        let newest = acks.partition_point(|&left| left <= packet.stamp).checked_sub(1);
        (self.milliseconds(packet.stamp), newest.map_or(0, |index| self.milliseconds(acks[index])))
    }

    fn milliseconds(&self, time: Time) -> u32 {
        low_u32(1 + self.clock.nanoseconds(time) / NANOSECONDS_PER_MS)
    }
}
