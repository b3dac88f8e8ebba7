//! Selective acknowledgment by ns-2's blocks: the sender that reads them and the receiver that reports them.

use tcp::{Dialect, Recovery, SackBlocks, SenderConfig};

use super::limits::{ACK, ACK_BLOCKS, ACK_BLOCK_BYTES};
use super::Faults;
use crate::scenario::{ConnectionConfig, ElementConfig};

impl Faults {
    /// Checks that sender and receiver agree on blocks, and that links take ACKs of several lengths.
    pub(super) fn blocks(&mut self, place: &str, tcp: &ConnectionConfig, elements: &[ElementConfig]) {
        let is_sack1 = match &tcp.sender {
            SenderConfig::Classic(sender) => sender.recovery == Recovery::Sack1,
            SenderConfig::Selective(_) => false,
        };
        if is_sack1 && tcp.sender.dialect() != Dialect::Ns2 {
            let given = tcp.sender.dialect().name();
            self.say(format!(
                "{place}.sender.dialect: not of the recovery \"sack1\"; given \"{given}\"; allowed \"ns2\""
            ));
        }
        let Some(blocks) = tcp.receiver.blocks else {
            if is_sack1 {
                self.say(format!(
                    "{place}.receiver.blocks: the recovery \"sack1\" needs them; given null; allowed a number and a length"
                ));
            }
            return;
        };
        if !is_sack1 || tcp.receiver.selective || tcp.receiver.linux.is_some() {
            self.say(format!(
                "{place}.receiver.blocks: only for the recovery \"sack1\" and a receiver that is neither selective nor Linux's; \
                 given blocks; allowed null"
            ));
        }
        self.block_lengths(place, tcp, blocks, elements);
    }

    fn block_lengths(&mut self, place: &str, tcp: &ConnectionConfig, blocks: SackBlocks, elements: &[ElementConfig]) {
        let SackBlocks { most, bytes } = blocks;
        let receiver = format!("{place}.receiver.blocks");
        self.field(&receiver, ACK_BLOCKS, f64::from(most));
        self.field(&receiver, ACK_BLOCK_BYTES, f64::from(bytes));
        let longest = f64::from(tcp.ack_bytes) + f64::from(most) * f64::from(bytes);
        if longest > ACK.high {
            self.say(format!("{place}.ack_bytes: too long with blocks; given {longest}; allowed to {}", ACK.high));
        }
        let has_one_length = |&&element: &&usize| matches!(elements.get(element), Some(ElementConfig::PrivateLink(link)) if link.rate_bps.is_some());
        if let (true, Some(element)) = (bytes > 0, tcp.return_path.iter().find(has_one_length)) {
            self.say(format!(
                "{receiver}.bytes: the link {element} of the return path, of which each flow has a copy, takes ACKs of one \
                 length; given {bytes}; allowed 0"
            ));
        }
    }
}
