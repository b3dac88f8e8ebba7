use super::*;
use proptest::prelude::*;

fn push(crowd: &mut CalendarQueue, time: u64, sequence: u64) {
    crowd.push(Time::from_picoseconds(time), Packet { sequence, ..Packet::default() }, sequence as u32);
}

#[test]
fn packets_go_by_their_instants_and_at_equal_ones_as_they_were_told() {
    let mut crowd = CalendarQueue::default();
    for (sequence, time) in [5, 3, 5, 1, 3, 3].into_iter().enumerate() {
        push(&mut crowd, time, sequence as u64);
    }
    assert_eq!(crowd.first(), Time::from_picoseconds(1));
    let order: Vec<u64> = std::iter::from_fn(|| crowd.pop().map(|(packet, _)| packet.sequence)).collect();
    assert_eq!(order, [3, 1, 4, 5, 0, 2]);
    assert_eq!(crowd.first(), Time::NEVER);
}

/// Plays pushes so long after the clock, and pops where there is none, against a sorted list. The most days, and the last.
fn agrees_with_a_sorted_list(steps: impl IntoIterator<Item = Option<u64>>, ahead: usize) -> (usize, usize) {
    let (mut crowd, mut expected, mut now) = (CalendarQueue::default(), std::collections::BTreeSet::new(), 0);
    let (mut most, mut most_days) = (0, 0);
    for (told, step) in steps.into_iter().enumerate() {
        match step {
            Some(after) => {
                let time = now + after;
                push(&mut crowd, time, told as u64);
                expected.insert((time, told as u64));
            }
            None => {
                let first = expected.pop_first();
                assert_eq!(crowd.pop().map(|(packet, _)| packet.sequence), first.map(|(_, told)| told));
                now = first.map_or(now, |(time, _)| time);
            }
        }
        (most, most_days) = (most.max(expected.len()), most_days.max(crowd.days.len()));
        if told % 3 == 0 {
            let mut named = Vec::new();
            crowd.sort_ahead(ahead, |packet, flow| named.push((packet.sequence, flow)));
            assert!(named.iter().all(|&(sequence, flow)| sequence == u64::from(flow)), "whose they are");
            let front = &crowd.front[crowd.head..];
            assert!(crowd.held == 0 || front.len() >= ahead.min(expected.len()), "as many as asked for");
            let known = front.iter().map(|&(_, place)| crowd.entries[place as usize].packet.sequence);
            assert!(known.zip(&expected).all(|(sequence, &(_, told))| sequence == told), "in their order");
        }
        let first = expected.first().map_or(Time::NEVER, |&(time, _)| Time::from_picoseconds(time));
        assert_eq!(crowd.first(), first);
    }
    while let Some((_, told)) = expected.pop_first() {
        assert_eq!(crowd.pop().map(|(packet, _)| packet.sequence), Some(told));
    }
    assert!(crowd.pop().is_none());
    assert!(crowd.entries.len() <= most, "places are used again");
    assert!(crowd.front.capacity() <= 2 * most + 256, "what has gone is forgotten");
    (most_days, crowd.days.len())
}

fn gap() -> impl Strategy<Value = Option<u64>> {
    // Ties, neighbours on one day, some days ahead, and far beyond any ring.
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
fn the_days_follow_what_waits() {
    let mut random = base::RandomStream::named(1, 0, "crowd");
    // Many packets, then few, at other distances: the ring grows and shrinks again.
    let fill = (0..20_000).map(|step| (step % 5 < 4).then_some(())).collect::<Vec<_>>();
    let busy = fill.iter().map(|push| push.map(|()| random.below(1 << 30) as u64)).collect::<Vec<_>>();
    assert!(agrees_with_a_sorted_list(busy.iter().copied(), 0).0 >= MOST_HELD);
    let emptied = (0..11_990).map(|_| None);
    let sparse = (0..200_000).map(|step| (step % 2 == 0).then_some(1 << 33));
    assert_eq!(agrees_with_a_sorted_list(busy.into_iter().chain(emptied).chain(sparse), 0).1, FEWEST_DAYS);
}

#[test]
fn of_very_many_only_the_next_ones_are_near() {
    let mut random = base::RandomStream::named(1, 0, "crowd");
    let mut crowd = CalendarQueue::default();
    let mut push_at = |crowd: &mut CalendarQueue, now: u64| push(crowd, now + random.below(1 << 36) as u64, 0);
    (0..60_000).for_each(|_| push_at(&mut crowd, 0));
    let mut last = Time::ZERO;
    for _ in 0..300_000 {
        let now = crowd.first();
        assert!(now >= last && crowd.pop().is_some());
        push_at(&mut crowd, now.picoseconds());
        last = now;
    }
    assert!(crowd.front.len() - crowd.head + crowd.held < NEAR_DAYS);
    assert_eq!(crowd.days.len(), NEAR_DAYS);
    let waiting = std::iter::from_fn(|| crowd.pop().map(|_| ())).count();
    assert_eq!(waiting, 60_000);
}

#[test]
fn one_that_waits_long_holds_nobody_up() {
    let (mut crowd, far) = (CalendarQueue::default(), 1 << 50);
    push(&mut crowd, far, 0);
    // All others come and go before it, each alone.
    for sequence in 1..100_000 {
        push(&mut crowd, sequence << 20, sequence);
        assert_eq!(crowd.pop().map(|(packet, _)| packet.sequence), Some(sequence));
    }
    assert!(crowd.front.capacity() <= 256);
    assert_eq!(crowd.first(), Time::from_picoseconds(far));
}

#[test]
fn many_packets_at_one_instant_cost_a_step_each() {
    let (mut crowd, packets) = (CalendarQueue::default(), 200_000);
    for sequence in 0..packets {
        push(&mut crowd, 7, sequence);
    }
    assert!((0..packets).all(|sequence| crowd.pop().map(|(packet, _)| packet.sequence) == Some(sequence)));
    assert_eq!(crowd.effort, 0);
    // As many later than another, which no days tell apart.
    push(&mut crowd, 8, packets);
    (0..packets).for_each(|sequence| push(&mut crowd, 1 << 30, sequence));
    assert_eq!(crowd.pop().map(|(packet, _)| packet.sequence), Some(packets));
    assert!((0..packets).all(|sequence| crowd.pop().map(|(packet, _)| packet.sequence) == Some(sequence)));
}
