//! The ends of a described connection.

use tcp::{LinuxReceiver, LossDetection, ReceiverConfig, SelectiveConfig, SenderConfig};

use super::{scaled_or_zero, whole, Flow};

impl Flow {
    /// Returns the sender: that with selective acknowledgment for flows without a return path.
    pub(super) fn sender_config(&self) -> SenderConfig {
        let classic = self.sender.config(self.rto.config());
        if !self.no_return {
            return classic.into();
        }
        let names = tcp::cc::ALGORITHMS;
        let mut config = SelectiveConfig {
            initial_window: classic.initial_window,
            initial_ssthresh: classic.initial_ssthresh,
            max_window: classic.max_window,
            timestamps: classic.limited_transmit,
            ..SelectiveConfig::default()
        };
        if classic.dupack_threshold.is_none() {
            config.loss_detection = LossDetection::Dupack;
        }
        names[usize::from(self.packet) % names.len()].name.clone_into(&mut config.congestion_control.name);
        config.into()
    }

    /// Returns the receiver, which reports packets beyond a hole to senders that use that.
    pub(super) fn receiver_config(&self) -> ReceiverConfig {
        ReceiverConfig {
            ack_every: whole(self.ack_every, 100),
            ack_delay_s: scaled_or_zero(self.ack_delay, 1e-9, 10.0),
            selective: self.no_return,
            linux: (self.levels & 64 != 0).then(|| LinuxReceiver {
                segment_bytes: u32::from(whole(self.packet, u16::MAX)),
                buffer_bytes: (u64::from(self.packet) + 1) << (self.levels & 31),
                ..LinuxReceiver::default()
            }),
        }
    }
}
