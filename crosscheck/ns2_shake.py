"""Changes of ns-2's delays, service times and starts by as much as its clock and ours can differ."""

from dataclasses import dataclass

from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.ns2_queues import INFINITE_RATE_BPS, UNLIMITED
from crosscheck.subset import Scenario, connection

DELAY_S = 1e-11
"""Largest change of a delay or a start that is constant: ten picoseconds, or some hundred sums of doubles [s]."""

GROWTH = 3e-11
"""Change of a flow's delay in a second: in a service time, more than ns-2 rounds its times by at 100 s [1]."""

LITTLE_GROWTH = GROWTH / 10
"""The same where `GROWTH` adds up to more than two packets are apart that do not tie: enough in a round trip [1]."""

DRIFT = 1e-11
"""Largest relative change of a rate: half a digit of a double at 200 s in each service time of a millisecond [1]."""

INTERVAL_S = 0.01
"""Time between two draws of the delays, in the way that draws them again [s]."""

TIME_TOLERANCE_S = 5e-5
"""Changes of a shaken run and of ours agree within this: the growing delays of all its round trips together [s]."""

WAYS = range(1, 7)
"""Ways of shaking; where two events are simultaneous, each is another throw of the same coin."""

QUIET = 0
"""The way in which nothing is shaken; what the delays of flows have grown by before stays."""

AGAIN = 6
"""The way from which on all delays are drawn again and again, each way from another seed."""

FARTHER = 13
"""The way from which on the links' delays are drawn from as much as the delay of a flow can have grown by."""

PROCEDURES = """\
# a link of no length before the first one of a flow, whose delay is set as each packet is sent
proc shake_flow {{flow}} {{
    global tcp line queue slope since shift
    set slope($flow) 0.0
    set since($flow) 0.0
    set shift($flow) 0.0
    add_link shake$flow {rate!r} 0.0 {unlimited}
    $line(shake$flow) target [$tcp($flow) target]
    $tcp($flow) target $queue(shake$flow)
    set tracer [new Trace/Var]
    $tracer set callback_ 1
    $tracer proc handle line "shake_packet $flow"
    $tcp($flow) trace ndatapack_ $tracer
}}

proc shifted {{flow}} {{
    global clock slope since shift
    return [expr {{$shift($flow) + $slope($flow) * ([$clock now] - $since($flow))}}]
}}

proc shake_packet {{flow}} {{
    global line
    $line(shake$flow) set delay_ [shifted $flow]
}}

proc shake_again {{number way}} {{
    global ns piece line delay
    if {{$piece != $number}} return
    set most [expr {{{step!r} + ($way >= {farther} ? {growth!r} * [$ns now] : 0.0)}}]
    foreach name [array names delay] {{ $line($name) set delay_ [expr {{$delay($name) + $most * rand()}}] }}
    $ns at [expr {{[$ns now] + {interval!r}}}] "shake_again $number $way"
}}

# way: the delay of each flow grows as the others, shrinks, grows more from flow to flow, or less, or as is drawn; or
# nothing changes
proc shake_from {{number way}} {{
    global ns piece line delay rate receiver hold slope since shift
    set piece $number
    set some [expr {{$way != {quiet}}}]
    set now [$ns now]
    expr {{srand(1000 * $number + $way)}}
    set names [lsort -dictionary [array names delay]]
    set place 0.0
    foreach name $names {{
        set place [expr {{$place + 1.0 / [llength $names]}}]
        set share [expr {{$way > 4 ? rand() : $way % 2 ? $place : 1.0 - $place}}]
        $line($name) set delay_ [expr {{$delay($name) + $some * {step!r} * $share}}]
        $line($name) set bandwidth_ [expr {{$rate($name) * (1.0 + $some * {drift!r} * (2.0 * $share - 1.0))}}]
    }}
    set flows [lsort -integer [array names slope]]
    set place 0.0
    foreach flow $flows {{
        set place [expr {{$place + 1.0 / [llength $flows]}}]
        set shift($flow) [expr {{[shifted $flow] + ($way == 2 ? {growth!r} * ({duration!r} - $now) : 0.0)}}]
        set since($flow) $now
        set grown [expr {{$way == 1 ? 1.0 : $way == 2 ? -1.0 : $way == 3 ? $place : $way == 4 ? 1.1 - $place : rand()}}]
        set slope($flow) [expr {{$some * {growth!r} * $grown}}]
    }}
    foreach flow [array names hold] {{
        $receiver($flow) set interval_ [expr {{$hold($flow) + $some * {step!r} * (2.0 * rand() - 1.0)}}]
    }}
    if {{$way >= {again}}} {{ shake_again $number $way }}
}}

foreach name [array names line] {{
    set delay($name) [$line($name) set delay_]
    set rate($name) [$line($name) set bandwidth_]
}}
array set hold [list {holds}]
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a run and how it is shaken.

    Parameters
    ----------
    way : int
        Which of `WAYS` or beyond, or `QUIET`. In 1 the delay of each flow grows, so that a packet that an ACK releases
        comes after what the round before has set going; in 2 it shrinks. In 3 it grows faster from flow to flow, in 4
        more slowly, which parts what two flows do. From 5 on it grows as is drawn, and from 6 on the links' delays are
        drawn again every `INTERVAL_S` too; from 13 on they reach as far as the delay of a flow can have grown, so that
        a packet may come before or after the ACK of another flow. Constant changes grow along the list of links, or
        shrink, or are drawn.
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
    growth : float
        Largest change of a flow's delay in a second [1].
    """

    pieces: tuple[Piece, ...]
    drift: float = DRIFT
    growth: float = GROWTH


def starts(scenario: Scenario, shake: Shake | None) -> list[float]:
    """Return when each flow of a scenario starts, shaken or not [s]."""
    exact = [float(flow["start_s"]) for flow in scenario["flows"]]
    if shake is None or shake.pieces[0].way == QUIET:
        return exact
    random = Mrg32k3a(shake.pieces[0].way)
    return [start + DELAY_S * random.uniform() for start in exact]


def lines(scenario: Scenario, shake: Shake | None) -> list[str]:
    """Return the part of the script that shakes a run: nothing where it is not shaken."""
    if shake is None:
        return []
    connections = [(number, tcp) for number, tcp in enumerate(map(connection, scenario["flows"])) if tcp]
    delayed = [(number, tcp["receiver"]) for number, tcp in connections if tcp["receiver"]["ack_every"] == 2]
    said = PROCEDURES.format(
        step=DELAY_S,
        growth=shake.growth,
        drift=shake.drift,
        interval=INTERVAL_S,
        again=AGAIN,
        farther=FARTHER,
        quiet=QUIET,
        duration=float(scenario["run"]["duration_s"]),
        rate=INFINITE_RATE_BPS,
        unlimited=UNLIMITED,
        holds=" ".join(f"{number} {receiver['ack_delay_s']!r}" for number, receiver in delayed),
    )
    first, *later = enumerate(shake.pieces)
    flows = [f"shake_flow {number}" for number, _ in connections]
    calls = [f'$ns at {piece.from_s!r} "shake_from {number} {piece.way}"' for number, piece in later]
    return [said, *flows, f"shake_from 0 {first[1].way}", *calls, ""]
