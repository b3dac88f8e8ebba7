//! Arguments of congestion controls in Python: numbers in seconds and packets.

use base::{Clock, Time};
use pyo3::prelude::*;
use tcp::cc::{self, Span};

/// The result of an ACK, for the congestion control.
#[pyclass(frozen, get_all, module = "ackclock.controls")]
pub(crate) struct AckSample {
    now: f64,
    acked: u32,
    marked: u32,
    lost: u32,
    state: &'static str,
    may_grow: bool,
    cwnd_limited: bool,
    rtt: Option<f64>,
    min_rtt: Option<f64>,
    srtt: Option<f64>,
    una: u64,
    nxt: u64,
    in_flight: u32,
    delivery_rate: Option<f64>,
    app_limited: bool,
}

/// The states of congestion, as Linux names them.
const STATES: [&str; 5] = ["Open", "Disorder", "CWR", "Recovery", "Loss"];

#[pymethods]
impl AckSample {
    /// Creates a sample, as a test of a control needs one.
    #[new]
    #[pyo3(signature = (now, acked, *, marked=0, lost=0, state="Open", may_grow=true, cwnd_limited=true, rtt=None,
                        min_rtt=None, srtt=None, una=0, nxt=0, in_flight=0, delivery_rate=None, app_limited=false))]
    #[expect(clippy::too_many_arguments, reason = "the fields, by name")]
    fn new(
        now: f64,
        acked: u32,
        marked: u32,
        lost: u32,
        state: &str,
        may_grow: bool,
        cwnd_limited: bool,
        rtt: Option<f64>,
        min_rtt: Option<f64>,
        srtt: Option<f64>,
        una: u64,
        nxt: u64,
        in_flight: u32,
        delivery_rate: Option<f64>,
        app_limited: bool,
    ) -> PyResult<AckSample> {
        let state = known("state", state, &STATES)?;
        Ok(AckSample {
            now,
            acked,
            marked,
            lost,
            state,
            may_grow,
            cwnd_limited,
            rtt,
            min_rtt,
            srtt,
            una,
            nxt,
            in_flight,
            delivery_rate,
            app_limited,
        })
    }

    /// Returns whether no reordering, reduction or recovery is going on after the ACK.
    #[getter]
    fn open(&self) -> bool {
        self.state == STATES[0]
    }
}

impl AckSample {
    /// Returns what an object sees of an ACK, with the packets that were taken to be lost since the ACK before.
    pub(crate) fn of(ack: &cc::AckSample, lost: u64, clock: Clock) -> AckSample {
        let span = ack.rate.and_then(|rate| rate.span);
        let rate = |span: Span| {
            span.interval.filter(|&interval| interval > 0).map(|us| f64::from(span.delivered) * 1e6 / us as f64)
        };
        let known = |span: Time| (span != Time::ZERO && span != Time::NEVER).then(|| clock.seconds(span));
        AckSample {
            now: clock.seconds(ack.now),
            acked: ack.acked,
            marked: ack.marked,
            lost: base::cast::to_u32(base::cast::to_index(lost)),
            state: STATES[ack.state as usize],
            may_grow: ack.may_grow,
            cwnd_limited: ack.cwnd_limited,
            rtt: ack.rtt.map(|rtt| clock.seconds(rtt)),
            min_rtt: known(ack.min_rtt),
            srtt: known(ack.srtt),
            una: ack.una,
            nxt: ack.nxt,
            in_flight: ack.in_flight[1],
            delivery_rate: span.and_then(rate),
            app_limited: span.is_some_and(|span| span.app_limited),
        }
    }
}

/// Returns one of some names.
fn known(field: &str, name: &str, names: &'static [&'static str]) -> PyResult<&'static str> {
    names.iter().find(|known| **known == name).copied().ok_or_else(|| {
        let text = format!("{field}: no such name; given {name:?}; allowed {}", names.join(", "));
        pyo3::exceptions::PyValueError::new_err(text)
    })
}

/// The reason for a reduction of the window.
#[pyclass(frozen, get_all, module = "ackclock.controls")]
pub(crate) struct Signal {
    kind: &'static str,
    now: f64,
}

#[pymethods]
impl Signal {
    /// Creates a signal, as a test of a control needs one.
    #[new]
    fn new(kind: &str, now: f64) -> PyResult<Signal> {
        Ok(Signal { kind: known("kind", kind, &["loss", "ecn", "timeout"])?, now })
    }
}

impl Signal {
    pub(crate) fn of(signal: cc::Signal, now: f64) -> Signal {
        let kind = match signal {
            cc::Signal::Loss => "loss",
            cc::Signal::Ecn => "ecn",
            cc::Signal::Timeout => "timeout",
        };
        Signal { kind, now }
    }
}

/// The connection that a control is created for.
#[pyclass(frozen, get_all, module = "ackclock.controls")]
pub(crate) struct Connection {
    pub(crate) flow: String,
    pub(crate) number: u64,
    pub(crate) seed: u64,
}

#[pymethods]
impl Connection {
    /// Creates a connection, as a test of a control needs one.
    #[new]
    #[pyo3(signature = (flow="flow", number=0, seed=0))]
    fn new(flow: &str, number: u64, seed: u64) -> Connection {
        Connection { flow: flow.to_owned(), number, seed }
    }
}
