use base::Time;

/// A counter of the drops of each interval.
#[derive(Clone, Debug, Default)]
pub(super) struct DropCounter {
    interval: u64,
    first: Time,
    count: u64,
}

impl DropCounter {
    /// Counts a drop; calls `emit` with the previous interval's first drop and number of drops, if that interval is
    /// over.
    pub(super) fn observe(&mut self, time: Time, interval: Time, emit: impl FnMut(Time, f64)) {
        let index = time.ticks() / interval.ticks();
        if index != self.interval {
            self.flush(emit);
            self.interval = index;
        }
        if self.count == 0 {
            self.first = time;
        }
        self.count += 1;
    }

    /// Calls `emit` with the time of the interval's first drop and the number of drops, if there were any.
    pub(super) fn flush(&mut self, mut emit: impl FnMut(Time, f64)) {
        if self.count > 0 {
            emit(self.first, self.count as f64);
        }
        self.count = 0;
    }
}
