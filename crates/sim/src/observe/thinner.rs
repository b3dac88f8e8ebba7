//! Series for a picture: one or two rows an interval, however long the run.

use base::Time;

/// Keeps the smallest and the largest value of each interval.
#[derive(Clone, Debug, Default)]
pub(super) struct Thinner {
    interval_end: Time,
    smallest: Option<(Time, f64)>,
    largest: Option<(Time, f64)>,
}

impl Thinner {
    pub(super) fn observe(&mut self, time: Time, value: f64, interval: Time, mut emit: impl FnMut(Time, f64)) {
        if time >= self.interval_end {
            self.flush(&mut emit);
            let index = time.picoseconds() / interval.picoseconds();
            self.interval_end = interval.times(index + 1);
        }
        if self.smallest.is_none_or(|(_, least)| value < least) {
            self.smallest = Some((time, value));
        }
        if self.largest.is_none_or(|(_, most)| value > most) {
            self.largest = Some((time, value));
        }
    }

    pub(super) fn flush(&mut self, mut emit: impl FnMut(Time, f64)) {
        let (Some(a), Some(b)) = (self.smallest.take(), self.largest.take()) else { return };
        let (first, second) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        emit(first.0, first.1);
        if second != first {
            emit(second.0, second.1);
        }
    }
}

/// Counts the drops of each interval.
#[derive(Clone, Debug, Default)]
pub(super) struct DropCounter {
    interval: u64,
    first: Time,
    count: u64,
}

impl DropCounter {
    pub(super) fn observe(&mut self, time: Time, interval: Time, emit: impl FnMut(Time, f64)) {
        let index = time.picoseconds() / interval.picoseconds();
        if index != self.interval {
            self.flush(emit);
            self.interval = index;
        }
        if self.count == 0 {
            self.first = time;
        }
        self.count += 1;
    }

    pub(super) fn flush(&mut self, mut emit: impl FnMut(Time, f64)) {
        if self.count > 0 {
            emit(self.first, self.count as f64);
        }
        self.count = 0;
    }
}
