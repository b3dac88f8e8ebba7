use super::resize::{CACHED_BUCKETS, MIN_BUCKETS, MOST_IN_RING};
use super::*;
use proptest::prelude::*;

fn push(queue: &mut CalendarQueue, time: u64, sequence: u64) {
    queue.push(Time::from_ticks(time), Packet { sequence, ..Packet::default() });
}

#[test]
fn packets_leave_by_time_and_at_equal_times_in_push_order() {
    let mut queue = CalendarQueue::default();
    for (sequence, time) in [5, 3, 5, 1, 3, 3].into_iter().enumerate() {
        push(&mut queue, time, sequence as u64);
    }
    assert_eq!(queue.first(), Time::from_ticks(1));
    let order: Vec<u64> = std::iter::from_fn(|| queue.pop().map(|packet| packet.sequence)).collect();
    assert_eq!(order, [3, 1, 4, 5, 0, 2]);
    assert_eq!(queue.first(), Time::NEVER);
}

/// Plays pushes at the given times after the clock, and pops for `None`, against a sorted list; returns the largest and
/// the last number of buckets.
fn agrees_with_a_sorted_list(steps: impl IntoIterator<Item = Option<u64>>, ahead: usize) -> (usize, usize) {
    let (mut queue, mut expected, mut now) = (CalendarQueue::default(), std::collections::BTreeSet::new(), 0);
    let (mut most, mut most_buckets) = (0, 0);
    for (pushed, step) in steps.into_iter().enumerate() {
        match step {
            Some(after) => {
                let time = now + after;
                push(&mut queue, time, pushed as u64);
                expected.insert((time, pushed as u64));
            }
            None => {
                let first = expected.pop_first();
                assert_eq!(queue.pop().map(|packet| packet.sequence), first.map(|(_, pushed)| pushed));
                now = first.map_or(now, |(time, _)| time);
            }
        }
        (most, most_buckets) = (most.max(expected.len()), most_buckets.max(queue.buckets.len()));
        if pushed % 3 == 0 {
            let mut visited = Vec::new();
            queue.sort_ahead(ahead, |packet| visited.push(packet.sequence));
            let front = &queue.front[queue.head..];
            let of_front =
                |sequence| front.iter().any(|&(_, entry)| queue.entries[entry as usize].packet.sequence == sequence);
            assert!(visited.into_iter().all(of_front), "those that were sorted");
            assert!(queue.in_ring == 0 || front.len() >= ahead.min(expected.len()), "as many as asked for");
            let known = front.iter().map(|&(_, entry)| queue.entries[entry as usize].packet.sequence);
            assert!(known.zip(&expected).all(|(sequence, &(_, pushed))| sequence == pushed), "in their order");
        }
        let first = expected.first().map_or(Time::NEVER, |&(time, _)| Time::from_ticks(time));
        assert_eq!(queue.first(), first);
    }
    while let Some((_, pushed)) = expected.pop_first() {
        assert_eq!(queue.pop().map(|packet| packet.sequence), Some(pushed));
    }
    assert!(queue.pop().is_none());
    assert!(queue.entries.len() <= most, "entries are reused");
    assert!(queue.front.capacity() <= 2 * most + 256, "popped packets are discarded");
    (most_buckets, queue.buckets.len())
}

fn gap() -> impl Strategy<Value = Option<u64>> {
    // Ties, neighbours in one bucket, some buckets ahead, and far after any ring.
    prop_oneof![
        3 => Just(None),
        1 => (0_u64..3).prop_map(Some),
        2 => (0_u64..1 << 20).prop_map(Some),
        2 => (0_u64..1 << 34).prop_map(Some),
        1 => (0_u64..1 << 50).prop_map(Some),
    ]
}

proptest! {
    #[test]
    fn the_order_is_that_of_a_sorted_list(steps in prop::collection::vec(gap(), 1..800), ahead in 0_usize..6) {
        agrees_with_a_sorted_list(steps, ahead);
    }
}

#[test]
fn the_number_of_buckets_follows_the_packets_that_wait() {
    let mut random = base::RandomStream::named(1, 0, "calendar queue");
    // Many packets, then few, at other distances: the ring grows and shrinks again.
    let fill = (0..20_000).map(|step| (step % 5 < 4).then_some(())).collect::<Vec<_>>();
    let busy = fill.iter().map(|push| push.map(|()| random.below(1 << 30) as u64)).collect::<Vec<_>>();
    assert!(agrees_with_a_sorted_list(busy.iter().copied(), 0).0 >= MOST_IN_RING);
    let emptied = (0..11_990).map(|_| None);
    let sparse = (0..200_000).map(|step| (step % 2 == 0).then_some(1 << 33));
    assert_eq!(agrees_with_a_sorted_list(busy.into_iter().chain(emptied).chain(sparse), 0).1, MIN_BUCKETS);
}

#[test]
fn a_ring_of_very_many_packets_holds_only_the_earliest() {
    let mut random = base::RandomStream::named(1, 0, "calendar queue");
    let mut queue = CalendarQueue::default();
    let mut push_at = |queue: &mut CalendarQueue, now: u64| push(queue, now + random.below(1 << 36) as u64, 0);
    (0..60_000).for_each(|_| push_at(&mut queue, 0));
    let mut last = Time::ZERO;
    for _ in 0..300_000 {
        let now = queue.first();
        assert!(now >= last && queue.pop().is_some());
        push_at(&mut queue, now.ticks());
        last = now;
    }
    assert!(queue.front.len() - queue.head + queue.in_ring < CACHED_BUCKETS);
    assert_eq!(queue.buckets.len(), CACHED_BUCKETS);
    let waiting = std::iter::from_fn(|| queue.pop().map(|_| ())).count();
    assert_eq!(waiting, 60_000);
}

#[test]
fn a_packet_that_waits_long_delays_no_other() {
    let (mut queue, far) = (CalendarQueue::default(), 1 << 50);
    push(&mut queue, far, 0);
    // All others come and go before it, each alone.
    for sequence in 1..100_000 {
        push(&mut queue, sequence << 20, sequence);
        assert_eq!(queue.pop().map(|packet| packet.sequence), Some(sequence));
    }
    assert!(queue.front.capacity() <= 256);
    assert_eq!(queue.first(), Time::from_ticks(far));
}

#[test]
fn many_packets_at_one_instant_cost_a_step_each() {
    let (mut queue, packets) = (CalendarQueue::default(), 200_000);
    for sequence in 0..packets {
        push(&mut queue, 7, sequence);
    }
    assert!((0..packets).all(|sequence| queue.pop().map(|packet| packet.sequence) == Some(sequence)));
    assert_eq!(queue.excess_steps, 0);
    // As many at one later time, which no width of buckets separates.
    push(&mut queue, 8, packets);
    (0..packets).for_each(|sequence| push(&mut queue, 1 << 30, sequence));
    assert_eq!(queue.pop().map(|packet| packet.sequence), Some(packets));
    assert!((0..packets).all(|sequence| queue.pop().map(|packet| packet.sequence) == Some(sequence)));
}
