use crate::cast::{low_u32, to_index};
use crate::Time;

/// Buckets of each doubling of a duration.
const PER_OCTAVE: u64 = 64;
/// Binary digits of a tick count that buckets do not see: their unit is 1024 ticks, about a nanosecond.
const UNIT_BITS: u32 = 10;

/// Counts of durations in buckets, the narrower the shorter the durations, in the manner of an HDR histogram.
///
/// A bucket is 1024 ticks wide up to 131,072 ticks, and above that 1/64 to 1/128 of what is in it: its middle is off by
/// less than 0.8% of a duration, or by 512 ticks. Memory grows with the range between the shortest and the longest duration: 256
/// bytes for each doubling, 14 KB at most.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// The counts of the buckets from `first` on, modulo 2^32: half the cache lines of whole counts.
    counts: Vec<u32>,
    first: usize,
    carries: Option<Box<Carries>>,
    longest: Time,
}

/// The buckets whose counts passed 2^32, once for each time.
#[derive(Clone, Debug, Default)]
struct Carries(Vec<usize>);

impl Histogram {
    /// Counts a duration.
    #[inline(always)]
    pub fn record(&mut self, duration: Time) {
        if duration > self.longest {
            self.longest = duration;
        }
        let bucket = bucket(duration);
        match self.counts.get_mut(bucket.wrapping_sub(self.first)) {
            Some(count) if *count < u32::MAX => *count += 1,
            _ => self.count(bucket, 1),
        }
    }

    /// Counts durations of zero.
    pub fn record_zeros(&mut self, count: u64) {
        if count > 0 {
            self.count(0, count);
        }
    }

    /// Returns the longest duration.
    pub fn longest(&self) -> Time {
        self.longest
    }

    /// Returns the number of durations.
    pub fn total(&self) -> u64 {
        self.buckets().map(|(_, count)| count).sum()
    }

    /// Returns the buckets that hold something, from the shortest durations on, and their counts.
    pub fn buckets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let whole = |(bucket, &count): (usize, &u32)| (bucket, u64::from(count) + (self.carries_of(bucket) << 32));
        (self.first..).zip(&self.counts).map(whole).filter(|&(_, count)| count > 0)
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Histogram) {
        for (bucket, count) in other.buckets() {
            self.count(bucket, count);
        }
        self.longest = self.longest.max(other.longest);
    }

    /// Returns the shortest duration of a bucket; that of the next one is its end.
    pub fn start_of(bucket: usize) -> Time {
        let bucket = bucket as u64;
        // The first two octaves have the same width.
        let shift = (bucket / PER_OCTAVE).saturating_sub(1);
        let units = u128::from(bucket - shift * PER_OCTAVE) << shift << UNIT_BITS;
        Time::from_ticks(u64::try_from(units).unwrap_or(u64::MAX))
    }

    /// Adds to the count of a bucket, which may lie outside of those that there are.
    #[cold]
    fn count(&mut self, bucket: usize, more: u64) {
        self.reach(bucket);
        let count = &mut self.counts[bucket - self.first];
        let sum = u64::from(*count) + more;
        *count = low_u32(sum);
        for _ in 0..sum >> 32 {
            self.carries.get_or_insert_default().0.push(bucket);
        }
    }

    fn carries_of(&self, bucket: usize) -> u64 {
        self.carries.iter().flat_map(|carries| &carries.0).filter(|&&carried| carried == bucket).count() as u64
    }

    /// Makes room for a bucket, and for those of its octave.
    fn reach(&mut self, bucket: usize) {
        let octave = to_index(PER_OCTAVE);
        let (start, end) = (bucket / octave * octave, (bucket / octave + 1) * octave);
        if self.counts.is_empty() {
            self.first = start;
        }
        if start < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - start));
            self.first = start;
        }
        if self.counts.len() < end - self.first {
            self.counts.resize(end - self.first, 0);
        }
    }
}

/// Returns the number of the bucket that a duration falls in.
#[inline(always)]
fn bucket(duration: Time) -> usize {
    let units = duration.ticks() >> UNIT_BITS;
    if units < PER_OCTAVE {
        return to_index(units);
    }
    // The exponent of a floating-point number and the first six digits of its fraction are the number of its bucket.
    to_index(((units as f64).to_bits() >> 46) - ((1023 + 5) << 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ps(picoseconds: u64) -> Time {
        Time::from_ticks(picoseconds)
    }

    fn durations() -> impl Iterator<Item = u64> {
        (0..64).flat_map(|exponent| [-1, 0, 1].map(|step| (1_u64 << exponent).saturating_add_signed(step))).chain([
            0,
            1023,
            1024,
            131_071,
            131_072,
            999_999_999,
            123_456_789_012_345,
            u64::MAX,
        ])
    }

    #[test]
    fn every_duration_falls_between_the_ends_of_its_bucket() {
        for duration in durations() {
            let found = bucket(ps(duration));
            let (start, end) = (Histogram::start_of(found), Histogram::start_of(found + 1));
            assert!(start <= ps(duration), "{duration} ps is before bucket {found}");
            assert!(ps(duration) < end || end == Time::NEVER, "{duration} ps is behind bucket {found}");
        }
    }

    #[test]
    fn the_middle_of_a_bucket_is_off_by_less_than_one_part_in_128_or_half_a_unit() {
        for duration in durations().filter(|&duration| duration < 1 << 62) {
            let found = bucket(ps(duration));
            let (start, end) = (Histogram::start_of(found).ticks(), Histogram::start_of(found + 1).ticks());
            let middle = (start + end) / 2;
            assert!(middle.abs_diff(duration) <= (duration / 128).max(512), "{duration} ps is taken as {middle} ps");
        }
    }

    #[test]
    fn buckets_start_where_the_one_before_ends() {
        let last = bucket(ps(u64::MAX));
        for number in 0..last {
            assert_eq!(bucket(Histogram::start_of(number)), number);
            assert!(Histogram::start_of(number) < Histogram::start_of(number + 1));
        }
    }

    #[test]
    fn counts_come_back_in_order_whatever_the_order_of_recording() {
        let mut histogram = Histogram::default();
        for duration in [1 << 40, 5 << 10, 1 << 40, 1 << 20, 0] {
            histogram.record(ps(duration));
        }
        let found: Vec<(Time, u64)> =
            histogram.buckets().map(|(bucket, count)| (Histogram::start_of(bucket), count)).collect();
        assert_eq!(found, [(ps(0), 1), (ps(5 << 10), 1), (ps(1 << 20), 1), (ps(1 << 40), 2)]);
        assert_eq!((histogram.total(), histogram.longest()), (5, ps(1 << 40)));
    }

    #[test]
    fn durations_of_zero_are_in_the_first_bucket() {
        let mut histogram = Histogram::default();
        histogram.record_zeros(0);
        assert_eq!(histogram.total(), 0);
        histogram.record(ps(1 << 40));
        histogram.record_zeros(3);
        assert_eq!(histogram.buckets().next(), Some((0, 3)));
        assert_eq!((histogram.total(), histogram.longest()), (4, ps(1 << 40)));
    }

    #[test]
    fn counts_go_on_beyond_32_bits() {
        let mut histogram = Histogram::default();
        histogram.record_zeros((1 << 32) - 1);
        histogram.record(ps(0));
        histogram.record(ps(1 << 40));
        assert_eq!(histogram.buckets().next(), Some((0, 1 << 32)));
        histogram.record_zeros(3 << 32);
        let mut other = histogram.clone();
        other.add(&histogram);
        assert_eq!((histogram.total(), other.total()), ((4 << 32) + 1, (8 << 32) + 2));
    }

    #[test]
    fn a_sum_of_histograms_is_the_histogram_of_all_durations() {
        let (mut first, mut second, mut all) = (Histogram::default(), Histogram::default(), Histogram::default());
        for (number, duration) in durations().enumerate() {
            if number % 3 == 0 { &mut first } else { &mut second }.record(ps(duration));
            all.record(ps(duration));
        }
        first.add(&second);
        assert!(first.buckets().eq(all.buckets()));
        assert_eq!(first.longest(), all.longest());
    }
}
