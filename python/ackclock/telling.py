"""`ackclock story`: the losses of a scenario, or the story of one packet or loss."""

from pathlib import Path
from typing import Annotated

import typer

from ackclock.console import console
from ackclock.overriding import Overrides, changes
from ackclock.terminal import as_options, json_text


def print_story(  # noqa: PLR0913  one argument an option
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO", help="A TOML file, the name of a ready scenario, or a saved result's folder."
        ),
    ],
    flow: Annotated[
        str | None, typer.Argument(metavar="[FLOW]", help="Its name, which a packet of several needs.")
    ] = None,
    packet: Annotated[int | None, typer.Argument(metavar="[PACKET]", min=0, help="Its number, from 0 on.")] = None,
    *,
    loss: Annotated[int | None, typer.Option(metavar="N", min=1, help="The N-th loss of the list instead.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    overrides: Overrides = None,
) -> None:
    """Say what happened to a PACKET of SCENARIO: dropped where and why, found by which rule, repaired when, its cost.

    Without PACKET and --loss, list the losses that the senders detected; --loss takes a number of this list. A lone
    argument that is a number is the packet of the only flow. All is of the first replication.
    """
    from ackclock import storage  # noqa: PLC0415
    from ackclock.api import resolve_with_warnings, simulate  # noqa: PLC0415
    from ackclock.result import Result  # noqa: PLC0415

    if (scenario / storage.RESULT).is_file() and not overrides:
        result = Result.load(scenario)
    else:
        resolved, _ = resolve_with_warnings(scenario, changes(overrides))
        result = simulate(resolved, picture=False)
    names = result.resolved.flow_names
    if (
        flow is not None
        and flow.isdecimal()
        and packet is None
        and loss is None
        and len(names) == 1 != names.count(flow)
    ):
        packet, flow = int(flow), None
    with as_options({"flow": "FLOW", "packet": "PACKET", "loss": "--loss"}, "PACKET, --loss"):
        told = result.losses(flow) if packet is None and loss is None else result.story(flow, packet, loss=loss)
    if as_json:
        typer.echo(json_text(told.to_dict()))
    else:
        console().print(told)
