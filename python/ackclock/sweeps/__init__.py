"""Sweeps: a list of resolved scenarios, made from a scenario and axes, run on all cores or on a cluster.

`ackclock.sweep` is the way in. Each finished point is kept by its content, so that a run that was interrupted goes on,
and a changed scenario or engine computes again what it touches, and nothing else.
"""

from ackclock.sweeps.axes import Axis, by_fields, parse_axis
from ackclock.sweeps.plan import MOST_POINTS, Plan, Point, plan
from ackclock.sweeps.record import packets_of, point_key
from ackclock.sweeps.running import Ran, run_points, said_before
from ackclock.sweeps.store import Folder, Memory, Store
from ackclock.sweeps.sweeping import collected, csv_writer, netcdf_writer, open_store, planned_sweep, run_planned, sweep

__all__ = [
    "MOST_POINTS",
    "Axis",
    "Folder",
    "Memory",
    "Plan",
    "Point",
    "Ran",
    "Store",
    "by_fields",
    "collected",
    "csv_writer",
    "netcdf_writer",
    "open_store",
    "packets_of",
    "parse_axis",
    "plan",
    "planned_sweep",
    "point_key",
    "run_planned",
    "run_points",
    "said_before",
    "sweep",
]
