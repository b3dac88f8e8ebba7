use crate::Time;

/// How fast a link serves, with the service times of the last two packet sizes kept at hand.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    bits_per_second: f64,
    known: [(u16, Time); 2],
}

impl Rate {
    /// A link that takes no time to serve.
    pub const UNLIMITED: Rate = Rate { bits_per_second: f64::INFINITY, known: [(0, Time::ZERO); 2] };

    /// From bits a second (positive).
    pub fn from_bits_per_second(bits_per_second: f64) -> Rate {
        Rate { bits_per_second, ..Rate::UNLIMITED }
    }

    /// The size whose service time was asked for last, and that time.
    #[inline(always)]
    pub fn at_hand(&self) -> (u16, Time) {
        self.known[0]
    }

    /// Time to transmit `bytes`, to the nearest picosecond.
    #[inline(always)]
    pub fn service_time(&mut self, bytes: u16) -> Time {
        if self.known[0].0 == bytes {
            return self.known[0].1;
        }
        self.other_service_time(bytes)
    }

    fn other_service_time(&mut self, bytes: u16) -> Time {
        self.known.swap(0, 1);
        if self.known[0].0 != bytes {
            let seconds = f64::from(bytes) * 8.0 / self.bits_per_second;
            self.known[0] = (bytes, Time::from_seconds(seconds));
        }
        self.known[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_times_are_right_for_alternating_sizes() {
        let mut rate = Rate::from_bits_per_second(1.5e6);
        for _ in 0..3 {
            assert_eq!(rate.service_time(512).picoseconds(), 2_730_666_667);
            assert_eq!(rate.service_time(40).picoseconds(), 213_333_333);
            assert_eq!(rate.service_time(1500).picoseconds(), 8_000_000_000);
        }
    }

    #[test]
    fn an_unlimited_link_takes_no_time() {
        assert_eq!(Rate::UNLIMITED.clone().service_time(1500), Time::ZERO);
    }
}
