use base::cast::to_u32;
use base::{Clock, Packet, Time, Tournament};

use crate::config::AtmConfig;
use crate::destination::Transit;
use crate::end_system::EndSystem;
use crate::port::Port;
use crate::statistics::{EndStatistics, PortStatistics};
use crate::trace::Traces;

mod cells;
mod cross;
mod sources;
mod steps;

use cross::CrossSource;
use steps::{Step, Steps};

/// A packet that arrived at the other end of its channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Instant of the arrival.
    pub time: Time,
    /// End at which it arrived.
    pub end: u32,
    /// The reassembled packet.
    pub packet: Packet,
    /// Whether all its cells arrived; if not, the packet is lost, and `time` is when the end system finds out.
    pub intact: bool,
    /// Instants at the sending end: when the packet entered, when its first data cell left, and when its last one did.
    pub history: [Time; 3],
}

impl Arrival {
    fn of(time: Time, end: u32, transit: Transit, intact: bool) -> Arrival {
        Arrival { time, end, packet: transit.packet, intact, history: transit.history }
    }
}

/// The network: clock-driven, with one pending event for each port, cross source, IP queue and ABR source.
///
/// The order of events at equal instants: cells that arrive over a link (by port), cross-traffic, IP queues, ABR
/// sources.
#[derive(Clone, Debug)]
pub struct AtmNetwork {
    events: Tournament,
    ports: Vec<Port>,
    crosses: Vec<CrossSource>,
    ends: Vec<EndSystem>,
    steps: Vec<Step>,
    traces: Option<Box<Traces>>,
    /// Packets found lost, and the packet whose arrival showed it; [`AtmNetwork::advance`] returns them from the back.
    lost: Vec<Arrival>,
    handled: u64,
    first_cross: u32,
    first_ip: u32,
    first_source: u32,
}

/// Starts the traces with the initial rate of each end.
fn initial_traces(config: &AtmConfig, ends: &[EndSystem]) -> Option<Box<Traces>> {
    let mut traces = Traces::new(config.trace)?;
    for (end, system) in ends.iter().enumerate() {
        traces.acr(Time::ZERO, to_u32(end), system.source.acr());
    }
    Some(traces)
}

impl AtmNetwork {
    /// Sets up a network in which [`crate::check()`] found no fault, for times of a clock.
    pub fn new(config: &AtmConfig, clock: Clock) -> AtmNetwork {
        let mut steps = Steps::new(config.ports.len());
        let mut ends = Vec::new();
        for channel in &config.channels {
            let end = to_u32(ends.len());
            let [near, far] = steps.add_channel(end, &channel.forward, &channel.backward);
            ends.push(EndSystem::new(&channel.near, near, clock));
            ends.push(EndSystem::new(&channel.far, far, clock));
        }
        let cross = |config| CrossSource::new(config, &mut steps, clock);
        let crosses: Vec<CrossSource> = config.cross.iter().map(cross).collect();
        let port = |(index, port)| Port::new(port, steps.channels_of_port(index).max(1), clock);
        let ports = config.ports.iter().enumerate().map(port).collect();
        let first_cross = to_u32(config.ports.len());
        let first_ip = first_cross + to_u32(crosses.len());
        let first_source = first_ip + to_u32(ends.len());
        let mut events = Tournament::new(first_source as usize + ends.len());
        for (index, cross) in config.cross.iter().enumerate() {
            events.set(first_cross + to_u32(index), clock.time(cross.start_s));
        }
        AtmNetwork {
            events,
            ports,
            crosses,
            traces: initial_traces(config, &ends),
            ends,
            steps: steps.into_table(),
            lost: Vec::new(),
            handled: 0,
            first_cross,
            first_ip,
            first_source,
        }
    }

    /// Puts an IP packet into the queue at one end of a channel. The clock must have been advanced to `now`.
    #[inline(never)]
    pub fn offer(&mut self, now: Time, end: u32, packet: Packet) {
        match self.ends[end as usize].enqueue(now, packet) {
            Some(served) => self.events.advance(self.first_ip + end, served),
            None => self.wake(now, end),
        }
        self.record_queues(now, end);
    }

    /// Returns the instant of the next event; [`Time::NEVER`] if none is pending.
    pub fn next_event(&mut self) -> Time {
        if self.lost.is_empty() {
            self.events.first().0
        } else {
            Time::ZERO
        }
    }

    /// Advances to the next packet that arrives, but not past `until`; returns `None` if none arrives until then.
    pub fn advance(&mut self, until: Time) -> Option<Arrival> {
        self.advance_some(until, u64::MAX)
    }

    /// Advances like [`AtmNetwork::advance`], but handles at most `events` events.
    pub fn advance_some(&mut self, until: Time, events: u64) -> Option<Arrival> {
        if let Some(arrival) = self.lost.pop() {
            return Some(arrival);
        }
        for _ in 0..events {
            let (now, element) = self.events.first();
            if now > until || now == Time::NEVER {
                return None;
            }
            self.handled += 1;
            if element < self.first_cross {
                if let Some(arrival) = self.on_cell(element, now) {
                    return Some(arrival);
                }
            } else if element >= self.first_source {
                self.on_source(element - self.first_source, now);
            } else if element >= self.first_ip {
                self.on_ip(element - self.first_ip, now);
            } else {
                self.on_cross(element - self.first_cross, now);
            }
        }
        None
    }

    /// Returns the number of events handled so far.
    pub fn events_handled(&self) -> u64 {
        self.handled
    }

    /// Returns the allowed cell rate of an end \[bit/s\].
    pub fn acr(&self, end: u32) -> f64 {
        self.ends[end as usize].source.acr()
    }

    /// Returns the number of packets in the queues of an end.
    pub fn packets_waiting(&self, end: u32) -> u32 {
        let [_, ip, atm] = self.ends[end as usize].queues();
        ip + atm
    }

    /// Returns the counters of an end.
    pub fn end_statistics(&self, end: u32) -> EndStatistics {
        let system = &self.ends[end as usize];
        EndStatistics { backward_replaced: system.destination.replaced(), ..system.statistics }
    }

    /// Returns the counters of a port.
    pub fn port_statistics(&self, port: usize) -> PortStatistics {
        self.ports[port].statistics()
    }

    /// Returns the memory that the recorded rows take so far \[bytes\].
    pub fn trace_bytes(&self) -> u64 {
        self.traces.as_ref().map_or(0, |traces| traces.bytes())
    }

    /// Ends the run and returns the recorded traces.
    pub fn finish(self) -> Traces {
        let mut traces = self.traces.map(|traces| *traces).unwrap_or_default();
        traces.flush();
        traces
    }

    #[inline(always)]
    fn record_acr(&mut self, now: Time, end: u32, before: f64) {
        if let Some(traces) = &mut self.traces {
            let acr = self.ends[end as usize].source.acr();
            if acr != before {
                traces.acr(now, end, acr);
            }
        }
    }

    #[inline(always)]
    fn record_queues(&mut self, now: Time, end: u32) {
        if let Some(traces) = &mut self.traces {
            traces.queues(now, end, self.ends[end as usize].queues());
        }
    }
}
