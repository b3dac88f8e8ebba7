//! Bindings for Python: a resolved scenario in, columns out. Nothing is decided here.

use std::time::Duration;

use base::{PacketKind, Time};
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use sim::{Column, Outcome, Scenario, Traces, TransferStatistics};

/// Replications of a resolved scenario on their way.
#[pyclass]
struct Job(sim::Job);

#[pymethods]
impl Job {
    /// Checks the scenario (ValueError with all faults, one a line) and starts the replications; returns at once.
    #[new]
    fn new(resolved_json: &str, replications: Vec<u64>, threads: usize) -> PyResult<Job> {
        let scenario: Scenario =
            serde_json::from_str(resolved_json).map_err(|fault| PyValueError::new_err(fault.to_string()))?;
        let job = sim::Job::start(scenario, replications, threads);
        job.map(Job).map_err(|faults| PyValueError::new_err(faults.join("\n")))
    }

    /// Share of the work done (0 to 1), replications finished.
    fn progress(&self) -> (f64, usize) {
        self.0.progress()
    }

    /// Waits so many seconds at most; whether all is done.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        let at_most = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
        py.detach(|| self.0.wait(at_most))
    }

    /// Stops what is running; what is finished stays.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// The finished replications, in order. RuntimeError where one could not go on.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let outcomes = self.0.outcomes().map_err(|failures| PyRuntimeError::new_err(failures.join("\n")))?;
        let results =
            outcomes.iter().map(|outcome| replication(py, self.0.scenario(), outcome)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, results)
    }
}

fn replication<'py>(py: Python<'py>, scenario: &Scenario, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("replication", outcome.replication)?;
    result.set_item("packets", outcome.packets())?;
    result.set_item("events", outcome.events)?;
    result.set_item("cpu_s", outcome.cpu_s)?;
    let flows = table(py, &outcome.flows, Outcome::FLOW_COLUMNS)?;
    flows.update(table(py, &outcome.recoveries, Outcome::RECOVERY_COLUMNS)?.as_mapping())?;
    result.set_item("flows", flows)?;
    result.set_item("links", table(py, &outcome.links, Outcome::LINK_COLUMNS)?)?;
    let transfers = outcome.transfers.iter().map(|sources| source_tables(py, sources)).collect::<PyResult<Vec<_>>>()?;
    result.set_item("transfers", PyList::new(py, transfers)?)?;
    let traces = traces(py, &outcome.traces)?;
    if let (Some(rows), Some(config)) = (&outcome.traces.atm, &scenario.atm) {
        atm_traces(&traces, rows, config)?;
    }
    if outcome.traces.capture.is_some() {
        traces.set_item("capture", captures(py, scenario, outcome)?)?;
    }
    result.set_item("traces", traces)?;
    Ok(result)
}

fn table<'py, Row>(py: Python<'py>, rows: &[Row], columns: &[Column<Row>]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for (name, value) in columns {
        column(&table, name, rows, value)?;
    }
    Ok(table)
}

fn source_tables<'py>(py: Python<'py>, sources: &TransferStatistics) -> PyResult<Bound<'py, PyDict>> {
    let tables = PyDict::new(py);
    tables.set_item("entry", sources.entry)?;
    tables.set_item("started", sources.started)?;
    tables.set_item("completed", sources.completed)?;
    tables.set_item("classes", table(py, &sources.classes, Outcome::CLASS_COLUMNS)?)?;
    tables.set_item("states", table(py, &sources.states, Outcome::STATE_COLUMNS)?)?;
    column(&tables, "sequence_drops", &sources.sequence_drops, |&drops| drops as f64)?;
    Ok(tables)
}

fn column<Row, T: Element>(
    table: &Bound<'_, PyDict>,
    name: &str,
    rows: &[Row],
    value: impl Fn(&Row) -> T,
) -> PyResult<()> {
    let values: Vec<T> = rows.iter().map(value).collect();
    table.set_item(name, values.into_pyarray(table.py()))
}

fn seconds(time: Time) -> f64 {
    time.seconds()
}

fn traces<'py>(py: Python<'py>, traces: &Traces) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let add = |name: &str, table: Option<Bound<'py, PyDict>>| match table {
        Some(table) => all.set_item(name, table),
        None => Ok(()),
    };
    add("cwnd", traces.cwnd.as_ref().map(|rows| cwnd(py, rows)).transpose()?)?;
    add("rtt", traces.rtt.as_ref().map(|rows| rtt(py, rows)).transpose()?)?;
    add("sequence", traces.sequence.as_ref().map(|rows| sequence(py, rows)).transpose()?)?;
    add("queue", traces.queue.as_ref().map(|rows| queue(py, rows)).transpose()?)?;
    add("queue_distribution", traces.queue_distribution.as_ref().map(|rows| distribution(py, rows)).transpose()?)?;
    add("drops", traces.drops.as_ref().map(|rows| drops(py, rows)).transpose()?)?;
    add("losses", traces.losses.as_ref().map(|rows| losses(py, rows)).transpose()?)?;
    add("delay", traces.delay.as_ref().map(|rows| delay(py, rows)).transpose()?)?;
    add("recovery", traces.recovery.as_ref().map(|rows| recovery(py, rows)).transpose()?)?;
    add("rounds", traces.rounds.as_ref().map(|rows| rounds(py, rows)).transpose()?)?;
    add("overview", traces.overview.as_ref().map(|rows| overview(py, rows)).transpose()?)?;
    Ok(all)
}

fn cwnd<'py>(py: Python<'py>, rows: &[sim::CwndRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "flow", rows, |row| row.flow)?;
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "cwnd", rows, |row| row.cwnd)?;
    column(&table, "ssthresh", rows, |row| row.ssthresh)?;
    column(&table, "flight_size", rows, |row| row.flight_size)?;
    column(&table, "rto_s", rows, |row| seconds(row.rto))?;
    Ok(table)
}

fn rtt<'py>(py: Python<'py>, rows: &[sim::RttRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "flow", rows, |row| row.flow)?;
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "rtt_s", rows, |row| seconds(row.rtt))?;
    Ok(table)
}

fn sequence<'py>(py: Python<'py>, rows: &[sim::SequenceRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "flow", rows, |row| row.flow)?;
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "kind", rows, |row| row.kind as u8)?;
    column(&table, "sequence", rows, |row| row.sequence)?;
    Ok(table)
}

fn queue<'py>(py: Python<'py>, rows: &[sim::QueueRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "link", rows, |row| row.link)?;
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "packets", rows, |row| row.packets)?;
    Ok(table)
}

fn distribution<'py>(py: Python<'py>, rows: &[sim::QueueDistributionRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "link", rows, |row| row.link)?;
    column(&table, "packets", rows, |row| row.packets)?;
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "arrivals", rows, |row| row.arrivals)?;
    Ok(table)
}

fn drops<'py>(py: Python<'py>, rows: &[sim::DropRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "link", rows, |row| row.link)?;
    column(&table, "flow", rows, |row| row.packet.flow)?;
    column(&table, "sequence", rows, |row| row.packet.sequence)?;
    column(&table, "retransmission", rows, |row| row.packet.kind == PacketKind::Retransmission)?;
    column(&table, "slow_start", rows, |row| row.packet.slow_start)?;
    column(&table, "ack", rows, |row| row.packet.kind == PacketKind::Ack)?;
    column(&table, "lost", rows, |row| row.lost)?;
    Ok(table)
}

fn losses<'py>(py: Python<'py>, rows: &[sim::LossRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "flow", rows, |row| row.flow)?;
    column(&table, "sequence", rows, |row| row.loss.sequence)?;
    column(&table, "cause", rows, |row| row.loss.cause as u8)?;
    column(&table, "slow_start", rows, |row| row.loss.slow_start)?;
    column(&table, "retransmission", rows, |row| row.loss.retransmission)?;
    column(&table, "spurious", rows, |row| row.spurious)?;
    Ok(table)
}

fn recovery<'py>(py: Python<'py>, rows: &[sim::RepairRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "flow", rows, |row| row.flow)?;
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "event", rows, |row| row.repair.event())?;
    column(&table, "sequence", rows, |row| row.repair.loss.sequence)?;
    column(&table, "window", rows, |row| row.repair.loss.window)?;
    column(&table, "slow_start", rows, |row| row.repair.loss.slow_start)?;
    column(&table, "spurious", rows, |row| row.repair.spurious)?;
    column(&table, "duration_s", rows, |row| seconds(row.repair.time))?;
    column(&table, "retransmissions", rows, |row| row.repair.retransmissions)?;
    column(&table, "sent", rows, |row| row.repair.sent)?;
    column(&table, "sent_on_end", rows, |row| row.repair.sent_on_end)?;
    Ok(table)
}

fn rounds<'py>(py: Python<'py>, rows: &[sim::RoundRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "flow", rows, |row| row.flow)?;
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "rtt_s", rows, |row| seconds(row.rtt))?;
    column(&table, "window", rows, |row| row.window)?;
    Ok(table)
}

fn delay<'py>(py: Python<'py>, rows: &[sim::DelayRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "link", rows, |row| row.link)?;
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "delay_s", rows, |row| seconds(row.delay))?;
    Ok(table)
}

fn overview<'py>(py: Python<'py>, rows: &[sim::OverviewRow]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    column(&table, "kind", rows, |row| row.kind as u8)?;
    column(&table, "index", rows, |row| row.index)?;
    column(&table, "time_s", rows, |row| seconds(row.time))?;
    column(&table, "value", rows, |row| row.value)?;
    Ok(table)
}

/// What an ATM network recorded: its ends by the links that stand for their ways.
fn atm_traces(all: &Bound<'_, PyDict>, rows: &atm::Traces, config: &sim::scenario::ChannelsConfig) -> PyResult<()> {
    let (py, asked) = (all.py(), config.network.trace);
    let table = |rows: &[atm::Row], whose: &str, of: &dyn Fn(u32) -> u32, what: &str| -> PyResult<_> {
        let table = PyDict::new(py);
        column(&table, whose, rows, |row| of(row.index))?;
        column(&table, "time_s", rows, |row| seconds(row.time))?;
        column(&table, what, rows, |row| row.value)?;
        Ok(table)
    };
    let link = |end: u32| config.links[end as usize] as u32;
    if asked.acr {
        all.set_item("acr", table(&rows.acr, "link", &link, "rate_bps")?)?;
    }
    if asked.ip_queue {
        let queues = table(&rows.ip_queue_data, "link", &link, "data_packets")?;
        let both: Vec<(f64, f64)> =
            rows.ip_queue.iter().zip(&rows.atm_queue).map(|(ip, atm)| (ip.value, atm.value)).collect();
        column(&queues, "ip_packets", &both, |row| row.0)?;
        column(&queues, "atm_packets", &both, |row| row.1)?;
        all.set_item("ip_queue", queues)?;
    }
    if asked.cell_queue {
        all.set_item("cell_queue", table(&rows.cell_queue, "port", &|port| port, "cells")?)?;
    }
    Ok(())
}

fn captures<'py>(py: Python<'py>, scenario: &Scenario, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let files = PyDict::new(py);
    for link in sim::captured_links(scenario) {
        let file = py.detach(|| sim::pcapng(scenario, outcome, link)).map_err(PyRuntimeError::new_err)?;
        files.set_item(link, PyBytes::new(py, &file))?;
    }
    Ok(files)
}

/// The engine of ackclock.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Job>()
}
