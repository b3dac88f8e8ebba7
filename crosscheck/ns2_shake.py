"""Changes of ns-2's delays, service times and starts by as much as its clock and ours can differ."""

from dataclasses import dataclass

from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.subset import Scenario, connection

DELAY_S = 1e-11
"""Largest change of a delay or a start that is constant: ten picoseconds, or some hundred sums of doubles [s]."""

GROWTH = 1e-11
"""Change of a flow's delay in a second: in a round trip, more than ns-2 rounds its times there at 200 s [1]."""

DRIFT = 1e-11
"""Largest relative change of a rate: half a digit of a double at 200 s in each service time of a millisecond [1]."""

INTERVAL_S = 0.01
"""Time between two changes of the delays [s]."""

TIME_TOLERANCE_S = 2e-5
"""Changes of a shaken run and of ours agree within this: the growing delays of all its round trips together [s]."""

WAYS = range(1, 7)
"""Ways of shaking; where two events are simultaneous, each is another throw of the same coin."""

PROCEDURES = """\
# extra: what a delay has more than the scenario's; it grows a little with each call, or all are drawn again
proc shake_delays {{number}} {{
    global ns piece varies line delay extra growth
    if {{$piece != $number}} return
    foreach name [expr {{$varies ? [array names line] : [array names growth]}}] {{
        if {{$varies}} {{
            set extra($name) [expr {{{step!r} * rand()}}]
        }} else {{
            set extra($name) [expr {{$extra($name) + $growth($name)}}]
        }}
        $line($name) set delay_ [expr {{$delay($name) + $extra($name)}}]
    }}
    $ns at [expr {{[$ns now] + {interval!r}}}] "shake_delays $number"
}}

# way: delays grow or shrink, and each link has more of the constant changes than the one before, or less; or drawn
proc shake_from {{number way}} {{
    global ns piece varies line delay rate extra growth receiver hold
    set piece $number
    set varies [expr {{$way == 6}}]
    expr {{srand($way)}}
    set left [expr {{({duration!r} - [$ns now]) / {interval!r}}}]
    set names [lsort -dictionary [array names line]]
    set place 0.0
    foreach name $names {{
        set place [expr {{$place + 1.0 / [llength $names]}}]
        set share [lindex [list $place $place [expr {{1.0 - $place}}] [expr {{1.0 - $place}}] [expr {{rand()}}]] \\
            [expr {{min($way, 5) - 1}}]]
        set extra($name) [expr {{{step!r} * $share}}]
        $line($name) set bandwidth_ [expr {{$rate($name) * (1.0 + {drift!r} * (2.0 * $share - 1.0))}}]
    }}
    foreach name [array names growth] {{
        set slope [lindex [list 1.0 -1.0 1.0 -1.0 [expr {{2.0 * rand() - 1.0}}]] [expr {{min($way, 5) - 1}}]]
        set growth($name) [expr {{{growth!r} * {interval!r} * $slope}}]
        if {{$slope < 0.0}} {{ set extra($name) [expr {{$extra($name) - $growth($name) * $left}}] }}
    }}
    foreach name $names {{ $line($name) set delay_ [expr {{$delay($name) + $extra($name)}}] }}
    foreach flow [array names hold] {{
        $receiver($flow) set interval_ [expr {{$hold($flow) + {step!r} * (2.0 * rand() - 1.0)}}]
    }}
    shake_delays $number
}}

foreach name [array names line] {{
    set delay($name) [$line($name) set delay_]
    set rate($name) [$line($name) set bandwidth_]
}}
foreach name [list {grows}] {{ set growth($name) 0.0 }}
array set hold [list {holds}]
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a run and how it is shaken.

    Parameters
    ----------
    way : int
        Which of `WAYS`. In 1 and 3 the delay of each flow grows, so that what comes a round trip later comes after what
        the round before has set going; in 2 and 4 it shrinks. In 1 and 2 a link has more of the constant changes than
        the one before it, in 3 and 4 less. In 5 all of them are drawn, in 6 drawn again every `INTERVAL_S`.
    from_s : float
        Begin of the part, which lasts until the next one begins [s].
    """

    way: int
    from_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Shake:
    """The changes of one run.

    Parameters
    ----------
    pieces : tuple of Piece
        The parts of the run, in order of time.
    drift : float
        Largest relative change of a rate [1].
    """

    pieces: tuple[Piece, ...]
    drift: float = DRIFT


def starts(scenario: Scenario, shake: Shake | None) -> list[float]:
    """Return when each flow of a scenario starts, shaken or not [s]."""
    exact = [float(flow["start_s"]) for flow in scenario["flows"]]
    if shake is None:
        return exact
    random = Mrg32k3a(shake.pieces[0].way)
    return [start + DELAY_S * random.uniform() for start in exact]


def lines(scenario: Scenario, shake: Shake | None) -> list[str]:
    """Return the part of the script that shakes a run: nothing where it is not shaken."""
    if shake is None:
        return []
    connections = enumerate(map(connection, scenario["flows"]))
    receivers = [(number, tcp["receiver"]) for number, tcp in connections if tcp]
    holds = " ".join(f"{number} {to['ack_delay_s']!r}" for number, to in receivers if to["ack_every"] == 2)
    said = PROCEDURES.format(
        step=DELAY_S,
        growth=GROWTH,
        drift=shake.drift,
        interval=INTERVAL_S,
        duration=float(scenario["run"]["duration_s"]),
        grows=" ".join(_growing(scenario)),
        holds=holds,
    )
    first, *later = enumerate(shake.pieces)
    calls = [f'$ns at {piece.from_s!r} "shake_from {number} {piece.way}"' for number, piece in later]
    return [said, f"shake_from 0 {first[1].way}", *calls, ""]


def _growing(scenario: Scenario) -> list[str]:
    """Name a link of each flow: the private one of its data if there is one, else the first of its path."""
    flows = enumerate(scenario["flows"])
    names = [f"data{number}" if flow["forward_delay_s"] > 0.0 else str(flow["path"][0]) for number, flow in flows]
    return list(dict.fromkeys(names))
