"""The common part of the paper's simulations: their settings, how long they run, and what is read off them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Curve
from ackclock.experiments.frame import Measure, Run, Setting, resolved, scenario_tables
from ackclock.models import engset
from ackclock.scenario import Resolved
from ackclock.stats import estimates
from ackclock.transfers import source_rows, transfer_frames

PAPER: Final = "engset"
KILO: Final = 1e3
MEGA: Final = 1e6
PACKET_BITS: Final = 12_000
REPLICATIONS: Final = 4
WARMUP_S: Final = 15.0
FULL_PACKETS: Final = 10_000_000
"""Number of packets of a point in the paper [section 3.4]."""
FILES: Final = (5, 12, 22, 36, 80, 120)
"""Mean file sizes of the paper's simulations, F."""

Law = Literal["E", "EP", "EE"]
LAWS: Final[Mapping[Law, str]] = {
    "E": "exponential",
    "EP": "exponential-pareto",
    "EE": "exponential-exponential",
}

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Web:
    """A setting of the paper, by its letters; the key of its run.

    Parameters
    ----------
    sources, files : int
        N, F [pkt].
    law : str
        E, EP or EE.
    window : int
        W_R [pkt].
    buffer : int, optional
        B [pkt]; None: nothing is dropped.
    capacity, egress, ingress : float
        C, C_3, C_1 [Mbit/s].
    rtt_ms : float
        RTT_0 [ms].
    """

    sources: int
    files: int = 12
    law: Law = "E"
    window: int = 44
    buffer: int | None = None
    capacity: float = 10.0
    egress: float = 2.0
    ingress: float = 100.0
    rtt_ms: float = 50.0
    max_burst: int | None = None

    def __str__(self) -> str:
        buffer = "" if self.buffer is None else f"-B{self.buffer}"
        rates = "-".join(f"{rate:g}M" for rate in (self.ingress, self.capacity, self.egress))
        return f"{rates}-R{self.rtt_ms:g}-F{self.files}-{self.law}-W{self.window}-N{self.sources}{buffer}"

    @property
    def path(self) -> engset.Path:
        """The model's path."""
        return engset.Path(self.rtt_ms / KILO, [MEGA * rate for rate in (self.ingress, self.capacity, self.egress)])

    @property
    def prediction(self) -> engset.Prediction:
        """The model's numbers."""
        return _predicted(self)

    def at_load(self, load: float) -> "Web":
        """Give the number of sources whose open-loop load is nearest."""
        return _at_load(self, load)

    def scenario(self, packets: float, **traces: bool) -> Resolved:
        """Resolve it, with a run in which all replications together have `packets` packets."""
        tables = scenario_tables(PAPER, "web")
        rate = float(self.prediction.utilisation) * self.capacity * MEGA / PACKET_BITS
        duration = WARMUP_S + ceil(packets / REPLICATIONS / rate)
        size = {"law": LAWS[self.law], "mean": f"{self.files} pkt", "min": "3 pkt"}
        if (self.law, self.files) == ("EE", 5):
            size["tail_mean"] = "19.5 pkt"  # omega = 3.9 [section 3.2]
        changes = {
            "link.ingress.rate": f"{self.ingress:g} Mbit/s",
            "link.shared.rate": f"{self.capacity:g} Mbit/s",
            "link.shared.buffer": "unlimited" if self.buffer is None else f"{self.buffer} pkt",
            "link.egress.rate": f"{self.egress:g} Mbit/s",
            "flow.web.count": self.sources,
            "flow.web.rtt": f"{self.rtt_ms:g} ms",
            "flow.web.tcp": {
                "preset": "newreno-engset",
                "max_window": f"{self.window} pkt",
                "max_burst": "unlimited" if self.max_burst is None else self.max_burst,
            },
            "flow.web.traffic": {"kind": "web", "size": size, "off": "1 s"},
            "run.duration": f"{duration:g} s",
            "run.warmup": f"{WARMUP_S:g} s",
            "run.replications": REPLICATIONS,
        }
        return resolved(tables, changes | {f"trace.{name}": True for name in traces if traces[name]})


# Each half of the replications asks for the same numbers again.
@cache
def _predicted(web: Web) -> engset.Prediction:
    buffer = np.inf if web.buffer is None else web.buffer
    return engset.predict(web.path, web.files, web.sources, window=web.window, buffer=buffer)


@cache
def _at_load(web: Web, load: float) -> Web:
    sources = engset.sources_for_load(web.path, web.files, load, window=web.window)
    return replace(web, sources=max(1, round(float(sources))))


def packets(setting: Setting, quick: float) -> float:
    """Choose how many packets a point has: the paper's in the full form."""
    return setting.pick(quick, float(FULL_PACKETS))


def measured(run: Run, quantity: str, scale: float = 1.0) -> Measure:
    """Give a quantity of the sources with its interval, divided by `scale`."""
    (row,) = source_rows(run.resolved, run.replications)
    return _measure(row[quantity], scale)


def rate_kbps(run: Run) -> Measure:
    """Give h, all bits by all time [kbit/s]."""
    return measured(run, "rate_bps", KILO)


def over_replications(run: Run, values: Sequence[float]) -> Measure:
    """Make a mean with its interval of a value a replication."""
    (found,) = estimates(np.array([[value] for value in values]), run.resolved.run.confidence)
    return _measure(found, 1.0)


def _measure(found: Mapping[str, Any], scale: float) -> Measure:
    return Measure(*(np.nan if found[part] is None else found[part] / scale for part in ("mean", "low", "high")))


def loss_percent(run: Run) -> Measure:
    """Give the fraction dropped of the packets that arrived at the shared link [%]."""
    link = shared_link(run)
    counted = [
        (one["links"]["dropped_packets"][link], one["links"]["arrived_packets"][link]) for one in run.replications
    ]
    return over_replications(run, [100.0 * float(dropped) / float(arrived) for dropped, arrived in counted])


def shared_link(run: Run) -> int:
    """Find the shared link."""
    return [link.name for link in run.resolved.elements].index("shared")


def utilisation(run: Run) -> float:
    """Give the part of the time in which the shared link sends."""
    link = shared_link(run)
    busy = sum(float(one["links"]["busy_s"][link]) for one in run.replications)
    return busy / float(len(run.replications) * (run.resolved.run.measured_s))


def totals(run: Run, name: str, key: str) -> Any:
    """Add up what the sources measured over the replications."""
    frame = transfer_frames(run.resolved, run.replications)[name]
    numbers = frame.select_dtypes("number").drop(columns="replication")
    return numbers.groupby(key, as_index=False).sum()


def classes(run: Run) -> Any:
    """Give what was measured by size, over all replications: counts, and means of all transfers of a class."""
    frame = transfer_frames(run.resolved, run.replications)["transfers"]
    frame = frame[frame["transfers"] > 0]
    frame = frame.assign(
        rate_sum=frame["rate_mean_bps"] * frame["transfers"],
        stalled_s=frame["stalled_fraction"] * frame["on_s"],
        seen=(frame["queue_seen_mean_packets"] * frame["arrivals"]).fillna(0.0),
    )
    names = ["transfers", "packets", "on_s", "rate_sum", "stalled_s", "sent_packets", "dropped_packets", "timeouts"]
    names += ["recovery_retransmissions", "failed_recovery_retransmissions", "sending_s", "arrivals", "seen"]
    table = frame.groupby("from_packets")[names].sum()
    table["share_percent"] = 100.0 * table["transfers"] / table["transfers"].sum()
    table["size"] = table["packets"] / table["transfers"]
    table["on_ms"] = KILO * table["on_s"] / table["transfers"]
    table["h_kbps"] = table["packets"] * PACKET_BITS / table["on_s"] / KILO
    table["h2_kbps"] = table["rate_sum"] / table["transfers"] / KILO
    table["stalled_percent"] = 100.0 * table["stalled_s"] / table["on_s"]
    table["queue_seen"] = table["seen"] / table["arrivals"].where(table["arrivals"] > 0)
    return table


def exceedance(run: Run) -> tuple[Values, Values]:
    """Give x and the part of the time with more than x packets at the shared link."""
    frame = run.trace("queue_distribution")
    times = frame[frame["link"] == "shared"].groupby("packets")["time_s"].sum()
    time = times.to_numpy(dtype=float)
    above = np.append(np.cumsum(time[::-1])[::-1][1:], 0.0)
    return times.index.to_numpy(dtype=float), above / time.sum()


def simulated(label: str, x: Sequence[float], found: Sequence[Measure], colour: int | None = None) -> Curve:
    """Make the curve of measures."""
    rows = np.array([[one.value, one.low, one.high] for one in found]).T
    return Curve(label, np.asarray(x, dtype=float), rows[0], "simulation", colour, rows[1], rows[2])


def curve(label: str, x: Any, y: Any, kind: Any = "simulation", colour: int | None = None) -> Curve:
    """Make a curve of anything that numpy takes."""
    return Curve(label, np.asarray(x, dtype=float), np.asarray(y, dtype=float), kind, colour)


def printed(name: str) -> Any:
    """Read a table of the paper from the folder's `printed`."""
    from importlib.resources import files  # noqa: PLC0415

    import pandas as pd  # noqa: PLC0415  half a second that other uses need not pay

    return pd.read_csv(str(files(f"ackclock.experiments.{PAPER}").joinpath("printed", f"{name}.csv")))
