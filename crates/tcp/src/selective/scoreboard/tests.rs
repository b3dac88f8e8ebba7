use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Send(u64),
    Deliver(u64),
    Acknowledge(u64),
    Undo,
    Count(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (1..6_u64).prop_map(Step::Send),
        4 => (0..30_u64).prop_map(Step::Deliver),
        1 => (1..5_u64).prop_map(Step::Acknowledge),
        1 => Just(Step::Undo),
        3 => (1..6_u32).prop_map(Step::Count),
    ]
}

proptest! {
    /// RFC 6675 section 4, `IsLost`: the packets above each one are counted.
    #[test]
    fn the_lost_packets_are_those_with_enough_above_them(steps in prop::collection::vec(step(), 1..200)) {
        let mut board = Scoreboard::default();
        board.restart(0, true, false);
        for step in steps {
            match step {
                Step::Send(count) => (0..count).for_each(|_| board.push(Time::ZERO, false)),
                Step::Deliver(index) => {
                    board.mark_sacked(board.una() + index);
                }
                Step::Acknowledge(count) => {
                    for _ in 0..count {
                        board.pop();
                    }
                }
                Step::Undo => board.unmark_lost(),
                Step::Count(count) if count > board.sacked() => {}
                Step::Count(count) => {
                    let all = || board.una()..board.nxt();
                    let above = |sequence| all().filter(|&above| above > sequence && board.is_sacked(above)).count();
                    let lost = |board: &Scoreboard, sequence| board.get(sequence).is_some_and(|one| one.marks.lost());
                    let is_lost = |sequence| above(sequence) >= count as usize && !board.is_sacked(sequence);
                    let expected: Vec<bool> =
                        all().map(|sequence| lost(&board, sequence) || is_lost(sequence)).collect();
                    let packets = all();
                    board.mark_lost_by_count(count);
                    let found: Vec<bool> = packets.map(|sequence| lost(&board, sequence)).collect();
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
