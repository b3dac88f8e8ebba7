//! The times that ACKs wait on the return path.
//!
//! Linux's receiver takes the round trip from the timestamps that data segments echo, which are those of its own ACKs, and
//! so with what these wait behind others (`tcp_rcv_rtt_measure_ts`). An ACK has no room for the instant at which it left;
//! so the departures are kept here, of those flows alone whose ACKs may wait.

use std::collections::{BTreeMap, VecDeque};

use base::{Clock, Time};

use crate::empty_path::EmptyPath;
use crate::scenario::{ConnectionConfig, ElementConfig, FlowConfig, Scenario, TrafficConfig};

/// Most bytes that blocks add to an ACK: three of them next to a timestamp (RFC 2018 section 3).
const BLOCKS_BYTES: f64 = 28.0;
/// Part of its rate up to which a link that carries ACKs alone is taken to let them pass without a wait.
const LIGHT: f64 = 0.5;

/// The departures of ACKs that are on their way.
#[derive(Debug)]
pub(super) struct AckWaits {
    flows: Vec<OnTheWay>,
}

/// The ACKs of a flow that are on their way.
#[derive(Clone, Debug)]
struct OnTheWay {
    /// Time of an ACK that waits for nothing; [`Time::NEVER`] for a flow of which none is kept.
    empty: Time,
    acks: VecDeque<Departure>,
}

#[derive(Clone, Copy, Debug)]
struct Departure {
    key: Key,
    left: Time,
}

/// The packet that an ACK expects, the stamp that it echoes, and its word: ACKs of one packet that answer others beyond a hole
/// differ in the last one.
pub(super) type Key = (u64, Time, u32);

impl AckWaits {
    /// Returns the departures of a scenario before it begins; `None` if no ACK waits whose receiver would notice.
    pub(super) fn new(scenario: &Scenario, clock: Clock) -> Option<AckWaits> {
        let (shared, loads) = (shared(scenario), loads(scenario));
        let of = |flow: &FlowConfig| {
            let tcp = flow.connection().filter(|tcp| may_wait(scenario, tcp, &shared, &loads));
            let path = tcp.and_then(|_| EmptyPath::of_answers(flow, &scenario.elements, clock));
            path.map_or(Time::NEVER, |path| path.one_way)
        };
        let empty: Vec<Time> = scenario.flows.iter().map(of).collect();
        let kept = |(entry, _)| OnTheWay { empty: empty[entry], acks: VecDeque::new() };
        let any = empty.iter().any(|&time| time != Time::NEVER);
        any.then(|| AckWaits { flows: scenario.members().map(kept).collect() })
    }

    /// Takes note that an ACK leaves its receiver.
    #[cold]
    #[inline(never)]
    pub(super) fn leave(&mut self, flow: u32, key: Key, left: Time) {
        let flow = &mut self.flows[flow as usize];
        if flow.empty != Time::NEVER {
            flow.acks.push_back(Departure { key, left });
        }
    }

    /// Returns the time that an ACK has waited which arrives; forgets those before it, which are lost or were overtaken.
    #[cold]
    #[inline(never)]
    pub(super) fn arrive(&mut self, flow: u32, key: Key, now: Time) -> Time {
        let OnTheWay { empty, acks } = &mut self.flows[flow as usize];
        while let Some(&Departure { key: first, left }) = acks.front() {
            if first.0 > key.0 {
                break;
            }
            acks.pop_front();
            if first == key {
                return (now - left) - *empty;
            }
        }
        Time::ZERO
    }
}

/// Returns whether each element carries packets other than ACKs.
fn shared(scenario: &Scenario) -> Vec<bool> {
    let mut shared = vec![false; scenario.elements.len()];
    for flow in &scenario.flows {
        let echoes = if matches!(flow.traffic, TrafficConfig::Ping { .. }) { flow.return_path() } else { &[] };
        flow.path.iter().chain(echoes).for_each(|&element| shared[element] = true);
    }
    shared
}

/// Returns the most that ACKs can load each element with \[bit/s\], each copy of a private link: as much as the data can
/// pass of the flows that send them.
fn loads(scenario: &Scenario) -> Vec<f64> {
    let is_private = |element| matches!(scenario.elements.get(element), Some(ElementConfig::PrivateLink(_)));
    // For each element what limits the data of flows, and how much of them that lets through, in bits of ACKs.
    let mut limits = vec![BTreeMap::<usize, f64>::new(); scenario.elements.len()];
    for (entry, flow) in scenario.flows.iter().enumerate() {
        let Some(tcp) = flow.connection() else { continue };
        let of_data = (f64::from(tcp.ack_bytes) + BLOCKS_BYTES) / f64::from(flow.packet_bytes);
        let rate = |element: usize, flows: usize| {
            let copies = if is_private(element) { flows } else { 1 };
            most_bps(&scenario.elements[element]) * copies as f64
        };
        let least = |flows: usize| {
            let rates = flow.path.iter().map(|&element| (element, rate(element, flows)));
            rates.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((usize::MAX, f64::INFINITY))
        };
        let (of_all, all) = least(flow.count);
        let (_, of_one) = least(1);
        for &element in &tcp.return_path {
            // A copy of a private link carries one flow, and entries have copies of their own.
            let own = scenario.elements.len() + entry;
            let (limit, load) = match is_private(element) {
                true => (element, of_one),
                false => (if is_private(of_all) { own } else { of_all }, all),
            };
            let most = limits[element].entry(limit).or_insert(0.0);
            *most = most.max(load * of_data);
        }
    }
    limits.iter().map(|limits| limits.values().sum()).collect()
}

/// Returns the most that an element lets through at any time \[bit/s\]; infinite where its rate changes.
fn most_bps(element: &ElementConfig) -> f64 {
    match element {
        ElementConfig::Link(link) if link.rate_process.is_some() || link.token_bucket.is_some() => f64::INFINITY,
        steady => rate_bps(steady),
    }
}

/// Returns the rate of an element \[bit/s\], infinite for what has none.
fn rate_bps(element: &ElementConfig) -> f64 {
    element.rate_bps().unwrap_or(f64::INFINITY)
}

/// Returns whether ACKs of a connection may take longer than on an empty path, and its receiver measures that.
fn may_wait(scenario: &Scenario, tcp: &ConnectionConfig, shared: &[bool], loads: &[f64]) -> bool {
    let waits = |&element: &usize| match &scenario.elements[element] {
        ElementConfig::Link(link) => {
            !link.is_steady() || (link.rate_bps.is_some() && (shared[element] || is_loaded(scenario, loads, element)))
        }
        ElementConfig::PrivateLink(_) => is_loaded(scenario, loads, element),
        ElementConfig::Channel(_) | ElementConfig::Host(_) => true,
    };
    tcp.receiver.linux.is_some() && tcp.return_path.iter().any(waits)
}

fn is_loaded(scenario: &Scenario, loads: &[f64], element: usize) -> bool {
    loads[element] > LIGHT * rate_bps(&scenario.elements[element])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::lossy;

    fn at(ticks: u64) -> Time {
        Time::from_ticks(ticks)
    }

    fn waits(empty: u64) -> AckWaits {
        AckWaits { flows: vec![OnTheWay { empty: at(empty), acks: VecDeque::new() }] }
    }

    #[test]
    fn an_ack_has_waited_for_what_it_took_beyond_an_empty_path() {
        let mut waits = waits(10);
        for (next, left) in [(1, 100), (2, 110), (3, 120)] {
            waits.leave(0, (next, at(left - 50), 0), at(left));
        }
        assert_eq!(waits.arrive(0, (1, at(50), 0), at(110)), at(0));
        assert_eq!(waits.arrive(0, (2, at(60), 0), at(125)), at(5));
        assert_eq!(waits.arrive(0, (3, at(70), 0), at(200)), at(70));
        assert_eq!(waits.arrive(0, (3, at(70), 0), at(200)), at(0), "none that left is on its way");
    }

    #[test]
    fn an_ack_that_is_lost_is_forgotten_and_one_that_was_overtaken_takes_none_away() {
        let mut waits = waits(10);
        for (next, left) in [(1, 100), (2, 110), (2, 115), (3, 120)] {
            waits.leave(0, (next, at(left - 50), 0), at(left));
        }
        assert_eq!(waits.arrive(0, (2, at(65), 0), at(130)), at(5), "the first one with this number is lost");
        assert_eq!(waits.arrive(0, (1, at(50), 0), at(140)), at(0), "it was overtaken");
        assert_eq!(waits.arrive(0, (3, at(70), 0), at(150)), at(20));
        assert!(waits.flows[0].acks.is_empty());
    }

    #[test]
    fn acks_of_one_packet_are_told_apart_by_what_they_make_known() {
        let mut waits = waits(10);
        for number in 1..4 {
            waits.leave(0, (5, at(50), number), at(100 + 10 * u64::from(number)));
        }
        assert_eq!(waits.arrive(0, (5, at(50), 3), at(145)), at(5), "the first two are lost");
        assert!(waits.flows[0].acks.is_empty());
    }

    #[test]
    fn nothing_is_kept_of_a_flow_whose_acks_cannot_wait() {
        let mut waits = AckWaits { flows: vec![OnTheWay { empty: Time::NEVER, acks: VecDeque::new() }] };
        waits.leave(0, (1, at(50), 0), at(100));
        assert!(waits.flows[0].acks.is_empty());
    }

    #[test]
    fn acks_load_a_link_as_much_as_their_data_can_pass_the_narrowest_place() {
        let of_data = |load: f64| (load * 1000.0 / (40.0 + BLOCKS_BYTES)).round();
        let [data, out] = [0, 4];
        let acks_of = |count: usize| {
            let mut scenario = lossy(true);
            scenario.flows[0].count = count;
            let loads = loads(&scenario);
            assert_eq!([loads[data], loads[out]], [0.0; 2], "no ACK goes there");
            [of_data(loads[1]), of_data(loads[5])]
        };
        assert_eq!(acks_of(1), [2e6, 2e6], "the private links are narrower than the shared one");
        assert_eq!(acks_of(3), [3e6, 2e6], "three of them are wider");
        let mut scenario = lossy(true);
        scenario.flows.push(scenario.flows[0].clone());
        assert_eq!(of_data(loads(&scenario)[1]), 3e6, "what passes one place is counted once");
        (scenario.flows[0].count, scenario.flows[1].count) = (1, 1);
        assert_eq!(of_data(loads(&scenario)[1]), 4e6, "each entry has private links of its own");
    }
}
