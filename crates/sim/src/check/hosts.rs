//! Faults of hosts' TCP processes.

use super::Faults;
use crate::scenario::ElementConfig;

impl Faults {
    /// Checks that a host is last on a path, after `least` links or more.
    pub(super) fn host_is_last(&mut self, place: &str, path: &[usize], least: usize, elements: &[ElementConfig]) {
        let is_host = |element: &usize| elements.get(*element).is_some_and(ElementConfig::is_host);
        if let Some(position) = path.iter().position(is_host) {
            if position + 1 < path.len() || position < least {
                let given = path[position];
                self.say(format!("{place}: a host's TCP process is not at the end; given {given}; allowed last"));
            }
        }
    }
}
