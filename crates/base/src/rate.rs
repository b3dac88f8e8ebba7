use crate::Time;

/// The rate of a link, with the service times of the last two packet sizes cached.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    bits_per_second: f64,
    /// Packet sizes and their service times, last used first.
    cached: [(u16, Time); 2],
}

impl Rate {
    /// The rate of a link with a service time of zero.
    pub const UNLIMITED: Rate = Rate { bits_per_second: f64::INFINITY, cached: [(0, Time::ZERO); 2] };

    /// Creates a rate from bits per second (positive).
    pub fn from_bits_per_second(bits_per_second: f64) -> Rate {
        Rate { bits_per_second, ..Rate::UNLIMITED }
    }

    /// Returns the packet size of the last call to [`Rate::service_time`], and its service time.
    #[inline(always)]
    pub fn cached(&self) -> (u16, Time) {
        self.cached[0]
    }

    /// Returns the time to transmit `bytes`, to the nearest picosecond.
    #[inline(always)]
    pub fn service_time(&mut self, bytes: u16) -> Time {
        if self.cached[0].0 == bytes {
            return self.cached[0].1;
        }
        self.other_service_time(bytes)
    }

    fn other_service_time(&mut self, bytes: u16) -> Time {
        self.cached.swap(0, 1);
        if self.cached[0].0 != bytes {
            let seconds = f64::from(bytes) * 8.0 / self.bits_per_second;
            self.cached[0] = (bytes, Time::from_seconds(seconds));
        }
        self.cached[0].1
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
