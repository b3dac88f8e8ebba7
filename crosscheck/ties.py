"""Find where ns-2's own answer depends on the order of simultaneous events."""

from crosscheck import ns2
from crosscheck.outcome import Outcome, compare_outcomes
from crosscheck.subset import Scenario

SHAKES = range(1, 9)
"""Seeds of the shaken runs; where two events are simultaneous, each is another throw of the same coin."""


def tied(scenario: Scenario, outcome: Outcome, wanted: list[int | None]) -> bool:
    """Return whether ns-2 itself differs by then once the links' delays are shaken by picoseconds.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.
    outcome : Outcome
        What ns-2 said of it.
    wanted : list of int or None
        For each flow the change from which on the answer is in doubt; `None` if it is not.

    Returns
    -------
    bool
        Whether, in one of the shaken runs or another, each flow in doubt has parted from `outcome` at that change or
        before. From there on nothing can be compared: two events fall on one instant, and rounding decides which
        comes first.
    """
    doubtful = {flow: change for flow, change in enumerate(wanted) if change is not None}
    for shake in SHAKES:
        verdicts = compare_outcomes(scenario, outcome, ns2.run(scenario, shake=shake))
        doubtful = {
            flow: change
            for flow, change in doubtful.items()
            if verdicts[flow].passed or verdicts[flow].compared > change
        }
        if not doubtful:
            return True
    return False
