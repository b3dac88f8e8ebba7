//! Bindings for Python: a resolved scenario comes in, tables go out. Nothing is decided here.

mod control;
mod hooks;
mod sample;

use std::sync::Arc;
use std::time::Duration;

use base::Clock;
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use sim::{
    Batches, BucketRow, ClassRow, Column, CompletionStatistics, Delays, Outcome, Scenario, Traces, TransferStatistics,
};

/// A set of replications of a resolved scenario that run on threads of their own.
#[pyclass]
struct Job {
    job: sim::Job,
    calls: Arc<control::Calls>,
}

#[pymethods]
impl Job {
    /// Checks the scenario (ValueError with all faults, one a line) and starts the replications, which may
    /// record `trace_limit` bytes of rows together; returns immediately. `controllers` are classes by the name of the
    /// congestion control that they are.
    #[new]
    #[pyo3(signature = (resolved_json, replications, threads, trace_limit, controllers=None))]
    fn new(
        resolved_json: &str,
        replications: Vec<u64>,
        threads: usize,
        trace_limit: u64,
        controllers: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Job> {
        let mut scenario: Scenario =
            serde_json::from_str(resolved_json).map_err(|fault| PyValueError::new_err(fault.to_string()))?;
        let calls = Arc::default();
        let mut within: fn(&(dyn Fn() + Sync)) = |work| work();
        if let Some(classes) = controllers {
            control::provide(&mut scenario, classes, &calls)?;
            within = control::with_thread_state;
        }
        let job = sim::Job::start_within(scenario, replications, threads, trace_limit, within);
        let job = job.map_err(|faults| PyValueError::new_err(faults.join("\n")))?;
        Ok(Job { job, calls })
    }

    /// Returns the fraction of the work that is done (0 to 1) and the number of finished replications.
    fn progress(&self) -> (f64, usize) {
        self.job.progress()
    }

    /// Waits until all replications are done, `seconds` at most; returns whether they are.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        let at_most = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
        py.detach(|| self.job.wait(at_most))
    }

    /// Stops the running replications; the results of finished ones stay.
    fn cancel(&self) {
        self.job.cancel();
    }

    /// Stops the running replications, and waits for the end of the threads: one that is still about to leave Python when the
    /// interpreter ends would abort the process. The results of finished replications stay.
    fn end(&mut self, py: Python<'_>) {
        let job = &mut self.job;
        py.detach(|| job.end());
    }

    /// Returns the threads that have called Python, by Python's numbers.
    fn calling_threads(&self) -> Vec<u64> {
        self.calls.threads()
    }

    /// Returns the finished replications, in order; RuntimeError if one could not go on, whose cause is the exception of
    /// a congestion control.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let job = &self.job;
        let outcomes = job.outcomes().map_err(|failures| {
            let error = PyRuntimeError::new_err(failures.join("\n"));
            error.set_cause(py, self.calls.take_raised());
            error
        })?;
        let results =
            outcomes.iter().map(|outcome| replication(py, job.scenario(), outcome)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, results)
    }
}

impl Drop for Job {
    /// Waits for the threads without Python's lock, which a congestion control may need to come to its end.
    fn drop(&mut self) {
        let job = &mut self.job;
        Python::attach(|py| py.detach(|| job.end()));
    }
}

fn replication<'py>(py: Python<'py>, scenario: &Scenario, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let (clock, result) = (outcome.clock, PyDict::new(py));
    result.set_item("replication", outcome.replication)?;
    result.set_item("ticks_per_second", clock.ticks_per_second())?;
    let measured = outcome.measurement.end - outcome.measurement.warmup;
    result.set_item("measured_s", clock.seconds(measured))?;
    result.set_item("packets", outcome.packets())?;
    result.set_item("events", outcome.events)?;
    result.set_item("cpu_s", outcome.cpu_s)?;
    let flows = table(py, clock, &outcome.flows, Outcome::FLOW_COLUMNS)?;
    flows.update(table(py, clock, &outcome.recoveries, Outcome::RECOVERY_COLUMNS)?.as_mapping())?;
    result.set_item("flows", flows)?;
    let links = table(py, clock, &outcome.links, Outcome::LINK_COLUMNS)?;
    if let Some(offered) = &outcome.offered {
        add_column(&links, "offered_bits", &offered.bits, |&bits| bits)?;
    }
    result.set_item("links", links)?;
    if let Some(measured) = &outcome.delays {
        result.set_item("delays", delays(py, clock, measured)?)?;
    }
    if !outcome.classes.is_empty() {
        result.set_item("classes", classes(py, outcome)?)?;
    }
    let transfers =
        outcome.transfers.iter().map(|sources| source_tables(py, clock, sources)).collect::<PyResult<Vec<_>>>()?;
    result.set_item("transfers", PyList::new(py, transfers)?)?;
    result.set_item("completions", completions(py, outcome)?)?;
    result.set_item("pings", pings(py, outcome)?)?;
    add_batches(&result, outcome)?;
    let traces = traces(py, clock, &outcome.traces)?;
    if let (Some(rows), Some(network)) = (&outcome.traces.atm, &scenario.atm) {
        atm_traces(&traces, clock, rows, network.trace, &scenario.channel_elements())?;
    }
    if outcome.traces.capture.is_some() {
        traces.set_item("capture", captures(py, scenario, outcome)?)?;
    }
    result.set_item("traces", traces)?;
    Ok(result)
}

/// Adds the tables of batches, if they were counted.
fn add_batches(result: &Bound<'_, PyDict>, outcome: &Outcome) -> PyResult<()> {
    let (py, clock) = (result.py(), outcome.clock);
    let Some(batches) = &outcome.batches else { return Ok(()) };
    let links = table(py, clock, &batches.links, Batches::LINK_COLUMNS)?;
    if let Some(offered) = &outcome.offered {
        add_column(&links, "offered_bits", &offered.batches, |&bits| bits)?;
    }
    result.set_item("flow_batches", table(py, clock, &batches.flows, Batches::FLOW_COLUMNS)?)?;
    result.set_item("link_batches", links)
}

/// Returns a table of rows: an array for each column, by the column's name.
fn table<'py, Row>(
    py: Python<'py>,
    clock: Clock,
    rows: &[Row],
    columns: &[Column<Row>],
) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for column in columns {
        match *column {
            Column::Bool(name, value) => add_column(&table, name, rows, value),
            Column::U8(name, value) => add_column(&table, name, rows, value),
            Column::U32(name, value) => add_column(&table, name, rows, value),
            Column::U64(name, value) => add_column(&table, name, rows, value),
            Column::F64(name, value) => add_column(&table, name, rows, value),
            Column::Seconds(name, value) => add_column(&table, name, rows, |row| clock.ticks_in_seconds(value(row))),
        }?;
    }
    Ok(table)
}

fn add_column<Row, T: Element>(
    table: &Bound<'_, PyDict>,
    name: &str,
    rows: &[Row],
    value: impl Fn(&Row) -> T,
) -> PyResult<()> {
    let values: Vec<T> = rows.iter().map(value).collect();
    table.set_item(name, values.into_pyarray(table.py()))
}

fn delays<'py>(py: Python<'py>, clock: Clock, measured: &Delays) -> PyResult<Bound<'py, PyDict>> {
    let tables = PyDict::new(py);
    tables.set_item("flows", table(py, clock, &measured.flows, Delays::FLOW_COLUMNS)?)?;
    tables.set_item("links", table(py, clock, &measured.waits, Delays::WAIT_COLUMNS)?)?;
    let round_trips = BucketRow::of(measured.flows.iter().map(|flow| &flow.round_trips));
    let excess = BucketRow::of(measured.flows.iter().map(|flow| &flow.excess));
    let waits = BucketRow::of(measured.waits.iter());
    for (name, rows) in [("round_trip", round_trips), ("excess", excess), ("wait", waits)] {
        tables.set_item(name, table(py, clock, &rows, BucketRow::COLUMNS)?)?;
    }
    Ok(tables)
}

/// Returns the tables of the classes of packets at links: their counters, and the buckets of the waits' histograms.
fn classes<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let (tables, clock) = (PyDict::new(py), outcome.clock);
    tables.set_item("rows", table(py, clock, &outcome.classes, ClassRow::COLUMNS)?)?;
    let waits = BucketRow::of(outcome.classes.iter().map(|row| &row.statistics.waits));
    tables.set_item("wait", table(py, clock, &waits, BucketRow::COLUMNS)?)?;
    Ok(tables)
}

/// Returns the tables of completion times: the longest, and the buckets of each histogram.
fn completions<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let (tables, clock, groups) = (PyDict::new(py), outcome.clock, &outcome.completions);
    tables.set_item("groups", table(py, clock, groups, Outcome::COMPLETION_COLUMNS)?)?;
    let delivered = BucketRow::of(groups.iter().map(|group| &group.delivered));
    let acked = BucketRow::of(groups.iter().map(|group| &group.acked));
    let slowdown = BucketRow::of(groups.iter().map(|group| &group.slowdown));
    let slowdowns = CompletionStatistics::SLOWDOWNS;
    for (name, clock, rows) in
        [("delivered", clock, delivered), ("acked", clock, acked), ("slowdown", slowdowns, slowdown)]
    {
        tables.set_item(name, table(py, clock, &rows, BucketRow::COLUMNS)?)?;
    }
    Ok(tables)
}

/// Returns the tables of pings: their counters, and the buckets of the round trips' histograms.
fn pings<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let (tables, clock) = (PyDict::new(py), outcome.clock);
    tables.set_item("groups", table(py, clock, &outcome.pings, Outcome::PING_COLUMNS)?)?;
    let round_trips = BucketRow::of(outcome.pings.iter().map(|pings| &pings.round_trips));
    tables.set_item("round_trips", table(py, clock, &round_trips, BucketRow::COLUMNS)?)?;
    Ok(tables)
}

fn source_tables<'py>(py: Python<'py>, clock: Clock, sources: &TransferStatistics) -> PyResult<Bound<'py, PyDict>> {
    let tables = PyDict::new(py);
    tables.set_item("entry", sources.entry)?;
    tables.set_item("started", sources.started)?;
    tables.set_item("completed", sources.completed)?;
    tables.set_item("classes", table(py, clock, &sources.classes, Outcome::CLASS_COLUMNS)?)?;
    tables.set_item("states", table(py, clock, &sources.states, Outcome::STATE_COLUMNS)?)?;
    add_column(&tables, "sequence_drops", &sources.sequence_drops, |&drops| drops as f64)?;
    Ok(tables)
}

fn traces<'py>(py: Python<'py>, clock: Clock, traces: &Traces) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    add_trace(&all, clock, "cwnd", &traces.cwnd, sim::CwndRow::COLUMNS)?;
    add_trace(&all, clock, "rtt", &traces.rtt, sim::RttRow::COLUMNS)?;
    add_trace(&all, clock, "sequence", &traces.sequence, sim::SequenceRow::COLUMNS)?;
    add_trace(&all, clock, "queue", &traces.queue, sim::QueueRow::COLUMNS)?;
    add_trace(&all, clock, "queue_distribution", &traces.queue_distribution, sim::QueueDistributionRow::COLUMNS)?;
    add_trace(&all, clock, "drops", &traces.drops, sim::DropRow::COLUMNS)?;
    add_trace(&all, clock, "losses", &traces.losses, sim::LossRow::COLUMNS)?;
    add_trace(&all, clock, "rate", &traces.rate, sim::RateRow::COLUMNS)?;
    add_trace(&all, clock, "delay", &traces.delay, sim::DelayRow::COLUMNS)?;
    add_trace(&all, clock, "recovery", &traces.recovery, sim::RepairRow::COLUMNS)?;
    add_trace(&all, clock, "rounds", &traces.rounds, sim::RoundRow::COLUMNS)?;
    add_trace(&all, clock, "state", &traces.state, sim::StateRow::COLUMNS)?;
    add_trace(&all, clock, "aqm", &traces.aqm, sim::AqmRow::COLUMNS)?;
    add_trace(&all, clock, "overview", &traces.overview, sim::OverviewRow::COLUMNS)?;
    Ok(all)
}

/// Adds the table of a trace, if it was recorded.
fn add_trace<Row>(
    all: &Bound<'_, PyDict>,
    clock: Clock,
    name: &str,
    rows: &Option<Vec<Row>>,
    columns: &[Column<Row>],
) -> PyResult<()> {
    match rows {
        Some(rows) => all.set_item(name, table(all.py(), clock, rows, columns)?),
        None => Ok(()),
    }
}

/// Adds the tables that an ATM network recorded; an end is named by the element of its direction.
fn atm_traces(
    all: &Bound<'_, PyDict>,
    clock: Clock,
    rows: &atm::Traces,
    asked: atm::TraceConfig,
    elements: &[u32],
) -> PyResult<()> {
    let py = all.py();
    let table = |rows: &[atm::Row], whose: &str, of: &dyn Fn(u32) -> u32, what: &str| -> PyResult<_> {
        let table = PyDict::new(py);
        add_column(&table, whose, rows, |row| of(row.index))?;
        add_column(&table, "time_s", rows, |row| clock.seconds(row.time))?;
        add_column(&table, what, rows, |row| row.value)?;
        Ok(table)
    };
    let link = |end: u32| elements[end as usize];
    if asked.acr {
        all.set_item("acr", table(&rows.acr, "link", &link, "rate_bps")?)?;
    }
    if asked.ip_queue {
        let queues = table(&rows.ip_queue_data, "link", &link, "data_packets")?;
        let both: Vec<(f64, f64)> =
            rows.ip_queue.iter().zip(&rows.atm_queue).map(|(ip, atm)| (ip.value, atm.value)).collect();
        add_column(&queues, "ip_packets", &both, |row| row.0)?;
        add_column(&queues, "atm_packets", &both, |row| row.1)?;
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

/// Returns the contract between engine and callers as JSON: names of choices and codes, and ranges of numbers.
#[pyfunction]
fn contract() -> String {
    sim::contract().to_string()
}

/// Returns the instants at which a link that is always busy delivers packets of a length \[ms\], rounded up, for the JSON of
/// a resolved scenario and the index of an element.
#[pyfunction]
fn deliveries_ms(
    py: Python<'_>,
    resolved_json: &str,
    element: usize,
    replication: u64,
    size_bytes: u16,
) -> PyResult<Vec<u64>> {
    let scenario: Scenario =
        serde_json::from_str(resolved_json).map_err(|fault| PyValueError::new_err(fault.to_string()))?;
    let faults = sim::check(&scenario);
    if !faults.is_empty() {
        return Err(PyValueError::new_err(faults.join("\n")));
    }
    py.detach(|| sim::deliveries_ms(&scenario, element, replication, size_bytes)).map_err(PyValueError::new_err)
}

/// The engine of ackclock.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(contract, module)?)?;
    module.add_function(wrap_pyfunction!(deliveries_ms, module)?)?;
    module.add_class::<sample::AckSample>()?;
    module.add_class::<sample::Connection>()?;
    module.add_class::<sample::Signal>()?;
    module.add_class::<Job>()
}
