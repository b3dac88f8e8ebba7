//! Prague: draft-briscoe-iccrg-prague-congestion-control, the congestion control of L4S. There is no oracle to hold it to, as
//! the mainline kernel does not have it. Its numbers, and when they count, are those of the draft's reference
//! implementation (`tcp_prague.c`, 0.6), whose functions are named below; it was read and not run.
//!
//! DCTCP's reduction by half of the fraction of marks, with growth in the same round, and with a rate that does not depend
//! on round trips below 25 ms: a virtual round trip takes the place of the real one.

use base::cast::{low_u64, round_to_u64};
use base::Time;

use super::common::{half, Common};
use super::kernel::packets;
use super::{AckSample, CongestionControl, Needs, Parameter, Settings, Signal, StartProgress, Window};
use crate::State;

/// Numbers that scenarios may set.
pub(super) const PARAMETERS: [Parameter; 4] = [
    Parameter::new("g", "", [0.001, 1.0], 0.0625, "Gain of the average of the fraction of marks."),
    Parameter::new("rtt_virtual", "s", [0.0, 1.0], 0.025, "Shortest virtual round trip."),
    Parameter::new("independent_after", "", [0.0, 1e9], 500.0, "Round trips after which the virtual one takes effect."),
    Parameter::new("beta", "", [0.1, 0.95], 0.5, "Fraction of cwnd that remains after a loss."),
];

#[derive(Clone, Debug)]
struct Prague {
    common: Common,
    mss: u32,
    gain: f64,
    least_virtual: Time,
    independent_after: u64,
    beta: f64,
    state: Progress,
}

#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Average of the fraction of packets that are marked, from the first mark on.
    alpha: f64,
    is_marked: bool,
    /// Packets delivered and marked in the current round, and when the average changed last.
    delivered: u64,
    marked: u64,
    averaged: Time,
    /// Rounds after slow start so far, and the packet whose ACK ends the current one.
    rounds: u64,
    round_end: u64,
    srtt: Time,
    slow_start: bool,
    /// The last reduction because of marks, and cwnd before it; `None` once a loss has taken its place.
    reduced: Option<(Time, f64)>,
    /// Rate of pacing \[byte/s\].
    rate: Option<u64>,
}

impl Progress {
    const START: Progress = Progress {
        alpha: 1.0,
        is_marked: false,
        delivered: 0,
        marked: 0,
        averaged: Time::ZERO,
        rounds: 0,
        round_end: 0,
        srtt: Time::ZERO,
        slow_start: true,
        reduced: None,
        rate: None,
    };
}

/// Creates Prague's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    Box::new(prague(settings))
}

fn prague(settings: &Settings) -> Prague {
    let [gain, least_virtual, independent_after, beta] = settings.values(&PARAMETERS);
    Prague {
        common: Common::new(settings),
        mss: settings.mss,
        gain,
        least_virtual: settings.clock.time(least_virtual),
        independent_after: round_to_u64(independent_after),
        beta,
        state: Progress::START,
    }
}

impl Prague {
    /// Returns the virtual round trip (section 2.4.4) from the 500th round after slow start on (`prague_is_rtt_indep`);
    /// before that it is 0.
    fn virtual_rtt(&self) -> Time {
        let state = &self.state;
        if state.slow_start || state.rounds < self.independent_after {
            Time::ZERO
        } else {
            self.least_virtual
        }
    }

    /// Returns the packets by which cwnd grows in a real round trip, (RTT / RTT_virt)^2 (section 2.4.4): a flow with a
    /// short round trip has the rate of one with the virtual round trip (`prague_rate_scaled_ai_ack_increase`).
    fn increase(&self) -> f64 {
        let (real, apparent) = (self.state.srtt.ticks(), self.virtual_rtt().ticks());
        if real == 0 || real >= apparent {
            return 1.0;
        }
        (real as f64 / apparent as f64).powi(2)
    }

    /// Averages the fraction of marks once in a round, which takes a real and a virtual round trip at least (section
    /// 2.3.2, `prague_should_update_ewma`, `prague_update_alpha`). The average begins at 1 with the first mark.
    fn end_round(&mut self, ack: &AckSample) {
        let waits = self.virtual_rtt() > ack.now - self.state.averaged;
        let state = &mut self.state;
        if ack.una < state.round_end || waits {
            return;
        }
        if state.is_marked {
            let fraction = if state.delivered > 0 { state.marked as f64 / state.delivered as f64 } else { 0.0 };
            state.alpha += self.gain * (fraction.min(1.0) - state.alpha);
            state.averaged = ack.now;
        }
        state.rounds += u64::from(!state.slow_start);
        (state.round_end, state.delivered, state.marked) = (ack.nxt, 0, 0);
    }

    /// Grows by `increase` packets in a round trip, for packets that were not marked (section 2.4.3), in a reduction too:
    /// there the window that it leads to grows.
    fn grow(&self, ack: &AckSample, unmarked: u32, window: &mut Window) {
        let grown = self.increase() * f64::from(unmarked) / window.cwnd.max(1.0);
        match ack.state {
            State::Cwr => window.ssthresh += grown,
            State::Open | State::Disorder if ack.may_grow && ack.cwnd_limited => window.cwnd += grown,
            _ => {}
        }
    }

    /// Sets the rate of pacing: the window in a round trip, twice that below half of ssthresh (section 2.4.5,
    /// `prague_update_pacing_rate`).
    fn set_rate(&mut self, ack: &AckSample, window: &Window) {
        let microseconds = self.common.clock.microseconds(ack.srtt);
        if microseconds == 0 {
            return;
        }
        let sent = u64::from(packets(window.cwnd).max(ack.in_flight[1]));
        let twice = if window.cwnd < window.ssthresh / 2.0 { 2 } else { 1 };
        let bytes = u128::from(twice * sent * u64::from(self.mss));
        self.state.rate = Some(low_u64(bytes * 1_000_000 / u128::from(microseconds)).max(1));
    }
}

impl CongestionControl for Prague {
    fn measure(&mut self, ack: &AckSample, _window: &Window) {
        self.state.srtt = ack.srtt;
        self.state.delivered += u64::from(ack.acked);
        self.state.marked += u64::from(ack.marked);
        self.state.is_marked |= ack.marked > 0;
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        if ack.state == State::Recovery {
            if let Some((_, prior)) = self.state.reduced.take() {
                // Section 2.4.1: a loss in the round of a reduction by marks counts from the window before that one.
                window.ssthresh = window.ssthresh.min((prior * self.beta).max(2.0));
            }
        }
        let unmarked = ack.acked.saturating_sub(ack.marked);
        let left = self.common.slow_start.on_ack(&AckSample { acked: unmarked, ..*ack }, window);
        if left > 0 || ack.state == State::Cwr {
            let unmarked = if ack.state == State::Cwr { unmarked } else { left };
            self.grow(ack, unmarked, window);
        }
        // While a reduction goes on, cwnd may be below ssthresh, which grows.
        let reduces = matches!(ack.state, State::Cwr | State::Recovery);
        self.state.slow_start = !reduces && window.in_slow_start();
        self.end_round(ack);
        self.set_rate(ack, window);
    }

    fn on_congestion(&mut self, signal: Signal, now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        match signal {
            Signal::Ecn => {
                // Section 2.4.2: at once, and then not again for a virtual round trip (`prague_enter_cwr`).
                let waits = self.state.reduced.is_some_and(|(at, _)| now < at + self.virtual_rtt());
                if waits {
                    return window.cwnd.max(2.0);
                }
                self.state.reduced = Some((now, window.cwnd));
                (window.cwnd * (1.0 - self.state.alpha / 2.0)).max(2.0)
            }
            Signal::Loss => {
                let recent = self.state.reduced.take().filter(|&(at, _)| now < at + self.state.srtt);
                let prior = recent.map_or(window.cwnd, |(_, prior)| prior);
                (prior * self.beta).min(window.cwnd).max(2.0)
            }
            Signal::Timeout => half(window),
        }
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
    }

    fn needs(&self) -> Needs {
        Needs { pacing: true, l4s: true, ..Needs::default() }
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.state.rate
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Prague { common: self.common.fresh(), state: Progress::START, ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Clock;

    const CLOCK: Clock = Clock::PICOSECONDS;

    fn ms(milliseconds: u64) -> Time {
        Time::from_ticks(milliseconds * 1_000_000_000)
    }

    fn control(parameters: Vec<f64>) -> Prague {
        prague(&Settings { parameters, mss: 1000, ..Settings::linux(CLOCK) })
    }

    /// Returns an ACK at an instant with a smoothed round trip.
    fn ack(now: Time, acked: u32, marked: u32, srtt: Time) -> AckSample {
        AckSample { marked, srtt, ..crate::cc::tests::ack(now, acked) }
    }

    /// Returns the ACK that ends a round.
    fn round(number: u64, ack: AckSample) -> AckSample {
        AckSample { una: number, nxt: number + 1, ..ack }
    }

    fn pass(prague: &mut Prague, ack: &AckSample) {
        let mut window = Window { cwnd: 50.0, ssthresh: 40.0 };
        prague.measure(ack, &window);
        prague.on_ack(ack, &mut window);
    }

    /// Section 2.3.2: alpha begins at 1 with the first mark, then alpha += g (fraction - alpha), once in a round.
    #[test]
    fn alpha_is_an_average_over_rounds() {
        let mut prague = control(vec![0.25]);
        pass(&mut prague, &round(0, ack(ms(0), 10, 0, ms(50))));
        pass(&mut prague, &round(1, ack(ms(60), 10, 0, ms(50))));
        assert_eq!(prague.state.alpha, 1.0, "no queue has marked yet");
        pass(&mut prague, &AckSample { una: 1, ..ack(ms(100), 4, 2, ms(50)) });
        assert_eq!(prague.state.alpha, 1.0, "the round goes on");
        pass(&mut prague, &round(2, ack(ms(149), 6, 3, ms(50))));
        assert_eq!(prague.state.alpha, 1.0 + 0.25 * (0.5 - 1.0));
        pass(&mut prague, &round(3, ack(ms(200), 5, 0, ms(50))));
        assert_eq!(prague.state.alpha, 0.875 * 0.75);
    }

    /// Section 2.4.4: the virtual round trip is 25 ms at least, and from the 500th round after slow start on.
    #[test]
    fn the_virtual_round_trip_comes_with_time() {
        let mut prague = control(vec![]);
        prague.on_ack(&round(0, ack(ms(0), 1, 0, ms(5))), &mut Window { cwnd: 10.0, ssthresh: 40.0 });
        for number in 1..=500 {
            assert_eq!((prague.virtual_rtt(), prague.increase()), (Time::ZERO, 1.0), "{number}");
            pass(&mut prague, &round(number, ack(ms(number), 1, 0, ms(5))));
        }
        assert_eq!(prague.virtual_rtt(), ms(25));
        assert!((prague.increase() - 0.04).abs() < 1e-12);
        prague.measure(&ack(ms(600), 1, 0, ms(50)), &Window { cwnd: 100.0, ssthresh: 50.0 });
        assert_eq!(prague.increase(), 1.0);
    }

    #[test]
    fn the_virtual_round_trip_stays_in_a_reduction() {
        let mut prague = control(vec![0.25, 0.025, 0.0]);
        pass(&mut prague, &round(0, ack(ms(0), 1, 0, ms(5))));
        let mut window = Window { cwnd: 20.0, ssthresh: 20.1 };
        prague.on_ack(&AckSample { state: State::Cwr, may_grow: false, ..ack(ms(5), 2, 1, ms(5)) }, &mut window);
        assert_eq!(prague.virtual_rtt(), ms(25));
        let grown = 0.04 / 20.0;
        assert!((window.ssthresh - 20.1 - grown).abs() < 1e-12, "{window:?}");
    }

    /// The average changes once in a virtual round trip, of which the rounds then are.
    #[test]
    fn rounds_are_virtual_round_trips_in_the_end() {
        let mut prague = control(vec![0.25, 0.025, 0.0]);
        let mut ended = |at, number| {
            pass(&mut prague, &round(number, ack(ms(at), 4, 1, ms(10))));
            prague.state.averaged
        };
        assert_eq!(
            [ended(100, 1), ended(110, 2), ended(124, 3), ended(125, 4)].map(|at| at.ticks() / 1_000_000_000),
            [100, 100, 100, 125]
        );
        assert_eq!(prague.state.alpha, 1.0 - 0.25 * 0.75 + 0.25 * (0.25 - (1.0 - 0.25 * 0.75)));
    }

    /// Section 2.4.2: (1 - alpha / 2) cwnd, at most once in a virtual round trip.
    #[test]
    fn marks_reduce_by_half_of_alpha_once_in_a_virtual_round_trip() {
        let mut prague = control(vec![0.0625, 0.025, 0.0]);
        prague.state = Progress { alpha: 0.2, srtt: ms(10), slow_start: false, ..Progress::START };
        let window = Window { cwnd: 100.0, ssthresh: 50.0 };
        let mut cut = |now| prague.on_congestion(Signal::Ecn, ms(now), &window);
        assert_eq!([cut(1000), cut(1024), cut(1025)], [90.0, 100.0, 90.0]);
        // The first mark of all ends slow start by half.
        let mut first = control(vec![]);
        first.measure(&ack(ms(10), 4, 1, ms(10)), &window);
        assert_eq!(first.on_congestion(Signal::Ecn, ms(10), &window), 50.0);
    }

    /// Section 2.4.1: a loss in the round trip of such a reduction counts from the window before it.
    #[test]
    fn a_loss_takes_the_place_of_a_reduction_by_marks() {
        let reduced = Progress { alpha: 0.2, srtt: ms(30), reduced: Some((ms(100), 100.0)), ..Progress::START };
        let window = Window { cwnd: 90.0, ssthresh: 90.0 };
        let cut = |now| Prague { state: reduced, ..control(vec![]) }.on_congestion(Signal::Loss, ms(now), &window);
        assert_eq!([cut(129), cut(130)], [50.0, 45.0]);
        // While the reduction goes on, the sender does not ask: the ACK that begins recovery shows the loss.
        let mut prague = Prague { state: reduced, ..control(vec![]) };
        let mut window = Window { cwnd: 95.0, ssthresh: 90.0 };
        let lossy = AckSample { state: State::Recovery, may_grow: false, ..ack(ms(110), 1, 0, ms(30)) };
        prague.on_ack(&lossy, &mut window);
        assert_eq!(window.ssthresh, 50.0);
        prague.on_ack(&lossy, &mut window);
        assert_eq!(window.ssthresh, 50.0);
    }

    /// Section 2.4.3: growth for packets without a mark, in a reduction too.
    #[test]
    fn the_window_grows_for_unmarked_packets_in_a_reduction_too() {
        let mut prague = control(vec![]);
        let mut window = Window { cwnd: 50.0, ssthresh: 40.0 };
        prague.on_ack(&ack(ms(10), 5, 2, ms(30)), &mut window);
        assert_eq!(window, Window { cwnd: 50.06, ssthresh: 40.0 });
        let mut window = Window { cwnd: 50.0, ssthresh: 40.0 };
        let reducing = AckSample { state: State::Cwr, may_grow: false, ..ack(ms(10), 5, 0, ms(30)) };
        prague.on_ack(&reducing, &mut window);
        assert_eq!(window, Window { cwnd: 50.0, ssthresh: 40.1 });
    }

    /// Section 2.4.5: the window in a round trip, twice that in slow start, up to half of ssthresh.
    #[test]
    fn packets_are_paced() {
        let mut prague = control(vec![]);
        assert_eq!(prague.pacing_rate(), None);
        prague.on_ack(&ack(ms(10), 0, 0, ms(20)), &mut Window { cwnd: 10.0, ssthresh: 5.0 });
        assert_eq!(prague.pacing_rate(), Some(500_000));
        prague.on_ack(&ack(ms(10), 0, 0, ms(20)), &mut Window { cwnd: 10.0, ssthresh: f64::INFINITY });
        assert_eq!(prague.pacing_rate(), Some(1_000_000));
        prague.on_ack(&ack(ms(10), 0, 0, ms(20)), &mut Window { cwnd: 10.0, ssthresh: 19.0 });
        assert_eq!(prague.pacing_rate(), Some(500_000));
        assert!(prague.needs().l4s && prague.needs().pacing);
    }
}
