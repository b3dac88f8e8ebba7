//! The settings of a sender, of either machine.

use serde::{Deserialize, Serialize};

use crate::{ClassicConfig, Dialect, Ecn, SelectiveConfig};

/// Settings of a sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "machine", rename_all = "kebab-case")]
pub enum SenderConfig {
    /// Cumulative ACKs alone: old Tahoe to NewReno.
    Classic(ClassicConfig),
    /// Selective acknowledgment: what hosts run today.
    Selective(SelectiveConfig),
}

impl SenderConfig {
    /// Returns cwnd at the start \[packets\].
    pub fn initial_window(&self) -> f64 {
        match self {
            SenderConfig::Classic(config) => config.initial_window,
            SenderConfig::Selective(config) => config.initial_window,
        }
    }

    /// Returns the kind of explicit congestion notification.
    pub fn ecn(&self) -> Ecn {
        match self {
            SenderConfig::Classic(config) => config.ecn,
            SenderConfig::Selective(config) => config.ecn,
        }
    }

    /// Returns the dialect that the receiver speaks with this sender.
    pub fn dialect(&self) -> Dialect {
        match self {
            SenderConfig::Classic(config) => config.dialect,
            SenderConfig::Selective(_) => Dialect::Rfc,
        }
    }
}

impl From<ClassicConfig> for SenderConfig {
    fn from(config: ClassicConfig) -> SenderConfig {
        SenderConfig::Classic(config)
    }
}

impl From<SelectiveConfig> for SenderConfig {
    fn from(config: SelectiveConfig) -> SenderConfig {
        SenderConfig::Selective(config)
    }
}
