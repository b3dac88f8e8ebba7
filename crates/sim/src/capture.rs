//! Captures as pcapng files, for tshark and similar tools: the packets that left a duplex link, as Ethernet frames with
//! IPv4 and TCP, or ICMP for pings.
//!
//! The engine knows a packet's number, flow and length; everything else is invented here, the same way each time.
//! - Instants are those at which the last bit leaves the link, to the nearest nanosecond (tshark 4.0 cannot count in
//!   picoseconds); time zero is the Unix epoch.
//! - Flow `i` (from 0) goes from 10.0.x.y to 10.1.x.y, where x.y is `i mod 65535 + 1`, from port `49152 + i / 65535`
//!   to port 9 (discard, RFC 863), so no two flows share addresses and ports.
//! - A packet's length is that of its IP datagram. Data carry 40 bytes of headers, options and zeros; packet `n` has the
//!   sequence number `1 + n * payload` modulo 2^32, as after a SYN with number 0. Where a flow has a handshake, its SYN
//!   and the answer have number 0, the hellos of TLS are payload of each side, and the data follow them. Where it has a
//!   close, each side's FIN takes the number behind its data. The connections of a source have the same ports, and each goes
//!   on with the numbers behind those of the one before (`capture_connections`).
//! - Options are timestamps and SACK blocks, if the flow has them, and those of a SYN (`capture_options`).
//! - An ACK carries no payload: an ACK of more bytes than its headers is filled with up to 40 bytes of TCP options (End of
//!   Option List, RFC 9293 section 3.1), then with an Ethernet trailer.
//! - Packets shorter than their headers are written longer: ACKs with 40 bytes and their options, data with 2 more (a retransmission with one
//!   byte of payload would look like a keep-alive).
//! - A ping is an ICMP echo request or echo reply (RFC 792) with 28 bytes of headers and zeros.
//! - All segments advertise the same window, 65535, whatever the receiver's window is: if it changed, tools would take
//!   duplicate ACKs for window updates.

use std::borrow::Cow;
use std::time::Duration;

use base::cast::{low_u32, to_u32};
use base::{Marks, Packet, PacketKind};
use etherparse::{IpEcn, IpHeaders, Ipv4Extensions, Ipv4Header, PacketBuilder};
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::PcapNgWriter;

use crate::capture_end::End;
use crate::capture_options::{Layout, PacketOptions};
use crate::capture_section::{interface, section};
use crate::capture_size::{block_bytes, duplex, too_large, ETHERNET, HEADERS, MOST_BYTES};
use crate::handshake::{hello_index, is_syn};
use crate::observe::CaptureRow;
use crate::outcome::Outcome;
use crate::scenario::{ElementConfig, Scenario, TrafficConfig};

/// Most bytes of TCP options.
const MOST_OPTIONS: u16 = 40;
/// Length of the headers of IPv4 and ICMP [bytes].
const PING_HEADERS: u16 = 28;
const HOPS: u8 = 64;
const WINDOW: u16 = u16::MAX;
/// pcapng, section 4.3: epb_flags, bits 0 and 1.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];

/// Returns the names of the duplex links that a scenario captures, in the scenario's order.
pub fn captured_links(scenario: &Scenario) -> Vec<&str> {
    let mut links: Vec<&str> = Vec::new();
    for name in scenario.trace.capture.iter().flatten() {
        if !links.contains(&duplex(name)) {
            links.push(duplex(name));
        }
    }
    links
}

/// Returns a duplex link's capture as a pcapng file with one interface: "outbound" is what left the link of that name,
/// "inbound" what left its reverse.
///
/// # Errors
/// Fails if the captures of the run are too large.
pub fn pcapng(scenario: &Scenario, outcome: &Outcome, link: &str) -> Result<Vec<u8>, String> {
    let rows = outcome.traces.capture.as_deref().unwrap_or_default();
    let here: Vec<bool> = scenario.elements.iter().map(|simplex| direction(simplex, link).is_some()).collect();
    let options = PacketOptions::new(scenario, outcome, rows, &here);
    let layouts: Vec<Layout> = scenario.members().map(|(entry, _)| Layout::of(&scenario.flows[entry])).collect();
    let length = |row: &CaptureRow| options.of(row.time, &row.packet, layouts[row.packet.flow as usize]).len();
    let bytes = rows.iter().map(|row| block_bytes(&row.packet, length(row))).sum();
    if bytes > MOST_BYTES {
        return Err(too_large(bytes, outcome.clock.seconds(outcome.measurement.end)));
    }
    write(scenario, outcome, link, &layouts, &options).map_err(|why| format!("trace.capture: {why}"))
}

type Failure = Box<dyn std::error::Error>;

fn write(
    scenario: &Scenario,
    outcome: &Outcome,
    link: &str,
    layouts: &[Layout],
    options: &PacketOptions,
) -> Result<Vec<u8>, Failure> {
    let directions: Vec<Option<u32>> = scenario.elements.iter().map(|simplex| direction(simplex, link)).collect();
    let entries: Vec<usize> = scenario.members().map(|(entry, _)| entry).collect();
    let mut writer = PcapNgWriter::with_section_header(Vec::new(), section(scenario, outcome.replication, link))?;
    writer.write_pcapng_block(interface(scenario, link))?;
    for row in outcome.traces.capture.iter().flatten() {
        let Some(flags) = directions[row.link as usize] else { continue };
        let flow = &scenario.flows[entries[row.packet.flow as usize]];
        let frame = match &flow.traffic {
            TrafficConfig::Ping { return_path, .. } => ping(&row.packet, return_path.contains(&(row.link as usize)))?,
            _ => {
                let layout = layouts[row.packet.flow as usize].in_connection(options.connection(&row.packet));
                frame(&row.packet, layout, options.of(row.time, &row.packet, layout))?
            }
        };
        let timestamp = Duration::from_nanos(outcome.clock.nanoseconds(row.time));
        writer.write_pcapng_block(block(timestamp, flags, frame))?;
    }
    Ok(writer.into_inner())
}

fn block(timestamp: Duration, flags: u32, frame: Vec<u8>) -> EnhancedPacketBlock<'static> {
    EnhancedPacketBlock {
        interface_id: 0,
        timestamp,
        original_len: to_u32(frame.len()),
        data: Cow::Owned(frame),
        options: vec![EnhancedPacketOption::Flags(flags)],
    }
}

fn direction(simplex: &ElementConfig, link: &str) -> Option<u32> {
    (duplex(simplex.name()) == link).then(|| if simplex.name() == link { OUTBOUND } else { INBOUND })
}

/// Returns the frame of a packet of a flow, with TCP options.
fn frame(packet: &Packet, layout: Layout, mut options: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let (near, far) = (End::sender(packet.flow), End::receiver(packet.flow));
    let (there, back) = ((near, far), (far, near));
    let hello = || u64::from(hello_index(packet.journal));
    let (sender, receiver) = (layout.sender_byte(0), layout.receiver_byte(0));
    // Behind the hellos, of which the second one is all that a receiver sends.
    let [client, server] = [layout.sender_byte(layout.hellos[0].into()), layout.receiver_byte(layout.hellos[1].into())];
    let byte = layout.byte(packet.sequence);
    // A FIN takes a number of its own.
    let fin = u32::from(packet.marks.has(Marks::FIN));
    let (ends, numbers, payload) = match packet.kind {
        PacketKind::Request if is_syn(packet.journal) => (there, Numbers::Syn(sender.wrapping_sub(1)), 0),
        PacketKind::Answer if is_syn(packet.journal) => (back, Numbers::SynAck(receiver.wrapping_sub(1), sender), 0),
        PacketKind::Request => (there, Numbers::Ack(layout.sender_byte(hello()), receiver), layout.payload),
        PacketKind::Answer => (back, Numbers::Ack(layout.receiver_byte(hello()), client), layout.payload),
        PacketKind::Ack => {
            // The receiver acknowledges a FIN with its own, and what it sends later is behind that.
            let behind = u32::from(fin == 0 && layout.connection.end == Some(packet.sequence));
            (back, Numbers::Ack(server.wrapping_add(behind), byte.wrapping_add(fin + behind)), 0)
        }
        PacketKind::Open => (there, Numbers::Ack(sender, receiver), 0),
        PacketKind::Close => {
            let end = layout.byte(packet.journal.into()).wrapping_add(1);
            (there, Numbers::Ack(end, server.wrapping_add(1)), 0)
        }
        PacketKind::Data | PacketKind::Retransmission => {
            (there, Numbers::Ack(byte, server), layout.payload_of(packet.sequence))
        }
    };
    if payload == 0 {
        let filled = usize::from(packet.bytes.saturating_sub(HEADERS).min(MOST_OPTIONS) & !3);
        options.resize(options.len().max(filled), 0);
    }
    segment(ends, numbers, (&options, payload), packet)
}

/// The flags of a segment, and its sequence and acknowledgment numbers.
#[derive(Clone, Copy, Debug)]
enum Numbers {
    Syn(u32),
    SynAck(u32, u32),
    Ack(u32, u32),
}

/// Returns the frame of an echo request, or of its echo.
fn ping(packet: &Packet, is_echo: bool) -> Result<Vec<u8>, Failure> {
    let (near, far) = (End::sender(packet.flow), End::receiver(packet.flow));
    let (identifier, (from, to)) = (near.port, if is_echo { (far, near) } else { (near, far) });
    let ip = PacketBuilder::ethernet2(from.mac, to.mac).ipv4(from.address, to.address, HOPS);
    // The identifier distinguishes the flows of equal addresses as their ports do; the number is modulo 2^16.
    let [_, _, low, lowest] = low_u32(packet.sequence).to_be_bytes();
    let number = u16::from_be_bytes([low, lowest]);
    let echo =
        if is_echo { ip.icmpv4_echo_reply(identifier, number) } else { ip.icmpv4_echo_request(identifier, number) };
    let length = ETHERNET + usize::from(packet.bytes.max(HEADERS));
    let mut frame = Vec::with_capacity(length);
    echo.write(&mut frame, &ZEROS[..usize::from(packet.bytes.saturating_sub(PING_HEADERS))])?;
    frame.resize(frame.len().max(length), 0);
    Ok(frame)
}

/// Returns a frame from the first end to the second, with a sequence number and an ACK number, options, a payload, and
/// the ECN bits and the length of a packet.
fn segment(
    (from, to): (End, End),
    numbers: Numbers,
    (options, payload): (&[u8], u16),
    packet: &Packet,
) -> Result<Vec<u8>, Failure> {
    let marks = packet.marks;
    let length = ETHERNET + usize::from(packet.bytes.max(HEADERS));
    let mut frame = Vec::with_capacity(length);
    let ip = Ipv4Header {
        source: from.address,
        destination: to.address,
        time_to_live: HOPS,
        ecn: IpEcn::try_new(marks.codepoint())?,
        ..Ipv4Header::default()
    };
    let ip = PacketBuilder::ethernet2(from.mac, to.mac).ip(IpHeaders::Ipv4(ip, Ipv4Extensions::default()));
    let tcp = |sequence| ip.tcp(from.port, to.port, sequence, WINDOW);
    let mut flagged = match numbers {
        Numbers::Syn(sequence) => tcp(sequence).syn(),
        Numbers::SynAck(sequence, acknowledgment) => tcp(sequence).syn().ack(acknowledgment),
        Numbers::Ack(sequence, acknowledgment) => tcp(sequence).ack(acknowledgment),
    };
    if marks.has(Marks::ECE) {
        flagged = flagged.ece();
    }
    if marks.has(Marks::CWR) {
        flagged = flagged.cwr();
    }
    if marks.has(Marks::PSH) {
        flagged = flagged.psh();
    }
    if marks.has(Marks::FIN) {
        flagged = flagged.fin();
    }
    if marks.has(Marks::AE) {
        // The first of the reserved bits, which once was ECN's nonce.
        flagged = flagged.ns();
    }
    flagged.options_raw(options)?.write(&mut frame, &ZEROS[..usize::from(payload)])?;
    frame.resize(frame.len().max(length), 0);
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{NetSlice, SlicedPacket, TcpSlice, TransportSlice};
    use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
    use pcap_file::DataLink;

    fn packet(kind: PacketKind, sequence: u64, bytes: u16) -> Packet {
        Packet { kind, sequence, bytes, ..Packet::default() }
    }

    /// Returns the frame of a packet without options, of a flow whose data packets have a length.
    fn plain(data_bytes: u16, packet: Packet) -> Vec<u8> {
        frame(&packet, Layout::new(data_bytes, false), Vec::new()).unwrap()
    }

    /// Returns the lengths of the IP datagram and of the TCP payload; verifies both checksums.
    fn read(frame: &[u8], check: impl Fn(&TcpSlice)) -> (u16, usize) {
        let sliced = SlicedPacket::from_ethernet(frame).unwrap();
        let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) = (sliced.net, sliced.transport) else {
            panic!("not TCP over IPv4")
        };
        assert_eq!(ip.header().header_checksum(), ip.header().to_header().calc_header_checksum());
        let (from, to) = (ip.header().source(), ip.header().destination());
        assert_eq!(tcp.checksum(), tcp.calc_checksum_ipv4(from, to).unwrap());
        check(&tcp);
        (ip.header().total_len(), tcp.payload().len())
    }

    #[test]
    fn a_frame_is_as_long_as_its_packet_and_its_link_header() {
        for bytes in [42, 43, 512, 1500, 65535] {
            let frame = plain(bytes, packet(PacketKind::Data, 3, bytes));
            assert_eq!(frame.len(), 14 + usize::from(bytes));
            assert_eq!(read(&frame, |_| ()), (bytes, usize::from(bytes) - 40));
        }
    }

    /// RFC 3168 sections 5 and 6.1.
    #[test]
    fn a_frame_has_the_ecn_bits_of_its_packet() {
        let sent = Marks::ECT.with(Marks::CWR).with(Marks::SLOW_START);
        let [plain, sent, marked] = [Marks::NONE, sent, Marks::CE.with(Marks::ECE)].map(|marks| {
            let frame = plain(1500, Packet { marks, ..packet(PacketKind::Data, 3, 1500) });
            let sliced = SlicedPacket::from_ethernet(&frame).unwrap();
            let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) = (sliced.net, sliced.transport) else {
                panic!("not TCP over IPv4")
            };
            (ip.header().ecn().value(), tcp.cwr(), tcp.ece())
        });
        assert_eq!([plain, sent, marked], [(0, false, false), (2, true, false), (3, false, true)]);
    }

    #[test]
    fn an_ack_has_no_payload_however_long_it_is() {
        for (bytes, datagram) in [(40, 40), (43, 40), (52, 52), (80, 80), (84, 80), (1500, 80)] {
            let frame = plain(512, packet(PacketKind::Ack, 3, bytes));
            assert_eq!(frame.len(), 14 + usize::from(bytes));
            let length = read(&frame, |tcp| assert_eq!(tcp.acknowledgment_number(), 1 + 3 * 472));
            assert_eq!(length, (datagram, 0));
        }
    }

    #[test]
    fn packets_shorter_than_their_headers_are_written_longer() {
        for bytes in [1, 40, 41] {
            let data = plain(bytes, packet(PacketKind::Retransmission, 3, bytes));
            assert_eq!(read(&data, |tcp| assert_eq!(tcp.sequence_number(), 1 + 3 * 2)), (42, 2));
        }
        assert_eq!(plain(1, packet(PacketKind::Ack, 3, 1)).len(), 54);
    }

    #[test]
    fn a_handshake_has_its_flags_and_data_follow_the_hellos() {
        let layout = Layout { hellos: [1, 3], ..Layout::new(1000, false) };
        let at = |kind, journal, bytes| Packet { journal, ..packet(kind, u64::MAX, bytes) };
        let read_of =
            |packet: &Packet, check: &dyn Fn(&TcpSlice)| read(&frame(packet, layout, Vec::new()).unwrap(), check);
        let numbers = |tcp: &TcpSlice| (tcp.syn(), tcp.ack(), tcp.sequence_number(), tcp.acknowledgment_number());
        let syn = at(PacketKind::Request, 1, 60);
        assert_eq!(read_of(&syn, &|tcp| assert_eq!(numbers(tcp), (true, false, 0, 0))), (60, 0));
        let answer = at(PacketKind::Answer, 1, 60);
        assert_eq!(read_of(&answer, &|tcp| assert_eq!(numbers(tcp), (true, true, 0, 1))), (60, 0));
        let open = at(PacketKind::Open, 0, 52);
        assert_eq!(read_of(&open, &|tcp| assert_eq!(numbers(tcp), (false, true, 1, 1))), (52, 0));
        let hello = at(PacketKind::Request, 257, 1000);
        assert_eq!(read_of(&hello, &|tcp| assert_eq!(numbers(tcp), (false, true, 1, 1))), (1000, 960));
        let server = at(PacketKind::Answer, 259, 1000);
        assert_eq!(read_of(&server, &|tcp| assert_eq!(numbers(tcp), (false, true, 1921, 961))), (1000, 960));
        let data = packet(PacketKind::Data, 2, 1000);
        assert_eq!(read_of(&data, &|tcp| assert_eq!(numbers(tcp), (false, true, 2881, 2881))), (1000, 960));
        let ack = packet(PacketKind::Ack, 3, 40);
        assert_eq!(read_of(&ack, &|tcp| assert_eq!(numbers(tcp), (false, true, 2881, 3841))), (40, 0));
    }

    #[test]
    fn options_make_a_frame_longer_where_its_packet_has_no_room() {
        let layout = Layout::new(1500, true);
        let options = |bytes: u16| frame(&packet(PacketKind::Ack, 3, bytes), layout, vec![1; 24]).unwrap();
        for (bytes, datagram) in [(40, 64), (64, 64), (72, 72), (1500, 80)] {
            let frame = options(bytes);
            assert_eq!(read(&frame, |tcp| assert_eq!(tcp.options()[..24], [1; 24])), (datagram, 0));
            let block = 44 + frame.len().next_multiple_of(4) as u64;
            assert_eq!(block, block_bytes(&packet(PacketKind::Ack, 3, bytes), 24));
        }
        let data = frame(&packet(PacketKind::Data, 3, 1500), layout, vec![1; 12]).unwrap();
        assert_eq!(read(&data, |tcp| assert_eq!(tcp.sequence_number(), 1 + 3 * 1448)), (1500, 1448));
    }

    #[test]
    fn sequence_numbers_wrap_as_in_tcp() {
        let number = (1_u64 << 32) / 960 + 1;
        let frame = plain(1000, packet(PacketKind::Data, number, 1000));
        read(&frame, |tcp| assert_eq!(u64::from(tcp.sequence_number()), 1 + number * 960 - (1 << 32)));
    }

    #[test]
    fn no_two_flows_share_their_ends() {
        let ends = |flow| {
            let (sender, receiver) = (End::sender(flow), End::receiver(flow));
            (sender.mac, sender.address, sender.port, receiver.address, receiver.port)
        };
        assert_eq!(ends(0), ([2, 0, 10, 0, 0, 1], [10, 0, 0, 1], 49152, [10, 1, 0, 1], 9));
        assert_eq!(ends(65534).1, [10, 0, 255, 255]);
        assert_eq!((ends(65535).1, ends(65535).2), ([10, 0, 0, 1], 49153));
        let all: std::collections::BTreeSet<_> = (0..200_000).map(ends).collect();
        assert_eq!(all.len(), 200_000);
    }

    #[test]
    fn a_block_is_as_long_as_predicted() {
        for bytes in [42, 43, 44, 45, 1500] {
            let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
            let interface = InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options: Vec::new() };
            writer.write_pcapng_block(interface).unwrap();
            let packet = packet(PacketKind::Data, 0, bytes);
            let frame = plain(bytes, packet);
            let written = writer.write_pcapng_block(block(Duration::ZERO, OUTBOUND, frame)).unwrap();
            assert_eq!(written as u64, block_bytes(&packet, 0));
        }
    }
}
