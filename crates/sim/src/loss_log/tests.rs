use super::*;
use base::Clock;

fn seconds(seconds: f64) -> Time {
    Clock::PICOSECONDS.time(seconds)
}

fn loss(sequence: u64, cause: LossCause) -> LossEvent {
    LossEvent {
        sequence,
        cause,
        slow_start: false,
        retransmission: false,
        repaired: false,
        in_recovery: false,
        repeated: false,
        index: sequence,
        remaining: None,
        window: 10,
        max: sequence + 10,
    }
}

fn timeout(sequence: u64) -> LossEvent {
    loss(sequence, LossCause::Timeout)
}

fn is_spurious(log: &mut LossLog, sequence: u64, now: f64) -> bool {
    log.on_loss(seconds(now), timeout(sequence), Time::ZERO, None)
}

#[test]
fn a_loss_whose_repair_is_under_way_is_no_mistake() {
    let mut log = LossLog::default();
    log.on_drop(7, seconds(1.0), seconds(1.1));
    log.on_retransmission(7, 5, seconds(2.0));
    let mut found = |repaired| {
        let loss = LossEvent { repaired, ..loss(7, LossCause::FastRetransmit) };
        log.on_loss(seconds(2.5), loss, Time::ZERO, None)
    };
    assert!(found(false) && !found(true));
}

#[test]
fn what_was_dropped_is_lost_and_what_was_not_is_not() {
    let mut log = LossLog::default();
    let mut counted = RecoveryStatistics::default();
    log.on_drop(7, seconds(1.0), seconds(1.5));
    assert!(!log.on_loss(seconds(2.0), timeout(7), Time::ZERO, Some(&mut counted)));
    assert!(log.on_loss(seconds(2.0), timeout(8), Time::ZERO, Some(&mut counted)));
    assert_eq!(counted, RecoveryStatistics { spurious_timeouts: 1, ..RecoveryStatistics::default() });
}

#[test]
fn only_the_last_copy_counts() {
    let mut log = LossLog::default();
    log.on_drop(7, seconds(1.0), seconds(1.5));
    log.on_retransmission(7, 7, seconds(2.0));
    assert!(is_spurious(&mut log, 7, 3.0), "the second copy is on its way");
    log.on_drop(7, seconds(2.0), seconds(3.5));
    assert!(!is_spurious(&mut log, 7, 4.0), "the second copy is dropped too");
}

#[test]
fn a_drop_of_an_older_copy_does_not_count() {
    let mut log = LossLog::default();
    log.on_retransmission(7, 7, seconds(2.0));
    log.on_drop(7, seconds(1.0), seconds(2.5));
    assert!(is_spurious(&mut log, 7, 3.0));
}

#[test]
fn a_drop_that_is_foreseen_does_not_count_before_it_happens() {
    let mut log = LossLog::default();
    log.on_drop(7, seconds(1.0), seconds(5.0));
    assert!(is_spurious(&mut log, 7, 4.0));
    assert!(!is_spurious(&mut log, 7, 5.0));
}

#[test]
fn a_drop_that_becomes_known_after_its_loss_was_declared_still_counts() {
    let declared = || {
        let (mut log, mut counted) = (LossLog::default(), RecoveryStatistics::default());
        log.on_retransmission(7, 7, seconds(2.0));
        let loss = loss(7, LossCause::FastRetransmit);
        assert!(log.on_loss(seconds(4.0), loss, Time::ZERO, Some(&mut counted)));
        log.on_retransmission(7, 7, seconds(4.0));
        log
    };
    let end = Recovered { sent: 0, resent: 0, max: 17 };
    for (sequence, sent, dropped, counts) in
        [(7, 2.0, 3.0, true), (8, 2.0, 3.0, false), (7, 2.0, 4.0, false), (7, 1.0, 3.0, false), (7, 4.0, 4.0, false)]
    {
        let mut log = declared();
        let start = log.on_drop(sequence, seconds(sent), seconds(dropped));
        assert_eq!(start, counts.then_some(seconds(4.0)), "{sequence} sent at {sent}, dropped at {dropped}");
        assert_eq!(log.on_drop(7, seconds(2.0), seconds(3.0)).is_some(), !counts, "once only");
        let repair = log.on_recovered(seconds(6.0), end, None).expect("a recovery had begun");
        assert!(!repair.spurious);
    }
}

#[test]
fn what_is_acknowledged_is_forgotten() {
    let mut log = LossLog::default();
    (0..100).for_each(|sequence| assert_eq!(log.on_drop(sequence, seconds(1.0), seconds(1.0)), None));
    is_spurious(&mut log, 90, 2.0);
    assert_eq!(log.copies.len(), 10);
}

#[test]
fn a_log_that_a_flow_releases_is_reused_for_the_next_flow() {
    let (mut logs, mut first, mut second, mut third) = (LossLogs::default(), None, None, None);
    logs.of(&mut first).on_drop(7, seconds(1.0), seconds(1.5));
    logs.of(&mut second).on_drop(8, seconds(1.0), seconds(1.5));
    assert!(!is_spurious(logs.of(&mut first), 7, 2.0));
    assert!(is_spurious(logs.of(&mut second), 7, 2.0), "another flow's");
    logs.forget(&mut first);
    logs.forget(&mut first);
    assert!(is_spurious(logs.of(&mut third), 7, 2.0), "forgotten");
    assert!(!is_spurious(logs.of(&mut second), 8, 2.0));
    assert!(is_spurious(logs.of(&mut first), 7, 2.0), "empty again");
    assert_eq!(logs.logs.len(), 3);
}

#[test]
fn a_recovery_counts_what_is_sent_in_it_and_at_its_end() {
    let (mut log, mut counted) = (LossLog::default(), RecoveryStatistics::default());
    log.on_retransmission(3, 3, seconds(0.5));
    // Packets up to 14 were sent before. The recovery retransmits 5, sends 15 to 20, retransmits 6 and 7; the full
    // ACK clocks out a retransmission of 8, and 21.
    log.on_loss(seconds(1.0), loss(5, LossCause::FastRetransmit), Time::ZERO, Some(&mut counted));
    (5..9).for_each(|sequence| log.on_retransmission(sequence, 5, seconds(1.2)));
    let end = Recovered { sent: 2, resent: 1, max: 22 };
    let repair = log.on_recovered(seconds(1.5), end, Some(&mut counted)).expect("a recovery had begun");
    assert_eq!((repair.sent, repair.sent_on_end, repair.retransmissions), (9, 2, 3));
    assert_eq!((counted.recoveries, counted.sent, counted.time), (1, 9, seconds(0.5)));
    assert_eq!(log.on_recovered(seconds(2.0), end, Some(&mut counted)), None, "it is over");
}

#[test]
fn a_timeout_ends_a_recovery_without_success() {
    let mut log = LossLog::default();
    log.on_loss(seconds(1.0), loss(5, LossCause::FastRetransmit), Time::ZERO, None);
    (5..7).for_each(|sequence| log.on_retransmission(sequence, 5, seconds(1.2)));
    let mut counted = RecoveryStatistics::default();
    let loss = LossEvent { in_recovery: true, max: 18, ..timeout(5) };
    log.on_loss(seconds(2.0), loss, Time::ZERO, Some(&mut counted));
    assert_eq!(log.on_recovered(seconds(3.0), Recovered { sent: 1, resent: 0, max: 20 }, None), None);
    // Packets up to 14 were sent before: the recovery sent 15 to 17, and 5 and 6 again.
    assert_eq!((counted.failed_retransmissions, counted.failed_sent), (2, 5));
    assert_eq!((counted.failed_time, counted.recoveries), (seconds(1.0), 0));
}
