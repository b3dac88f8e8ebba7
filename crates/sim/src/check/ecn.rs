//! Explicit congestion notification: both ends have the same kind, and the classic sender has ns-2's.

use tcp::{Dialect, Ecn, SenderConfig};

use super::Faults;
use crate::scenario::ConnectionConfig;

impl Faults {
    /// Checks that sender and receiver have a kind of ECN in common that the sender's rules know.
    pub(super) fn ecn(&mut self, place: &str, tcp: &ConnectionConfig) {
        let (sender, receiver) = (tcp.sender.ecn(), tcp.receiver.ecn);
        if sender != receiver {
            let (given, allowed) = (receiver.name(), sender.name());
            self.say(format!("{place}.receiver.ecn: not that of the sender; given \"{given}\"; allowed \"{allowed}\""));
        }
        let SenderConfig::Classic(_) = &tcp.sender else { return };
        if !matches!(sender, Ecn::Off | Ecn::Classic) {
            let given = sender.name();
            self.say(format!(
                "{place}.sender.ecn: not of the classic sender; given \"{given}\"; allowed \"off\", \"classic\""
            ));
        }
        if sender == Ecn::Classic && tcp.sender.dialect() != Dialect::Ns2 {
            let given = tcp.sender.dialect().name();
            self.say(format!(
                "{place}.sender.dialect: ECN of the classic sender is ns-2's; given \"{given}\"; allowed \"ns2\""
            ));
        }
        if sender == Ecn::Classic && tcp.receiver.linux.is_some() {
            self.say(format!(
                "{place}.receiver.linux: ECN of the classic sender has ns-2's receiver; given settings; allowed null"
            ));
        }
    }
}
