"""`ackclock sweep`: a scenario at each point of some axes, as a table, and as files in a folder."""

from pathlib import Path
from typing import Annotated

import typer

from ackclock.console import console
from ackclock.overriding import Limit, Overrides, changes
from ackclock.progress import ProgressBar
from ackclock.terminal import INTERRUPTED

DRAW_S, POINT_S = 0.9, 0.004
"""Usual processor time of what comes after the runs [s]: the picture, a point's rows."""


def print_sweep(  # noqa: PLR0913  one argument an option
    scenario: Annotated[
        Path,
        typer.Argument(metavar="SCENARIO", help="A TOML file, or the name of a ready scenario.", show_default=False),
    ],
    *,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="FIELD=VALUES",
            help='An axis: link.satellite.buffer="10:60:2 pkt" (start, stop, step) or ="10,20,40 pkt". '
            'Several: their product. "FIELD=VALUES & FIELD=VALUES" change in step.',
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Keep data, tables, picture and each finished point in this folder.")
    ],
    jobs: Annotated[int | None, typer.Option(min=1, help="Points at a time; all cores by default.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run the points on this dask.distributed scheduler's workers.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random streams (run.seed).")] = None,
    replications: Annotated[int | None, typer.Option(help="Independent runs a point (run.replications).")] = None,
    overrides: Overrides = None,
    limit: Limit = None,
) -> None:
    """Simulate SCENARIO at each point of the axes; print a table of the points, and write files to DIR.

    The files are labelled data (NetCDF), tables (CSV) and a picture.

    A bare number has the unit with which the scenario writes the field. Each finished point is kept at once: the same
    command goes on where an earlier one was interrupted or killed. Exit status: 0, 2 for bad input, 130 after Ctrl-C.
    """
    from ackclock import sweeps  # noqa: PLC0415

    axes = sweeps.by_fields([sweeps.parse_axis(text) for text in vary])
    planned = sweeps.planned_sweep(scenario, axes, changes(overrides, seed, replications))
    store = sweeps.open_store(out)
    if said := sweeps.said_before([point.resolved for point in planned.points], store, jobs):
        typer.echo(said, err=True)
    try:
        after_s = DRAW_S + POINT_S * len(planned.points)
        with ProgressBar(f"{len(planned.points)} points", steps=1, step_s=after_s) as bar:
            ran = sweeps.run_planned(planned, store, jobs=jobs, cluster=cluster, on_progress=bar, limit=limit or None)
            bar.step("drawing")
            data = sweeps.collected(planned, store, out)
    except KeyboardInterrupt:
        typer.echo(f"Interrupted: the finished points are saved in {out}; run the same command to resume", err=True)
        raise typer.Exit(INTERRUPTED) from None
    console().print(data.ackclock)
    typer.echo()
    for warning, count in planned.warnings.items():
        typer.echo(f"Warning (at {count} of {len(planned.points)} points): {warning}")
    typer.echo(f"{ran.points} point{'s' * (ran.points != 1)} ({ran.points - ran.computed} cached)")
    tables = f"Tables: {out / 'flows.csv'}, {out / 'links.csv'}"
    typer.echo(f"Data: {out / 'sweep.nc'}\n{tables}\nPicture: {out / 'picture.png'}")
