//! The ends of a described connection.

use tcp::{
    Close, Dialect, Ecn, LinuxReceiver, LossDetection, Pacing, PushConfig, ReceiverConfig, Recovery, SackBlocks,
    SelectiveConfig, SenderConfig,
};

use super::{scaled_or_zero, whole, Flow};

impl Flow {
    /// Returns the sender: that with selective acknowledgment for flows without a return path.
    pub(super) fn sender_config(&self) -> SenderConfig {
        let mut classic = self.sender.config(self.rto.config());
        if !self.no_return {
            if classic.recovery == Recovery::Sack1 {
                classic.dialect = Dialect::Ns2;
            }
            return classic.into();
        }
        let names = tcp::cc::ALGORITHMS;
        let mut config = SelectiveConfig {
            initial_window: classic.initial_window,
            initial_ssthresh: classic.initial_ssthresh,
            max_window: classic.max_window,
            timestamps: classic.limited_transmit,
            ecn: self.ecn(),
            pacing: if self.levels & 32 == 0 { Pacing::None } else { Pacing::Linux },
            segment_bytes: u32::from(whole(self.packet, u16::MAX)),
            sack: self.sack(),
            push: (self.levels & 16 != 0).then(|| PushConfig { write_bytes: Some(u64::from(self.packet) + 1) }),
            close: if self.levels & 8 == 0 { Close::None } else { Close::Tcp },
            ..SelectiveConfig::default()
        };
        if classic.dupack_threshold.is_none() {
            config.loss_detection = LossDetection::Dupack;
        }
        names[usize::from(self.packet) % names.len()].name.clone_into(&mut config.congestion_control.name);
        config.into()
    }

    fn sack(&self) -> bool {
        !self.packet.is_multiple_of(5)
    }

    fn ecn(&self) -> Ecn {
        Ecn::ALL[usize::from(self.packet / 16) % Ecn::ALL.len()]
    }

    /// Returns the receiver, which reports packets beyond a hole to senders that use that.
    pub(super) fn receiver_config(&self) -> ReceiverConfig {
        let recovery = self.sender.config(self.rto.config()).recovery;
        let is_sack1 = recovery == Recovery::Sack1 && !self.no_return;
        ReceiverConfig {
            ack_every: whole(self.ack_every, 100),
            ack_delay_s: scaled_or_zero(self.ack_delay, 1e-9, 10.0),
            selective: self.no_return && self.sack(),
            ecn: if self.no_return { self.ecn() } else { Ecn::Off },
            // Links of which each flow has a copy take ACKs of one length.
            blocks: is_sack1.then(|| SackBlocks { most: 1 + u16::from(self.levels & 3), bytes: 0 }),
            linux: (self.levels & 64 != 0 && !is_sack1).then(|| LinuxReceiver {
                segment_bytes: u32::from(whole(self.packet, u16::MAX)),
                buffer_bytes: (u64::from(self.packet) + 1) << (self.levels & 31),
                ..LinuxReceiver::default()
            }),
        }
    }
}
