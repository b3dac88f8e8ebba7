//! Random sizes and times: each is the inverse of its distribution at one uniform number.

use std::sync::Arc;

use base::cast::round_to_u64;
use base::{Clock, RandomStream, Time};

use super::config::{SizeLaw, TimeLaw};

/// Largest size of a transfer \[packets\]; larger draws are clipped.
const LARGEST_SIZE: f64 = 1e12;

/// A source of random times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    law: TimeLaw,
    clock: Clock,
}

impl Times {
    pub(crate) fn new(law: TimeLaw, clock: Clock) -> Times {
        Times { law, clock }
    }

    pub(crate) fn draw(&self, random: &mut RandomStream) -> Time {
        match self.law {
            TimeLaw::Fixed { mean_s } => self.clock.time(mean_s),
            TimeLaw::Exponential { mean_s } => exponential(mean_s, self.clock, random),
        }
    }
}

/// Returns an exponential time.
pub(crate) fn exponential(mean_s: f64, clock: Clock, random: &mut RandomStream) -> Time {
    clock.time(-mean_s * survival(random).ln())
}

/// Returns a uniform number in (0, 1]: the value of `G(x) = P(X > x)` at the drawn `x`.
fn survival(random: &mut RandomStream) -> f64 {
    1.0 - random.uniform()
}

/// A source of random sizes.
#[derive(Clone, Debug)]
pub(crate) enum Sizes {
    Fixed(u64),
    /// `G(x) = exp(-(x - A) / B)` while it is above H, then the tail from `x = k = A - B ln H` on.
    Body {
        minimum: f64,
        scale: f64,
        tail_fraction: f64,
        knee: f64,
        tail: Tail,
    },
    Pareto {
        minimum: f64,
        shape: f64,
    },
    Empirical(Arc<[u64]>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Tail {
    /// `H (k / x)^alpha`.
    Pareto(f64),
    /// `H exp(-(x - k) / C)`.
    Exponential(f64),
}

impl Sizes {
    pub(crate) fn new(law: &SizeLaw) -> Sizes {
        match *law {
            SizeLaw::Fixed { packets } => Sizes::Fixed(packets),
            SizeLaw::Exponential { mean_packets, min_packets } => {
                Sizes::body(min_packets, mean_packets - min_packets, 0.0, Tail::Exponential(0.0))
            }
            SizeLaw::ExponentialPareto { mean_packets: mean, min_packets: min, tail_fraction: h, shape } => {
                // B of [engset, section 3.2], from the mean A + H k / (alpha - 1) + B (1 - H).
                let scale = (mean - min * (1.0 + h / (shape - 1.0))) / (1.0 - h - h * h.ln() / (shape - 1.0));
                Sizes::body(min, scale, h, Tail::Pareto(shape))
            }
            SizeLaw::ExponentialExponential {
                mean_packets: mean,
                min_packets: min,
                tail_fraction: h,
                tail_packets,
            } => {
                let scale = (mean - min - tail_packets * h) / (1.0 - h);
                Sizes::body(min, scale, h, Tail::Exponential(tail_packets))
            }
            SizeLaw::Pareto { mean_packets, shape } => {
                Sizes::Pareto { minimum: mean_packets * (shape - 1.0) / shape, shape }
            }
            SizeLaw::Empirical { ref packets } => Sizes::Empirical(packets.as_slice().into()),
        }
    }

    fn body(minimum: f64, scale: f64, tail_fraction: f64, tail: Tail) -> Sizes {
        let knee = minimum - scale * tail_fraction.ln();
        Sizes::Body { minimum, scale, tail_fraction, knee, tail }
    }

    /// Returns whether the distribution exists: the mean leaves a non-negative scale for the body.
    pub(crate) fn is_sound(&self) -> bool {
        match *self {
            Sizes::Body { scale, .. } => scale.is_finite() && scale >= 0.0,
            _ => true,
        }
    }

    pub(crate) fn draw(&self, random: &mut RandomStream) -> u64 {
        let size = match *self {
            Sizes::Fixed(packets) => return packets,
            Sizes::Empirical(ref packets) => return packets[random.below(packets.len())],
            Sizes::Pareto { minimum, shape } => minimum * survival(random).powf(-1.0 / shape),
            Sizes::Body { minimum, scale, tail_fraction, knee, tail } => match (survival(random), tail) {
                (g, _) if g >= tail_fraction => minimum - scale * g.ln(),
                (g, Tail::Pareto(shape)) => knee * (g / tail_fraction).powf(-1.0 / shape),
                (g, Tail::Exponential(mean)) => knee - mean * (g / tail_fraction).ln(),
            },
        };
        round_to_u64(size.clamp(1.0, LARGEST_SIZE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 400_000;

    fn draws(law: SizeLaw) -> Vec<u64> {
        let (sizes, mut random) = (Sizes::new(&law), RandomStream::named(1, 0, "sizes"));
        assert!(sizes.is_sound());
        (0..DRAWS).map(|_| sizes.draw(&mut random)).collect()
    }

    fn mean(sizes: &[u64]) -> f64 {
        sizes.iter().sum::<u64>() as f64 / sizes.len() as f64
    }

    /// Returns the percentages of sizes from 3 to 6, 7 to 14, 15 to 30, 31 to 62.
    fn proportions(sizes: &[u64]) -> [f64; 4] {
        [(3, 6), (7, 14), (15, 30), (31, 62)].map(|(low, high)| {
            let count = sizes.iter().filter(|&&size| (low..=high).contains(&size)).count();
            100.0 * count as f64 / sizes.len() as f64
        })
    }

    fn agree(seen: [f64; 4], printed: [f64; 4]) {
        for (seen, printed) in seen.into_iter().zip(printed) {
            // Two measurements, four standard errors each of 400,000 draws at a proportion of a half; and rounding in
            // print.
            assert!((seen - printed).abs() < 2.0 * 0.32 + 0.05, "{seen} % but {printed} %");
        }
    }

    #[test]
    fn exponential_sizes_have_the_proportions_of_engset_table_1() {
        let exponential = |mean_packets| draws(SizeLaw::Exponential { mean_packets, min_packets: 3.0 });
        agree(proportions(&exponential(12.0)), [32.2, 39.9, 23.2, 4.6]);
        agree(proportions(&exponential(5.0)), [82.7, 17.0, 0.3, 0.0]);
        assert!((mean(&exponential(12.0)) - 12.0).abs() < 0.06, "four standard errors of 9 / sqrt(400,000)");
    }

    #[test]
    fn exponential_pareto_sizes_have_the_proportions_of_engset_table_1() {
        let law = |mean_packets| SizeLaw::ExponentialPareto {
            mean_packets,
            min_packets: 3.0,
            tail_fraction: 0.1,
            shape: 1.5,
        };
        let Sizes::Body { knee, .. } = Sizes::new(&law(12.0)) else { unreachable!("a body and a tail") };
        assert!((knee - 17.2).abs() < 0.05, "k = {knee}");
        agree(proportions(&draws(law(12.0))), [43.6, 41.2, 11.1, 2.7]);
        agree(proportions(&draws(law(5.0))), [92.8, 5.05, 1.45, 0.46]);
    }

    #[test]
    fn exponential_exponential_sizes_have_the_proportions_of_engset_table_4() {
        let (mean_packets, tail_packets) = (12.0, 84.0);
        let law = SizeLaw::ExponentialExponential { mean_packets, min_packets: 3.0, tail_fraction: 0.1, tail_packets };
        let sizes = draws(law);
        agree(proportions(&sizes), [90.19, 0.89, 1.55, 2.34]);
        // Standard deviation 35: that of the tail times the root of its fraction, and more.
        assert!((mean(&sizes) - 12.0).abs() < 0.3, "{}", mean(&sizes));
    }

    #[test]
    fn pareto_sizes_have_their_median() {
        let sizes = draws(SizeLaw::Pareto { mean_packets: 30.0, shape: 1.5 });
        // k = 10, median k 2^(1/1.5) = 15.87.
        let below = sizes.iter().filter(|&&size| size <= 15).count() as f64 / DRAWS as f64;
        let theory = 1.0 - (10.0_f64 / 15.5).powf(1.5);
        assert!((below - theory).abs() < 0.0032, "{below}, {theory} in theory");
        assert_eq!(sizes.iter().min(), Some(&10));
    }

    #[test]
    fn fixed_and_empirical_sizes_are_those_given() {
        assert!(draws(SizeLaw::Fixed { packets: 5 }).iter().all(|&size| size == 5));
        let sizes = draws(SizeLaw::Empirical { packets: vec![1, 7, 7, 9] });
        let sevens = sizes.iter().filter(|&&size| size == 7).count() as f64 / DRAWS as f64;
        assert!((sevens - 0.5).abs() < 0.0032, "{sevens}");
        assert!(sizes.iter().all(|size| [1, 7, 9].contains(size)));
    }

    #[test]
    fn exponential_times_have_their_mean_and_variance() {
        let (times, mut random) =
            (Times::new(TimeLaw::Exponential { mean_s: 2.0 }, Clock::PICOSECONDS), RandomStream::named(1, 0, "off"));
        let drawn: Vec<f64> = (0..DRAWS).map(|_| Clock::PICOSECONDS.seconds(times.draw(&mut random))).collect();
        let mean = drawn.iter().sum::<f64>() / DRAWS as f64;
        let square = drawn.iter().map(|t| t * t).sum::<f64>() / DRAWS as f64;
        // Four standard errors: 4 * 2 / sqrt(n), 4 * sqrt(20) * 4 / sqrt(n).
        assert!((mean - 2.0).abs() < 0.013 && (square - 8.0).abs() < 0.12, "{mean} {square}");
    }
}
