//! Arguments of congestion controls in Python: numbers in seconds and packets.

use base::{Clock, Time};
use pyo3::prelude::*;
use tcp::cc;

/// The result of an ACK, for the congestion control.
#[pyclass(frozen, get_all, module = "ackclock.controls")]
pub(crate) struct AckSample {
    now: f64,
    acked: u32,
    marked: u32,
    open: bool,
    may_grow: bool,
    cwnd_limited: bool,
    rtt: Option<f64>,
    min_rtt: Option<f64>,
    srtt: Option<f64>,
    una: u64,
    nxt: u64,
}

#[pymethods]
impl AckSample {
    /// Creates a sample, as a test of a control needs one.
    #[new]
    #[pyo3(signature = (now, acked, *, marked=0, open=true, may_grow=true, cwnd_limited=true, rtt=None, min_rtt=None,
                        srtt=None, una=0, nxt=0))]
    #[expect(clippy::too_many_arguments, reason = "the fields, by name")]
    fn new(
        now: f64,
        acked: u32,
        marked: u32,
        open: bool,
        may_grow: bool,
        cwnd_limited: bool,
        rtt: Option<f64>,
        min_rtt: Option<f64>,
        srtt: Option<f64>,
        una: u64,
        nxt: u64,
    ) -> AckSample {
        AckSample { now, acked, marked, open, may_grow, cwnd_limited, rtt, min_rtt, srtt, una, nxt }
    }
}

impl AckSample {
    pub(crate) fn of(ack: &cc::AckSample, clock: Clock) -> AckSample {
        let known = |span: Time| (span != Time::ZERO && span != Time::NEVER).then(|| clock.seconds(span));
        AckSample {
            now: clock.seconds(ack.now),
            acked: ack.acked,
            marked: ack.marked,
            open: ack.is_open(),
            may_grow: ack.may_grow,
            cwnd_limited: ack.cwnd_limited,
            rtt: ack.rtt.map(|rtt| clock.seconds(rtt)),
            min_rtt: known(ack.min_rtt),
            srtt: known(ack.srtt),
            una: ack.una,
            nxt: ack.nxt,
        }
    }
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
        const KINDS: [&str; 3] = ["loss", "ecn", "timeout"];
        let Some(kind) = KINDS.into_iter().find(|known| *known == kind) else {
            let text = format!("kind: no such signal; given {kind:?}; allowed {}", KINDS.join(", "));
            return Err(pyo3::exceptions::PyValueError::new_err(text));
        };
        Ok(Signal { kind, now })
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
