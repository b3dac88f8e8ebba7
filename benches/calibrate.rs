//! Runs a fixed piece of work, whose CPU time says how fast this machine is now: `make bench` divides by it.
//!
//! Customers wait in a binary heap for their next arrival, and then cross a few queues by Lindley's recursion, as a
//! packet does in the engine: it suffers from a busy machine about as much. The program shares no code with the engine,
//! and its work never changes: results of other machines or years can be compared only while both hold. A check sum
//! guards the work.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const STEPS: u64 = 6_000_000;
const CUSTOMERS: u64 = 16;
const QUEUES: usize = 256;
const HOPS: usize = 16;
const CHECK_SUM: u64 = 7_478_304_557_606_014;

/// Marsaglia's xorshift generator of 64 bits.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// A queue served in order of arrival.
#[derive(Clone, Copy, Default)]
struct Queue {
    departure: u64,
    waiting: u64,
    idle: u64,
    busy: u64,
}

impl Queue {
    /// Serves a customer; returns its departure.
    fn serve(&mut self, arrival: u64, service: u64) -> u64 {
        let start = arrival.max(self.departure);
        self.waiting += start - arrival;
        self.idle += start - self.departure;
        self.busy += service;
        self.departure = start + service;
        self.departure
    }
}

/// Takes the customers through their queues, a step for each turn of a customer; returns a sum over the queues.
fn work() -> u64 {
    let mut random = XorShift(0x9E37_79B9_7F4A_7C15);
    let mut queues = [Queue::default(); QUEUES];
    let mut arrivals: BinaryHeap<_> = (0..CUSTOMERS).map(|customer| Reverse((random.next() >> 44, customer))).collect();
    for _ in 0..STEPS {
        let Some(Reverse((arrival, customer))) = arrivals.pop() else { break };
        let number = random.next();
        let (first, service, delay) = (number as usize % QUEUES, number >> 54, number >> 16 & 0xF_FFFF);
        let departure =
            (first..first + HOPS).fold(arrival, |now, queue| queues[queue % QUEUES].serve(now, service) + 10);
        arrivals.push(Reverse((departure + delay, customer)));
    }
    queues.iter().fold(0, |sum, queue| sum ^ queue.waiting ^ queue.idle.rotate_left(16) ^ queue.busy.rotate_left(32))
}

fn main() {
    assert_eq!(work(), CHECK_SUM, "the work has changed: earlier results cannot be compared with it");
    println!("{STEPS}");
}
