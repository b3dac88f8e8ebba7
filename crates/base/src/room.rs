//! Memory of queues that are many, and mostly short.

use std::collections::VecDeque;

/// Least number of elements by which a queue grows.
const LEAST_STEP: usize = 8;

/// Makes room for one more element. A queue that is full grows by half, not to the double: of very many queues the room that
/// none uses would be a good part of all memory.
#[inline(always)]
pub fn make_room<T>(queue: &mut VecDeque<T>) {
    if queue.len() == queue.capacity() {
        grow(queue);
    }
}

#[cold]
#[inline(never)]
fn grow<T>(queue: &mut VecDeque<T>) {
    queue.reserve_exact((queue.len() / 2).max(LEAST_STEP));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_grows_by_eight_or_by_half() {
        let mut queue = VecDeque::new();
        let mut capacities = Vec::new();
        for number in 0..100 {
            make_room(&mut queue);
            queue.push_back(number);
            capacities.push(queue.capacity());
        }
        capacities.dedup();
        assert_eq!(capacities, [8, 16, 24, 36, 54, 81, 121]);
    }
}
