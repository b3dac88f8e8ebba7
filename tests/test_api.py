import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock
from ackclock import api
from fakes import FakeJob, make_resolved

TEXT = """\
[[link]]
name = "satellite"
rate = "1.5 Mbit/s"
[[flow]]
path = ["satellite"]
start_spread = "1 s"
[run]
duration = "100 s"
replications = 3
"""

Fake = type[FakeJob]


def test_a_scenario_may_be_text_path_tables_or_what_was_made_of_them(fake_engine: Fake, tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(TEXT)
    loaded = ackclock.scenario.load(TEXT)
    origins = (TEXT, tmp_path / "one.toml", str(tmp_path / "one.toml"), loaded, ackclock.scenario.resolve(loaded))
    results = [ackclock.run(origin) for origin in origins]
    assert all(result.resolved == results[0].resolved for result in results)


def test_run_fields_and_overrides_change_it(fake_engine: Fake) -> None:
    result = ackclock.run(TEXT, overrides={"link.satellite.rate": "3 Mbit/s"}, seed=8, duration="50 s")
    assert (result.seed, result.summary["duration_s"]) == (8, 50.0)
    assert result.resolved.elements[0].rate_bps == 3e6


CALLS: dict[str, Callable[..., object]] = {
    "run": ackclock.run,
    "predict": ackclock.predict,
    "resolve": ackclock.resolve,
    "sweep": lambda scenario, **fields: ackclock.sweep(scenario, {"link.satellite.buffer": [10]}, **fields),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_keyword_that_is_no_field_of_run_says_how_other_fields_are_changed(name: str) -> None:
    with pytest.raises(ackclock.ScenarioError) as caught:
        CALLS[name](TEXT, buffer="20 pkt", sed=2)
    fields = "duration, warmup, replications, seed, confidence, precision, delays"
    assert [str(fault) for fault in caught.value.faults] == [
        f'{name}(), keyword "buffer": is not a field of [run]; given "20 pkt"; allowed {fields}; '
        'for other fields use overrides={"link.NAME.FIELD": value}',
        f'{name}(), keyword "sed": is not a field of [run]; given 2; allowed {fields}; did you mean "seed"?',
    ]


def test_fields_of_run_are_keywords_of_resolve_and_predict_too() -> None:
    assert ackclock.resolve(TEXT, seed=7).run.seed == 7
    assert ackclock.predict(TEXT, duration="300 s").title == ackclock.predict(TEXT).title


def test_a_resolved_scenario_takes_no_overrides(fake_engine: Fake) -> None:
    resolved = ackclock.scenario.resolve(ackclock.scenario.load(TEXT))
    with pytest.raises(ackclock.ScenarioError, match="takes no overrides"):
        ackclock.run(resolved, seed=2)


def test_the_scenario_s_warnings_are_the_result_s(fake_engine: Fake) -> None:
    _, warnings = api.resolve_with_warnings(TEXT)
    assert warnings
    assert ackclock.run(TEXT).summary["warnings"][: len(warnings)] == warnings


def test_the_picture_is_recorded_unless_unwanted(fake_engine: Fake) -> None:
    assert set(ackclock.run(TEXT).traces) == {"overview"}
    assert not ackclock.run(TEXT, picture=False).traces
    assert ackclock.run(TEXT).resolved.trace.overview_interval_s is None


@pytest.mark.parametrize(("poll", "kept"), [(1, None), (3, 2)])
def test_ctrl_c_gives_what_is_finished_or_is_raised(fake_engine: Fake, poll: int, kept: int | None) -> None:
    fake_engine.interrupt_after = poll
    if kept is None:
        with pytest.raises(KeyboardInterrupt):
            api.simulate(make_resolved(replications=3), threads=1)
    else:
        result = api.simulate(make_resolved(replications=3), threads=1)
        assert result.interrupted
        assert result.summary["replications"] == kept


def test_importing_ackclock_is_cheap_and_all_names_are_there() -> None:
    probe = (
        "import sys, ackclock; print([m for m in ('numpy', 'pydantic', 'typer') if m in sys.modules]);"
        "print(all(hasattr(ackclock, name) for name in [*ackclock.__all__, '__version__']), 'run' in dir(ackclock))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nTrue True\n"
    with pytest.raises(AttributeError, match="nothing"):
        _ = ackclock.nothing
