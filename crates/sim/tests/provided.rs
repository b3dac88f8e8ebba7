//! Congestion controls that a run brings along.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::outside::common::{flow, link, scenario};
use base::{RandomStream, Time};
use sim::{check, Engine, Progress, Scenario};
use tcp::cc::{AckSample, CongestionControl, Needs, Provided, Provider, Signal, Window};
use tcp::{ControlProgram, SelectiveConfig, SenderConfig};

/// A window of 20 packets, which cannot go on after a number of ACKs.
#[derive(Clone, Debug)]
struct Fixed {
    acks: u64,
    origin: Origin,
}

impl CongestionControl for Fixed {
    fn on_ack(&mut self, _ack: &AckSample, window: &mut Window) {
        self.acks += 1;
        window.cwnd = 20.0;
    }

    fn on_congestion(&mut self, _signal: Signal, _now: Time, _window: &Window) -> f64 {
        20.0
    }

    fn failure(&mut self) -> Option<String> {
        (self.acks >= self.origin.most).then(|| format!("tired after {} ACKs", self.acks))
    }

    fn needs(&self) -> Needs {
        Needs { random: true, ..Needs::default() }
    }

    fn set_random(&mut self, mut random: RandomStream) {
        self.origin.seed.store(random.bits(), Ordering::Relaxed);
    }

    fn restart(&mut self) {
        self.acks = 0;
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Creates these controls, and keeps the first random number of the last one.
#[derive(Clone, Debug)]
struct Origin {
    most: u64,
    seed: Arc<AtomicU64>,
}

impl Provider for Origin {
    fn create(&self) -> Box<dyn CongestionControl> {
        Box::new(Fixed { acks: 0, origin: self.clone() })
    }
}

fn with(origin: Option<&Arc<Origin>>) -> Scenario {
    let mut sender = SelectiveConfig::default();
    let control = &mut sender.congestion_control;
    control.name = "mine".to_owned();
    control.program = Some(ControlProgram { name: "Mine".to_owned(), digest: None });
    control.provided = origin.map(|origin| Provided(Arc::clone(origin) as Arc<dyn Provider>));
    let mut pair = flow("pair", &[0], &[1], SenderConfig::from(sender));
    pair.count = 2;
    let links = [link("there", 1e6, Some(50)), link("back", 1e6, Some(50))];
    scenario("a control of the run's own", 20.0, links, vec![pair])
}

fn run_to_its_end(scenario: &Scenario, replication: u64) -> Progress {
    let mut engine = Engine::new(scenario, replication);
    loop {
        match engine.advance(1000) {
            Progress::Running => {}
            end => return end,
        }
    }
}

#[test]
fn a_provided_control_runs_under_any_name() {
    let origin = Arc::new(Origin { most: u64::MAX, seed: Arc::default() });
    let scenario = with(Some(&origin));
    assert_eq!(check(&scenario), Vec::<String>::new());
    assert_eq!(run_to_its_end(&scenario, 0), Progress::Finished);
    let seed = origin.seed.load(Ordering::Relaxed);
    assert_eq!(run_to_its_end(&scenario, 1), Progress::Finished);
    assert_ne!(origin.seed.load(Ordering::Relaxed), seed, "a replication has random numbers of its own");
    assert_eq!(run_to_its_end(&scenario, 0), Progress::Finished);
    assert_eq!(origin.seed.load(Ordering::Relaxed), seed);
}

#[test]
fn a_control_that_cannot_go_on_ends_the_run_with_the_name_of_its_flow_and_the_time() {
    let origin = Arc::new(Origin { most: 100, seed: Arc::default() });
    let Progress::Failed(why) = run_to_its_end(&with(Some(&origin)), 0) else { panic!("the run goes on") };
    // 100 ACKs of the flow that sends first: with a little more than half of 244 packets a second.
    assert!(why.starts_with("flow \"pair[0]\" at 0.7") && why.ends_with(" s: tired after 100 ACKs"), "{why}");
}

#[test]
fn a_program_without_its_control_is_a_fault() {
    let faults = check(&with(None));
    let place = "flows[0].traffic.connection.sender.congestion_control.name";
    assert_eq!(faults, [format!("{place}: no such control; given \"mine\"; allowed its class with the run")]);
}
