use base::{Clock, Packet, RandomStream, Time};
use serde::{Deserialize, Serialize};

/// The packets to which a loss process applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AppliesTo {
    /// All packets: data and ACKs.
    All,
    /// Data packets, and those of a handshake that ask for an answer.
    Data,
    /// ACKs, and answers of a handshake.
    Acks,
}

impl AppliesTo {
    fn includes(self, packet: &Packet) -> bool {
        let is_answer = packet.kind.goes_back() || packet.kind.is_bare_ack();
        match self {
            AppliesTo::All => true,
            AppliesTo::Data => !is_answer,
            AppliesTo::Acks => is_answer,
        }
    }
}

/// The law by which packets are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossLaw {
    /// Each packet with a probability, independently.
    Bernoulli {
        /// Probability of a loss.
        probability: f64,
    },
    /// The next packet after each instant of a Poisson process; an instant expires if no packet arrives within
    /// `void_after_s` [variable-delay, section 6].
    Poisson {
        /// Mean time between two instants \[s\].
        mean_interval_s: f64,
        /// Time after which an instant expires \[s\].
        void_after_s: f64,
    },
    /// Losses by a Markov chain of two states that takes a step after each packet (Gilbert 1960, Elliott 1963), from the
    /// good state.
    GilbertElliott {
        /// Probability of a step from the good to the bad state (p).
        to_bad: f64,
        /// Probability of a step from the bad to the good state (r).
        to_good: f64,
        /// Probability of a loss in the good state.
        loss_in_good: f64,
        /// Probability of a loss in the bad state.
        loss_in_bad: f64,
    },
    /// The packets with the given numbers, counted from 1.
    Packets {
        /// Numbers in rising order.
        numbers: Vec<u64>,
    },
    /// The next packet after each of the given instants.
    Times {
        /// Instants in rising order \[s\].
        times_s: Vec<f64>,
    },
}

/// A process that loses packets as they arrive at a link, before its queue.
#[derive(Clone, Debug)]
pub struct LossProcess {
    law: LossLaw,
    applies_to: AppliesTo,
    clock: Clock,
    random: RandomStream,
    /// Packets so far.
    packets: u64,
    /// Entries of the law's list that are past.
    past: usize,
    /// The next instant of the Poisson process or of the law's list.
    next: Time,
    /// Whether the Markov chain is in its bad state.
    bad: bool,
}

impl LossProcess {
    /// Returns a process at time zero.
    pub fn new(law: LossLaw, applies_to: AppliesTo, clock: Clock, mut random: RandomStream) -> LossProcess {
        let next = match law {
            LossLaw::Poisson { mean_interval_s, .. } => clock.time(random.exponential(mean_interval_s)),
            LossLaw::Times { ref times_s } => instant(times_s, 0, clock),
            LossLaw::Bernoulli { .. } | LossLaw::GilbertElliott { .. } | LossLaw::Packets { .. } => Time::NEVER,
        };
        LossProcess { law, applies_to, clock, random, packets: 0, past: 0, next, bad: false }
    }

    /// Returns whether the packet that arrives now is lost. Packets must come in order of time.
    pub fn loses(&mut self, now: Time, packet: &Packet) -> bool {
        if !self.applies_to.includes(packet) {
            return false;
        }
        let (random, clock) = (&mut self.random, self.clock);
        match &self.law {
            LossLaw::Bernoulli { probability } => random.uniform() < *probability,
            LossLaw::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad } => {
                let lost = random.uniform() < if self.bad { *loss_in_bad } else { *loss_in_good };
                self.bad ^= random.uniform() < if self.bad { *to_good } else { *to_bad };
                lost
            }
            LossLaw::Packets { numbers } => {
                self.packets += 1;
                let lost = numbers.get(self.past) == Some(&self.packets);
                self.past += usize::from(lost);
                lost
            }
            LossLaw::Times { times_s } => {
                // Several instants between two packets lose one packet.
                let lost = self.next <= now;
                while self.next <= now {
                    self.past += 1;
                    self.next = instant(times_s, self.past, clock);
                }
                lost
            }
            LossLaw::Poisson { mean_interval_s, void_after_s } => {
                let mut lost = false;
                while self.next <= now {
                    lost |= now - self.next <= clock.time(*void_after_s);
                    // The instants advance by a tick at least.
                    let gap = clock.time(random.exponential(*mean_interval_s));
                    self.next += gap.max(Time::TICK);
                }
                lost
            }
        }
    }
}

/// Returns the instant with an index in a list; [`Time::NEVER`] behind its end.
fn instant(times_s: &[f64], index: usize, clock: Clock) -> Time {
    times_s.get(index).map_or(Time::NEVER, |&time_s| clock.time(time_s))
}

#[cfg(test)]
mod tests {
    use base::PacketKind;

    use super::*;

    const DATA: Packet = Packet {
        sequence: 0,
        stamp: Time::ZERO,
        hop: 0,
        flow: 0,
        journal: 0,
        bytes: 1000,
        kind: PacketKind::Data,
        marks: base::Marks::NONE,
    };
    const ACK: Packet = Packet { kind: PacketKind::Ack, ..DATA };

    fn loss(law: LossLaw) -> LossProcess {
        LossProcess::new(law, AppliesTo::All, Clock::PICOSECONDS, RandomStream::named(1, 0, "loss/link"))
    }

    /// Returns the fates of `packets` packets, one every `gap_s`.
    fn fates(law: LossLaw, packets: u64, gap_s: f64) -> Vec<bool> {
        let mut loss = loss(law);
        (0..packets).map(|number| loss.loses(Clock::PICOSECONDS.time(number as f64 * gap_s), &DATA)).collect()
    }

    fn share(fates: &[bool]) -> f64 {
        fates.iter().filter(|&&lost| lost).count() as f64 / fates.len() as f64
    }

    #[test]
    fn bernoulli_loses_its_share_without_memory() {
        let fates = fates(LossLaw::Bernoulli { probability: 0.03 }, 400_000, 1e-3);
        // Four standard errors: 4 * sqrt(0.03 * 0.97 / 4e5); after a loss as ever, of some 12,000: 4 * sqrt(.../1.2e4).
        assert!((share(&fates) - 0.03).abs() < 1.08e-3, "{}", share(&fates));
        let after: Vec<bool> = fates.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
        assert!((share(&after) - 0.03).abs() < 6.3e-3, "{}", share(&after));
    }

    #[test]
    fn none_and_all_are_exact() {
        assert_eq!(share(&fates(LossLaw::Bernoulli { probability: 0.0 }, 10_000, 1e-3)), 0.0);
        assert_eq!(share(&fates(LossLaw::Bernoulli { probability: 1.0 }, 10_000, 1e-3)), 1.0);
    }

    #[test]
    fn gilbert_elliott_has_its_share_and_its_runs() {
        let law = LossLaw::GilbertElliott { to_bad: 0.01, to_good: 0.25, loss_in_good: 0.0, loss_in_bad: 1.0 };
        let fates = fates(law, 2_000_000, 1e-3);
        // p / (p + r) = 1/26 of the packets come in the bad state, in runs of 1/r = 4; about 19,200 runs of a standard
        // deviation of sqrt(12): four standard errors are 0.1. The share: 4 * sqrt(2 * 12 ...) below 4 %.
        assert!((share(&fates) - 1.0 / 26.0).abs() < 0.0016, "{}", share(&fates));
        let mut runs = vec![0_u32];
        for pair in fates.windows(2) {
            match (pair[0], pair[1]) {
                (false, true) => runs.push(1),
                (true, true) => *runs.last_mut().unwrap() += 1,
                _ => {}
            }
        }
        let mean = f64::from(runs.iter().sum::<u32>()) / (runs.len() - 1) as f64;
        assert!((mean - 4.0).abs() < 0.1, "{mean}");
        // Geometric: a quarter of the runs is of length 1; 4 * sqrt(3/16 / 19200).
        let single = runs.iter().filter(|&&run| run == 1).count() as f64 / runs.len() as f64;
        assert!((single - 0.25).abs() < 0.0125, "{single}");
    }

    #[test]
    fn gilbert_elliott_with_losses_in_both_states_has_the_mean_of_both() {
        let law = LossLaw::GilbertElliott { to_bad: 0.1, to_good: 0.3, loss_in_good: 0.02, loss_in_bad: 0.4 };
        // (3 * 0.02 + 0.4) / 4; the correlation 1 - p - r = 0.6 makes the variance of the mean at most fourfold.
        let share = share(&fates(law, 1_000_000, 1e-3));
        assert!((share - 0.115).abs() < 4.0 * 2.0 * (0.115_f64 * 0.885 / 1e6).sqrt(), "{share}");
    }

    #[test]
    fn poisson_loses_the_next_packet_after_each_instant() {
        let law = |void_after_s| LossLaw::Poisson { mean_interval_s: 0.1, void_after_s };
        // A packet every 20 ms is lost with 1 - exp(-0.2); 4 * sqrt(q (1 - q) / 2e5).
        let q = 1.0 - (-0.2_f64).exp();
        let seen = share(&fates(law(0.5), 200_000, 0.02));
        assert!((seen - q).abs() < 4.0 * (q * (1.0 - q) / 2e5).sqrt(), "{seen}");
        // A packet a second: only an instant in the last half second before it counts, with 1 - exp(-5), else void.
        let seen = share(&fates(law(0.5), 200_000, 1.0));
        let q = 1.0 - (-5.0_f64).exp();
        assert!((seen - q).abs() < 4.0 * (q * (1.0 - q) / 2e5).sqrt(), "{seen}");
        let seen = share(&fates(law(0.1), 200_000, 1.0));
        let q = 1.0 - (-1.0_f64).exp();
        assert!((seen - q).abs() < 4.0 * (q * (1.0 - q) / 2e5).sqrt(), "{seen}");
    }

    #[test]
    fn lists_name_packets_or_instants() {
        let lost = |fates: Vec<bool>| -> Vec<usize> {
            fates.iter().enumerate().filter(|(_, &lost)| lost).map(|(number, _)| number + 1).collect()
        };
        assert_eq!(lost(fates(LossLaw::Packets { numbers: vec![1, 4, 5, 99] }, 10, 1.0)), [1, 4, 5]);
        let times_s = vec![0.0, 2.5, 2.9, 4.0, 4.000001];
        // Packets at 0, 1, 2, ... s.
        assert_eq!(lost(fates(LossLaw::Times { times_s }, 10, 1.0)), [1, 4, 5, 6]);
    }

    #[test]
    fn others_pass_and_are_not_counted() {
        for (applies_to, data, acks) in [(AppliesTo::Data, true, false), (AppliesTo::Acks, false, true)] {
            let mut loss = LossProcess::new(
                LossLaw::Packets { numbers: vec![2] },
                applies_to,
                Clock::PICOSECONDS,
                RandomStream::named(1, 0, "loss/link"),
            );
            let fates = [DATA, ACK, DATA, ACK].map(|packet| loss.loses(Time::ZERO, &packet));
            assert_eq!(fates, [false, false, data, acks]);
        }
        let asks = [PacketKind::Data, PacketKind::Retransmission, PacketKind::Request];
        let answers = [PacketKind::Ack, PacketKind::Answer, PacketKind::Open, PacketKind::Close];
        let includes = |applies_to: AppliesTo, kind| applies_to.includes(&Packet { kind, ..DATA });
        assert!(asks.iter().all(|&kind| includes(AppliesTo::Data, kind) && !includes(AppliesTo::Acks, kind)));
        assert!(answers.iter().all(|&kind| includes(AppliesTo::Acks, kind) && !includes(AppliesTo::Data, kind)));
    }
}
