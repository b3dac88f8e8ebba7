//! ABR channels of an ATM network, as links: a packet goes in at one end and comes out, reassembled, at the other.

use atm::{Arrival, AtmConfig, AtmNetwork};
use base::{Packet, Time};
use net::{LinkStatistics, Measurement};

use crate::network::Network;
use crate::observe::{overview_steps, Observers, OverviewKind};
use crate::scenario::{ChannelsConfig, Scenario};

/// After so many events in the network the engine looks up again, even if nothing else happens.
const LONGEST_STRETCH: u64 = 10_000;

/// The channels of a run. Their next event is one element of the engine's event queue.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    atm: AtmNetwork,
    element: u32,
    /// The link that each end's way stands for.
    links: Vec<u32>,
    statistics: Vec<LinkStatistics>,
}

impl Channels {
    /// The channels of a scenario, the engine's element of this number; none where it has none.
    pub(crate) fn new(scenario: &Scenario, element: u32) -> Option<Box<Channels>> {
        let ChannelsConfig { network, links } = scenario.atm.as_ref()?;
        let mut config: AtmConfig = network.clone();
        // Lengths of queues are told to the observers of links, once the run is over.
        let trace = &scenario.trace;
        config.trace.ip_queue |= trace.queue || trace.queue_distribution || trace.overview_interval_s.is_some();
        config.trace.overview = trace.overview_interval_s.map(|_| overview_steps(scenario));
        Some(Box::new(Channels {
            atm: AtmNetwork::new(&config),
            element,
            links: links.iter().map(|&link| link as u32).collect(),
            statistics: vec![LinkStatistics::default(); links.len()],
        }))
    }

    /// What the channels counted, of the link that an end's way stands for.
    pub(crate) fn statistics(&self, end: u32) -> LinkStatistics {
        self.statistics[end as usize]
    }

    /// Events in the network.
    pub(crate) fn events(&self) -> u64 {
        self.atm.events_handled()
    }

    fn count(&mut self, arrival: &Arrival, measurement: &Measurement) {
        let Arrival { time, packet, intact, history: [entered, started, sent], .. } = *arrival;
        // It came to the end opposite the one that it went in at.
        let statistics = &mut self.statistics[arrival.end as usize ^ 1];
        statistics.in_link(entered, sent, measurement);
        if intact {
            statistics.transmitted(started, sent, packet.bytes, measurement);
        } else {
            statistics.dropped[measurement.index(time)] += 1;
        }
    }

    /// Tells the observers how long the queues were, and gives what else was recorded.
    pub(crate) fn finish(self, observers: &mut Observers) -> atm::Traces {
        let traces = self.atm.finish();
        let mut lengths = vec![0; self.links.len()];
        for (ip, atm) in traces.ip_queue.iter().zip(&traces.atm_queue) {
            let (link, packets) = (self.links[ip.index as usize], (ip.value + atm.value) as u64);
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
    /// A packet comes to its channel; the clock is there.
    #[inline(never)]
    pub(crate) fn join_channel(&mut self, end: u32, now: Time, packet: Packet) {
        let Some(channels) = &mut self.channels else { return };
        let statistics = &mut channels.statistics[end as usize];
        statistics.arrived[self.measurement.index(now)] += 1;
        channels.atm.offer(now, end, packet);
        statistics.observe_queue(u64::from(channels.atm.packets_waiting(end)), now, &self.measurement);
        self.events.set(channels.element, channels.atm.next_event());
    }

    /// The channels go on until something else happens, or a packet comes out.
    #[inline(never)]
    pub(crate) fn on_channels(&mut self, now: Time) {
        let Some(channels) = &mut self.channels else { return };
        let element = channels.element;
        let (other, whose) = self.events.first_except(element);
        // At the same instant the lower element goes first.
        let until = if whose > element { other } else { other - Time::from_picoseconds(1) };
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
