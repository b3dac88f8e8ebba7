use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::{check, Engine, Outcome, Progress, Scenario};

/// Events between two looks at the outside: some milliseconds.
const SLICE: u64 = 50_000;

/// Replications of a scenario on their way, on threads of their own.
///
/// Each replication is computed by one thread alone and depends on nothing but the scenario and its number; so the
/// results are the same for any number of threads.
#[derive(Debug)]
pub struct Job {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    scenario: Scenario,
    replications: Vec<u64>,
    next: AtomicUsize,
    cancelled: AtomicBool,
    /// Share done of each replication, in millionths.
    done: Vec<AtomicU64>,
    finished: Mutex<Finished>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Finished {
    /// Shared, as those of many flows are large.
    outcomes: Vec<Arc<Outcome>>,
    failures: Vec<String>,
    running: usize,
}

impl Job {
    /// Starts the given replications on so many threads (0: one a core).
    ///
    /// # Errors
    /// All faults of the scenario.
    pub fn start(scenario: Scenario, replications: Vec<u64>, threads: usize) -> Result<Job, Vec<String>> {
        let faults = check(&scenario);
        if !faults.is_empty() {
            return Err(faults);
        }
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores } else { threads }.min(replications.len());
        let shared = Arc::new(Shared {
            done: replications.iter().map(|_| AtomicU64::new(0)).collect(),
            scenario,
            replications,
            next: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
            finished: Mutex::new(Finished { running: threads, ..Finished::default() }),
            changed: Condvar::new(),
        });
        let spawn = |_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work())
        };
        Ok(Job { threads: (0..threads).map(spawn).collect(), shared })
    }

    /// What it runs.
    pub fn scenario(&self) -> &Scenario {
        &self.shared.scenario
    }

    /// Share of all work done, 0 to 1, and replications finished.
    pub fn progress(&self) -> (f64, usize) {
        let done: u64 = self.shared.done.iter().map(|done| done.load(Ordering::Relaxed)).sum();
        let all = self.shared.done.len().max(1) as f64 * 1e6;
        (done as f64 / all, self.shared.lock().outcomes.len())
    }

    /// Waits until all is done, so long at most; whether it is.
    pub fn wait(&self, at_most: Duration) -> bool {
        let finished = self.shared.lock();
        let waited = self.shared.changed.wait_timeout_while(finished, at_most, |finished| finished.running > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.running == 0
    }

    /// Stops the running replications soon; those that are finished stay.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// What is finished so far, in the order of the replications' numbers.
    ///
    /// # Errors
    /// Why a replication could not go on.
    pub fn outcomes(&self) -> Result<Vec<Arc<Outcome>>, Vec<String>> {
        let finished = self.shared.lock();
        if !finished.failures.is_empty() {
            return Err(finished.failures.clone());
        }
        let mut outcomes = finished.outcomes.clone();
        outcomes.sort_by_key(|outcome| outcome.replication);
        Ok(outcomes)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.cancel();
        for thread in self.threads.drain(..) {
            // `Leaving` has told of a thread that panicked.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Finished> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let _leaving = Leaving(self);
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            if place >= self.replications.len() || self.cancelled.load(Ordering::Relaxed) {
                break;
            }
            match self.replicate(place) {
                Ok(Some(outcome)) => self.lock().outcomes.push(Arc::new(outcome)),
                Ok(None) => break,
                Err(failure) => {
                    self.lock().failures.push(failure);
                    self.cancelled.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    /// None where it was cancelled.
    fn replicate(&self, place: usize) -> Result<Option<Outcome>, String> {
        let clock = ThreadTime::now();
        let mut engine = Engine::new(&self.scenario, self.replications[place]);
        loop {
            match engine.advance(SLICE) {
                Progress::Running if self.cancelled.load(Ordering::Relaxed) => return Ok(None),
                Progress::Running => self.done[place].store((engine.fraction() * 1e6) as u64, Ordering::Relaxed),
                Progress::Failed(why) => return Err(why),
                Progress::Finished => break,
            }
        }
        self.done[place].store(1_000_000, Ordering::Relaxed);
        Ok(Some(engine.finish(clock.elapsed().as_secs_f64())))
    }
}

/// Counts a thread out, also where it panicked.
struct Leaving<'a>(&'a Shared);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut finished = self.0.lock();
        finished.running -= 1;
        if thread::panicking() {
            finished.failures.push("internal error: a replication panicked; please report the scenario".to_owned());
        }
        self.0.changed.notify_all();
    }
}
