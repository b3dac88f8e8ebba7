//! Congestion controls that are classes of Python: each connection has an object, which the sender asks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::{Clock, RandomStream, Time};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use tcp::cc::{self, CongestionControl, Needs, Provided, Provider, Restart, Window};
use tcp::SenderConfig;

use crate::hooks::Hooks;
use crate::sample::{AckSample, Connection, Signal};

/// Smallest and largest window \[packets\].
const WINDOWS: (f64, f64) = (1.0, 1e9);
/// Smallest and largest pacing rate \[packets/s\].
const RATES: (f64, f64) = (1e-3, 1e9);
/// Largest number of characters of a value in a message.
const LONGEST: usize = 100;

/// The exception that ended a run, and the threads that call Python.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    raised: Mutex<Option<PyErr>>,
    threads: Mutex<Vec<u64>>,
}

impl Calls {
    /// Takes the exception that ended the run.
    pub(crate) fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the threads that have called Python, by Python's numbers.
    pub(crate) fn threads(&self) -> Vec<u64> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add_thread(&self, thread: u64) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if !threads.contains(&thread) {
            threads.push(thread);
        }
    }
}

/// Does the work of a thread that calls Python again and again: Python's state of the thread is kept from one call to the
/// next, as creating it costs more than the call.
pub(crate) fn with_thread_state(work: &(dyn Fn() + Sync)) {
    Python::attach(|py| py.detach(work));
}

/// Gives the flows of a scenario whose control is a program the classes of these names.
pub(crate) fn provide(scenario: &mut sim::Scenario, classes: &Bound<'_, PyDict>, calls: &Arc<Calls>) -> PyResult<()> {
    let clock = scenario.clock();
    for flow in &mut scenario.flows {
        let name = flow.name.clone();
        let Some(SenderConfig::Selective(sender)) = flow.connection_mut().map(|tcp| &mut tcp.sender) else { continue };
        let control = &mut sender.congestion_control;
        if control.program.is_none() {
            continue;
        }
        if let Some(class) = classes.get_item(&control.name)? {
            let (hooks, segment_bytes, calls) = (Hooks::of(&class)?, sender.segment_bytes, calls.clone());
            let class = Class { hooks, class: class.unbind(), flow: name, clock, segment_bytes, calls };
            control.provided = Some(Provided(Arc::new(Classes(Arc::new(class)))));
        }
    }
    Ok(())
}

/// A class for the connections of an entry of flows.
#[derive(Debug)]
struct Class {
    class: Py<PyAny>,
    hooks: Hooks,
    flow: String,
    clock: Clock,
    /// Payload of a full segment \[byte\].
    segment_bytes: u32,
    calls: Arc<Calls>,
}

#[derive(Debug)]
struct Classes(Arc<Class>);

impl Provider for Classes {
    fn create(&self) -> Box<dyn CongestionControl> {
        Box::new(Control::new(Arc::clone(&self.0), Arc::default()))
    }
}

/// The reason for which a call failed: an exception of the class, or a value that is refused.
enum Fault {
    Raised(PyErr),
    Refused(String),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Fault {
        Fault::Raised(error)
    }
}

/// Refuses what a method gives that should give nothing: its author expects an effect of it.
fn without_result(found: &Bound<'_, PyAny>) -> Result<(), Fault> {
    if found.is_none() {
        return Ok(());
    }
    let given = found.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string_lossy().chars().take(40).collect());
    Err(Fault::Refused(format!("returns a value; given {given}; allowed None: set self.cwnd and self.ssthresh")))
}

/// The control of a connection. Its object is created at the first call.
#[derive(Debug)]
struct Control {
    class: Arc<Class>,
    /// Seed of its random numbers, of which each connection has its own ones.
    seed: u64,
    /// Number of connections of the entry so far, in this replication.
    connections: Arc<AtomicU64>,
    object: Option<Py<PyAny>>,
    /// The window that the object was given last.
    window: Window,
    last: Option<cc::AckSample>,
    /// Packets that were taken to be lost until the last ACK that the object was given.
    lost: u64,
    /// Rate at which packets are paced \[byte/s\]; `None`: as the flow's settings say.
    rate: Option<u64>,
    failure: Option<String>,
    /// Whether a call has failed: no other one follows.
    failed: bool,
}

impl Control {
    fn new(class: Arc<Class>, connections: Arc<AtomicU64>) -> Control {
        let window = Window { cwnd: 1.0, ssthresh: f64::INFINITY };
        Control {
            class,
            seed: 0,
            connections,
            object: None,
            window,
            last: None,
            lost: 0,
            rate: None,
            failure: None,
            failed: false,
        }
    }

    /// Calls a method of the object, which finds the window in its attributes.
    fn call<T>(
        &mut self,
        method: &str,
        act: impl FnOnce(&Control, &Bound<'_, PyAny>) -> Result<T, Fault>,
    ) -> Option<T> {
        if self.failed {
            return None;
        }
        Python::attach(|py| {
            let found = self.prepared(py).and_then(|object| act(self, &object));
            let failed_in = if self.object.is_none() { "__init__" } else { method };
            found.map_err(|fault| self.fail(py, failed_in, fault)).ok()
        })
    }

    /// Calls a method that may not change the window.
    fn call_aside<T>(
        &mut self,
        method: &str,
        act: impl FnOnce(&Control, &Bound<'_, PyAny>) -> Result<T, Fault>,
    ) -> Option<T> {
        self.call(method, |control, object| {
            let found = act(control, object)?;
            let (before, after) = (control.window, read_window(object)?);
            for (name, before, after) in
                [("cwnd", before.cwnd, after.cwnd), ("ssthresh", before.ssthresh, after.ssthresh)]
            {
                if before != after {
                    return Err(Fault::Refused(format!("{name}: may not be changed; given {after}; allowed {before}")));
                }
            }
            Ok(found)
        })
    }

    /// Asks for the pacing rate, if the class sets one.
    fn ask_for_rate(&mut self, window: &Window) {
        if !self.class.hooks.pacing_rate {
            return;
        }
        self.window = *window;
        let found = self.call_aside("pacing_rate", |control, object| {
            let value = object.call_method0(intern!(object.py(), "pacing_rate"))?;
            if value.is_none() {
                return Ok(None);
            }
            let packets = number("the result", &value, RATES, "packets/s")?;
            let bytes = (packets * f64::from(control.class.segment_bytes)).ceil();
            Ok(Some(base::cast::trunc_to_u64(bytes)))
        });
        self.rate = found.unwrap_or(self.rate);
    }

    /// Returns the object, with the window in its attributes.
    fn prepared<'py>(&mut self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Fault> {
        let object = match &self.object {
            Some(object) => object.bind(py).clone(),
            None => self.create(py)?,
        };
        object.setattr(intern!(py, "cwnd"), self.window.cwnd)?;
        object.setattr(intern!(py, "ssthresh"), self.window.ssthresh)?;
        Ok(object)
    }

    #[cold]
    fn create<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        let seed = RandomStream::named(self.seed, number, "connection").bits();
        self.class.calls.add_thread(py.import("threading")?.call_method0("get_ident")?.extract()?);
        let connection = Connection { flow: self.class.flow.clone(), number, seed };
        let object = self.class.class.bind(py).call1((connection,))?;
        self.object = Some(object.clone().unbind());
        Ok(object)
    }

    #[cold]
    fn fail(&mut self, py: Python<'_>, method: &str, fault: Fault) {
        let name =
            self.class.class.bind(py).getattr("__name__").map_or_else(|_| "?".to_owned(), |name| name.to_string());
        let what = match &fault {
            Fault::Refused(text) => text.clone(),
            Fault::Raised(error) => error.to_string(),
        };
        self.failure = Some(format!("{name}.{method}: {what}; state {}", self.state()));
        self.failed = true;
        if let Fault::Raised(error) = fault {
            let mut raised = self.class.calls.raised.lock().unwrap_or_else(PoisonError::into_inner);
            raised.get_or_insert(error);
        }
    }

    /// Describes the connection before the call.
    fn state(&self) -> String {
        let mut text = format!("cwnd {}, ssthresh {}", self.window.cwnd, self.window.ssthresh);
        if let Some(ack) = &self.last {
            let srtt = self.class.clock.seconds(ack.srtt);
            text += &format!(", una {}, nxt {}, srtt {srtt:.6} s", ack.una, ack.nxt);
        }
        text
    }
}

impl CongestionControl for Control {
    fn on_ack(&mut self, ack: &cc::AckSample, window: &mut Window) {
        (self.window, self.last) = (*window, Some(*ack));
        let lost = ack.lost_total - std::mem::replace(&mut self.lost, ack.lost_total);
        let found = self.call("on_ack", |control, object| {
            let sample = Bound::new(object.py(), AckSample::of(ack, lost, control.class.clock))?;
            without_result(&object.call_method1(intern!(object.py(), "on_ack"), (sample,))?)?;
            read_window(object)
        });
        *window = found.unwrap_or(*window);
        self.ask_for_rate(window);
    }

    fn on_start(&mut self, _now: Time, _srtt: Time, _min_rtt: Time, window: &mut Window) {
        self.ask_for_rate(window);
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.rate
    }

    fn on_congestion(&mut self, signal: cc::Signal, now: Time, window: &Window) -> f64 {
        self.window = *window;
        let found = self.call_aside("on_congestion", |control, object| {
            let signal = Bound::new(object.py(), Signal::of(signal, control.class.clock.seconds(now)))?;
            number(
                "ssthresh",
                &object.call_method1(intern!(object.py(), "on_congestion"), (signal,))?,
                WINDOWS,
                "packets",
            )
        });
        found.unwrap_or(window.ssthresh)
    }

    fn undo(&mut self, prior: f64, window: &Window) -> f64 {
        let usual = window.cwnd.max(prior);
        if !self.class.hooks.undo {
            return usual;
        }
        self.window = *window;
        let found = self.call_aside("undo", |_, object| {
            number("cwnd", &object.call_method1(intern!(object.py(), "undo"), (prior,))?, WINDOWS, "packets")
        });
        found.unwrap_or(usual)
    }

    fn on_recovery_end(&mut self, window: &mut Window) {
        if self.class.hooks.on_recovery_end {
            self.window = *window;
            let found = self.call("on_recovery_end", |_, object| {
                without_result(&object.call_method0(intern!(object.py(), "on_recovery_end"))?)?;
                read_window(object)
            });
            *window = found.unwrap_or(*window);
        }
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        if self.class.hooks.on_timeout {
            self.call_aside("on_timeout", |control, object| {
                let at = control.class.clock.seconds(now);
                without_result(&object.call_method1(intern!(object.py(), "on_timeout"), (at, nxt))?)
            });
        }
    }

    fn on_restart(&mut self, restart: &Restart, window: &mut Window) {
        if self.class.hooks.on_restart {
            self.window = *window;
            let found = self.call("on_restart", |control, object| {
                let clock = control.class.clock;
                let (now, idle_since) = (clock.seconds(restart.now), clock.seconds(restart.idle_since));
                without_result(&object.call_method1(intern!(object.py(), "on_restart"), (now, idle_since))?)?;
                read_window(object)
            });
            *window = found.unwrap_or(*window);
        }
    }

    fn needs(&self) -> Needs {
        let Hooks { pacing_rate, delivery_rate, .. } = self.class.hooks;
        Needs { random: true, pacing: pacing_rate, rate: delivery_rate, ..Needs::default() }
    }

    fn set_random(&mut self, mut random: RandomStream) {
        self.seed = random.bits();
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Forgets the object: the next connection has its own.
    fn restart(&mut self) {
        *self = Control::new(Arc::clone(&self.class), Arc::clone(&self.connections));
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        let mut copy = Control::new(Arc::clone(&self.class), Arc::clone(&self.connections));
        (copy.seed, copy.window, copy.last, copy.failed) = (self.seed, self.window, self.last, self.failed);
        copy.rate = self.rate;
        if let Some(object) = &self.object {
            Python::attach(|py| {
                match py.import("copy").and_then(|module| module.call_method1("deepcopy", (object,))) {
                    Ok(object) => copy.object = Some(object.unbind()),
                    Err(error) => copy.fail(py, "__deepcopy__", Fault::Raised(error)),
                }
            });
        }
        Box::new(copy)
    }
}

fn read_window(object: &Bound<'_, PyAny>) -> Result<Window, Fault> {
    let py = object.py();
    Ok(Window {
        cwnd: number("cwnd", &object.getattr(intern!(py, "cwnd"))?, WINDOWS, "packets")?,
        ssthresh: number("ssthresh", &object.getattr(intern!(py, "ssthresh"))?, (1.0, f64::INFINITY), "packets")?,
    })
}

/// Returns a number that Python gives, if it is in a range.
fn number(name: &str, value: &Bound<'_, PyAny>, (low, high): (f64, f64), unit: &str) -> Result<f64, Fault> {
    let found = if value.is_instance_of::<PyBool>() { None } else { value.extract::<f64>().ok() };
    match found {
        Some(number) if (low..=high).contains(&number) => Ok(number),
        _ => {
            let problem = if found.is_some() { "out of range" } else { "not a number" };
            let given: String = value.repr()?.to_string().chars().take(LONGEST).collect();
            Err(Fault::Refused(format!("{name}: {problem}; given {given}; allowed {low} to {high} {unit}")))
        }
    }
}
