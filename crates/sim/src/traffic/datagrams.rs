use base::{Clock, RandomStream, Rate, Time};

use super::config::TimeLaw;
use super::laws::{exponential, Times};
use crate::scenario::TrafficConfig;

/// A source of datagrams, without congestion control.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    random: RandomStream,
    clock: Clock,
    /// Mean time between two packets during an on time.
    gap: Time,
    /// Rate whose packets are at equal distances.
    rate: Option<Rate>,
    bytes: u16,
    poisson: bool,
    on: Times,
    off: Times,
    /// End of the current on time.
    on_until: Time,
    /// Packets sent so far.
    pub(crate) sent: u64,
}

impl Datagrams {
    /// Returns a source that starts at `start`, and the time of its first packet; never, if the traffic is over TCP.
    pub(crate) fn new(
        config: &TrafficConfig,
        bytes: u16,
        start: Time,
        clock: Clock,
        random: RandomStream,
    ) -> (Datagrams, Time) {
        let always = TimeLaw::Fixed { mean_s: f64::INFINITY };
        let (rate_bps, poisson, on, off) = match *config {
            TrafficConfig::Tcp { .. } | TrafficConfig::Web { .. } => (0.0, false, always, always),
            TrafficConfig::Constant { rate_bps } => (rate_bps, false, always, always),
            TrafficConfig::Poisson { rate_bps } => (rate_bps, true, always, always),
            TrafficConfig::OnOff { rate_bps, on, off } => (rate_bps, false, on, off),
            TrafficConfig::PoissonOnOff { rate_bps, on, off } => (rate_bps, true, on, off),
            TrafficConfig::Ping { .. } => (0.0, false, always, always),
        };
        let gap = match *config {
            TrafficConfig::Ping { interval_s, .. } => clock.time(interval_s),
            _ => clock.time(f64::from(bytes) * 8.0 / rate_bps),
        };
        let rate = (rate_bps > 0.0 && !poisson).then(|| Rate::new(rate_bps, clock));
        let (on, off) = (Times::new(on, clock), Times::new(off, clock));
        let mut source = Datagrams { clock, random, gap, rate, bytes, poisson, on, off, on_until: start, sent: 0 };
        source.on_until = start + source.on.draw(&mut source.random);
        let first = source.first_after(start);
        let first = source.while_on(first);
        (source, first)
    }

    /// Returns the time of the packet that follows the one sent `now`.
    pub(crate) fn next(&mut self, now: Time) -> Time {
        let next = now + self.draw_gap();
        self.while_on(next)
    }

    /// Returns `time` if it is in an on time, else the time of the first packet of the next on time that has one.
    fn while_on(&mut self, mut time: Time) -> Time {
        while time >= self.on_until && self.on_until < Time::NEVER {
            let on = self.on_until + self.off.draw(&mut self.random);
            self.on_until = on + self.on.draw(&mut self.random);
            time = self.first_after(on);
        }
        time
    }

    /// Returns the time of the first packet of an on time that begins at `on`: a Poisson process has no memory, a
    /// constant rate begins with a packet.
    fn first_after(&mut self, on: Time) -> Time {
        if self.poisson {
            on + self.draw_gap()
        } else {
            on
        }
    }

    fn draw_gap(&mut self) -> Time {
        if self.poisson {
            exponential(self.clock.seconds(self.gap), self.clock, &mut self.random)
        } else {
            self.rate.as_mut().map_or(self.gap, |rate| rate.service_time(self.bytes))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instants(config: &TrafficConfig, packets: usize) -> Vec<f64> {
        // 1000 bytes at 8 kbit/s: one a second.
        let random = RandomStream::named(1, 0, "source");
        let (mut source, first) =
            Datagrams::new(config, 1000, Clock::PICOSECONDS.time(3.0), Clock::PICOSECONDS, random);
        let next = |now: &Time| Some(source.next(*now));
        std::iter::successors(Some(first), next).take(packets).map(|time| Clock::PICOSECONDS.seconds(time)).collect()
    }

    #[test]
    fn constant_packets_leave_at_equal_intervals_from_the_start_on() {
        assert_eq!(instants(&TrafficConfig::Constant { rate_bps: 8e3 }, 4), [3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn an_on_off_source_begins_each_time_with_a_packet() {
        let fixed = |mean_s| TimeLaw::Fixed { mean_s };
        let config = TrafficConfig::OnOff { rate_bps: 8e3, on: fixed(2.5), off: fixed(10.0) };
        assert_eq!(instants(&config, 7), [3.0, 4.0, 5.0, 15.5, 16.5, 17.5, 28.0]);
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        let instants = instants(&TrafficConfig::Poisson { rate_bps: 8e3 }, 200_000);
        let gaps: Vec<f64> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
        // Four standard errors: 4 / sqrt(n), 4 * sqrt(20) / sqrt(n).
        assert!((mean - 1.0).abs() < 0.009 && (square - 2.0).abs() < 0.04, "{mean} {square}");
    }

    #[test]
    fn a_poisson_on_off_source_has_its_mean_rate() {
        let exponential = |mean_s| TimeLaw::Exponential { mean_s };
        let config = TrafficConfig::PoissonOnOff { rate_bps: 8e3, on: exponential(20.0), off: exponential(20.0) };
        let packets = 200_000;
        let instants = instants(&config, packets);
        let rate = packets as f64 / (instants[packets - 1] - 3.0);
        // A packet each 2 s; 10,000 cycles of 40 s vary by 28 s, and their times by the square root of 2 of that.
        assert!((rate - 0.5).abs() < 0.5 * 4.0 * (0.5 / 10_000_f64).sqrt() * 2.0, "{rate}");
    }
}
