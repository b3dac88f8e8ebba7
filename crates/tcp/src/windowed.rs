//! The extreme value of a window by the three best samples of its parts (Nichols; Linux `win_minmax.c`).

/// The smallest value of a window. Stamps and values have the unit of their user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedMin {
    /// Stamps and values of the smallest sample, and of those of the later parts of the window.
    best: [(u64, u64); 3],
}

impl WindowedMin {
    /// Returns the minimum of no samples, the largest value there is.
    pub(crate) const NONE: WindowedMin = WindowedMin { best: [(0, u64::MAX); 3] };

    /// Returns the smallest sample of the window.
    pub(crate) fn get(&self) -> u64 {
        self.best[0].1
    }

    /// Takes a sample at `now`, and forgets what is older than `window`.
    pub(crate) fn sample(&mut self, now: u64, value: u64, window: u64) {
        let new = (now, value);
        if value <= self.best[0].1 || now - self.best[2].0 > window {
            self.best = [new; 3];
            return;
        }
        if value > self.best[2].1 && now - self.best[0].0 <= window / 4 {
            // No part of the window begins or ends.
            return;
        }
        if value <= self.best[1].1 {
            (self.best[1], self.best[2]) = (new, new);
        } else if value <= self.best[2].1 {
            self.best[2] = new;
        }
        self.forget_old(new, window);
    }

    fn forget_old(&mut self, new: (u64, u64), window: u64) {
        let age = new.0 - self.best[0].0;
        if age > window {
            self.best = [self.best[1], self.best[2], new];
            if new.0 - self.best[0].0 > window {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age > window / 4 {
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].0 == self.best[1].0 && age > window / 2 {
            self.best[2] = new;
        }
    }
}

/// The largest value of a window. Stamps and values have the unit of their user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedMax {
    /// The smallest complement.
    complement: WindowedMin,
}

impl WindowedMax {
    /// Returns the maximum of no samples, zero.
    pub(crate) const NONE: WindowedMax = WindowedMax { complement: WindowedMin::NONE };

    /// Returns the largest sample of the window.
    pub(crate) fn get(&self) -> u64 {
        !self.complement.get()
    }

    /// Takes a sample at `now`, and forgets what is older than `window`.
    pub(crate) fn sample(&mut self, now: u64, value: u64, window: u64) {
        self.complement.sample(now, !value, window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_leaves_with_its_window() {
        let mut min = WindowedMin::NONE;
        min.sample(0, 10, 1000);
        for second in 1..=10 {
            min.sample(100 * second, 20, 1000);
            assert_eq!(min.get(), 10);
        }
        min.sample(1001, 20, 1000);
        assert_eq!(min.get(), 20);
    }

    #[test]
    fn the_second_best_is_of_a_later_part_of_the_window() {
        let mut min = WindowedMin::NONE;
        for (now, value) in [(0, 10), (3, 30), (6, 20), (10, 40)] {
            min.sample(now, value, 10);
            assert_eq!(min.get(), 10);
        }
        min.sample(11, 50, 10);
        assert_eq!(min.get(), 20);
    }

    #[test]
    fn the_maximum_leaves_with_its_window() {
        let mut max = WindowedMax::NONE;
        assert_eq!(max.get(), 0);
        let values = [(0, 7), (1, 5), (10, 6), (11, 3), (22, 2)].map(|(now, value)| {
            max.sample(now, value, 10);
            max.get()
        });
        assert_eq!(values, [7, 7, 7, 6, 2]);
    }
}
