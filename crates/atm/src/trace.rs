use base::cast::to_u32;
use base::{Steps, Thinner, Time};

use crate::config::TraceConfig;

/// A change of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Instant of the change.
    pub time: Time,
    /// Index of the end or of the port.
    pub index: u32,
    /// Value after the change.
    pub value: f64,
}

/// The recorded traces, in the order of time; those not requested are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces {
    config: TraceConfig,
    /// Allowed cell rate of an end \[bit/s\].
    pub acr: Vec<Row>,
    /// Data packets in the IP queue of an end, with the one in service.
    pub ip_queue_data: Vec<Row>,
    /// All packets in the IP queue of an end, with the one in service.
    pub ip_queue: Vec<Row>,
    /// All packets that wait at the ATM layer of an end; zero if it has no queue there.
    pub atm_queue: Vec<Row>,
    /// Cells in a port, with the one in transmission.
    pub cell_queue: Vec<Row>,
    /// Cells that a port dropped.
    pub drops: Vec<Row>,
    /// Extremes of the allowed cell rate of an end.
    pub overview_acr: Vec<Row>,
    /// Extremes of the data packets in the queue of an end.
    pub overview_data: Vec<Row>,
    /// Extremes of the cells in a port.
    pub overview_cells: Vec<Row>,
    /// Thinners of the three overviews, by index.
    thinners: [Vec<Thinner>; 3],
}

fn thin(steps: &Steps, thinners: &mut Vec<Thinner>, rows: &mut Vec<Row>, row: Row) {
    let index = row.index as usize;
    if index >= thinners.len() {
        thinners.resize(index + 1, Thinner::default());
    }
    thinners[index].observe(row.time, row.value, steps, |time, value| rows.push(Row { time, value, ..row }));
}

impl Traces {
    pub(crate) fn new(config: TraceConfig) -> Option<Box<Traces>> {
        let asked = config != TraceConfig::default();
        asked.then(|| Box::new(Traces { config, ..Traces::default() }))
    }

    #[cold]
    pub(crate) fn acr(&mut self, time: Time, end: u32, value: f64) {
        let row = Row { time, index: end, value };
        if self.config.acr {
            self.acr.push(row);
        }
        if let Some(steps) = &self.config.overview {
            thin(steps, &mut self.thinners[0], &mut self.overview_acr, row);
        }
    }

    #[cold]
    pub(crate) fn queues(&mut self, time: Time, end: u32, [data, ip, atm]: [u32; 3]) {
        if self.config.ip_queue {
            let row = |value: u32| Row { time, index: end, value: f64::from(value) };
            self.ip_queue_data.push(row(data));
            self.ip_queue.push(row(ip));
            self.atm_queue.push(row(atm));
        }
        if let Some(steps) = &self.config.overview {
            let row = Row { time, index: end, value: f64::from(data) };
            thin(steps, &mut self.thinners[1], &mut self.overview_data, row);
        }
    }

    #[cold]
    pub(crate) fn cell_queue(&mut self, time: Time, port: u32, cells: u64) {
        let row = Row { time, index: port, value: cells as f64 };
        if self.config.cell_queue {
            self.cell_queue.push(row);
        }
        if let Some(steps) = &self.config.overview {
            thin(steps, &mut self.thinners[2], &mut self.overview_cells, row);
        }
    }

    /// Returns the memory that the rows take so far \[bytes\], those of the overview apart, which its intervals bound.
    pub(crate) fn bytes(&self) -> u64 {
        let rows = [&self.acr, &self.ip_queue_data, &self.ip_queue, &self.atm_queue, &self.cell_queue, &self.drops];
        rows.into_iter().map(|rows| size_of_val(rows.as_slice()) as u64).sum()
    }

    /// Records the extremes of the last intervals.
    pub(crate) fn flush(&mut self) {
        let rows = [&mut self.overview_acr, &mut self.overview_data, &mut self.overview_cells];
        for (thinners, rows) in self.thinners.iter_mut().zip(rows) {
            for (index, thinner) in thinners.iter_mut().enumerate() {
                thinner.flush(|time, value| rows.push(Row { time, index: to_u32(index), value }));
            }
        }
    }

    #[cold]
    pub(crate) fn dropped(&mut self, time: Time, port: u32) {
        if self.config.drops {
            self.drops.push(Row { time, index: port, value: 1.0 });
        }
    }
}
