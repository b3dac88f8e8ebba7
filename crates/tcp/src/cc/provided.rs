//! Congestion controls that a run brings along, in addition to those of the list.

use std::fmt::Debug;
use std::sync::Arc;

use super::CongestionControl;

/// The origin of a congestion control that is not in the list.
pub trait Provider: Debug + Send + Sync {
    /// Creates the control of a flow, as of the start of a connection.
    fn create(&self) -> Box<dyn CongestionControl>;
}

/// A provider that the settings of senders share.
#[derive(Clone, Debug)]
pub struct Provided(pub Arc<dyn Provider>);

impl PartialEq for Provided {
    /// Returns whether both are the same provider.
    fn eq(&self, other: &Provided) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
