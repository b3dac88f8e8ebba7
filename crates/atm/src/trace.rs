use base::Time;

use crate::config::TraceConfig;

/// A value that changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// When.
    pub time: Time,
    /// Whose: an end, or a port.
    pub index: u32,
    /// To what.
    pub value: f64,
}

/// What was asked for, in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces {
    config: TraceConfig,
    /// Allowed cell rate of an end \[bit/s\].
    pub acr: Vec<Row>,
    /// Data packets in the IP queue of an end, with the one in service.
    pub ip_queue_data: Vec<Row>,
    /// All packets there.
    pub ip_queue: Vec<Row>,
    /// All packets that wait at the ATM layer of an end, where it has a queue.
    pub atm_queue: Vec<Row>,
    /// Cells in a port, with the one in transmission.
    pub cell_queue: Vec<Row>,
    /// Cells that a port dropped.
    pub drops: Vec<Row>,
}

impl Traces {
    pub(crate) fn new(config: TraceConfig) -> Option<Box<Traces>> {
        let asked = config != TraceConfig::default();
        asked.then(|| Box::new(Traces { config, ..Traces::default() }))
    }

    #[cold]
    pub(crate) fn acr(&mut self, time: Time, end: u32, value: f64) {
        if self.config.acr {
            self.acr.push(Row { time, index: end, value });
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
    }

    #[cold]
    pub(crate) fn cell_queue(&mut self, time: Time, port: u32, cells: u64) {
        if self.config.cell_queue {
            self.cell_queue.push(Row { time, index: port, value: cells as f64 });
        }
    }

    #[cold]
    pub(crate) fn dropped(&mut self, time: Time, port: u32) {
        if self.config.drops {
            self.drops.push(Row { time, index: port, value: 1.0 });
        }
    }
}
