//! The methods of a class for a congestion control, and what it asks for.

use pyo3::prelude::*;

/// The methods that a class has of its own, the others are not called; and what it asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooks {
    pub(crate) undo: bool,
    pub(crate) on_recovery_end: bool,
    pub(crate) on_timeout: bool,
    pub(crate) on_restart: bool,
    pub(crate) pacing_rate: bool,
    pub(crate) delivery_rate: bool,
}

impl Hooks {
    /// Returns those of a class.
    pub(crate) fn of(class: &Bound<'_, PyAny>) -> PyResult<Hooks> {
        let base = class.py().import("ackclock.controls")?.getattr("CongestionControl")?;
        let own = |name: &str| Ok::<bool, PyErr>(!class.getattr(name)?.is(&base.getattr(name)?));
        Ok(Hooks {
            undo: own("undo")?,
            on_recovery_end: own("on_recovery_end")?,
            on_timeout: own("on_timeout")?,
            on_restart: own("on_restart")?,
            pacing_rate: own("pacing_rate")?,
            delivery_rate: class.getattr("measures_delivery_rate")?.is_truthy()?,
        })
    }
}
