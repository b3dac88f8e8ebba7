"""The presets that are one paper's TCP: each axis as its text has it."""

import pytest

from ackclock.scenario.resolved_tcp import ClassicSettings, RtoSettings
from ackclock.scenario.tcp import preset, receiver_settings, sender_settings


@pytest.mark.parametrize(("name", "recovery"), [("reno-abrupt-delay", "reno"), ("old-tahoe-abrupt-delay", "old-tahoe")])
def test_presets_of_the_abrupt_delay_paper_have_a_fine_clock_and_no_least_timeout_but_two_ticks(
    name: str, recovery: str
) -> None:
    sender = sender_settings(preset(name), 1000)
    assert isinstance(sender, ClassicSettings)
    assert (sender.dialect, sender.recovery, sender.dupack_threshold) == ("ns2", recovery, 3)
    assert sender.rto == RtoSettings("ticks", "per-ack-karn", 4, 1e-5, 0.0, 60.0, 3.0, 65536, 0.0)
    assert receiver_settings(preset(name), 1000).ack_every == 1


def test_preset_of_the_engset_paper_has_the_specifics_of_its_section_3_1() -> None:
    sender = sender_settings(preset("newreno-engset"), 1500)
    assert isinstance(sender, ClassicSettings)
    assert (sender.dialect, sender.recovery, sender.initial_window) == ("engset", "newreno", 2.0)
    assert (sender.slow_start_while, sender.increase) == ("at-or-below", "counted")
    assert (sender.limited_transmit, sender.partial_ack_timer) == (False, "slow-but-steady")
    assert sender.rto == RtoSettings("rfc6298", "per-round", 4, 0.0, 1.0, 64.0, 1.0, 64, 0.0)
    assert receiver_settings(preset("newreno-engset"), 1500).ack_every == 1
