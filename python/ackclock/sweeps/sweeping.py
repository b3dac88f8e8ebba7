"""The one call from a scenario and axes to a dataset and a folder."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

from ackclock import folders, storage
from ackclock import scenario as scenarios
from ackclock.errors import EngineError, LongRunWarning
from ackclock.scenario.arguments import (
    COUNT,
    FUNCTION,
    OVERRIDES,
    PATH,
    TEXT,
    check_arguments,
    instance_of,
)
from ackclock.scenario.override import with_run_fields
from ackclock.scenario.scenario import ORIGIN_OR_SCENARIO
from ackclock.sweeps.axes import axes_of
from ackclock.sweeps.charting import sweep_chart
from ackclock.sweeps.dataset import Finished, as_dataset, finished_points
from ackclock.sweeps.plan import Plan, plan
from ackclock.sweeps.record import point_key
from ackclock.sweeps.running import OnProgress, PointError, Ran, run_points, said_before
from ackclock.sweeps.store import Folder, Memory, Store
from ackclock.sweeps.tables import class_table, completion_table, flow_table, link_table, ping_table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from ackclock.controls import Controllers

POINTS = "points"
FILES = ("flows.csv", "links.csv", "completions.csv", "pings.csv", "classes.csv", *storage.PICTURES, "sweep.nc")
"""The files of a sweep next to its points, as far as it has them; the last one is written last."""

_AXES = instance_of('a mapping of dotted paths to values, such as {"run.seed": [1, 2]}', Mapping)


def sweep(  # noqa: PLR0913  all but two by name
    scenario: "str | Path | Mapping[str, Any] | scenarios.Scenario",
    vary: Mapping[Any, Sequence[Any]],
    *,
    overrides: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    on_progress: OnProgress | None = None,
    limit: str | Sequence[str] | None = None,
    controllers: "Controllers | None" = None,
    **run_fields: Any,
) -> "xr.Dataset":
    """Simulate a scenario at each point of some axes.

    Parameters
    ----------
    scenario : str, Path, mapping or Scenario
        As `run` takes it.
    vary : mapping
        By dotted path the values that the field takes, or the same as text: ``{"link.satellite.buffer": "10:60:2"}``.
        A tuple of paths has tuples of values, which change in step. Several entries: their product. Bare numbers have
        the unit with which the scenario writes the field.
    overrides : mapping of str to object, optional
        Fields to change at every point.
    out : str or Path, optional
        A folder for the data, tables and picture, and for each finished point: the same call goes on where an earlier
        one was interrupted or killed.
    jobs : int, optional
        Points at a time, all cores by default.
    cluster : str, optional
        Address of a dask.distributed scheduler that runs the points instead.
    on_progress : callable, optional
        Gets the fraction done and the points finished, about ten times a second.
    limit : str or sequence of str, optional
        What all points together may be expected to take, as `run` takes it.
    controllers : mapping of str to type, optional
        Congestion controls of your own, as `run` takes them. Points with one run one at a time, on no cluster; a folder
        keeps them by the source of the class, and refuses a class whose source is not known.
    **run_fields
        Fields of [run] to change: ``replications=20``, ``duration="500 s"``.

    Returns
    -------
    xarray.Dataset
        Dimensions: the axes, then replication, flow and link; simulated quantities, and the models'
        predictions. The same for any number of jobs, and on a cluster.

    Raises
    ------
    SweepError
        If the axes are wrong, there is no such cluster, or it is to run a controller, or `out` to keep one whose source
        is not known.
    ScenarioError
        With all that is wrong with a point.
    LimitError
        If the points are expected to take more than the limit; none has run then.
    KeyboardInterrupt
        After Ctrl-C; what had finished is kept where `out` is given.

    Examples
    --------
    >>> import ackclock
    >>> data = ackclock.sweep("geo-two-nodes", {"link.satellite.buffer": "10:60:10"})  # doctest: +SKIP
    >>> data.flow_throughput_bps.mean("replication")  # doctest: +SKIP
    """
    check_arguments(
        "sweep",
        scenario=(scenario, ORIGIN_OR_SCENARIO),
        vary=(vary, _AXES),
        overrides=(overrides, OVERRIDES.or_none()),
        out=(out, PATH.or_none()),
        jobs=(jobs, COUNT.or_none()),
        cluster=(cluster, TEXT.or_none()),
        on_progress=(on_progress, FUNCTION.or_none()),
    )
    planned = planned_sweep(scenario, vary, with_run_fields("sweep", overrides, run_fields), controllers)
    store = open_store(out)
    points = [point.resolved for point in planned.points]
    said = said_before(points, store, jobs)
    if said is not None:
        warn(said, LongRunWarning, stacklevel=2)
    with _naming_the_point(planned):
        run_points(
            points, store, jobs=jobs, cluster=cluster, on_progress=on_progress, limit=limit, controllers=controllers
        )
    return collected(planned, store, None if out is None else Path(out))


def planned_sweep(
    scenario: "str | Path | Mapping[str, Any] | scenarios.Scenario",
    vary: Mapping[Any, Sequence[Any]],
    overrides: Mapping[str, Any],
    controllers: "Controllers | None" = None,
) -> Plan:
    """Make the list of resolved scenarios; parameters and exceptions are those of `sweep`."""
    check_arguments(
        "planned_sweep",
        scenario=(scenario, ORIGIN_OR_SCENARIO),
        vary=(vary, _AXES),
        overrides=(overrides, OVERRIDES.or_none()),
    )
    loaded = scenarios.loaded(scenario, overrides, controllers=controllers)
    return plan(loaded, axes_of(vary, loaded))


def open_store(out: str | Path | None) -> Store:
    """Open the store of points of a folder, or one in memory."""
    if out is None:
        return Memory()
    folders.prepare_folder(Path(out), FILES)
    return Folder(Path(out) / POINTS)


def run_planned(  # noqa: PLR0913  all but two by name
    planned: Plan,
    store: Store,
    *,
    jobs: int | None,
    cluster: str | None,
    on_progress: OnProgress,
    limit: Sequence[str] | None,
) -> Ran:
    """Run the points of a plan that its store does not have; parameters and exceptions are those of `run_points`."""
    points = [point.resolved for point in planned.points]
    with _naming_the_point(planned):
        return run_points(points, store, jobs=jobs, cluster=cluster, on_progress=on_progress, limit=limit)


@contextmanager
def _naming_the_point(planned: Plan) -> Iterator[None]:
    """Say in an error of the engine's which point it is of."""
    try:
        yield
    except PointError as error:
        of_key = (point for point in planned.points if point_key(point.resolved) == error.key)
        raise EngineError(f"at {next(of_key).written}: {error}") from error.__cause__


def collected(planned: Plan, store: Store, out: Path | None) -> "xr.Dataset":
    """Collect the finished points into a dataset, and into the folder: data, tables, picture."""
    finished = list(finished_points(planned, store))
    dataset = as_dataset(planned, finished)
    if out is not None:
        from ackclock.plots import chart_picture  # noqa: PLC0415  half a second that data need not pay

        picture = chart_picture(sweep_chart(planned, finished))
        writers: dict[str, folders.Writer] = {
            "flows.csv": csv_writer(flow_table(planned, finished)),
            "links.csv": csv_writer(link_table(planned, finished)),
            **_tables_of_groups(planned, finished),
            **dict.fromkeys(storage.PICTURES, picture.save),
            "sweep.nc": netcdf_writer(dataset),
        }
        folders.write_files(out, writers, "sweep")
    return dataset


def _tables_of_groups(planned: Plan, finished: list[Finished]) -> dict[str, folders.Writer]:
    """Make what writes the tables of completion times and pings, if there are any."""
    tables = {
        "completions.csv": completion_table(planned, finished),
        "pings.csv": ping_table(planned, finished),
        "classes.csv": class_table(planned, finished),
    }
    return {name: csv_writer(table) for name, table in tables.items() if not table.empty}


def netcdf_writer(dataset: "xr.Dataset") -> folders.Writer:
    """Make what writes a NetCDF file; the same data give the same bytes."""
    # NetCDF 3 by scipy, which is there anyway: no compiled HDF5, no time stamps, and everything reads it.
    return lambda path: dataset.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


def csv_writer(frame: "pd.DataFrame") -> folders.Writer:
    """Make what writes a CSV file."""
    return lambda path: frame.to_csv(path, index=False, lineterminator="\n")
