//! The table of steps: the path of each channel and cross source as consecutive entries.

use base::cast::to_u32;

/// One step of a cell's path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) target: StepTarget,
    /// Slot of the channel in the port's allocation.
    pub(super) slot: u32,
    /// Port of the same node in the other direction, and the channel's slot there: it handles backward RM cells.
    pub(super) opposite: Option<(u32, u32)>,
}

/// The element that a step leads to.
#[derive(Clone, Copy, Debug)]
pub(super) enum StepTarget {
    /// An output port.
    Port(u32),
    /// An end of a channel.
    End(u32),
    /// The sink of cross-traffic.
    Sink,
}

/// The table of steps while it is built.
pub(super) struct Steps {
    table: Vec<Step>,
    /// Number of channels of each port so far.
    channels: Vec<usize>,
}

impl Steps {
    pub(super) fn new(ports: usize) -> Steps {
        Steps { table: Vec::new(), channels: vec![0; ports] }
    }

    pub(super) fn into_table(self) -> Vec<Step> {
        self.table
    }

    /// Returns the number of channels that cross a port.
    pub(super) fn channels_of_port(&self, port: usize) -> usize {
        self.channels[port]
    }

    /// Adds both directions of a channel; returns the first step of each.
    pub(super) fn add_channel(&mut self, near: u32, forward: &[usize], backward: &[usize]) -> [u32; 2] {
        let mut slots = |path: &[usize]| -> Vec<(u32, u32)> { path.iter().map(|&port| self.add_slot(port)).collect() };
        let (there, back) = (slots(forward), slots(backward));
        [self.add_path(&there, &back, near + 1), self.add_path(&back, &there, near)]
    }

    /// Adds the path of a cross source; returns its first step.
    pub(super) fn add_cross(&mut self, path: &[usize]) -> u32 {
        let first = to_u32(self.table.len());
        let step = |&port: &usize| Step { target: StepTarget::Port(to_u32(port)), slot: 0, opposite: None };
        self.table.extend(path.iter().map(step));
        self.table.push(Step { target: StepTarget::Sink, slot: 0, opposite: None });
        first
    }

    fn add_slot(&mut self, port: usize) -> (u32, u32) {
        let slot = self.channels[port];
        self.channels[port] += 1;
        (to_u32(port), to_u32(slot))
    }

    fn add_path(&mut self, ports: &[(u32, u32)], opposite: &[(u32, u32)], end: u32) -> u32 {
        let first = to_u32(self.table.len());
        // The node after `hop` ports has, in the other direction, the port that is the `hop`-th from the end.
        for (hop, &(port, slot)) in ports.iter().enumerate() {
            let opposite = opposite.iter().rev().nth(hop.wrapping_sub(1)).copied();
            self.table.push(Step { target: StepTarget::Port(port), slot, opposite });
        }
        self.table.push(Step { target: StepTarget::End(end), slot: 0, opposite: opposite.first().copied() });
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backward_cell_meets_the_port_that_leaves_its_node_the_other_way() {
        // host -0-> switch -1-> switch -2-> host, and back -3-> -4-> -5->.
        let mut steps = Steps::new(6);
        let starts = steps.add_channel(6, &[0, 1, 2], &[3, 4, 5]);
        assert_eq!(starts, [0, 4]);
        let table = steps.into_table();
        let opposites: Vec<Option<u32>> = table.iter().map(|step| step.opposite.map(|(port, _)| port)).collect();
        assert_eq!(opposites, [None, Some(5), Some(4), Some(3), None, Some(2), Some(1), Some(0)]);
        assert!(matches!((table[3].target, table[7].target), (StepTarget::End(7), StepTarget::End(6))));
    }
}
