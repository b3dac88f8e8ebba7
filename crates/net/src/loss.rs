use base::{Packet, PacketKind, RandomStream, Time};

/// Which packets a loss process looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// All.
    All,
    /// Data only.
    Data,
    /// ACKs only.
    Acks,
}

/// Which packets are lost.
#[derive(Clone, Debug, PartialEq)]
pub enum LossLaw {
    /// Each with a probability, independently.
    Bernoulli(f64),
    /// The next one after each instant of a Poisson process; an instant that finds none for `void_after` is void
    /// [variable-delay, section 6].
    Poisson {
        /// Mean time between two instants \[s\].
        mean_interval_s: f64,
        /// How long an instant waits for a packet.
        void_after: Time,
    },
    /// By a chain of two states that takes a step after each packet (Gilbert 1960, Elliott 1963); it begins in the good one.
    GilbertElliott {
        /// Probability of a step from the good to the bad state (p).
        to_bad: f64,
        /// And back (r).
        to_good: f64,
        /// Probability of a loss in the good state.
        in_good: f64,
        /// And in the bad one.
        in_bad: f64,
    },
    /// Those with the given numbers, counted from 1, in rising order.
    Packets(Vec<u64>),
    /// The next one after each given instant, in rising order.
    Times(Vec<Time>),
}

/// What loses packets as they come to a link, before its queue.
#[derive(Clone, Debug)]
pub struct Loss {
    law: LossLaw,
    crossing: Crossing,
    random: RandomStream,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Stateless,
    /// The next instant, and how many of a list there were before it.
    Instant(Time, usize),
    /// The packets counted, and how many of the list were lost.
    Count(u64, usize),
    /// Whether the chain is in its bad state.
    Chain(bool),
}

impl Loss {
    /// A process at time zero.
    pub fn new(law: LossLaw, crossing: Crossing, mut random: RandomStream) -> Loss {
        let state = match &law {
            LossLaw::Bernoulli(_) => State::Stateless,
            LossLaw::Poisson { mean_interval_s, .. } => {
                State::Instant(Time::from_seconds(random.exponential(*mean_interval_s)), 0)
            }
            LossLaw::Times(times) => State::Instant(times.first().copied().unwrap_or(Time::NEVER), 0),
            LossLaw::GilbertElliott { .. } => State::Chain(false),
            LossLaw::Packets(_) => State::Count(0, 0),
        };
        Loss { law, crossing, random, state }
    }

    /// Whether the packet that comes now is lost; packets are told in order of time.
    pub fn loses(&mut self, now: Time, packet: &Packet) -> bool {
        let ack = packet.kind == PacketKind::Ack;
        if (ack && self.crossing == Crossing::Data) || (!ack && self.crossing == Crossing::Acks) {
            return false;
        }
        let random = &mut self.random;
        match (&self.law, &mut self.state) {
            (LossLaw::Bernoulli(probability), _) => random.uniform() < *probability,
            (LossLaw::GilbertElliott { to_bad, to_good, in_good, in_bad }, State::Chain(bad)) => {
                let lost = random.uniform() < if *bad { *in_bad } else { *in_good };
                *bad ^= random.uniform() < if *bad { *to_good } else { *to_bad };
                lost
            }
            (LossLaw::Packets(numbers), State::Count(count, lost)) => {
                *count += 1;
                let hit = numbers.get(*lost) == Some(count);
                *lost += usize::from(hit);
                hit
            }
            (LossLaw::Times(times), State::Instant(next, passed)) => {
                // All instants since the last packet have this one as their next.
                let hit = *next <= now;
                while *next <= now {
                    *passed += 1;
                    *next = times.get(*passed).copied().unwrap_or(Time::NEVER);
                }
                hit
            }
            (LossLaw::Poisson { mean_interval_s, void_after }, State::Instant(next, _)) => {
                let mut hit = false;
                while *next <= now {
                    hit |= now - *next <= *void_after;
                    // Later by a picosecond at least: the instants move on.
                    let gap = Time::from_seconds(random.exponential(*mean_interval_s));
                    *next += gap.max(Time::from_picoseconds(1));
                }
                hit
            }
            // Each law has its own state from the start.
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: Packet = Packet {
        sequence: 0,
        stamp: Time::ZERO,
        hop: 0,
        flow: 0,
        bytes: 1000,
        kind: PacketKind::Data,
        slow_start: false,
    };
    const ACK: Packet = Packet { kind: PacketKind::Ack, ..DATA };

    fn loss(law: LossLaw) -> Loss {
        Loss::new(law, Crossing::All, RandomStream::named(1, 0, "loss/link"))
    }

    /// The fates of so many packets, one every `gap_s`.
    fn fates(law: LossLaw, packets: u64, gap_s: f64) -> Vec<bool> {
        let mut loss = loss(law);
        (0..packets).map(|number| loss.loses(Time::from_seconds(number as f64 * gap_s), &DATA)).collect()
    }

    fn share(fates: &[bool]) -> f64 {
        fates.iter().filter(|&&lost| lost).count() as f64 / fates.len() as f64
    }

    #[test]
    fn bernoulli_loses_its_share_without_memory() {
        let fates = fates(LossLaw::Bernoulli(0.03), 400_000, 1e-3);
        // Four standard errors: 4 * sqrt(0.03 * 0.97 / 4e5); after a loss as ever, of some 12,000: 4 * sqrt(.../1.2e4).
        assert!((share(&fates) - 0.03).abs() < 1.08e-3, "{}", share(&fates));
        let after: Vec<bool> = fates.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
        assert!((share(&after) - 0.03).abs() < 6.3e-3, "{}", share(&after));
    }

    #[test]
    fn none_and_all_are_exact() {
        assert_eq!(share(&fates(LossLaw::Bernoulli(0.0), 10_000, 1e-3)), 0.0);
        assert_eq!(share(&fates(LossLaw::Bernoulli(1.0), 10_000, 1e-3)), 1.0);
    }

    #[test]
    fn gilbert_elliott_has_its_share_and_its_runs() {
        let law = LossLaw::GilbertElliott { to_bad: 0.01, to_good: 0.25, in_good: 0.0, in_bad: 1.0 };
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
        let law = LossLaw::GilbertElliott { to_bad: 0.1, to_good: 0.3, in_good: 0.02, in_bad: 0.4 };
        // (3 * 0.02 + 0.4) / 4; the correlation 1 - p - r = 0.6 makes the variance of the mean at most fourfold.
        let share = share(&fates(law, 1_000_000, 1e-3));
        assert!((share - 0.115).abs() < 4.0 * 2.0 * (0.115_f64 * 0.885 / 1e6).sqrt(), "{share}");
    }

    #[test]
    fn poisson_loses_the_next_packet_after_each_instant() {
        let law = |void_after| LossLaw::Poisson { mean_interval_s: 0.1, void_after: Time::from_seconds(void_after) };
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
        assert_eq!(lost(fates(LossLaw::Packets(vec![1, 4, 5, 99]), 10, 1.0)), [1, 4, 5]);
        let times = [0.0, 2.5, 2.9, 4.0, 4.000001].map(Time::from_seconds).to_vec();
        // Packets at 0, 1, 2, ... s.
        assert_eq!(lost(fates(LossLaw::Times(times), 10, 1.0)), [1, 4, 5, 6]);
    }

    #[test]
    fn others_pass_and_are_not_counted() {
        for (crossing, data, acks) in [(Crossing::Data, true, false), (Crossing::Acks, false, true)] {
            let mut loss = Loss::new(LossLaw::Packets(vec![2]), crossing, RandomStream::named(1, 0, "loss/link"));
            let fates = [DATA, ACK, DATA, ACK].map(|packet| loss.loses(Time::ZERO, &packet));
            assert_eq!(fates, [false, false, data, acks]);
        }
    }
}
