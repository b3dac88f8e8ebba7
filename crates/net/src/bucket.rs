use base::{Rate, Time};
use serde::{Deserialize, Serialize};

/// Parameters of a token bucket that is filled at the rate of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketConfig {
    /// Fate of packets that find no tokens.
    pub kind: BucketKind,
    /// Tokens of the full bucket \[bytes\].
    pub burst_bytes: u64,
}

/// Kinds of token buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BucketKind {
    /// Packets wait for tokens. One may go when there is any token or none is owed, and may leave the bucket in debt: with
    /// a bucket of 0 bytes each packet goes as the time of its service begins (Linux `sch_htb.c`).
    Shaper,
    /// Packets that the tokens do not suffice for are dropped (RFC 2697, in one colour; Linux `act_police.c`).
    Policer,
}

/// A token bucket as the instant at which it will be full: the virtual scheduling of the generic cell rate algorithm
/// (ITU-T I.371 annex A).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    kind: BucketKind,
    rate: Rate,
    /// Time that it takes to fill the empty bucket.
    burst: Time,
    full_at: Time,
    /// Instant of the next release.
    release: Time,
}

impl TokenBucket {
    /// Returns a full bucket.
    pub(crate) fn new(config: BucketConfig, rate: Rate) -> TokenBucket {
        let (whole, rest) = (config.burst_bytes / 50_000, config.burst_bytes % 50_000);
        let time = |bytes: u64| rate.longest_service_time(u16::try_from(bytes).unwrap_or(u16::MAX));
        let burst = time(50_000).times(whole) + time(rest);
        TokenBucket { kind: config.kind, rate, burst, full_at: Time::ZERO, release: Time::NEVER }
    }

    /// Returns the fate of packets that find no tokens.
    pub(crate) fn kind(&self) -> BucketKind {
        self.kind
    }

    /// Returns whether an arriving packet may stay: a policer has tokens for it.
    pub(crate) fn admits(&self, now: Time, bytes: u16) -> bool {
        match self.kind {
            BucketKind::Shaper => true,
            BucketKind::Policer => self.full_at.max(now) + self.rate.longest_service_time(bytes) <= now + self.burst,
        }
    }

    /// Plans the next release, with packets waiting or none.
    pub(crate) fn plan(&mut self, now: Time, waiting: usize) {
        self.release = match waiting {
            0 => Time::NEVER,
            _ => now.max(self.full_at - self.burst),
        };
    }

    /// Returns the instant of the next release.
    pub(crate) fn release(&self) -> Time {
        self.release
    }

    /// Takes the tokens of a packet that goes; returns the time in which they come again.
    pub(crate) fn take(&mut self, now: Time, bytes: u16) -> Time {
        if self.full_at < now {
            self.rate.restart();
        }
        let service = self.rate.service_time(bytes);
        self.full_at = self.full_at.max(now) + service;
        service
    }
}
