//! The round trip that a handshake gives the sender, and the consequences of lost SYNs.

use base::Time;

use super::Selective;
use crate::rto::AFTER_LOST_SYN_S;
use crate::TimeoutRules;

impl Selective {
    /// Takes the round trip of the handshake, before the transfer starts, if it is known which SYN was answered: with
    /// timestamps, or if none was sent again. Else, and by the RFC in any case, the timeout after a repeated SYN is three seconds
    /// (RFC 6298 (5.7); Linux `tcp_init_metrics`).
    ///
    /// Begins with a window of one packet if SYNs were sent again more than once (RFC 6928 section 2; Linux `tcp_init_cwnd`),
    /// unless the answer's timestamp is that of the first, so that none was lost (`tcp_try_undo_spurious_syn`).
    pub fn on_handshake(&mut self, now: Time, rtt: Time, repeated: u32, of_first: bool) {
        let is_known = repeated == 0 || self.rules.config.timestamps;
        if is_known {
            self.take_sample(now, rtt, rtt);
        }
        if repeated > 0 && (!is_known || self.rules.config.rto.rules == TimeoutRules::Rfc6298) {
            let timeout = self.rules.clock.time(AFTER_LOST_SYN_S).max(self.timer.rto()).min(self.rules.rto_max);
            self.timer.set_rto(timeout, &self.rules.wheel);
        }
        if repeated > 1 && !(of_first && self.rules.config.timestamps) {
            self.window.cwnd = 1.0;
        }
    }
}
