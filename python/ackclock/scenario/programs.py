"""Congestion controls that are given to a run: classes of Python, by the name that scenarios give."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.scenario.contract import CHECKED, CONGESTION_CONTROLS

if TYPE_CHECKING:
    from ackclock.controls import Controllers


@dataclass(frozen=True, slots=True)
class ControlProgram:
    """The class of a congestion control that is given to a run.

    Parameters
    ----------
    name : str
        Its module and name.
    digest : str, optional
        Digest of its source; None if that is not known, so that no stored point can be named by it.
    """

    __pydantic_config__ = CHECKED
    name: str
    digest: str | None


def programs_of(controllers: "Controllers | None") -> Mapping[str, ControlProgram]:
    """Check the classes that a function was given, and identify them.

    Parameters
    ----------
    controllers : mapping of str to type, optional
        The classes by name.

    Returns
    -------
    mapping of str to ControlProgram
        Their names and digests.

    Raises
    ------
    ArgumentError
        If one is not a congestion control, or has the name of one of the engine's.
    """
    if controllers is None:
        return {}
    # Both need the engine, which reading does not.
    from ackclock.control_identity import identity  # noqa: PLC0415
    from ackclock.controls import check_controllers  # noqa: PLC0415

    check_controllers(controllers, tuple(CONGESTION_CONTROLS))
    return {name: ControlProgram(*identity(control)) for name, control in controllers.items()}
