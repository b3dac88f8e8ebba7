use base::{Ring, Time};

use crate::aal5::cell_time;
use crate::allocation::Allocation;
use crate::cell::{Cell, Load};
use crate::config::PortConfig;
use crate::statistics::PortStatistics;

/// A cell that is due at the end of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InFlight {
    pub(crate) time: Time,
    pub(crate) cell: Cell,
}

/// An output port: one first-in first-out queue for all cells, and the link behind it. A departure is known on arrival.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    rate: f64,
    service: Time,
    delay: Time,
    /// When its last cell has gone.
    free: Time,
    /// Backlogs beyond which it is full, and beyond which it marks.
    full: Time,
    marks: Time,
    longest: Time,
    /// Cells that are due at the end of the link, waiting ones included.
    pub(crate) on_the_way: Ring<InFlight>,
    pub(crate) allocation: Allocation,
    arrived: u64,
    dropped: u64,
}

impl Port {
    pub(crate) fn new(config: &PortConfig, channels: usize) -> Port {
        let service = cell_time(config.rate_bps);
        let backlog = |cells: Option<u64>| cells.map_or(Time::NEVER, |cells| service.times(cells));
        Port {
            rate: config.rate_bps,
            service,
            delay: Time::from_seconds(config.delay_s),
            free: Time::ZERO,
            full: backlog(config.buffer_cells.map(|cells| cells.saturating_sub(1))),
            marks: backlog(config.efci_cells),
            longest: Time::ZERO,
            on_the_way: Ring::default(),
            allocation: Allocation::new(config.allocation, config.rate_bps, channels),
            arrived: 0,
            dropped: 0,
        }
    }

    /// A cell joins the queue: when it comes to the end of the link; none where it finds the queue full.
    ///
    /// All cells are served alike, so the backlog in time tells how many there are: `ceil(backlog / service)`.
    #[inline(always)]
    pub(crate) fn join(&mut self, now: Time, mut cell: Cell) -> Option<Time> {
        self.arrived += 1;
        let backlog = self.free - now;
        if backlog > self.full {
            self.dropped += 1;
            return None;
        }
        if backlog > self.marks {
            if let Load::Data { congested, .. } = &mut cell.load {
                *congested = true;
            }
        }
        let longer = backlog + self.service;
        self.longest = self.longest.max(longer);
        self.free = now + longer;
        let time = self.free + self.delay;
        self.on_the_way.push(InFlight { time, cell });
        Some(time)
    }

    /// Cells in it, with the one in transmission.
    pub(crate) fn cells(&self, now: Time) -> u64 {
        self.cells_of(self.free - now)
    }

    fn cells_of(&self, backlog: Time) -> u64 {
        backlog.picoseconds().div_ceil(self.service.picoseconds().max(1))
    }

    /// So much of its rate is taken by others than ABR \[bit/s\]; a least share of it stays.
    pub(crate) fn reserve(&mut self, taken: f64, least_share: f64) {
        self.allocation.set_capacity((self.rate - taken).max(least_share * self.rate));
    }

    pub(crate) fn statistics(&self) -> PortStatistics {
        PortStatistics { arrived: self.arrived, dropped: self.dropped, queue_max: self.cells_of(self.longest) }
    }
}
