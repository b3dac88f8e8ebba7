//! The elements that packets cross.

use net::{AppliesTo, BucketConfig, BufferLimit, Counting, DelayLaw, Discipline, LossLaw, RateLaw, SchedulerConfig};
use serde::{Deserialize, Serialize};

/// An element that packets cross, in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "most elements are links")]
pub enum ElementConfig {
    /// A simplex link.
    Link(LinkConfig),
    /// A simplex link of which each flow has a copy.
    PrivateLink(PrivateLinkConfig),
    /// One direction of an ATM channel.
    Channel(ChannelConfig),
    /// The TCP process of a host, the last element of the paths that end there.
    Host(HostConfig),
}

/// A simplex link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Name of the link, and of the random stream of its discipline.
    pub name: String,
    /// Rate \[bit/s\]; `None`: infinitely fast. Of a rate that changes, its mean: the time scale of an AQM.
    pub rate_bps: Option<f64>,
    /// Process of the rate, if it changes.
    #[serde(default)]
    pub rate_process: Option<Box<RateProcessConfig>>,
    /// Token bucket that lets packets go, in place of a line that transmits them one after another.
    #[serde(default)]
    pub token_bucket: Option<BucketConfig>,
    /// Propagation delay \[s\].
    pub delay_s: f64,
    /// Limit of the buffer; `None`: unlimited.
    pub buffer: Option<BufferLimit>,
    /// The packets that count towards the limit; those that wait with a token bucket.
    pub counting: Counting,
    /// Discipline of the queue.
    pub queue: Discipline,
    /// Process of a delay that changes, in addition to the constant one, if there is one.
    pub delay_process: Option<DelayProcessConfig>,
    /// Process that loses packets before the queue, if there is one.
    pub loss: Option<LossConfig>,
}

impl LinkConfig {
    /// Returns whether a packet takes the same time at any instant, if the queue is empty.
    pub fn is_steady(&self) -> bool {
        self.rate_process.is_none() && self.token_bucket.is_none() && self.delay_process.is_none()
    }
}

/// A simplex link of which each flow that crosses it has a copy. Its queue is drop-tail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivateLinkConfig {
    /// Name of the link.
    pub name: String,
    /// Rate \[bit/s\]; `None`: infinitely fast.
    pub rate_bps: Option<f64>,
    /// Propagation delay \[s\].
    pub delay_s: f64,
    /// Limit of the buffer; `None`: unlimited.
    pub buffer: Option<BufferLimit>,
    /// The packets that count towards the limit.
    pub counting: Counting,
}

/// One direction of an ATM channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelConfig {
    /// Name of the direction.
    pub name: String,
    /// The end where packets enter: 0 is the near end of the first channel, 1 its far end, 2 the near end of the second
    /// one, and so on.
    pub end: usize,
    /// Fair share of the rate, for models \[bit/s\]. The ATM network decides the rate of a run.
    pub rate_bps: f64,
    /// Propagation delay, for models \[s\]. The ATM network decides the delay of a run.
    pub delay_s: f64,
}

/// The TCP process of a host, which handles one arriving packet at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Name of the host.
    pub name: String,
    /// Time for a data packet, before the receiver sees it \[s\].
    pub data_s: f64,
    /// Time for an ACK, before the sender sees it \[s\].
    pub ack_s: f64,
}

/// A rate that changes with time. The transmission of a packet ends as the integral of the rate reaches its bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateProcessConfig {
    /// Name of the random stream; two directions of a link with the same law and stream have equal rates.
    pub stream: String,
    /// The law by which the rate changes.
    pub law: RateLaw,
}

/// A delay that changes with time, on top of the link's constant one. A packet takes the delay in force as its last bit
/// leaves the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayProcessConfig {
    /// Name of the random stream; two directions of a link with the same law and stream have equal delays.
    pub stream: String,
    /// The order of packets when the delay falls.
    pub order: OrderConfig,
    /// The law by which the delay changes.
    pub law: DelayLaw,
}

/// The order of packets when the delay falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderConfig {
    /// Later packets overtake earlier ones.
    Overtake,
    /// A packet arrives no earlier than the one before it.
    Keep,
}

/// A process that loses packets as they arrive at a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossConfig {
    /// The packets to which it applies.
    pub applies_to: AppliesTo,
    /// The law by which it loses them.
    pub law: LossLaw,
}

impl ElementConfig {
    /// Returns the name.
    pub fn name(&self) -> &str {
        match self {
            ElementConfig::Link(LinkConfig { name, .. })
            | ElementConfig::PrivateLink(PrivateLinkConfig { name, .. })
            | ElementConfig::Channel(ChannelConfig { name, .. })
            | ElementConfig::Host(HostConfig { name, .. }) => name,
        }
    }

    /// Returns the rate \[bit/s\], of one that changes the mean; `None` where transmission takes no time.
    pub fn rate_bps(&self) -> Option<f64> {
        match self {
            ElementConfig::Link(link) => link.rate_bps,
            ElementConfig::PrivateLink(link) => link.rate_bps,
            ElementConfig::Channel(channel) => Some(channel.rate_bps),
            ElementConfig::Host(_) => None,
        }
    }

    /// Returns the constant part of the propagation delay \[s\].
    pub fn delay_s(&self) -> f64 {
        match self {
            ElementConfig::Link(link) => link.delay_s,
            ElementConfig::PrivateLink(link) => link.delay_s,
            ElementConfig::Channel(channel) => channel.delay_s,
            ElementConfig::Host(_) => 0.0,
        }
    }

    /// Returns the smallest propagation delay \[s\].
    pub fn least_delay_s(&self) -> f64 {
        self.delay_s() + self.delay_process().map_or(0.0, |process| process.law.least_s())
    }

    /// Returns the largest rate \[bit/s\]; `None` where a transmission may take no time.
    pub fn most_bps(&self) -> Option<f64> {
        self.rate_process().map_or(self.rate_bps(), |process| process.law.most_bps())
    }

    /// Returns the process of its rate, if the rate changes.
    pub fn rate_process(&self) -> Option<&RateProcessConfig> {
        self.link().and_then(|link| link.rate_process.as_deref())
    }

    /// Returns the process of its delay, if the delay changes.
    pub fn delay_process(&self) -> Option<&DelayProcessConfig> {
        self.link().and_then(|link| link.delay_process.as_ref())
    }

    /// Returns the process that loses packets before it, if there is one.
    pub fn loss(&self) -> Option<&LossConfig> {
        self.link().and_then(|link| link.loss.as_ref())
    }

    /// Returns the settings of a link that flows share; `None` for any other element.
    pub fn link(&self) -> Option<&LinkConfig> {
        match self {
            ElementConfig::Link(link) => Some(link),
            ElementConfig::PrivateLink(_) | ElementConfig::Channel(_) | ElementConfig::Host(_) => None,
        }
    }

    /// Returns the settings of a link that flows share, to change them; `None` for any other element.
    pub fn link_mut(&mut self) -> Option<&mut LinkConfig> {
        match self {
            ElementConfig::Link(link) => Some(link),
            ElementConfig::PrivateLink(_) | ElementConfig::Channel(_) | ElementConfig::Host(_) => None,
        }
    }

    /// Returns whether the packets of a flow leave it in the order in which they came: a delay may let them overtake, and a
    /// dual queue separates them by their ECN bits.
    pub fn keeps_order(&self) -> bool {
        let separates = |link: &LinkConfig| matches!(link.queue.scheduler, SchedulerConfig::Dual(_));
        !self.overtakes() && !self.link().is_some_and(separates)
    }

    /// Returns whether packets overtake one another in its pipe.
    pub fn overtakes(&self) -> bool {
        self.delay_process().is_some_and(|process| process.order == OrderConfig::Overtake)
    }

    /// Returns whether each flow has a copy of it.
    pub fn is_private(&self) -> bool {
        matches!(self, ElementConfig::PrivateLink(_))
    }

    /// Returns whether it is the TCP process of a host.
    pub fn is_host(&self) -> bool {
        matches!(self, ElementConfig::Host(_))
    }
}

impl From<LinkConfig> for ElementConfig {
    fn from(link: LinkConfig) -> ElementConfig {
        ElementConfig::Link(link)
    }
}

impl From<PrivateLinkConfig> for ElementConfig {
    fn from(link: PrivateLinkConfig) -> ElementConfig {
        ElementConfig::PrivateLink(link)
    }
}

impl From<HostConfig> for ElementConfig {
    fn from(host: HostConfig) -> ElementConfig {
        ElementConfig::Host(host)
    }
}
