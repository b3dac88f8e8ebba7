use base::{Packet, Time, Tournament};

use crate::aal5::cell_time;
use crate::cell::{Cell, Load};
use crate::config::{AtmConfig, CrossConfig};
use crate::destination::Transit;
use crate::end_system::EndSystem;
use crate::port::{InFlight, Port};
use crate::statistics::{EndStatistics, PortStatistics};
use crate::trace::Traces;

/// However much others reserve, ABR may tell its sources this share of a port's rate: an RM cell must come through.
const LEAST_SHARE: f64 = 1e-3;

/// A packet that came to the other end of its channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When.
    pub time: Time,
    /// Where: the end that it came to.
    pub end: u32,
    /// The packet.
    pub packet: Packet,
    /// Whether all its cells came; where not, the packet is lost, and this is when that shows.
    pub intact: bool,
    /// When it entered at the other end, when its first data cell went from there, and its last.
    pub history: [Time; 3],
}

impl Arrival {
    fn of(time: Time, end: u32, transit: Transit, intact: bool) -> Arrival {
        Arrival { time, end, packet: transit.packet, intact, history: transit.history }
    }
}

/// One step of a cell's way.
#[derive(Clone, Copy, Debug)]
struct Step {
    place: Place,
    /// The channel's slot in the port's allocation.
    slot: u32,
    /// The port of this node in the other direction, and the channel's slot there: backward RM cells are its concern.
    opposite: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Port(u32),
    End(u32),
    /// Where cross-traffic leaves.
    Sink,
}

#[derive(Clone, Debug)]
struct Cross {
    path: Vec<usize>,
    first_step: u32,
    rate: f64,
    spacing: Time,
    stop: Time,
    running: bool,
    sent: u64,
}

/// The network: clock-driven, one pending event for each port, cross source, IP queue and ABR source.
///
/// At equal instants: cells that arrive over a link (by port), cross-traffic, IP queues, ABR sources.
#[derive(Clone, Debug)]
pub struct AtmNetwork {
    events: Tournament,
    ports: Vec<Port>,
    crosses: Vec<Cross>,
    ends: Vec<EndSystem>,
    steps: Vec<Step>,
    traces: Option<Box<Traces>>,
    /// Packets of which the loss has shown and must be told, before the one that came.
    lost: Vec<Arrival>,
    cross_received: u64,
    handled: u64,
    first_cross: u32,
    first_ip: u32,
    first_source: u32,
}

impl AtmNetwork {
    /// Sets up a network that [`crate::check`] found no fault in.
    pub fn new(config: &AtmConfig) -> AtmNetwork {
        let mut layout = Layout { steps: Vec::new(), slots: vec![0; config.ports.len()] };
        let mut ends = Vec::new();
        for channel in &config.channels {
            let end = ends.len() as u32;
            let [near, far] = layout.channel(end, &channel.forward, &channel.backward);
            ends.push(EndSystem::new(&channel.near, near));
            ends.push(EndSystem::new(&channel.far, far));
        }
        let crosses: Vec<Cross> = config.cross.iter().map(|cross| layout.cross(cross)).collect();
        let ports =
            config.ports.iter().zip(&layout.slots).map(|(port, &slots)| Port::new(port, slots.max(1))).collect();
        let first_cross = config.ports.len() as u32;
        let first_ip = first_cross + crosses.len() as u32;
        let first_source = first_ip + ends.len() as u32;
        let mut events = Tournament::new(first_source as usize + ends.len());
        for (index, cross) in config.cross.iter().enumerate() {
            events.set(first_cross + index as u32, Time::from_seconds(cross.start_s));
        }
        let mut traces = Traces::new(config.trace);
        for traces in traces.iter_mut() {
            ends.iter().enumerate().for_each(|(end, system)| traces.acr(Time::ZERO, end as u32, system.source.acr()));
        }
        AtmNetwork {
            events,
            ports,
            crosses,
            ends,
            steps: layout.steps,
            traces,
            lost: Vec::new(),
            cross_received: 0,
            handled: 0,
            first_cross,
            first_ip,
            first_source,
        }
    }

    /// An IP packet enters at one end of a channel. The clock must have been advanced to `now`.
    #[inline(never)]
    pub fn offer(&mut self, now: Time, end: u32, packet: Packet) {
        match self.ends[end as usize].enter(now, packet) {
            Some(served) => self.events.advance(self.first_ip + end, served),
            None => self.wake(now, end),
        }
        self.tell_queues(now, end);
    }

    /// When something happens next; [`Time::NEVER`] where nothing is on its way.
    pub fn next_event(&mut self) -> Time {
        if self.lost.is_empty() {
            self.events.first().0
        } else {
            Time::ZERO
        }
    }

    /// Goes on to the next packet that arrives, but not past `until`; none where nothing arrives until then.
    pub fn advance(&mut self, until: Time) -> Option<Arrival> {
        self.advance_some(until, u64::MAX)
    }

    /// As [`AtmNetwork::advance`], and stops after so many events at most.
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

    /// Events handled so far.
    pub fn events_handled(&self) -> u64 {
        self.handled
    }

    /// The allowed cell rate of an end \[bit/s\].
    pub fn acr(&self, end: u32) -> f64 {
        self.ends[end as usize].source.acr()
    }

    /// Packets in the queues of an end.
    pub fn packets_waiting(&self, end: u32) -> u32 {
        let [_, ip, atm] = self.ends[end as usize].queues();
        ip + atm
    }

    /// What an end counted so far.
    pub fn end_statistics(&self, end: u32) -> EndStatistics {
        let system = &self.ends[end as usize];
        EndStatistics { backward_replaced: system.destination.replaced(), ..system.statistics }
    }

    /// What a port counted so far.
    pub fn port_statistics(&self, port: usize) -> PortStatistics {
        self.ports[port].statistics()
    }

    /// Cells on the port's link, those that wait for it included.
    pub fn cells_on_link(&self, port: usize) -> u64 {
        self.ports[port].on_the_way.len() as u64
    }

    /// Cells of a cross source sent so far.
    pub fn cross_sent(&self, cross: usize) -> u64 {
        self.crosses[cross].sent
    }

    /// Cells of all cross sources that crossed their ports.
    pub fn cross_received(&self) -> u64 {
        self.cross_received
    }

    /// What was recorded.
    pub fn finish(self) -> Traces {
        let mut traces = self.traces.map(|traces| *traces).unwrap_or_default();
        traces.flush();
        traces
    }

    /// A cell comes to the end of a link.
    #[inline(always)]
    fn on_cell(&mut self, port: u32, now: Time) -> Option<Arrival> {
        let ring = &mut self.ports[port as usize].on_the_way;
        let InFlight { cell, .. } = ring.pop()?;
        let next = ring.front().map_or(Time::NEVER, |first| first.time);
        self.events.set(port, next);
        self.come(now, cell)
    }

    /// A cell comes to a node.
    #[inline(always)]
    fn come(&mut self, now: Time, mut cell: Cell) -> Option<Arrival> {
        let Step { place, slot, opposite } = self.steps[cell.step as usize];
        if let (Load::Backward(rm), Some((port, slot))) = (&mut cell.load, opposite) {
            self.ports[port as usize].allocation.backward(now, slot, rm);
        }
        match place {
            Place::Port(port) => {
                self.join(now, port, slot, cell);
                None
            }
            Place::End(end) => self.come_to_end(now, end, cell.load),
            Place::Sink => {
                self.cross_received += 1;
                None
            }
        }
    }

    #[inline(always)]
    fn join(&mut self, now: Time, index: u32, slot: u32, mut cell: Cell) {
        let port = &mut self.ports[index as usize];
        if !matches!(cell.load, Load::Cross) {
            port.allocation.count(now, slot);
        }
        if let Load::Forward(rm) = &mut cell.load {
            port.allocation.forward(now, slot, rm);
        }
        cell.step += 1;
        let first = port.on_the_way.is_empty();
        let time = port.join(now, cell);
        if let Some(traces) = &mut self.traces {
            match time {
                Some(_) => traces.cell_queue(now, index, port.cells(now)),
                None => traces.dropped(now, index),
            }
        }
        if let (Some(time), true) = (time, first) {
            self.events.advance(index, time);
        }
    }

    #[inline(always)]
    fn come_to_end(&mut self, now: Time, end: u32, load: Load) -> Option<Arrival> {
        let system = &mut self.ends[end as usize];
        match load {
            Load::Data { packet, last, congested } => {
                system.statistics.data_received += 1;
                system.destination.data(packet, congested);
                if last {
                    return self.come_whole(now, end, packet);
                }
            }
            Load::Forward(cell) => {
                system.statistics.forward_received += 1;
                system.destination.turn_around(cell);
                self.wake(now, end);
            }
            Load::Backward(cell) => {
                system.statistics.backward_received += 1;
                let before = system.source.acr();
                system.source.receive(&cell);
                self.tell_acr(now, end, before);
                let next = self.ends[end as usize].next_cell(now);
                self.events.set(self.first_source + end, next);
            }
            Load::Cross => {}
        }
        None
    }

    /// The last cell of a packet came. Packets before it whose last cell never came are lost, and that shows now.
    #[inline(never)]
    fn come_whole(&mut self, now: Time, end: u32, packet: u32) -> Option<Arrival> {
        let (sender, receiver) = (end as usize ^ 1, end as usize);
        while self.ends[sender].next_transit().is_some_and(|transit| transit.number != packet) {
            let transit = self.ends[sender].take_transit()?;
            self.ends[receiver].statistics.lost += 1;
            self.lost.push(Arrival::of(now, end, transit, false));
        }
        let transit = self.ends[sender].take_transit()?;
        let receiver = &mut self.ends[receiver];
        let intact = receiver.destination.complete(&transit);
        receiver.statistics.delivered += u64::from(intact);
        receiver.statistics.lost += u64::from(!intact);
        let arrival = Arrival::of(now, end, transit, intact);
        if self.lost.is_empty() {
            return Some(arrival);
        }
        // In the order in which they were sent.
        self.lost.push(arrival);
        self.lost.reverse();
        self.lost.pop()
    }

    #[inline(always)]
    fn wake(&mut self, now: Time, end: u32) {
        let next = self.ends[end as usize].next_cell(now);
        self.events.advance(self.first_source + end, next);
    }

    /// A source's next cell goes.
    #[inline(always)]
    fn on_source(&mut self, end: u32, now: Time) {
        let system = &mut self.ends[end as usize];
        let before = system.source.acr();
        let sent = system.send(now);
        let (next, step) = (system.next_cell(now), system.first_step);
        self.events.set(self.first_source + end, next);
        let Some((load, packet_has_gone)) = sent else { return };
        self.tell_acr(now, end, before);
        if packet_has_gone {
            self.tell_queues(now, end);
        }
        let Step { place: Place::Port(port), slot, .. } = self.steps[step as usize] else { return };
        self.join(now, port, slot, Cell { step, load });
    }

    /// An IP queue has served a packet.
    #[inline(never)]
    fn on_ip(&mut self, end: u32, now: Time) {
        let next = self.ends[end as usize].pass_on();
        self.events.set(self.first_ip + end, next);
        self.wake(now, end);
        self.tell_queues(now, end);
    }

    /// A cross source starts, sends or stops.
    #[inline(never)]
    fn on_cross(&mut self, index: u32, now: Time) {
        let cross = &mut self.crosses[index as usize];
        if now >= cross.stop {
            cross.running = false;
            self.events.set(self.first_cross + index, Time::NEVER);
            return self.reserve();
        }
        let starts = !std::mem::replace(&mut cross.running, true);
        cross.sent += 1;
        let (next, cell) = ((now + cross.spacing).min(cross.stop), Cell { step: cross.first_step, load: Load::Cross });
        self.events.set(self.first_cross + index, next);
        if starts {
            self.reserve();
        }
        self.come(now, cell);
    }

    /// Cross-traffic takes its rate from what the ports allocate.
    #[cold]
    fn reserve(&mut self) {
        for (index, port) in self.ports.iter_mut().enumerate() {
            let running = self.crosses.iter().filter(|cross| cross.running && cross.path.contains(&index));
            port.reserve(running.map(|cross| cross.rate).sum(), LEAST_SHARE);
        }
    }

    #[inline(always)]
    fn tell_acr(&mut self, now: Time, end: u32, before: f64) {
        if let Some(traces) = &mut self.traces {
            let acr = self.ends[end as usize].source.acr();
            if acr != before {
                traces.acr(now, end, acr);
            }
        }
    }

    #[inline(always)]
    fn tell_queues(&mut self, now: Time, end: u32) {
        if let Some(traces) = &mut self.traces {
            traces.queues(now, end, self.ends[end as usize].queues());
        }
    }
}

/// Lays out the steps of all channels.
struct Layout {
    steps: Vec<Step>,
    /// Channels of each port so far.
    slots: Vec<usize>,
}

impl Layout {
    /// Both ways of a channel: where they start.
    fn channel(&mut self, near: u32, forward: &[usize], backward: &[usize]) -> [u32; 2] {
        let mut slots = |path: &[usize]| -> Vec<(u32, u32)> { path.iter().map(|&port| self.slot(port)).collect() };
        let (there, back) = (slots(forward), slots(backward));
        [self.way(&there, &back, near + 1), self.way(&back, &there, near)]
    }

    fn slot(&mut self, port: usize) -> (u32, u32) {
        let slot = self.slots[port];
        self.slots[port] += 1;
        (port as u32, slot as u32)
    }

    fn way(&mut self, ports: &[(u32, u32)], opposite: &[(u32, u32)], end: u32) -> u32 {
        let first = self.steps.len() as u32;
        // The node after `hop` ports is the one before `hop` ports of the other direction's end.
        for (hop, &(port, slot)) in ports.iter().enumerate() {
            let opposite = opposite.iter().rev().nth(hop.wrapping_sub(1)).copied();
            self.steps.push(Step { place: Place::Port(port), slot, opposite });
        }
        self.steps.push(Step { place: Place::End(end), slot: 0, opposite: opposite.first().copied() });
        first
    }

    fn cross(&mut self, config: &CrossConfig) -> Cross {
        let first_step = self.steps.len() as u32;
        for &port in &config.path {
            self.steps.push(Step { place: Place::Port(port as u32), slot: 0, opposite: None });
        }
        self.steps.push(Step { place: Place::Sink, slot: 0, opposite: None });
        Cross {
            path: config.path.clone(),
            first_step,
            rate: config.rate_bps,
            spacing: cell_time(config.rate_bps),
            stop: config.stop_s.map_or(Time::NEVER, Time::from_seconds),
            running: false,
            sent: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backward_cell_meets_the_port_that_leaves_its_node_the_other_way() {
        // host -0-> switch -1-> switch -2-> host, and back -3-> -4-> -5->.
        let mut layout = Layout { steps: Vec::new(), slots: vec![0; 6] };
        let starts = layout.channel(6, &[0, 1, 2], &[3, 4, 5]);
        assert_eq!(starts, [0, 4]);
        let opposites: Vec<Option<u32>> = layout.steps.iter().map(|step| step.opposite.map(|(port, _)| port)).collect();
        assert_eq!(opposites, [None, Some(5), Some(4), Some(3), None, Some(2), Some(1), Some(0)]);
        assert!(matches!((layout.steps[3].place, layout.steps[7].place), (Place::End(7), Place::End(6))));
    }
}
