//! A flow over one link, whose congestion control can be looked into after each event.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use base::{Clock, Marks, RandomStream, Time};

use super::super::{Bbr3, KernelClock, Phase};
use crate::cc::{AckSample, CongestionControl, Lost, Needs, Provided, Provider, Restart, Signal, Window};
use crate::{Ack, Actions, Ecn, LossEvent, Segment, Selected, Selective, SelectiveConfig, State};

pub(super) const CLOCK: Clock = Clock::PICOSECONDS;

/// A control that its test shares.
#[derive(Clone, Debug)]
struct Shared(Arc<Mutex<Bbr3>>);

impl Shared {
    fn with<T>(&self, action: impl FnOnce(&mut Bbr3) -> T) -> T {
        action(&mut self.0.lock().expect("one thread"))
    }
}

impl Provider for Shared {
    fn create(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl CongestionControl for Shared {
    fn measure(&mut self, ack: &AckSample, window: &Window) {
        self.with(|bbr| bbr.measure(ack, window));
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        self.with(|bbr| bbr.on_ack(ack, window));
    }

    fn on_congestion(&mut self, signal: Signal, now: Time, window: &Window) -> f64 {
        self.with(|bbr| bbr.on_congestion(signal, now, window))
    }

    fn undo(&mut self, prior: f64, window: &Window) -> f64 {
        self.with(|bbr| bbr.undo(prior, window))
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.with(|bbr| bbr.on_timeout(now, nxt));
    }

    fn on_lost(&mut self, lost: &Lost, window: &Window) {
        self.with(|bbr| bbr.on_lost(lost, window));
    }

    fn on_restart(&mut self, restart: &Restart, window: &mut Window) {
        self.with(|bbr| bbr.on_restart(restart, window));
    }

    fn needs(&self) -> Needs {
        self.with(|bbr| bbr.needs())
    }

    fn on_start(&mut self, now: Time, srtt: Time, min_rtt: Time, window: &mut Window) {
        self.with(|bbr| bbr.on_start(now, srtt, min_rtt, window));
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.with(|bbr| bbr.pacing_rate())
    }

    fn holds_back(&self) -> bool {
        self.with(|bbr| bbr.holds_back())
    }

    fn set_random(&mut self, random: RandomStream) {
        self.with(|bbr| bbr.set_random(random));
    }

    fn restart(&mut self) {
        self.with(CongestionControl::restart);
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// The fate of a packet on the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Passes,
    IsLost,
    IsMarked,
    /// Additional delay \[s\].
    IsLate(f64),
}

/// The path of a flow: a link with a buffer, and propagation.
pub(super) struct Path {
    /// Packets per second.
    pub(super) rate: f64,
    /// Packets that the buffer holds.
    pub(super) buffer: f64,
    /// Propagation delay of both ways together \[s\].
    pub(super) rtt: f64,
    /// Interval at whose end packets arrive together \[s\]; 0: they do not.
    pub(super) batch: f64,
    /// Tokens of a policer in place of the link, and the most it holds \[packets\].
    pub(super) tokens: Option<(f64, f64)>,
    /// Fate of each transmission: its number from 0, and whether the packet was sent before.
    pub(super) fate: Box<dyn FnMut(u64, bool) -> Fate>,
}

impl Default for Path {
    /// Returns 10 Mbit/s for packets of 1500 bytes, 40 ms, and a buffer that never overflows.
    fn default() -> Path {
        let fate = Box::new(|_, _| Fate::Passes);
        Path { rate: 10e6 / 12e3, buffer: 1e9, rtt: 0.04, batch: 0.0, tokens: None, fate }
    }
}

/// An event that is to come.
enum Event {
    Data { segment: Segment, sent: Time, marked: bool },
    Ack { next: u64, echo: Time, selected: Option<Selected>, marked: bool },
    Write,
}

/// The network, which takes what the sender transmits.
struct Network {
    path: Path,
    now: Time,
    free: f64,
    refilled: f64,
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    transmissions: u64,
    lost: u64,
    timeouts: u64,
}

impl Network {
    fn at(&mut self, seconds: f64, event: Event) {
        self.count += 1;
        self.events.insert((CLOCK.time(seconds), self.count), event);
    }

    /// Returns when a packet has left the link; `None` if it is dropped.
    fn pass_link(&mut self, now: f64) -> Option<f64> {
        if let Some((tokens, most)) = self.path.tokens {
            let tokens = (tokens + (now - self.refilled) * self.path.rate).min(most);
            self.refilled = now;
            self.path.tokens = Some((if tokens >= 1.0 { tokens - 1.0 } else { tokens }, most));
            return (tokens >= 1.0).then_some(now);
        }
        if (self.free - now) * self.path.rate >= self.path.buffer {
            return None;
        }
        self.free = self.free.max(now) + 1.0 / self.path.rate;
        Some(self.free)
    }
}

impl Actions for Network {
    fn transmit(&mut self, segment: Segment) {
        let now = CLOCK.seconds(self.now);
        let fate = (self.path.fate)(self.transmissions, segment.retransmission);
        self.transmissions += 1;
        let left = self.pass_link(now).filter(|_| fate != Fate::IsLost);
        let Some(left) = left else {
            self.lost += 1;
            return;
        };
        let late = if let Fate::IsLate(seconds) = fate { seconds } else { 0.0 };
        let arrives = left + self.path.rtt / 2.0 + late;
        let arrives =
            if self.path.batch > 0.0 { (arrives / self.path.batch).ceil() * self.path.batch } else { arrives };
        let sent = self.now;
        self.at(arrives, Event::Data { segment, sent, marked: fate == Fate::IsMarked });
    }

    fn loss(&mut self, loss: LossEvent) {
        self.timeouts += u64::from(loss.cause == crate::LossCause::Timeout);
    }
}

/// The state after an event.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Instant of the event \[s\].
    pub(super) at: f64,
    pub(super) bbr: Bbr3,
    pub(super) cwnd: f64,
    pub(super) in_flight: f64,
    pub(super) state: State,
    /// Packets acknowledged cumulatively so far.
    pub(super) una: u64,
}

/// A flow over a path.
pub(super) struct Flow {
    sender: Selective,
    control: Shared,
    network: Network,
    arrived: BTreeSet<u64>,
    next: u64,
    /// Packets that the application writes at once, and the time between two times \[s\].
    writes: Option<(u64, f64)>,
    pub(super) steps: Vec<Step>,
}

impl Flow {
    /// Starts a flow with endless data.
    pub(super) fn new(path: Path) -> Flow {
        Flow::with(path, |_| ())
    }

    /// Starts a flow with endless data, and changed settings.
    pub(super) fn with(path: Path, change: impl FnOnce(&mut SelectiveConfig)) -> Flow {
        let mut config = SelectiveConfig { ecn: Ecn::Off, ..SelectiveConfig::default() };
        change(&mut config);
        let control = Shared(Arc::new(Mutex::new(Bbr3::new(KernelClock::new(CLOCK), 1448.0, config.sack))));
        config.congestion_control.provided = Some(Provided(Arc::new(control.clone())));
        let mut sender = Selective::new(&config, None, CLOCK);
        sender.set_random(RandomStream::named(3, 0, "flow"));
        let network = Network {
            path,
            now: Time::ZERO,
            free: 0.0,
            refilled: 0.0,
            events: BTreeMap::new(),
            count: 0,
            transmissions: 0,
            lost: 0,
            timeouts: 0,
        };
        let (arrived, steps) = (BTreeSet::new(), Vec::new());
        let mut flow = Flow { sender, control, network, arrived, next: 0, writes: None, steps };
        flow.sender.on_start(Time::ZERO, &mut flow.network);
        flow.note();
        flow
    }

    pub(super) fn path(&mut self) -> &mut Path {
        &mut self.network.path
    }

    /// Returns the packets that the path lost so far, and how often the retransmission timer expired.
    pub(super) fn losses(&self) -> (u64, u64) {
        (self.network.lost, self.network.timeouts)
    }

    /// Returns the number of transmissions so far.
    pub(super) fn transmissions(&self) -> u64 {
        self.network.transmissions
    }

    /// Lets the application write no more.
    fn pause(&mut self) {
        self.network.events.retain(|_, event| !matches!(event, Event::Write));
        self.sender.stop_writing();
    }

    /// Lets the application write packets at once, each time after an interval \[s\], and nothing else.
    pub(super) fn supply(&mut self, packets: u64, interval: f64) {
        self.write_after(0.0, packets, interval);
    }

    /// Lets the application write nothing for a time \[s\], and then packets at once, each time after an interval \[s\].
    pub(super) fn write_after(&mut self, silence: f64, packets: u64, interval: f64) {
        self.pause();
        self.writes = Some((packets, interval));
        let at = self.now() + silence;
        self.network.at(at, Event::Write);
    }

    pub(super) fn now(&self) -> f64 {
        CLOCK.seconds(self.network.now)
    }

    pub(super) fn last(&self) -> &Step {
        self.steps.last().expect("a flow has started")
    }

    fn note(&mut self) {
        self.steps.push(Step {
            at: CLOCK.seconds(self.network.now),
            bbr: self.control.with(|bbr| bbr.clone()),
            cwnd: self.sender.cwnd(),
            in_flight: self.sender.flight_size() as f64,
            state: self.sender.state(),
            una: self.sender.una(),
        });
    }

    /// Does the next event.
    fn step(&mut self) {
        let timer = self.sender.deadline();
        let first = self.network.events.first_key_value().map_or(Time::NEVER, |(&(at, _), _)| at);
        assert!(timer.min(first) < Time::NEVER, "nothing is in flight");
        if timer < first {
            self.network.now = timer;
            self.sender.on_timer(timer, &mut self.network);
            return self.note();
        }
        let Some(((at, _), event)) = self.network.events.pop_first() else { return };
        self.network.now = at;
        match event {
            Event::Data { segment, sent, marked } => self.receive(segment, sent, marked),
            Event::Ack { next, echo, selected, marked } => {
                let ack = Ack {
                    next,
                    echo,
                    selected: selected.as_slice(),
                    window: u64::MAX,
                    marks: Marks::ECE.only_if(marked),
                    waited: Time::ZERO,
                };
                self.sender.on_ack(at, ack, &mut self.network);
                self.note();
            }
            Event::Write => {
                let Some((packets, interval)) = self.writes else { return };
                self.sender.supply(at, packets, &mut self.network);
                self.note();
                let next = CLOCK.seconds(at) + interval;
                self.network.at(next, Event::Write);
            }
        }
    }

    /// Sends an ACK for a packet that arrives.
    fn receive(&mut self, segment: Segment, sent: Time, mut marked: bool) {
        let Segment { sequence, marks, .. } = segment;
        marked &= marks.has(Marks::ECT);
        let duplicate = sequence < self.next || !self.arrived.insert(sequence);
        while self.arrived.remove(&self.next) {
            self.next += 1;
        }
        let news = Selected { first: sequence, end: sequence + 1, duplicate };
        let selected = (duplicate || sequence >= self.next).then_some(news);
        let at = self.now() + self.network.path.rtt / 2.0;
        let next = self.next;
        self.network.at(at, Event::Ack { next, echo: sent, selected, marked });
    }

    /// Starts a flow whose application writes packets at once, each time after an interval \[s\].
    pub(super) fn limited(path: Path, packets: u64, interval: f64) -> Flow {
        let mut flow = Flow::new(path);
        flow.supply(packets, interval);
        flow
    }

    /// Goes on until a state holds, at most for a time \[s\].
    pub(super) fn until(&mut self, seconds: f64, what: &str, holds: impl Fn(&Step) -> bool) -> Step {
        let end = self.now() + seconds;
        while self.now() <= end {
            self.step();
            if holds(self.last()) {
                return self.last().clone();
            }
        }
        panic!("{what} does not come about within {seconds} s: {:#?}", self.last());
    }

    /// Goes on until it is in a phase, at most for a minute.
    pub(super) fn enter(&mut self, phase: Phase) -> Step {
        self.until(60.0, &format!("{phase:?}"), |step| step.bbr.phase == phase)
    }

    /// Goes on for a time \[s\]; returns the states of this time.
    pub(super) fn go_on(&mut self, seconds: f64) -> &[Step] {
        let (first, end) = (self.steps.len(), self.now() + seconds);
        while self.now() < end {
            self.step();
        }
        &self.steps[first..]
    }

    /// Returns the phases so far, one after another, and the instants at which they began \[s\].
    pub(super) fn phases(&self) -> Vec<(Phase, f64)> {
        let mut phases: Vec<(Phase, f64)> = self.steps.iter().map(|step| (step.bbr.phase, step.at)).collect();
        phases.dedup_by_key(|&mut (phase, _)| phase);
        phases
    }

    /// Returns the packets acknowledged cumulatively per second, of the last seconds.
    pub(super) fn throughput(&self, seconds: f64) -> f64 {
        let from = self.now() - seconds;
        let first = self.steps.iter().rev().find(|step| step.at <= from).map_or(0, |step| step.una);
        (self.last().una - first) as f64 / seconds
    }
}
