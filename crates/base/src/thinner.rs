//! Series for a picture, with at most two rows per interval, however long the run.

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

/// A filter that keeps the smallest and the largest value of each interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thinner {
    interval_end: Time,
    smallest: Option<(Time, f64)>,
    largest: Option<(Time, f64)>,
}

impl Thinner {
    /// Records a value at an instant; emits the rows of the previous interval if that has ended.
    pub fn observe(&mut self, time: Time, value: f64, steps: &Steps, mut emit: impl FnMut(Time, f64)) {
        if time >= self.interval_end {
            self.flush(&mut emit);
            self.interval_end = steps.end(time);
        }
        if self.smallest.is_none_or(|(_, least)| value < least) {
            self.smallest = Some((time, value));
        }
        if self.largest.is_none_or(|(_, most)| value > most) {
            self.largest = Some((time, value));
        }
    }

    /// Emits the rows of the last interval.
    pub fn flush(&mut self, mut emit: impl FnMut(Time, f64)) {
        let (Some(a), Some(b)) = (self.smallest.take(), self.largest.take()) else { return };
        let (first, second) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        emit(first.0, first.1);
        if second != first {
            emit(second.0, second.1);
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
}
