use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base::cast::trunc_to_u64;
use cpu_time::ThreadTime;

use crate::{check, Engine, Outcome, Progress, Scenario};

/// Events between two checks for cancellation: some milliseconds.
const SLICE: u64 = 50_000;

/// A set of replications of a scenario that run on threads of their own.
///
/// One thread computes a replication from nothing but the scenario and its number, so the results are the same for any
/// number of threads.
#[derive(Debug)]
pub struct Job {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    scenario: Scenario,
    replications: Vec<u64>,
    trace_limit: u64,
    /// Memory of the rows that all replications have recorded so far \[bytes\].
    trace_bytes: AtomicU64,
    next: AtomicUsize,
    cancelled: AtomicBool,
    /// Fraction done of each replication, in millionths.
    done: Vec<AtomicU64>,
    finished: Mutex<Finished>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Finished {
    /// Shared, since the outcomes of many flows are large.
    outcomes: Vec<Arc<Outcome>>,
    failures: Vec<String>,
    running: usize,
}

impl Job {
    /// Starts the given replications on `threads` threads (0: one for each core). The job fails if they record more
    /// than `trace_limit` bytes of rows.
    ///
    /// # Errors
    /// Returns all faults of the scenario.
    pub fn start(
        scenario: Scenario,
        replications: Vec<u64>,
        threads: usize,
        trace_limit: u64,
    ) -> Result<Job, Vec<String>> {
        Job::start_within(scenario, replications, threads, trace_limit, |work| work())
    }

    /// Starts the given replications as [`Job::start`] does, on threads that do all their work within a call of
    /// `within`.
    ///
    /// # Errors
    /// Returns all faults of the scenario.
    pub fn start_within(
        scenario: Scenario,
        replications: Vec<u64>,
        threads: usize,
        trace_limit: u64,
        within: fn(&(dyn Fn() + Sync)),
    ) -> Result<Job, Vec<String>> {
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
            trace_limit,
            trace_bytes: AtomicU64::new(0),
            next: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
            finished: Mutex::new(Finished { running: threads, ..Finished::default() }),
            changed: Condvar::new(),
        });
        let spawn = |_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || within(&|| shared.work()))
        };
        Ok(Job { threads: (0..threads).map(spawn).collect(), shared })
    }

    /// Returns the scenario that is run.
    pub fn scenario(&self) -> &Scenario {
        &self.shared.scenario
    }

    /// Returns the fraction of all work that is done, 0 to 1, and the number of finished replications.
    pub fn progress(&self) -> (f64, usize) {
        let done: u64 = self.shared.done.iter().map(|done| done.load(Ordering::Relaxed)).sum();
        let all = self.shared.done.len().max(1) as f64 * 1e6;
        (done as f64 / all, self.shared.lock().outcomes.len())
    }

    /// Waits until all replications are done, `at_most` that long; returns whether they are.
    pub fn wait(&self, at_most: Duration) -> bool {
        let finished = self.shared.lock();
        let waited = self.shared.changed.wait_timeout_while(finished, at_most, |finished| finished.running > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.running == 0
    }

    /// Stops the running replications soon; the outcomes of finished ones stay.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns the outcomes so far, in the order of the replications' numbers.
    ///
    /// # Errors
    /// Returns why replications could not go on.
    pub fn outcomes(&self) -> Result<Vec<Arc<Outcome>>, Vec<String>> {
        let finished = self.shared.lock();
        if !finished.failures.is_empty() {
            return Err(finished.failures.clone());
        }
        let mut outcomes = finished.outcomes.clone();
        outcomes.sort_by_key(|outcome| outcome.replication);
        Ok(outcomes)
    }

    /// Stops the running replications, and waits for the end of the threads.
    pub fn end(&mut self) {
        self.cancel();
        for thread in self.threads.drain(..) {
            // `Leaving` has recorded a panic of the thread.
            let _ = thread.join();
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    /// Locks what is finished, also after a panic of another thread.
    fn lock(&self) -> MutexGuard<'_, Finished> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs replications until there are no more, or the job is cancelled.
    fn work(&self) {
        let _leaving = Leaving(self);
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.replications.len() || self.cancelled.load(Ordering::Relaxed) {
                break;
            }
            match self.replicate(index) {
                Ok(Some(outcome)) => self.lock().outcomes.push(Arc::new(outcome)),
                Ok(None) => break,
                Err(failure) => {
                    self.lock().failures.push(failure);
                    self.cancelled.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    #[cold]
    fn too_much_recorded(&self) -> String {
        format!(
            "trace: the recorded rows do not fit into the memory that they may take, {} MB for all replications; record \
             less, end the run sooner, or allow more by ACKCLOCK_TRACE_MEMORY",
            self.trace_limit / 1_000_000
        )
    }

    /// Runs the replication at `index` of the list; returns `None` if the job was cancelled.
    fn replicate(&self, index: usize) -> Result<Option<Outcome>, String> {
        let clock = ThreadTime::now();
        let mut engine = Engine::new(&self.scenario, self.replications[index]);
        let mut recorded = 0;
        loop {
            let progress = engine.advance(SLICE);
            let more = engine.trace_bytes() - recorded;
            recorded += more;
            if self.trace_bytes.fetch_add(more, Ordering::Relaxed) + more > self.trace_limit {
                return Err(self.too_much_recorded());
            }
            match progress {
                Progress::Running if self.cancelled.load(Ordering::Relaxed) => return Ok(None),
                Progress::Running => self.done[index].store(trunc_to_u64(engine.fraction() * 1e6), Ordering::Relaxed),
                Progress::Failed(why) => return Err(why),
                Progress::Finished => break,
            }
        }
        self.done[index].store(1_000_000, Ordering::Relaxed);
        Ok(Some(engine.finish(clock.elapsed().as_secs_f64())))
    }
}

/// A guard that counts its thread as finished when dropped, also after a panic.
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
