//! Series for a picture, with at most two rows per interval, and one more at the end, however long the run.

use crate::Time;

/// The intervals of a series: coarse ones, and from an instant on fine ones for a magnified part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Length of the coarse intervals.
    pub coarse: Time,
    /// Length of the fine intervals.
    pub fine: Time,
    /// Instant from which the intervals are fine.
    pub fine_from: Time,
}

impl Steps {
    /// Creates intervals of one length.
    pub fn even(step: Time) -> Steps {
        Steps { coarse: step, fine: step, fine_from: Time::NEVER }
    }

    fn at(&self, time: Time) -> Time {
        if time < self.fine_from {
            self.coarse
        } else {
            self.fine
        }
    }

    /// Returns the end of the interval that contains an instant.
    fn end(&self, time: Time) -> Time {
        let step = self.at(time);
        let end = step.times(time.ticks() / step.ticks() + 1);
        if time < self.fine_from {
            end.min(self.fine_from)
        } else {
            end
        }
    }
}

/// A filter that keeps the smallest and the largest value of each interval, and the last one where the next interval
/// has none: it holds until the next value, which a picture would otherwise draw at an extreme.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thinner {
    interval_end: Time,
    smallest: Option<(Time, f64)>,
    largest: Option<(Time, f64)>,
    last: (Time, f64),
}

impl Thinner {
    /// Records a value at an instant; emits the rows of the previous interval if that has ended.
    pub fn observe(&mut self, time: Time, value: f64, steps: &Steps, mut emit: impl FnMut(Time, f64)) {
        if time >= self.interval_end {
            let last_holds = time >= steps.end(self.interval_end);
            self.emit_rows(last_holds, &mut emit);
            self.interval_end = steps.end(time);
        }
        self.last = (time, value);
        if self.smallest.is_none_or(|(_, least)| value < least) {
            self.smallest = Some((time, value));
        }
        if self.largest.is_none_or(|(_, most)| value > most) {
            self.largest = Some((time, value));
        }
    }

    /// Emits the rows of the last interval.
    pub fn flush(&mut self, emit: impl FnMut(Time, f64)) {
        self.emit_rows(true, emit);
    }

    fn emit_rows(&mut self, last_holds: bool, mut emit: impl FnMut(Time, f64)) {
        let (Some(a), Some(b)) = (self.smallest.take(), self.largest.take()) else { return };
        let (first, second) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        emit(first.0, first.1);
        if second != first {
            emit(second.0, second.1);
        }
        // The extremes are among the values: one that is equal to the last is that value or an earlier one.
        if last_holds && self.last.1 != second.1 {
            emit(self.last.0, self.last.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_become_fine_where_the_magnified_part_begins() {
        let at = Time::from_ticks;
        let steps = Steps { coarse: at(100), fine: at(10), fine_from: at(250) };
        let (mut thinner, mut rows) = (Thinner::default(), Vec::new());
        for (time, value) in (0..30).map(|number| (at(10 * number), number as f64)) {
            thinner.observe(time, value, &steps, |time, value| rows.push((time.ticks(), value)));
        }
        thinner.flush(|time, value| rows.push((time.ticks(), value)));
        let expected = [(0, 0.0), (90, 9.0), (100, 10.0), (190, 19.0), (200, 20.0), (240, 24.0), (250, 25.0)];
        assert_eq!(rows[..7], expected);
        assert_eq!(rows[7..], [(260, 26.0), (270, 27.0), (280, 28.0), (290, 29.0)]);
    }

    fn thinned(values: &[(u64, f64)]) -> Vec<(u64, f64)> {
        let steps = Steps::even(Time::from_ticks(100));
        let (mut thinner, mut rows) = (Thinner::default(), Vec::new());
        for (time, value) in values {
            thinner.observe(Time::from_ticks(*time), *value, &steps, |time, value| rows.push((time.ticks(), value)));
        }
        thinner.flush(|time, value| rows.push((time.ticks(), value)));
        rows
    }

    #[test]
    fn a_value_that_holds_over_intervals_is_kept() {
        let burst = [(10, 0.0), (20, 6.0), (30, 2.0), (40, 1.0)];
        let until_the_end = [(10, 0.0), (20, 6.0), (40, 1.0)];
        assert_eq!(thinned(&burst), until_the_end);
        assert_eq!(thinned(&[&burst[..], &[(200, 0.0)]].concat()), [&until_the_end[..], &[(200, 0.0)]].concat());
        // The next interval says at once what became of it.
        assert_eq!(thinned(&[&burst[..], &[(199, 0.0)]].concat()), [(10, 0.0), (20, 6.0), (199, 0.0)]);
        // An extreme that is the last value is not there twice.
        assert_eq!(thinned(&[(10, 0.0), (20, 6.0), (30, 6.0), (300, 0.0)]), [(10, 0.0), (20, 6.0), (300, 0.0)]);
    }
}
