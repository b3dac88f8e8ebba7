use base::{Clock, Ring, Time};

use crate::aal5::cell_time;
use crate::allocation::Allocation;
use crate::cell::{Cell, Payload};
use crate::config::PortConfig;
use crate::statistics::PortStatistics;

/// A cell in flight, with the instant at which it arrives at the end of the link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InFlight {
    pub(crate) time: Time,
    pub(crate) cell: Cell,
}

/// An output port: one first-in first-out queue for all cells, and the link behind it. Departures are computed on
/// arrival.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    rate: f64,
    service: Time,
    delay: Time,
    /// Instant at which the last cell has left.
    free: Time,
    /// Backlog above which arriving cells are dropped.
    full: Time,
    /// Backlog above which arriving data cells get EFCI.
    marks: Time,
    /// Longest backlog so far.
    longest: Time,
    /// Cells that have not arrived at the end of the link, waiting ones included.
    pub(crate) in_flight: Ring<InFlight>,
    pub(crate) allocation: Allocation,
    arrived: u64,
    dropped: u64,
}

impl Port {
    pub(crate) fn new(config: &PortConfig, channels: usize, clock: Clock) -> Port {
        let service = cell_time(config.rate_bps, clock);
        let backlog = |cells: Option<u64>| cells.map_or(Time::NEVER, |cells| service.times(cells));
        Port {
            rate: config.rate_bps,
            service,
            delay: clock.time(config.delay_s),
            free: Time::ZERO,
            full: backlog(config.buffer_cells.map(|cells| cells.saturating_sub(1))),
            marks: backlog(config.efci_cells),
            longest: Time::ZERO,
            in_flight: Ring::default(),
            allocation: Allocation::new(config.allocation, config.rate_bps, channels, clock),
            arrived: 0,
            dropped: 0,
        }
    }

    /// Enqueues a cell; returns when it arrives at the end of the link, or `None` if the queue is full and the cell
    /// dropped.
    ///
    /// All cells have the same service time, so the backlog in time gives the queue length: `ceil(backlog / service)`.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, now: Time, mut cell: Cell) -> Option<Time> {
        self.arrived += 1;
        let backlog = self.free - now;
        if backlog > self.full {
            self.dropped += 1;
            return None;
        }
        if backlog > self.marks {
            if let Payload::Data { congested, .. } = &mut cell.payload {
                *congested = true;
            }
        }
        let longer = backlog + self.service;
        self.longest = self.longest.max(longer);
        self.free = now + longer;
        let time = self.free + self.delay;
        self.in_flight.push(InFlight { time, cell });
        Some(time)
    }

    /// Returns the number of cells in the queue, with the one in transmission.
    pub(crate) fn cells(&self, now: Time) -> u64 {
        self.cells_of(self.free - now)
    }

    fn cells_of(&self, backlog: Time) -> u64 {
        backlog.ticks().div_ceil(self.service.ticks().max(1))
    }

    /// Subtracts the rate of cross-traffic \[bit/s\] from the capacity for ABR, of which a least share of the rate
    /// remains.
    pub(crate) fn reserve(&mut self, taken: f64, least_share: f64) {
        self.allocation.set_capacity((self.rate - taken).max(least_share * self.rate));
    }

    pub(crate) fn statistics(&self) -> PortStatistics {
        PortStatistics { arrived: self.arrived, dropped: self.dropped, queue_max: self.cells_of(self.longest) }
    }
}
