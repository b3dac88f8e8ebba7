use super::*;

#[test]
fn the_increase_is_quadratic_in_the_time_since_the_congestion() {
    // Leith and Shorten: 1 + 10 (t - 1) + ((t - 1) / 2)^2 for t above one second, times 2 (1 - beta).
    // After two minutes the kernel's square has more than 32 bits: 66 s squared less 2^32 ms^2 leave 61 s^2.
    for (seconds, factor) in [(0, 1), (1, 1), (2, 11), (3, 22), (11, 126), (131, 1 + 1300 + 4225), (133, 1 + 1320 + 61)]
    {
        let mut state =
            State { min_rtt: 100, path: Path { congestion: Some(0), ..Path::default() }, ..State::default() };
        state.update_alpha(1000 * seconds);
        assert_eq!(state.alpha, factor * ONE, "{seconds} s");
    }
    let mut short = State { min_rtt: 10, path: Path { congestion: Some(0), ..Path::default() }, ..State::default() };
    short.update_alpha(11_000);
    assert_eq!(short.alpha, 126 / 10 * ONE);
}

#[test]
fn the_decrease_is_the_ratio_of_round_trips_while_the_throughput_is_steady() {
    let path = Path { max_rtt: 150, throughput: 100, old_throughput: 100, ..Path::default() };
    let mut state = State { min_rtt: 100, path, ..State::default() };
    state.update_beta();
    assert_eq!((state.beta, state.adapts), (BETA.0, true));
    state.update_beta();
    assert_eq!(state.beta, 128 * 100 / 150);
    state.path.throughput = 125;
    state.update_beta();
    assert_eq!((state.beta, state.adapts), (BETA.0, false));
}

/// Linux `measure_achieved_throughput`: `snd_cwnd - (alpha >> 7)` is a number without sign.
#[test]
fn no_throughput_is_measured_while_the_window_is_smaller_than_its_increase() {
    for (alpha, measured) in [(ONE, 20), (3 * ONE, 20), (4 * ONE, 0)] {
        let path = Path { congestion: Some(0), ..Path::default() };
        let mut state = State { alpha, min_rtt: 100, path, since: Some(0), ..State::default() };
        state.deliver(2, 3, 100);
        assert_eq!(state.throughput, measured, "{alpha}");
    }
}

fn control() -> HTcp {
    HTcp { common: Common::new(&Settings::linux(base::Clock::PICOSECONDS)), state: State::default() }
}

/// An ACK of packets up to `una`, with the states before the reaction to it and after.
fn hear(control: &mut HTcp, una: u64, [before, after]: [Congestion; 2], window: &mut Window) -> (u64, u64) {
    let plain = AckSample { una, nxt: 200, ..crate::cc::tests::ack(Time::ZERO, 1) };
    control.measure(&AckSample { state: before, ..plain }, window);
    control.on_ack(&AckSample { state: after, may_grow: after == Congestion::Open, ..plain }, window);
    (control.state.count, control.state.packets)
}

#[test]
fn packets_of_the_ack_that_ends_a_recovery_do_not_count_for_the_window() {
    let mut control = control();
    control.state.una.advance(88);
    let (mut window, open) = (Window { cwnd: 26.0, ssthresh: 20.0 }, Congestion::Open);
    // None with the ACK that begins it, 32 with that one, two with the next.
    let counts = [(88, [open, Congestion::Recovery]), (120, [Congestion::Recovery, open]), (122, [open; 2])]
        .map(|(una, states)| hear(&mut control, una, states, &mut window).0);
    assert_eq!(counts, [0, 0, 2]);
    assert_eq!(window.cwnd, 26.0);
}

/// The kernel's RACK timer began a recovery at 0.89 s: no throughput was measured with the next ACK, which kept beta at 0.8.
#[test]
fn packets_before_a_recovery_that_a_timer_began_do_not_count_for_the_throughput() {
    let mut control = control();
    control.state.una.advance(20);
    let mut window = Window { cwnd: 7.0, ssthresh: 7.0 };
    let packets = [(25, [Congestion::Disorder; 2]), (25, [Congestion::Recovery; 2])]
        .map(|(una, states)| hear(&mut control, una, states, &mut window).1);
    assert_eq!(packets, [5, 0]);
}

/// The kernel's flow whose ACK at 5.7 s ends a recovery and begins another one: cwnd grows by a packet in a round trip then,
/// and not by seven as 3.4 s after a congestion.
#[test]
fn a_congestion_that_follows_another_one_at_once_counts_from_its_end() {
    let (clock, mut control) = (base::Clock::PICOSECONDS, control());
    let mut window = Window { cwnd: 152.0, ssthresh: 152.0 };
    control.state.min_rtt = 17;
    control.on_congestion(Signal::Loss, clock.time(2.3), &window);
    control.measure(&crate::cc::tests::ack(clock.time(5.7), 1), &window);
    control.on_recovery_end(&mut window);
    control.on_congestion(Signal::Loss, clock.time(5.7), &window);
    assert_eq!(control.state.alpha, ONE);
}

/// The kernel's flow whose marks at 1.32 s left 48 of 65 packets, and 47 in ours: the ACK that begins a congestion is measured
/// before (`pkts_acked`), so that its round trip fades with the largest one.
#[test]
fn the_ack_that_begins_a_congestion_is_measured_before_it() {
    let (clock, mut control) = (base::Clock::PICOSECONDS, control());
    let mut window = Window { cwnd: 100.0, ssthresh: 50.0 };
    (control.state.min_rtt, control.state.path.max_rtt) = (160, 218);
    let ack = AckSample { rtt: Some(clock.time(0.22)), ..crate::cc::tests::ack(clock.time(5.0), 1) };
    control.measure(&ack, &window);
    control.on_congestion(Signal::Ecn, clock.time(5.0), &window);
    control.on_ack(&AckSample { state: Congestion::Cwr, ..ack }, &mut window);
    assert_eq!(control.state.path.max_rtt, 160 + 60 * 95 / 100);
}

#[test]
fn an_expiry_in_recovery_is_a_congestion_of_its_own() {
    let clock = base::Clock::PICOSECONDS;
    let path = Path { congestion: Some(10), ..Path::default() };
    let mut control = HTcp { common: Common::new(&Settings::linux(clock)), state: State { path, ..State::default() } };
    let congestions =
        |control: &HTcp| (control.state.path.congestion, control.state.before.and_then(|before| before.congestion));
    let [first, second] = [1.0, 2.0].map(|seconds| clock.time(seconds));
    let [first_jiffy, second_jiffy] = [first, second].map(|time| control.common.clock.jiffies(time));
    control.on_congestion(Signal::Timeout, first, &Window { cwnd: 26.0, ssthresh: 20.0 });
    control.on_timeout(first, 7);
    assert_eq!(congestions(&control), (Some(first_jiffy), Some(10)), "one congestion, and its expiry");
    control.on_timeout(second, 7);
    assert_eq!(congestions(&control), (Some(second_jiffy), Some(first_jiffy)));
}
