//! The movement of cells: over links, through nodes, to the ends of channels.

use base::Time;

use super::steps::{Step, StepTarget};
use super::{Arrival, AtmNetwork};
use crate::cell::{Cell, Payload};
use crate::port::InFlight;

impl AtmNetwork {
    /// Handles the arrival of a cell at the end of a link.
    #[inline(always)]
    pub(super) fn on_cell(&mut self, port: u32, now: Time) -> Option<Arrival> {
        let ring = &mut self.ports[port as usize].in_flight;
        let InFlight { cell, .. } = ring.pop()?;
        let next = ring.front().map_or(Time::NEVER, |first| first.time);
        self.events.set(port, next);
        self.arrive_at_node(now, cell)
    }

    /// Takes the next step of a cell's path.
    #[inline(always)]
    pub(super) fn arrive_at_node(&mut self, now: Time, mut cell: Cell) -> Option<Arrival> {
        let Step { target, slot, opposite } = self.steps[cell.step as usize];
        if let (Payload::Backward(rm), Some((port, slot))) = (&mut cell.payload, opposite) {
            self.ports[port as usize].allocation.backward(now, slot, rm);
        }
        match target {
            StepTarget::Port(port) => {
                self.enqueue(now, port, slot, cell);
                None
            }
            StepTarget::End(end) => self.arrive_at_end(now, end, cell.payload),
            StepTarget::Sink => None,
        }
    }

    /// Puts a cell into the queue of a port, or drops it if the queue is full.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, now: Time, index: u32, slot: u32, mut cell: Cell) {
        let port = &mut self.ports[index as usize];
        if !matches!(cell.payload, Payload::Cross) {
            port.allocation.count(now, slot);
        }
        if let Payload::Forward(rm) = &mut cell.payload {
            port.allocation.forward(now, slot, rm);
        }
        cell.step += 1;
        let first = port.in_flight.is_empty();
        let time = port.enqueue(now, cell);
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
    fn arrive_at_end(&mut self, now: Time, end: u32, payload: Payload) -> Option<Arrival> {
        let system = &mut self.ends[end as usize];
        match payload {
            Payload::Data { packet, last, congested } => {
                system.statistics.data_received += 1;
                system.destination.data(packet, congested);
                if last {
                    return self.complete_packet(now, end, packet);
                }
            }
            Payload::Forward(cell) => {
                system.statistics.forward_received += 1;
                system.destination.turn_around(cell);
                self.wake(now, end);
            }
            Payload::Backward(cell) => {
                system.statistics.backward_received += 1;
                let before = system.source.acr();
                system.source.receive(&cell);
                self.record_acr(now, end, before);
                let next = self.ends[end as usize].next_cell(now);
                self.events.set(self.first_source + end, next);
            }
            Payload::Cross => {}
        }
        None
    }

    /// Handles the last cell of a packet. Earlier packets whose last cell never arrived are now found to be lost.
    #[inline(never)]
    fn complete_packet(&mut self, now: Time, end: u32, packet: u32) -> Option<Arrival> {
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
}
