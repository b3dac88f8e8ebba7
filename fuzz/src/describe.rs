//! A legal scenario in a few bytes, so that the fuzzer spends its time in the engine.

mod ends;
mod queues;
mod rates;

use arbitrary::Arbitrary;
use base::cast::trunc_to_u64;
use net::{
    disciplines, AppliesTo, BucketConfig, BucketKind, BufferLimit, Counting, DelayLaw, DelayState, Discipline, LossLaw,
};
use sim::scenario::{
    ConnectionConfig, DelayProcessConfig, ElementConfig, FlowConfig, LinkConfig, LossConfig, OrderConfig,
    PrivateLinkConfig, RateProcessConfig, Run, Scenario, SizeLaw, TimeLaw, TraceConfig, TrafficConfig,
};
use tcp::{
    ClassicConfig, Dialect, Ecn, Estimator, HalfWindow, Increase, PartialAckTimer, Recovery, RtoConfig, RttSample,
    SlowStartWhile,
};

const MOST_LINKS: usize = 5;
const MOST_FLOWS: usize = 5;

/// Choices of the fuzzer; any of them makes a legal scenario.
#[derive(Arbitrary, Debug)]
pub struct Description {
    links: Vec<(Link, Link)>,
    flows: Vec<Flow>,
    duration: u8,
    warmup: u8,
    seed: u8,
    trace: u8,
    overview: u8,
}

/// A choice of one value, as even as a byte allows.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Choice(u8);

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Link {
    rate: u8,
    delay: u8,
    buffer: u8,
    counting: bool,
    queue: Choice,
    aqm: [u8; 4],
    process: Choice,
    changes: [u8; 4],
    loss: Choice,
    losing: [u8; 4],
    private: Choice,
    rates: [u8; 5],
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Flow {
    first: u8,
    hops: u8,
    backward: bool,
    no_return: bool,
    delays: [u8; 2],
    packet: u8,
    ack: u8,
    start: [u8; 2],
    size: u8,
    sender: Sender,
    rto: Rto,
    ack_every: u8,
    ack_delay: u8,
    levels: u8,
    count: Choice,
    traffic: Choice,
    law: [u8; 3],
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Sender {
    dialect: Choice,
    recovery: Choice,
    windows: [u8; 3],
    slow_start_while: Choice,
    increase: Choice,
    half_window: Choice,
    threshold: u8,
    limited_transmit: bool,
    partial_ack_timer: Choice,
    max_burst: u8,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Rto {
    estimator: Choice,
    sample: Choice,
    k: u8,
    times: [u8; 5],
    max_backoff: u8,
}

impl Choice {
    fn of<T: Copy>(self, values: &[T]) -> T {
        values[usize::from(self.0) % values.len()]
    }
}

/// Returns a value between `least` and `most`, in equal factors.
fn scaled(byte: u8, least: f64, most: f64) -> f64 {
    (least * (most / least).powf(f64::from(byte) / 255.0)).clamp(least, most)
}

/// A whole number from 1 to `most`, in equal factors.
fn whole<T: Copy + Into<u64> + TryFrom<u64>>(byte: u8, most: T) -> T {
    T::try_from(trunc_to_u64(scaled(byte, 1.0, most.into() as f64))).unwrap_or(most)
}

/// Zero for a byte of zero, else as [`scaled`].
fn scaled_or_zero(byte: u8, least: f64, most: f64) -> f64 {
    if byte == 0 {
        0.0
    } else {
        scaled(byte, least, most)
    }
}

fn some<T>(byte: u8, value: T) -> Option<T> {
    (byte != 0).then_some(value)
}

impl Description {
    /// Returns the scenario that the choices describe.
    pub fn scenario(&self) -> Scenario {
        let pairs = self.links.iter().take(MOST_LINKS).enumerate();
        let mut elements: Vec<ElementConfig> = pairs
            .flat_map(|(n, (there, back))| [there.config(format!("link{n}")), back.config(format!("link{n}.reverse"))])
            .collect();
        if elements.is_empty() {
            elements = ["link0", "link0.reverse"].map(|name| plain_link(name.to_owned()).into()).to_vec();
        }
        let duration_s = scaled(self.duration, 0.01, 1000.0);
        let flows = self.flows.iter().take(MOST_FLOWS).enumerate();
        Scenario {
            format: 3,
            title: "fuzz".to_owned(),
            run: Run {
                duration_s,
                warmup_s: duration_s * f64::from(self.warmup) / 255.0,
                replications: 1,
                seed: self.seed.into(),
                confidence: 0.95,
                precision: None,
                delays: true,
            },
            flows: flows.map(|(n, flow)| flow.config(n, elements.len() / 2, duration_s)).collect(),
            trace: self.trace(&elements),
            elements,
            atm: None,
        }
    }

    fn trace(&self, elements: &[ElementConfig]) -> TraceConfig {
        let asked = |bit: u8| self.trace >> bit & 1 == 1;
        TraceConfig {
            cwnd: asked(0),
            rtt: asked(1),
            sequence: asked(2),
            queue: asked(3),
            queue_distribution: asked(4),
            drops: asked(5),
            losses: asked(6),
            delay: asked(6),
            recovery: asked(4),
            rounds: asked(1),
            state: asked(0),
            rate: asked(6),
            aqm: asked(5),
            overview_interval_s: some(self.overview, scaled(self.overview, 1e-6, 100.0)),
            overview_detail_s: None,
            capture: asked(7).then(|| elements.iter().map(|element| element.name().to_owned()).collect()),
        }
    }
}

fn plain_link(name: String) -> LinkConfig {
    LinkConfig {
        name,
        rate_bps: Some(1e6),
        rate_process: None,
        token_bucket: None,
        delay_s: 0.01,
        buffer: None,
        counting: Counting::WithService,
        queue: Discipline::DROP_TAIL,
        delay_process: None,
        loss: None,
    }
}

impl Link {
    fn config(&self, name: String) -> ElementConfig {
        let rate_bps = some(self.rate, scaled(self.rate, 1.0, 1e13));
        let delay_s = scaled_or_zero(self.delay, 1e-12, 10.0);
        let limit = u64::from(self.buffer);
        let buffer = match self.buffer {
            0 => None,
            1..=127 => Some(BufferLimit::Packets(limit)),
            128.. => Some(BufferLimit::Bytes((limit - 127) * 500)),
        };
        let counting = if self.counting { Counting::WithService } else { Counting::Waiting };
        if self.private.of(&[false, false, true]) {
            return PrivateLinkConfig { name, rate_bps, delay_s, buffer, counting }.into();
        }
        let delay_process = self.delay_law().map(|law| DelayProcessConfig {
            stream: "shared".to_owned(),
            order: if self.changes[3] & 1 == 1 { OrderConfig::Keep } else { OrderConfig::Overtake },
            law,
        });
        let (queue, loss) = (self.queue(), self.loss());
        let rate_process =
            rates::law(self.rates).map(|law| Box::new(RateProcessConfig { stream: "shared".to_owned(), law }));
        let burst_bytes = u64::from(self.changes[0]) * 100;
        let kind = if self.changes[1] & 1 == 1 { BucketKind::Shaper } else { BucketKind::Policer };
        let token_bucket = (self.changes[3] & 12 == 12 && rate_bps.is_some() && rate_process.is_none())
            .then_some(BucketConfig { kind, burst_bytes })
            .filter(|_| queue.scheduler.bandwidth_bps().is_none());
        let rate_bps = rate_bps.or(rate_process.as_ref().map(|_| 1e6));
        LinkConfig { name, rate_bps, rate_process, token_bucket, delay_s, buffer, counting, queue, delay_process, loss }
            .into()
    }

    /// Three links in eight lose nothing.
    fn loss(&self) -> Option<LossConfig> {
        let [a, b, c, d] = self.losing.map(|byte| f64::from(byte) / 255.0);
        let law = match self.loss.of(&[0, 1, 2, 3, 4, 5, 6, 7]) {
            0 => LossLaw::Bernoulli { probability: a },
            1 => LossLaw::Poisson {
                mean_interval_s: scaled(self.losing[0], 1e-3, 100.0),
                void_after_s: scaled_or_zero(self.losing[1], 1e-6, 10.0),
            },
            2 => LossLaw::GilbertElliott { to_bad: a, to_good: b, loss_in_good: c, loss_in_bad: d },
            3 => LossLaw::Packets { numbers: (0..4).map(|n| 1 + u64::from(self.losing[0]) * (n + 1) + n).collect() },
            4 => LossLaw::Times { times_s: vec![a, a + 0.1, a + b + 0.2] },
            _ => return None,
        };
        let crossing = [AppliesTo::All, AppliesTo::Data, AppliesTo::Acks];
        Some(LossConfig { applies_to: crossing[usize::from(self.losing[3]) % 3], law })
    }

    /// Three links in six keep their delay.
    fn delay_law(&self) -> Option<DelayLaw> {
        let [low, high, stay, options] = self.changes;
        let low_s = scaled_or_zero(low, 1e-12, 10.0);
        let (high_s, stay_s) = (low_s + scaled_or_zero(high, 1e-12, 10.0), scaled(stay, 1e-3, 100.0));
        let state = |delay_s| DelayState {
            delay_s,
            least_stay_s: if options & 2 == 2 { stay_s } else { 0.0 },
            mean_extra_s: stay_s,
        };
        let alternating = DelayLaw::Alternating {
            states: vec![state(low_s), state(high_s)],
            start: usize::from(options & 4 == 4),
            transitions: (options & 8 == 8).then(|| vec![vec![0.5, 0.5], vec![1.0, 0.0]]),
        };
        match self.process.of(&[0, 1, 2, 3, 4, 5]) {
            0 => Some(DelayLaw::Steps { steps_s: vec![(0.0, low_s), (stay_s, high_s), (2.0 * stay_s, low_s)] }),
            1 => Some(alternating),
            2 => Some(DelayLaw::Handover { low_s, high_s, period_s: stay_s }),
            _ => None,
        }
    }

    /// Any discipline of the list, with other parameters.
    fn queue(&self) -> Discipline {
        let (_, Discipline { scheduler, aqm, overflow }) = self.queue.of(&disciplines());
        Discipline { scheduler: queues::scheduler(scheduler, self.aqm), aqm: queues::aqm(aqm, self.aqm), overflow }
    }
}

impl Flow {
    /// Crosses some links in a row, there and back.
    fn config(&self, number: usize, pairs: usize, duration_s: f64) -> FlowConfig {
        let first = usize::from(self.first) % pairs;
        let hops = 1 + usize::from(self.hops) % (pairs - first);
        let there: Vec<usize> = (first..first + hops).map(|pair| 2 * pair).collect();
        let back: Vec<usize> = (first..first + hops).rev().map(|pair| 2 * pair + 1).collect();
        let (path, return_path) = if self.backward { (back, there) } else { (there, back) };
        FlowConfig {
            name: format!("flow{number}"),
            count: self.count.of(&[1, 1, 2, 3]),
            copies: 1 + usize::from(self.levels & 1),
            start_s: duration_s * f64::from(self.start[0]) / 200.0,
            start_spread_s: duration_s * f64::from(self.start[1]) / 200.0,
            path,
            // A round trip that takes no time is not legal.
            forward_delay_s: scaled(self.delays[0], 1e-12, 10.0),
            packet_bytes: whole(self.packet, u16::MAX),
            priority: self.levels & 7,
            host: u16::from(self.levels & 3),
            weight: 1 + u16::from(self.levels),
            traffic: self.traffic(if self.no_return { Vec::new() } else { return_path }),
        }
    }

    fn connection(&self, return_path: Vec<usize>) -> ConnectionConfig {
        ConnectionConfig {
            return_path,
            return_delay_s: scaled_or_zero(self.delays[1], 1e-12, 10.0),
            ack_bytes: whole(self.ack, 2000),
            ack_priority: self.levels >> 3 & 7,
            handshake: None,
            sender: self.sender_config(),
            receiver: self.receiver_config(),
        }
    }

    /// Half of the flows transfer without end or once.
    fn traffic(&self, return_path: Vec<usize>) -> TrafficConfig {
        let [size, off, rate] = self.law;
        let connection = self.connection(return_path);
        let time = |mean_s| {
            if size & 1 == 1 {
                TimeLaw::Exponential { mean_s }
            } else {
                TimeLaw::Fixed { mean_s }
            }
        };
        match self.traffic.of(&[0, 1, 2, 3, 4, 5]) {
            0 => TrafficConfig::Web {
                size: SizeLaw::Exponential { mean_packets: scaled(size, 1.0, 1000.0), min_packets: 1.0 },
                off: time(scaled_or_zero(off, 1e-9, 100.0)),
                classes: vec![2, 10, 100],
                connection,
            },
            1 => TrafficConfig::Web {
                size: SizeLaw::Fixed { packets: whole(size, 1000) },
                off: time(scaled_or_zero(off, 1e-9, 100.0)),
                classes: Vec::new(),
                connection,
            },
            2 => TrafficConfig::Poisson { rate_bps: scaled(rate, 1e3, 1e9) },
            3 => TrafficConfig::Ping {
                interval_s: scaled(rate, 1e-3, 10.0),
                return_path: connection.return_path,
                return_delay_s: connection.return_delay_s,
            },
            _ => {
                let size_packets = some(self.size, whole(self.size, 10_000));
                TrafficConfig::Tcp { size_packets, connection }
            }
        }
    }
}

impl Sender {
    fn config(&self, rto: RtoConfig) -> ClassicConfig {
        let [initial, ssthresh, limit] = self.windows;
        ClassicConfig {
            dialect: self.dialect.of(Dialect::ALL),
            recovery: self.recovery.of(Recovery::ALL),
            initial_window: scaled(initial, 1.0, 100.0),
            initial_ssthresh: some(ssthresh, scaled(ssthresh, 1.0, 1000.0)),
            max_window: Some(scaled(limit, 1.0, 300.0)),
            slow_start_while: self.slow_start_while.of(SlowStartWhile::ALL),
            increase: self.increase.of(Increase::ALL),
            half_window: self.half_window.of(HalfWindow::ALL),
            dupack_threshold: some(self.threshold, u32::from(self.threshold)),
            limited_transmit: self.limited_transmit,
            max_burst: some(self.max_burst, u32::from(self.max_burst)),
            partial_ack_timer: self.partial_ack_timer.of(PartialAckTimer::ALL),
            rto,
            ecn: Ecn::Off,
        }
    }
}

impl Rto {
    fn config(&self) -> RtoConfig {
        let [granularity, min, max, initial, offset] = self.times;
        RtoConfig {
            estimator: self.estimator.of(Estimator::ALL),
            sample: self.sample.of(RttSample::ALL),
            k: 1 + u32::from(self.k),
            granularity_s: scaled(granularity, 1e-6, 10.0),
            min_s: scaled_or_zero(min, 1e-9, 100.0),
            max_s: scaled(max, 1e-6, 1e5),
            initial_s: scaled(initial, 1e-6, 1e5),
            max_backoff: whole(self.max_backoff, 1_000_000_000),
            clock_offset_s: scaled_or_zero(offset, 1e-12, 10.0),
        }
    }
}
