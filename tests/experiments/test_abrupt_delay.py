"""What the items of the paper on abrupt delay variations measure, on runs whose outcome is known."""

import numpy as np
import pytest

from ackclock.experiments import papers
from ackclock.experiments.abrupt_delay import conditions, figure_6, figure_7, path, steps, text
from ackclock.experiments.abrupt_delay.conditions import Case, paper_conditions
from ackclock.experiments.frame import Run, Setting
from ackclock.scenario import Resolved
from ackclock.sweeps import Memory, point_key, run_points


def run(resolved: Resolved) -> Run:
    store = Memory()
    run_points([resolved], store, jobs=1)
    return Run(resolved, store.read(point_key(resolved)))


def test_all_eight_figures_are_listed() -> None:
    (paper,) = (paper for paper in papers() if paper.name == "abrupt_delay")
    assert {f"figure-{number}" for number in range(1, 9)} <= {item.name for item in paper.items}


@pytest.mark.parametrize(
    ("window", "instant", "idle"),
    [(13, 6.0, True), (13, 6.07, False), (13, 6.15, True), (20, 6.15, False), (26, 6.0, False)],
)
def test_idle_periods_are_where_no_packet_is_on_the_link(window: int, instant: float, idle: bool) -> None:
    assert steps.in_idle_period(run(path.step(0.2, 0.2, window, {})), instant) is idle


def test_round_trips_of_a_step_include_the_service_of_the_link() -> None:
    found = run(path.step(0.2, 0.1, 1, {"trace.rtt": True}))
    samples = found.trace("rtt")
    assert samples.loc[samples["time_s"] < 6.0, "rtt_s"].to_numpy() == pytest.approx(0.2)
    assert samples.loc[samples["time_s"] > 6.3, "rtt_s"].to_numpy() == pytest.approx(0.1)


def test_a_spurious_fast_retransmit_halves_the_window_and_a_timeout_after_a_loss_is_not_spurious() -> None:
    found = run(path.step(0.2, 0.1, 20, {}, 6.07))
    assert len(steps.spurious_losses(found, "fast-retransmit")) == 1
    assert steps.all_spurious(found, "fast-retransmit")
    assert steps.window_after(found) == pytest.approx(10.0, abs=1.0)
    lossy = run(path.step(0.2, 0.2, 2, {"link.path.loss": {"model": "packets", "packets": [40]}}))
    assert path.total(lossy, "timeouts") == 1
    assert not steps.all_spurious(lossy, "timeout")


def test_the_genie_is_never_deceived_and_the_others_are() -> None:
    brief = path.lengths(100.0, 1)
    genie, reno = (run(path.alternating(0.1, brief | changes)) for changes in (path.GENIE, {}))
    for quantity in ("timeouts", "fast_retransmits"):
        assert path.total(genie, quantity) == 0
    assert path.total(reno, "spurious_fast_retransmits") > 10
    assert path.goodput(genie).value > path.goodput(reno).value


def test_losses_fall_on_data_packets_with_the_given_probability() -> None:
    found = run(path.alternating(1.0, path.lengths(2000.0, 1), loss=0.1))
    assert found.flow("loss_fraction").value == pytest.approx(0.1, abs=0.01)


def test_the_rto_of_equation_1_fits_with_its_own_weight_alone() -> None:
    found = run(path.step(0.2, 0.3, 26, {"trace.rtt": True, "flow.flow.tcp.rto.k": 2}))
    assert text._rto_error(found, 2) < 0.001
    assert text._rto_error(found, 4) > 0.1


def test_the_conditions_of_the_paper_need_d_services_of_idle_time() -> None:
    assert paper_conditions(Case(21, 0.01, 0.1))
    assert not paper_conditions(Case(23, 0.01, 0.1))
    assert not paper_conditions(Case(13, 0.09, 0.1)), "fewer than three packets follow"
    assert not paper_conditions(Case(13, 0.03, 0.19)), "their ACKs come too late"


def test_instants_of_the_scan_keep_away_from_the_departures() -> None:
    for case in conditions._cases(Setting()):
        packets = case.after_s / conditions.SERVICE_S
        assert abs(packets - round(packets)) > 0.02


def test_the_least_best_threshold_is_the_first_within_one_percent() -> None:
    values = np.array([50.0, 90.0, 99.0, 99.5, 100.0] + [100.0] * 9)
    assert figure_6.least_best(values) == 3
    assert figure_6._from(values, 100.0) == 3
    assert figure_6._from(values, 200.0) == "none"


def test_the_middle_range_is_right_at_every_threshold_only_for_4_to_11() -> None:
    best = np.array([4 <= threshold <= 11 for threshold in figure_7.THRESHOLDS])
    assert figure_7._middle(best) == 100.0
    best[1:3] = True
    assert figure_7._middle(best) == pytest.approx(100.0 * 10 / 12)
