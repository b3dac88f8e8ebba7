//! The ranges of the resolved scenario's numbers, as data: the checks read them, and so does whoever reads the
//! contract.

use serde::Serialize;

use super::{delay, loss, queue, rate};

/// The range of a field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// Path of the field in the resolved scenario; `[]` means any index, and a word in brackets behind it for a
    /// quantity of the field other than its value.
    pub field: &'static str,
    /// Unit; "1" for a pure number.
    pub unit: &'static str,
    /// Smallest value allowed. Other fields may narrow the range.
    pub low: f64,
    /// Largest value allowed.
    pub high: f64,
}

impl Limit {
    /// Returns the last part of the field's path.
    pub(super) fn name(&self) -> &'static str {
        self.field.rsplit('.').next().unwrap_or(self.field)
    }
}

/// Longest run \[s\]: `u64` ticks of a picosecond hold 1.8e7 s.
pub(super) const LONGEST_S: f64 = 1e7;
/// Longest delay \[s\].
pub(super) const LONGEST_DELAY_S: f64 = 1e5;
/// Largest number of packets of a hello: each is a bit of a word.
pub(super) const MOST_HELLO_PACKETS: f64 = 64.0;
/// Rates \[bit/s\]: at the highest, a packet of a byte takes about a picosecond.
pub(super) const RATES_BPS: (f64, f64) = (1.0, 1e13);
/// Most entries of a list.
pub(super) const MOST_ENTRIES: f64 = 1e6;
/// Most sizes from which transfers are drawn.
const MOST_SIZES: f64 = 1e7;
/// Largest transfer that a size law can draw \[packets\].
const LARGEST_SIZE: f64 = 1e12;
/// Largest length of a packet \[bytes\].
pub(super) const MOST_BYTES: f64 = u16::MAX as f64;
/// Priority levels of a link.
pub(super) const MOST_LEVELS: f64 = 8.0;
/// The shortest mean time between two changes of a delay, or two losses \[s\]: one packet may have to pass many of
/// them.
pub(super) const SHORTEST_STAY_S: f64 = 1e-6;

/// Defines a constant for each limit, and `OWN`, the list of all of them.
macro_rules! limits {
    ($($(#[$comment:meta])* $name:ident = $field:literal, $unit:literal, $low:expr, $high:expr;)*) => {
        $($(#[$comment])* pub(super) const $name: Limit = Limit { field: $field, unit: $unit, low: $low, high: $high };)*
        /// The ranges of this part of a scenario.
        pub(super) const OWN: &[Limit] = &[$($name),*];
    };
}
pub(super) use limits;

/// Returns the ranges of all fields.
pub fn all_limits() -> Vec<Limit> {
    [OWN, rate::OWN, delay::OWN, loss::OWN, queue::OWN].concat()
}

limits! {
    FORMAT = "format", "1", 3.0, 3.0;
    DURATION = "run.duration_s", "s", 1e-12, LONGEST_S;
    /// Narrowed by the duration.
    WARMUP = "run.warmup_s", "s", 0.0, LONGEST_S;

    ELEMENTS = "elements (how many)", "1", 0.0, 1e5;
    /// A flow takes about a kilobyte.
    FLOWS = "flows (how many)", "1", 0.0, 1e6;
    LIST_ENTRIES = "elements (entries of all lists)", "1", 0.0, 2.0 * MOST_ENTRIES;
    /// A run passes all of them, whatever its packets.
    RATE_CHANGES = "elements (changes of all rates)", "1", 0.0, 5e7;
    ALL_SIZES = "flows (sizes in all lists)", "1", 0.0, MOST_SIZES;

    LINK_RATE = "elements[].rate_bps", "bit/s", RATES_BPS.0, RATES_BPS.1;
    LINK_DELAY = "elements[].delay_s", "s", 0.0, LONGEST_DELAY_S;
    BUFFER_PACKETS = "elements[].buffer.packets", "packets", 1.0, 1e9;
    BUFFER_BYTES = "elements[].buffer.bytes", "bytes", 1.0, 1e15;
    PROCESSING_DATA = "elements[].data_s", "s", 0.0, LONGEST_DELAY_S;
    PROCESSING_ACK = "elements[].ack_s", "s", 0.0, LONGEST_DELAY_S;

    FORWARD_DELAY = "flows[].forward_delay_s", "s", 0.0, LONGEST_DELAY_S;
    RETURN_DELAY = "flows[].traffic.connection.return_delay_s", "s", 0.0, LONGEST_DELAY_S;
    START = "flows[].start_s", "s", 0.0, LONGEST_S;
    START_SPREAD = "flows[].start_spread_s", "s", 0.0, LONGEST_S;
    PACKET = "flows[].packet_bytes", "bytes", 1.0, MOST_BYTES;
    ACK = "flows[].traffic.connection.ack_bytes", "bytes", 1.0, MOST_BYTES;
    TRANSFER = "flows[].traffic.size_packets", "packets", 1.0, 1e15;
    /// Narrowed by the levels of the links on the path.
    PRIORITY = "flows[].priority", "1", 0.0, MOST_LEVELS - 1.0;
    /// Narrowed by the levels of the links on the return path.
    ACK_PRIORITY = "flows[].traffic.connection.ack_priority", "1", 0.0, MOST_LEVELS - 1.0;
    HOST = "flows[].host", "1", 0.0, 65535.0;
    FLOW_WEIGHT = "flows[].weight", "1", 1.0, 1000.0;
    COUNT = "flows[].count", "1", 1.0, 1e6;
    COPIES = "flows[].copies", "1", 1.0, 1e5;

    SYN = "flows[].traffic.connection.handshake.syn_bytes", "bytes", 1.0, MOST_BYTES;
    SYN_TIMEOUT = "flows[].traffic.connection.handshake.timeout_s", "s", 1e-6, LONGEST_DELAY_S;
    CLIENT_HELLO = "flows[].traffic.connection.handshake.client_hello_packets", "packets", 0.0, MOST_HELLO_PACKETS;
    SERVER_HELLO = "flows[].traffic.connection.handshake.server_hello_packets", "packets", 0.0, MOST_HELLO_PACKETS;

    /// All of the initial window leaves in one event.
    INITIAL_WINDOW = "flows[].traffic.connection.sender.initial_window", "packets", 1.0, 1e6;
    INITIAL_SSTHRESH = "flows[].traffic.connection.sender.initial_ssthresh", "packets", 1.0, 1e9;
    MAX_WINDOW = "flows[].traffic.connection.sender.max_window", "packets", 1.0, 1e9;
    SEND_BUFFER = "flows[].traffic.connection.sender.send_buffer.buffer_bytes", "bytes", 1.0, 1e15;
    SEND_MOST_BUFFER = "flows[].traffic.connection.sender.send_buffer.most_buffer_bytes", "bytes", 1.0, 1e15;
    WRITE = "flows[].traffic.connection.sender.push.write_bytes", "bytes", 1.0, 1e15;
    /// Narrowed by the length of the other packets.
    LAST_PACKET = "flows[].traffic.connection.sender.last_packet_bytes", "bytes", 1.0, MOST_BYTES;
    WRITES_PACKETS = "flows[].traffic.connection.sender.writes.packets", "packets", 1.0, 1e6;
    WRITES_INTERVAL = "flows[].traffic.connection.sender.writes.interval_s", "s", 1e-6, LONGEST_S;
    DUPACK_THRESHOLD = "flows[].traffic.connection.sender.dupack_threshold", "1", 1.0, 1e6;
    MAX_BURST = "flows[].traffic.connection.sender.max_burst", "packets", 1.0, 1e6;
    /// Narrowed by the estimator.
    GRANULARITY = "flows[].traffic.connection.sender.rto.granularity_s", "s", 0.0, LONGEST_DELAY_S;
    RTO_MIN = "flows[].traffic.connection.sender.rto.min_s", "s", 0.0, LONGEST_DELAY_S;
    RTO_MAX = "flows[].traffic.connection.sender.rto.max_s", "s", 1e-6, LONGEST_DELAY_S;
    RTO_INITIAL = "flows[].traffic.connection.sender.rto.initial_s", "s", 1e-6, LONGEST_DELAY_S;
    CLOCK_OFFSET = "flows[].traffic.connection.sender.rto.clock_offset_s", "s", 0.0, LONGEST_DELAY_S;
    RTO_K = "flows[].traffic.connection.sender.rto.k", "1", 1.0, 1000.0;
    MAX_BACKOFF = "flows[].traffic.connection.sender.rto.max_backoff", "1", 1.0, 1e9;
    ACK_EVERY = "flows[].traffic.connection.receiver.ack_every", "packets", 1.0, 1e6;
    ACK_DELAY = "flows[].traffic.connection.receiver.ack_delay_s", "s", 0.0, LONGEST_DELAY_S;
    /// RFC 2018 section 3: four blocks fill the options of a segment.
    ACK_BLOCKS = "flows[].traffic.connection.receiver.blocks.most", "1", 1.0, 4.0;
    ACK_BLOCK_BYTES = "flows[].traffic.connection.receiver.blocks.bytes", "bytes", 0.0, 8.0;

    SENDER_SEGMENT = "flows[].traffic.connection.sender.segment_bytes", "bytes", 1.0, MOST_BYTES;
    LINUX_SEGMENT = "flows[].traffic.connection.receiver.linux.segment_bytes", "bytes", 1.0, MOST_BYTES;
    LINUX_BUFFER = "flows[].traffic.connection.receiver.linux.buffer_bytes", "bytes", 1.0, 1e15;
    LINUX_MOST_BUFFER = "flows[].traffic.connection.receiver.linux.most_buffer_bytes", "bytes", 1.0, 1e15;

    SOURCE_RATE = "flows[].traffic.rate_bps", "bit/s", RATES_BPS.0, RATES_BPS.1;
    PING_INTERVAL = "flows[].traffic.interval_s", "s", 1e-6, LONGEST_S;
    ECHO_DELAY = "flows[].traffic.return_delay_s", "s", 0.0, LONGEST_DELAY_S;
    SIZE_CLASSES = "flows[].traffic.classes", "1", 0.0, 1000.0;
    SIZE_CLASS = "flows[].traffic.classes[]", "packets", 1.0, LARGEST_SIZE;
    ON_TIME = "flows[].traffic.on.mean_s", "s", 0.0, LONGEST_S;
    OFF_TIME = "flows[].traffic.off.mean_s", "s", 0.0, LONGEST_S;
    /// Fewer packets would let the source mostly search for its next packet.
    PACKETS_PER_ON_TIME = "flows[].traffic.on (packets in it)", "packets", 1e-3, f64::MAX;
    SIZE = "flows[].traffic.size.packets", "packets", 1.0, LARGEST_SIZE;
    SIZES = "flows[].traffic.size.packets (how many)", "1", 1.0, MOST_SIZES;
    SIZE_MEAN = "flows[].traffic.size.mean_packets", "packets", 1.0, LARGEST_SIZE;
    /// Narrowed by the mean.
    SIZE_MIN = "flows[].traffic.size.min_packets", "packets", 1.0, LARGEST_SIZE;
    SIZE_TAIL = "flows[].traffic.size.tail_packets", "packets", 0.0, LARGEST_SIZE;
    TAIL_FRACTION = "flows[].traffic.size.tail_fraction", "1", 1e-9, 0.999;
    /// The mean is finite above 1.
    SIZE_SHAPE = "flows[].traffic.size.shape", "1", 1.001, 1000.0;

    OVERVIEW_INTERVAL = "trace.overview_interval_s", "s", 1e-9, LONGEST_S;
    OVERVIEW_DETAIL = "trace.overview_detail_s", "s", 1e-9, LONGEST_S;
}
