use base::Time;

/// The two parts of a run, as indices of the counters: the warm-up, and what is measured after it.
#[derive(Clone, Copy, Debug)]
pub struct Phase {
    /// Where the measurement begins.
    pub warmup: Time,
    /// The end of the run; what lies later never happens.
    pub end: Time,
}

impl Phase {
    /// 0 in the warm-up, 1 in the measurement.
    #[inline(always)]
    pub fn index(&self, now: Time) -> usize {
        usize::from(now >= self.warmup)
    }
}

/// What a link counts, always. Pairs: in the warm-up, and in the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStatistics {
    /// Packets that came to the link.
    pub arrived: [u64; 2],
    /// Packets that the queue threw away.
    pub dropped: [u64; 2],
    /// Packets that were lost before the queue; they count as arrived.
    pub lost: [u64; 2],
    /// Packets that were transmitted to their last bit.
    pub departed: [u64; 2],
    /// Their bytes.
    pub departed_bytes: [u64; 2],
    /// Time spent transmitting, in the measurement.
    pub busy: Time,
    /// Integral over the measurement of the packets in the link, the one in transmission included: packets times picoseconds.
    pub queue_area: u128,
    /// The most packets in the link at once, in the measurement.
    pub queue_max: u64,
    /// Packets that stand in the link when the measurement begins.
    standing: u64,
}

impl LinkStatistics {
    /// Takes in what another link counted: sums, and the longer queue.
    pub fn add(&mut self, other: &LinkStatistics) {
        for index in 0..2 {
            self.arrived[index] += other.arrived[index];
            self.dropped[index] += other.dropped[index];
            self.lost[index] += other.lost[index];
            self.departed[index] += other.departed[index];
            self.departed_bytes[index] += other.departed_bytes[index];
        }
        self.busy += other.busy;
        self.queue_area += other.queue_area;
        self.queue_max = self.queue_max.max(other.queue_max);
    }

    /// A packet is in the link, waiting or in transmission.
    pub fn in_link(&mut self, from: Time, until: Time, phase: &Phase) {
        self.queue_area += u128::from(from.overlap(until, phase.warmup, phase.end).picoseconds());
        if from < phase.warmup && until > phase.warmup {
            self.standing += 1;
            self.queue_max = self.queue_max.max(self.standing);
        }
    }

    /// A packet is transmitted.
    pub fn transmitted(&mut self, start: Time, departure: Time, bytes: u16, phase: &Phase) {
        self.busy += start.overlap(departure, phase.warmup, phase.end);
        if departure <= phase.end {
            let index = phase.index(departure);
            self.departed[index] += 1;
            self.departed_bytes[index] += u64::from(bytes);
        }
    }

    /// So many packets are in the link now.
    #[inline(always)]
    pub fn observe_queue(&mut self, packets: u64, now: Time, phase: &Phase) {
        if packets > self.queue_max && now >= phase.warmup {
            self.queue_max = packets;
        }
    }
}
