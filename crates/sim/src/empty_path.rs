//! The least time of packets on a path: with nothing else on it, every delay at its smallest and every rate at its
//! largest.

use base::{Clock, Rate, Time};
use net::BucketKind;

use crate::scenario::{ElementConfig, FlowConfig};

/// Highest rate of an ATM port \[bit/s\].
const FASTEST_PORT_BPS: f64 = 1e12;

/// The times of packets of one size on an empty path, which is a row of servers and delays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EmptyPath {
    /// Time of one packet from end to end: propagation, transmission and processing.
    pub(crate) one_way: Time,
    /// Service time of the slowest server: the distance of two packets at the end of the path that enter it together.
    pub(crate) slowest: Time,
    /// The token bucket with the lowest rate, which all but a burst has to wait for.
    bucket: Bucket,
}

/// A token bucket, by times at the rate at which it is filled; one that holds nothing back by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bucket {
    /// Time in which the tokens of a packet come.
    packet: Time,
    /// Time in which the empty bucket is filled. A shaper lends the tokens of one packet more.
    full: Time,
}

impl Bucket {
    /// Returns the bucket of an element for packets of a size.
    fn of(element: &ElementConfig, bytes: u16, clock: Clock) -> Bucket {
        let ElementConfig::Link(link) = element else { return Bucket::default() };
        let (Some(bucket), Some(rate_bps)) = (link.token_bucket, element.most_bps()) else { return Bucket::default() };
        let packet = Rate::new(rate_bps, clock).service_time(bytes);
        let lent = if bucket.kind == BucketKind::Shaper { packet } else { Time::ZERO };
        Bucket { packet, full: clock.time(bucket.burst_bytes as f64 * 8.0 / rate_bps) + lent }
    }

    /// Returns how long the last packet of some that arrive together waits for its tokens.
    fn wait(self, packets: u64) -> Time {
        self.packet.times(packets) - self.full
    }
}

impl EmptyPath {
    /// Returns the path of a flow's data.
    pub(crate) fn of_data(flow: &FlowConfig, elements: &[ElementConfig], clock: Clock) -> EmptyPath {
        EmptyPath::new(&flow.path, flow.packet_bytes, false, flow.forward_delay_s, elements, clock)
    }

    /// Returns the path of a flow's ACKs or echoes; `None` for packets that nothing answers.
    pub(crate) fn of_answers(flow: &FlowConfig, elements: &[ElementConfig], clock: Clock) -> Option<EmptyPath> {
        let back = flow.way_back()?;
        Some(EmptyPath::new(back.path, back.bytes, back.is_acks, back.delay_s, elements, clock))
    }

    /// Returns the path over the elements with these indices, with a delay of the flow's own.
    fn new(
        path: &[usize],
        bytes: u16,
        acks: bool,
        own_delay_s: f64,
        elements: &[ElementConfig],
        clock: Clock,
    ) -> EmptyPath {
        let start = EmptyPath { one_way: clock.time(own_delay_s), ..EmptyPath::default() };
        path.iter().filter_map(|&element| elements.get(element)).fold(start, |path, element| {
            let service = service_time(element, bytes, acks, clock);
            let bucket = Bucket::of(element, bytes, clock);
            EmptyPath {
                bucket: if bucket.packet > path.bucket.packet { bucket } else { path.bucket },
                one_way: path.one_way + clock.time(element.least_delay_s()) + service,
                slowest: path.slowest.max(service),
            }
        })
    }

    /// Returns the time from the first packet's departure to the last one's arrival, of packets that depart together.
    pub(crate) fn time_of(&self, packets: u64) -> Time {
        self.one_way + self.slowest.times(packets.saturating_sub(1)).max(self.bucket.wait(packets))
    }

    /// Returns the same of a flow's data packets, the last one of which has another length.
    pub(crate) fn time_with_last(
        flow: &FlowConfig,
        elements: &[ElementConfig],
        clock: Clock,
        (packets, last): (u64, u16),
    ) -> Time {
        let path = EmptyPath::new(&flow.path, last, false, flow.forward_delay_s, elements, clock);
        let Some(before) = packets.checked_sub(1).filter(|&before| before > 0) else { return path.one_way };
        // The last packet waits in each server for the one before it, which left the server before as its first
        // packet did, and then one slowest service later for each further packet.
        let (mut one, mut slowest, mut arrival) = (Time::ZERO, Time::ZERO, Time::ZERO);
        for element in flow.path.iter().filter_map(|&element| elements.get(element)) {
            let [service, own] = [flow.packet_bytes, last].map(|bytes| service_time(element, bytes, false, clock));
            (one, slowest) = (one + service, slowest.max(service));
            let previous = one + slowest.times(before - 1);
            arrival = arrival.max(previous) + own;
            let delay = clock.time(element.least_delay_s());
            (one, arrival) = (one + delay, arrival + delay);
        }
        // The tokens of the last packet are those of its own length: less by what it is shorter.
        let whole = EmptyPath::of_data(flow, elements, clock).bucket;
        let tokens = whole.packet.times(before) + path.bucket.packet;
        (arrival + clock.time(flow.forward_delay_s)).max(path.one_way + (tokens - path.bucket.full))
    }
}

/// Returns the time that an element is busy with a packet.
fn service_time(element: &ElementConfig, bytes: u16, acks: bool, clock: Clock) -> Time {
    match element {
        ElementConfig::Host(host) if acks => clock.time(host.ack_s),
        ElementConfig::Host(host) => clock.time(host.data_s),
        // The rate that it will have is not known: the resolved one is a fair share, and one flow alone may have more.
        ElementConfig::Channel(_) => Rate::new(FASTEST_PORT_BPS, clock).service_time(bytes),
        ElementConfig::Link(link) if link.token_bucket.is_some() => Time::ZERO,
        ElementConfig::Link(_) | ElementConfig::PrivateLink(_) => {
            element.most_bps().map_or(Rate::UNLIMITED, |rate_bps| Rate::new(rate_bps, clock)).service_time(bytes)
        }
    }
}
