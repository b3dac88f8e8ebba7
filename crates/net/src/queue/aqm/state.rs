/// The state of an AQM as traces have it; `None` for what the algorithm does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AqmState {
    /// The scheduler's class that it sees, 0 if it sees all.
    pub class: u32,
    /// Number of drops that the time of the next one depends on (CoDel's `count`).
    pub count: Option<u32>,
    /// Whether it is in the state of dropping (CoDel).
    pub dropping: Option<bool>,
    /// Time of the next drop \[ticks\], in the state of dropping.
    pub next_drop: Option<f64>,
    /// Probability by which packets are dropped or marked: PIE's, that of DualPI2's controller, RED's, BLUE's.
    pub probability: Option<f64>,
    /// Average queue (RED) \[packets\].
    pub average_packets: Option<f64>,
}
