use base::cast::{to_index, to_u32};
use base::{Packet, RandomStream, Ring};
use serde::{Deserialize, Serialize};

use super::flows::FlowQueues;
use crate::queue::classes::Classes;

/// Parameters of fair queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FqConfig {
    /// Bytes that a queue may send in a round.
    pub quantum_bytes: u32,
    /// Number of queues that flows are hashed into; `None`: each flow has a queue of its own.
    pub queues: Option<u32>,
    /// Whether a queue that becomes active is served before those that were (DRR++); else it waits for a round (DRR).
    pub sparse_first: bool,
    /// Whether the flows of an entry of the scenario share one queue, if flows are not hashed.
    #[serde(default)]
    pub by_entry: bool,
    /// Whether a new queue that is found empty becomes an old one in any case (RFC 8290 section 4.2); else it does so
    /// only where there are old ones (Linux `fq_codel_dequeue`).
    #[serde(default)]
    pub emptied_becomes_old: bool,
}

/// The flows of an entry of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEntry {
    /// The first of them; those of the next entry begin where they end.
    pub first: u32,
    /// Quanta that a queue of theirs may send in a round.
    pub weight: u16,
}

impl FqConfig {
    /// The defaults of RFC 8290 section 5.2, and of Linux.
    pub const TYPICAL: FqConfig = FqConfig {
        quantum_bytes: 1514,
        queues: Some(1024),
        sparse_first: true,
        by_entry: false,
        emptied_becomes_old: false,
    };
}

/// Fair queueing: deficit round robin of queues, those that have just become active first (DRR++; RFC 8290 section 4.2,
/// Linux `fq_codel_dequeue`), or plain deficit round robin (Shreedhar, Varghese 1996). A class is a queue.
#[derive(Clone, Debug)]
pub(crate) struct Fq {
    quantum: i64,
    sparse_first: bool,
    emptied_becomes_old: bool,
    flows: FlowQueues,
    /// Queues that became active since they were served last (`new_flows`), and the others that are (`old_flows`).
    new: Ring<u32>,
    old: Ring<u32>,
}

impl Fq {
    pub(super) fn new(config: FqConfig, random: &RandomStream) -> Fq {
        let FqConfig { quantum_bytes, queues, sparse_first, by_entry, emptied_becomes_old } = config;
        let flows = FlowQueues::new(queues, by_entry, random);
        let (new, old) = Default::default();
        Fq { quantum: quantum_bytes.into(), sparse_first, emptied_becomes_old, flows, new, old }
    }

    pub(super) fn set_entries(&mut self, entries: &[FlowEntry]) {
        self.flows.set_entries(entries);
    }

    #[inline(always)]
    pub(super) fn class(&mut self, packet: &Packet) -> usize {
        self.flows.class(packet)
    }

    /// Notes that a packet has joined a class: the class becomes active if it is not (RFC 8290 section 4.1).
    #[inline(always)]
    pub(super) fn joined(&mut self, class: usize, waiting: &mut Classes) {
        let Some(turn) = waiting.turn(class).filter(|turn| !turn.active) else { return };
        if turn.weight == 0 {
            turn.weight = self.flows.weight_of(class);
        }
        (turn.deficit, turn.active) = (self.quantum * i64::from(turn.weight), true);
        let list = if self.sparse_first { &mut self.new } else { &mut self.old };
        list.push(to_u32(class));
    }

    /// Returns the class whose turn it is, which may be empty.
    #[inline(always)]
    pub(super) fn next(&mut self, waiting: &mut Classes) -> Option<usize> {
        loop {
            let from_old = self.new.is_empty();
            let number = *if from_old { self.old.front()? } else { self.new.front()? };
            let class = to_index(number.into());
            let turn = waiting.turn(class)?;
            if turn.deficit > 0 {
                return Some(class);
            }
            turn.deficit += self.quantum * i64::from(turn.weight);
            if from_old {
                if let Some(&after_next) = self.old.nth(2) {
                    waiting.prefetch_first(to_index(after_next.into()));
                }
                self.old.rotate();
            } else {
                self.new.pop();
                self.old.push(number);
            }
        }
    }

    /// Notes that the class whose turn it is has sent a packet.
    #[inline(always)]
    pub(super) fn sent(&self, class: usize, bytes: u16, waiting: &mut Classes) {
        if let Some(turn) = waiting.turn(class) {
            turn.deficit -= i64::from(bytes);
        }
    }

    /// Notes that the class whose turn it is was found empty: a new one has a turn among the old ones, so that it cannot
    /// starve them; another one becomes inactive.
    pub(super) fn found_empty(&mut self, class: usize, waiting: &mut Classes) {
        let was_new = self.new.pop();
        let Some(number) = was_new.or_else(|| self.old.pop()) else { return };
        if was_new.is_some() && (self.emptied_becomes_old || !self.old.is_empty()) {
            self.old.push(number);
        } else if let Some(turn) = waiting.turn(class) {
            turn.active = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use base::{Clock, Rate, Time};

    use super::*;
    use crate::buffer::{Buffer, BufferLimit, Counting};
    use crate::queue::{AqmConfig, CodelConfig, CodelRules, Discipline, Overflow, SchedulerConfig};
    use crate::queued::QueuedLink;
    use crate::statistics::Measurement;

    const MEASUREMENT: Measurement = Measurement { warmup: Time::ZERO, end: Time::NEVER };
    const PERFECT: FqConfig = FqConfig { quantum_bytes: 1000, queues: None, ..FqConfig::TYPICAL };

    /// A packet that arrives at an instant \[ms\]; 1000 bytes take 1 ms on the link.
    #[derive(Clone, Copy)]
    struct Arrival(f64, u32, u16);

    fn discipline(config: FqConfig, aqm: AqmConfig, overflow: Overflow) -> Discipline {
        Discipline::new(SchedulerConfig::Fq(config), aqm, overflow)
    }

    /// Plays arrivals in the order of time; returns the flows of the packets that depart, and the flows and numbers of
    /// those that are dropped.
    fn play(discipline: &Discipline, limit: u64, arrivals: &[Arrival]) -> (Vec<u32>, Vec<(u32, u64)>) {
        let clock = Clock::PICOSECONDS;
        let buffer = Buffer::new(Some(BufferLimit::Packets(limit)), Counting::Waiting);
        let random = RandomStream::named(1, 0, "link");
        let mut link = QueuedLink::new(Rate::new(8e6, clock), buffer, discipline, clock, random);
        let (mut departed, mut dropped) = (Vec::new(), Vec::new());
        let mut arrivals = (1..).zip(arrivals).peekable();
        loop {
            let arrival = arrivals.peek().map_or(Time::NEVER, |(_, Arrival(at_ms, ..))| clock.time(at_ms / 1e3));
            let now = arrival.min(link.next_departure());
            if now == Time::NEVER {
                return (departed, dropped);
            }
            let mut note = |_, packet: Packet| dropped.push((packet.flow, packet.sequence));
            if link.next_departure() <= arrival {
                departed.extend(link.depart(now, &MEASUREMENT, &mut note).map(|packet| packet.flow));
            } else if let Some((sequence, &Arrival(_, flow, bytes))) = arrivals.next() {
                let packet = Packet { sequence, flow, bytes, ..Packet::default() };
                link.arrive(now, packet, 0, &MEASUREMENT, &mut note);
            }
        }
    }

    fn at_once(packets: &[(u32, usize, u16)]) -> Vec<Arrival> {
        packets.iter().flat_map(|&(flow, count, bytes)| vec![Arrival(0.0, flow, bytes); count]).collect()
    }

    /// RFC 8290 section 4.2: each queue sends up to a quantum in a round, and what it sent too much it lacks in the next.
    #[test]
    fn queues_take_turns_and_packets_of_any_size_share_the_bytes() {
        let fair = discipline(PERFECT, AqmConfig::None {}, Overflow::Longest);
        let arrivals = at_once(&[(0, 4, 1000), (1, 4, 1000), (2, 4, 1000)]);
        assert_eq!(play(&fair, 99, &arrivals).0, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
        let sizes = at_once(&[(0, 40, 1000), (1, 20, 1500), (2, 300, 100)]);
        let (departed, _) = play(&fair, 999, &sizes);
        let bytes = |flow: u32| -> usize {
            let sent = departed[..150].iter().filter(|&&one| one == flow).count();
            sent * [1000, 1500, 100][to_index(flow.into())]
        };
        let sent = [bytes(0), bytes(1), bytes(2)];
        assert!(sent.iter().max().unwrap() - sent.iter().min().unwrap() <= 2500, "{sent:?}");
    }

    /// Shreedhar, Varghese 1996, section 3: a flow's quantum is its share of a round.
    #[test]
    fn queues_send_bytes_in_the_proportion_of_their_weights() {
        let entries = [(0, 3), (1, 1), (2, 2)].map(|(first, weight)| FlowEntry { first, weight });
        for (by_entry, flows, expected) in [(false, [0, 1, 2], [3, 1, 2]), (true, [0, 1, 7], [3, 1, 2])] {
            let mut fq = Fq::new(FqConfig { by_entry, ..PERFECT }, &RandomStream::named(1, 0, "link"));
            fq.set_entries(&entries);
            let classes = flows.map(|flow| fq.class(&Packet { flow, ..Packet::default() }));
            assert_eq!(classes, [0, 1, 2]);
            let mut waiting = Classes::default();
            for class in classes {
                waiting.push(class, Time::ZERO, &Packet::default());
                fq.joined(class, &mut waiting);
            }
            let mut sent = [0; 3];
            for _ in 0..6 * 100 {
                let class = fq.next(&mut waiting).expect("all queues have packets");
                fq.sent(class, 1000, &mut waiting);
                sent[class] += 1;
            }
            assert_eq!(sent, expected.map(|weight| 100 * weight));
        }
    }

    #[test]
    fn flows_of_an_entry_share_a_queue_where_entries_have_queues() {
        let mut fq = Fq::new(FqConfig { by_entry: true, ..PERFECT }, &RandomStream::named(1, 0, "link"));
        fq.set_entries(&[FlowEntry { first: 0, weight: 1 }, FlowEntry { first: 5, weight: 1 }]);
        let classes = [0, 4, 5, 900].map(|flow| fq.class(&Packet { flow, ..Packet::default() }));
        assert_eq!(classes, [0, 0, 1, 1]);
    }

    /// RFC 8290 section 4.2: a queue that becomes active is served before the others; without it waits for its turn.
    #[test]
    fn a_sparse_flow_goes_first_until_it_has_sent_a_quantum() {
        let mut arrivals = at_once(&[(0, 6, 1000), (1, 6, 1000)]);
        arrivals.push(Arrival(2.5, 2, 1000));
        arrivals.push(Arrival(2.6, 2, 1000));
        let sparse_first = discipline(PERFECT, AqmConfig::None {}, Overflow::Longest);
        assert_eq!(play(&sparse_first, 99, &arrivals).0[..6], [0, 1, 0, 2, 1, 2]);
        let drr = discipline(FqConfig { sparse_first: false, ..PERFECT }, AqmConfig::None {}, Overflow::Longest);
        assert_eq!(play(&drr, 99, &arrivals).0[..6], [0, 1, 0, 1, 2, 0]);
    }

    /// RFC 8290 section 4.2: a new queue that runs empty becomes an old one, so that its next packet is not served first.
    #[test]
    fn a_flow_that_sends_a_packet_at_a_time_does_not_starve_the_others() {
        let mut arrivals = at_once(&[(0, 20, 1000), (1, 20, 1000)]);
        // A packet of flow 2 arrives whenever its last one has left.
        arrivals.extend((0..15).map(|number| Arrival(1.5 + f64::from(number), 2, 1000)));
        let fair = discipline(PERFECT, AqmConfig::None {}, Overflow::Longest);
        let (departed, _) = play(&fair, 99, &arrivals);
        let sent = departed[..16].iter().filter(|&&flow| flow == 2).count();
        assert!((4..=6).contains(&sent), "{departed:?}");
    }

    #[test]
    fn a_full_buffer_drops_of_the_queue_with_the_most() {
        let arrivals = at_once(&[(0, 5, 1000), (1, 2, 1000), (2, 1, 1000)]);
        let longest = discipline(PERFECT, AqmConfig::None {}, Overflow::Longest);
        // Packet 1 is in transmission; 2 to 5 of flow 0 wait: the last of them leaves its place to the last packet.
        assert_eq!(play(&longest, 6, &arrivals).1, [(0, 5)]);
        let fattest = discipline(PERFECT, AqmConfig::None {}, Overflow::Fattest);
        assert_eq!(play(&fattest, 6, &arrivals).1, [(0, 2), (0, 3)], "half of its bytes, from the front");
        let one_flow = at_once(&[(0, 300, 100)]);
        let (_, dropped) = play(&fattest, 250, &one_flow);
        let first: Vec<u64> = dropped[..64].iter().map(|&(_, number)| number).collect();
        assert_eq!(first, (2..66).collect::<Vec<u64>>(), "at most 64 at once");
        assert_eq!(dropped.len(), 64);
    }

    /// Each queue has a CoDel of its own: the flow within its share loses nothing.
    #[test]
    fn an_aqm_of_its_own_drops_only_packets_of_the_queue_that_is_long() {
        let codel = CodelConfig { target_s: 0.005, interval_s: 0.02, mtu_bytes: 1000, ..CodelConfig::TYPICAL };
        for rules in [CodelRules::Rfc, CodelRules::Linux] {
            let aqm = AqmConfig::Codel(CodelConfig { rules, ..codel });
            let mut arrivals: Vec<Arrival> = (0..400).map(|number| Arrival(f64::from(number), 0, 1000)).collect();
            arrivals.extend((0..100).map(|number| Arrival(4.0 * f64::from(number) + 0.5, 1, 1000)));
            arrivals.sort_by(|one, other| one.0.total_cmp(&other.0));
            let (departed, dropped) = play(&discipline(PERFECT, aqm, Overflow::Fattest), 9999, &arrivals);
            assert!(!dropped.is_empty() && dropped.iter().all(|&(flow, _)| flow == 0), "{dropped:?}");
            assert_eq!(departed.iter().filter(|&&flow| flow == 1).count(), 100);
        }
    }

    /// Linux `codel_dequeue` gets `sch->qstats.backlog`; RFC 8289 section 5.6 the bytes of the queue.
    #[test]
    fn a_short_queue_may_lose_packets_by_linux_while_others_wait() {
        let codel = CodelConfig { target_s: 1e-5, interval_s: 1e-5, mtu_bytes: 800, ..CodelConfig::TYPICAL };
        let dropped = |rules| {
            let aqm = AqmConfig::Codel(CodelConfig { rules, ..codel });
            // Three packets of each flow wait.
            let mut arrivals = at_once(&[(0, 2, 250), (1, 2, 250), (2, 2, 250), (3, 2, 250)]);
            arrivals.extend((0..40).map(|number| Arrival(f64::from(number / 4), number % 4, 250)));
            play(&discipline(PERFECT, aqm, Overflow::Fattest), 9999, &arrivals).1.len()
        };
        assert_eq!(dropped(CodelRules::Rfc), 0);
        assert!(dropped(CodelRules::Linux) > 0);
    }

    #[test]
    fn flows_are_hashed_evenly_and_otherwise_for_another_seed() {
        let class = |seed: u64, flow: u32| {
            let random = RandomStream::named(seed, 0, "link");
            let mut fq = Fq::new(FqConfig { queues: Some(16), ..PERFECT }, &random);
            // The second time as the first: the classes of the first flows are kept.
            let [first, again] = [(); 2].map(|()| fq.class(&Packet { flow, ..Packet::default() }));
            assert_eq!(first, again);
            first
        };
        let mut counts = [0_u32; 16];
        (0..16_000).for_each(|flow| counts[class(1, flow)] += 1);
        // Expected 1000 each; four standard deviations are 122.
        assert!(counts.iter().all(|&count| count.abs_diff(1000) < 123), "{counts:?}");
        let same = (0..1000).filter(|&flow| class(1, flow) == class(2, flow)).count();
        assert!(same < 120, "{same} of 1000 flows, where 62 are expected");
    }
}
