"""The run of section 5.5 that figures 5.15 and 5.16 show."""

from typing import Final

from ackclock.experiments.frame import Setting
from ackclock.experiments.two_way.atm import SEGMENT_S, USER_MBPS, scenario
from ackclock.scenario import Resolved

WINDOW: Final = 7
USER: Final = USER_MBPS / 3.0
WARMUP_S: Final = 1.0
SHARE_SEGMENT_S: Final = 3.0 * SEGMENT_S
FROM_CLIENT: Final = (0, 2, 4)
TO_CLIENT: Final = (1, 3, 5)
SHOWN_MS: Final = 4.0
"""Delay of a client's link in the scenario."""
DELAYS_MS: Final = (2.0, 6.0, 8.0)
"""Delays of a client's link in addition to the scenario's; the server's has 1 ms. The paper's are lost.
From 10 ms on in all, the windows exceed the pipe by less than two segments, where the formula does not hold."""


def shown(setting: Setting) -> Resolved:
    """Give the run with its traces."""
    changes = {"run.duration": setting.pick("3 s", "20 s"), "run.warmup": f"{WARMUP_S} s"}
    return scenario("client-server", changes | {"trace.sequence": True})


def with_delay(setting: Setting, delay_ms: float) -> Resolved:
    """Give the run with other clients' links."""
    changes = {f"atm_link.client{number}.delay": f"{delay_ms} ms" for number in (1, 2, 3)}
    return scenario("client-server", changes | {"run.duration": setting.pick("3 s", "20 s"), "trace.sequence": True})
