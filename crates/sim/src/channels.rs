//! ABR channels of an ATM network, as links: a packet enters at one end and arrives, reassembled, at the other.

use atm::{Arrival, AtmNetwork};
use base::cast::trunc_to_u64;
use base::{Clock, Histogram, Packet, Time};
use net::{LinkStatistics, Measurement};

use crate::network::Network;
use crate::observe::{overview_steps, Observers, OverviewKind};
use crate::scenario::Scenario;

/// Most events of the ATM network that are one event of the engine, so that a run can show progress and be cancelled.
const LONGEST_STRETCH: u64 = 10_000;

/// The channels of a run. Their next event is one element of the engine's event queue.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    atm: AtmNetwork,
    element: u32,
    /// Index of the scenario's element for the direction from each end.
    links: Vec<u32>,
    statistics: Vec<LinkStatistics>,
    /// Waits of the packets that arrived intact at the other end, from their arrival until their first cell leaves.
    waits: Vec<Histogram>,
}

impl Channels {
    /// Returns the channels of a scenario, with their number in the event queue; `None` if there are no channels.
    pub(crate) fn new(scenario: &Scenario, element: u32, clock: Clock) -> Option<Box<Channels>> {
        let mut config = scenario.atm.clone()?;
        let links: Vec<u32> = scenario.channel_elements();
        // The observers of links get the lengths of queues once the run is over.
        let trace = &scenario.trace;
        config.trace.ip_queue |= trace.queue || trace.queue_distribution || trace.overview_interval_s.is_some();
        config.trace.overview = trace.overview_interval_s.map(|_| overview_steps(scenario, clock));
        Some(Box::new(Channels {
            atm: AtmNetwork::new(&config, clock),
            element,
            statistics: vec![LinkStatistics::default(); links.len()],
            waits: vec![Histogram::default(); links.len()],
            links,
        }))
    }

    /// Returns the counters of the direction from an end.
    pub(crate) fn statistics(&self, end: u32) -> LinkStatistics {
        self.statistics[end as usize]
    }

    /// Returns the waits of packets at an end.
    pub(crate) fn waits(&self, end: u32) -> &Histogram {
        &self.waits[end as usize]
    }

    /// Returns the number of events in the ATM network.
    pub(crate) fn events(&self) -> u64 {
        self.atm.events_handled()
    }

    fn count(&mut self, arrival: &Arrival, measurement: &Measurement) {
        let Arrival { time, packet, intact, history: [entered, started, sent], .. } = *arrival;
        // The packet arrived at the end opposite to the one where it entered.
        let statistics = &mut self.statistics[arrival.end as usize ^ 1];
        statistics.in_link(entered, sent, measurement);
        if intact {
            statistics.transmitted(started, sent, packet.bytes, measurement);
            if entered >= measurement.warmup {
                self.waits[arrival.end as usize ^ 1].record(started - entered);
            }
        } else {
            statistics.drop_later(entered, time, measurement);
        }
    }

    /// Returns the memory that the recorded rows take so far \[bytes\].
    pub(crate) fn trace_bytes(&self) -> u64 {
        self.atm.trace_bytes()
    }

    /// Reports the lengths of the queues to the observers, and returns all other recorded rows.
    pub(crate) fn finish(self, observers: &mut Observers) -> atm::Traces {
        let traces = self.atm.finish();
        let mut lengths = vec![0; self.links.len()];
        for (ip, atm) in traces.ip_queue.iter().zip(&traces.atm_queue) {
            let (link, packets) = (self.links[ip.index as usize], trunc_to_u64(ip.value + atm.value));
            if packets > std::mem::replace(&mut lengths[ip.index as usize], packets) {
                observers.arrival(link, ip.time);
            }
            observers.queue(link, ip.time, packets);
        }
        for (kind, rows, by_end) in [
            (OverviewKind::DataQueue, &traces.overview_data, true),
            (OverviewKind::AllowedRate, &traces.overview_acr, true),
            (OverviewKind::CellQueue, &traces.overview_cells, false),
        ] {
            for row in rows {
                let index = if by_end { self.links[row.index as usize] } else { row.index };
                observers.overview_row(kind, index, row.time, row.value);
            }
        }
        traces
    }
}

impl Network {
    /// Passes a packet to its channel, at the clock's own time.
    #[inline(never)]
    pub(crate) fn join_channel(&mut self, end: u32, now: Time, packet: Packet) {
        let Some(channels) = &mut self.channels else { return };
        let statistics = &mut channels.statistics[end as usize];
        statistics.arrived[self.measurement.index(now)] += 1;
        channels.atm.offer(now, end, packet);
        statistics.observe_queue(u64::from(channels.atm.packets_waiting(end)), now, &self.measurement);
        self.events.set(channels.element, channels.atm.next_event());
    }

    /// Advances the channels until the next event of anything else, or until a packet arrives.
    #[inline(never)]
    pub(crate) fn on_channels(&mut self, now: Time) {
        let Some(channels) = &mut self.channels else { return };
        let element = channels.element;
        let (other, whose) = self.events.first_except(element);
        // Of two elements at the same instant, the one with the lower number is first.
        let until = if whose > element { other } else { other - Time::TICK };
        let until = until.min(self.measurement.end).max(now);
        let arrival = channels.atm.advance_some(until, LONGEST_STRETCH);
        self.events.set(element, channels.atm.next_event());
        let Some(arrival) = arrival else { return };
        channels.count(&arrival, &self.measurement);
        let link = channels.links[arrival.end as usize ^ 1];
        let (time, mut packet) = (arrival.time, arrival.packet);
        if !arrival.intact {
            self.count_drop(time, packet);
            if let Some(observers) = &mut self.observers {
                observers.dropped(time, link, &packet, false);
            }
            return;
        }
        if let Some(observers) = &mut self.observers {
            observers.left(time, link, &packet);
        }
        let delay = self.delay_after(&packet);
        packet.hop += 1;
        self.forward(time + delay, packet);
    }
}
