use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::cast::{to_index, trunc_to_u64};

/// A stream of random numbers for one element.
///
/// Each element has its own stream, which depends only on the run's seed, the replication and the element's name.
/// Therefore the numbers of an element do not change when another element is added or draws more numbers.
#[derive(Clone, Debug)]
pub struct RandomStream(Xoshiro256PlusPlus);

impl RandomStream {
    /// Creates the stream of the element `name` in one replication of a run.
    pub fn named(seed: u64, replication: u64, name: &str) -> RandomStream {
        // FNV-1a mixes the name; the generator's own seeding (SplitMix64) spreads the result.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let words = [seed.to_le_bytes(), replication.to_le_bytes()];
        for byte in words.as_flattened().iter().chain(name.as_bytes()) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        RandomStream(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// Creates a further stream of the same element, for another purpose.
    pub fn branch(&self, purpose: &str) -> RandomStream {
        let seed = self.0.clone().next_u64();
        RandomStream::named(seed, 0, purpose)
    }

    /// Draws 64 random bits, such as the seed of another generator.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a number uniformly from [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws a number from the exponential distribution with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - U lies in (0, 1]: its logarithm is finite.
        -mean * (1.0 - self.uniform()).ln()
    }

    /// Draws an integer uniformly from 0..n (n > 0).
    pub fn below(&mut self, n: usize) -> usize {
        to_index(trunc_to_u64(self.uniform() * n as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_replication_and_name() {
        let draw = |seed, replication, name| RandomStream::named(seed, replication, name).uniform();
        assert_eq!(draw(1, 0, "a"), draw(1, 0, "a"));
        assert_ne!(draw(1, 0, "a"), draw(2, 0, "a"));
        assert_ne!(draw(1, 0, "a"), draw(1, 1, "a"));
        assert_ne!(draw(1, 0, "a"), draw(1, 0, "b"));
    }

    #[test]
    fn exponential_has_the_moments_of_the_exponential_law() {
        let mut stream = RandomStream::named(1, 0, "moments");
        let draws: Vec<f64> = (0..100_000).map(|_| stream.exponential(2.0)).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let above = draws.iter().filter(|&&draw| draw > 2.0).count() as f64 / 1e5;
        // Four standard errors: 4 * 2 / sqrt(1e5), 4 * sqrt(q (1 - q) / 1e5) with q = 1/e.
        assert!((mean - 2.0).abs() < 0.0253, "{mean}");
        assert!((above - (-1.0_f64).exp()).abs() < 0.0061, "{above}");
    }

    #[test]
    fn uniform_has_the_moments_of_the_uniform_law() {
        let mut stream = RandomStream::named(1, 0, "moments");
        let draws: Vec<f64> = (0..100_000).map(|_| stream.uniform()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let square = draws.iter().map(|u| u * u).sum::<f64>() / 1e5;
        // Four standard errors: 4 * sqrt(1/12 / 1e5), 4 * sqrt(4/45 / 1e5).
        assert!((mean - 0.5).abs() < 0.0037);
        assert!((square - 1.0 / 3.0).abs() < 0.0038);
    }
}
