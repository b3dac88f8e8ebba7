//! Runs a resolved scenario once, for a profiler: `cargo run --release -p sim --example profile -- resolved.json`.

use std::error::Error;
use std::fs;
use std::time::Duration;

use sim::{Job, Scenario};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("give the path of a resolved scenario (`ackclock resolve`)")?;
    let scenario: Scenario = serde_json::from_str(&fs::read_to_string(path)?)?;
    let job = Job::start(scenario, vec![0], 1, u64::MAX).map_err(|faults| faults.join("\n"))?;
    while !job.wait(Duration::from_secs(1)) {}
    for outcome in job.outcomes().map_err(|failures| failures.join("\n"))? {
        let packets = outcome.packets() as f64;
        let (cost, events) = (outcome.cpu_s * 1e9 / packets, outcome.events as f64 / packets);
        println!("{packets} packets, {cost:.1} ns a packet, {events:.3} events a packet");
    }
    Ok(())
}
