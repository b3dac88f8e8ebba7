//! The round trip that a handshake gives the sender, and the consequences of lost SYNs.

use base::Time;

use super::Selective;
use crate::rto::AFTER_LOST_SYN_S;
use crate::TimeoutRules;

impl Selective {
    /// Takes the round trip of the handshake, before the transfer starts, if it is known which of `repeated` SYNs was
    /// answered. Else, and by the RFC in any case, the timeout after a repeated SYN is three seconds (RFC 6298 (5.7); Linux
    /// `tcp_init_metrics`).
    pub fn on_handshake(&mut self, now: Time, rtt: Time, repeated: bool) {
        let is_known = !repeated || self.rules.config.timestamps;
        if is_known {
            self.take_sample(now, rtt, rtt);
        }
        if repeated && (!is_known || self.rules.config.rto.rules == TimeoutRules::Rfc6298) {
            let timeout = self.rules.clock.time(AFTER_LOST_SYN_S).max(self.timer.rto()).min(self.rules.rto_max);
            self.timer.set_rto(timeout, &self.rules.wheel);
        }
    }

    /// Begins with a window of one packet, as SYNs were lost (RFC 6928 section 2; Linux `tcp_init_transfer`).
    pub fn on_lost_handshake(&mut self) {
        self.window.cwnd = 1.0;
    }
}
