"""The command line: `ackclock --help`. Imports what a command needs when it runs, so that help comes at once."""

import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import ackclock
from ackclock import listings, telling, varying
from ackclock.console import console, print_run
from ackclock.overriding import Limit, Overrides, assignment, changes
from ackclock.progress import ProgressBar
from ackclock.terminal import INTERRUPTED, as_options, faults_as_text, json_text, prepare_streams

if TYPE_CHECKING:
    from ackclock.comparison import Comparison
    from ackclock.scenario import Resolved

COMPARE_S, DRAW_S = 0.4, 0.9
"""Usual processor time of what comes after the runs [s]: the theory, a picture."""

app = typer.Typer(
    help="TCP performance laboratory: simulates a path and its traffic from one TOML file. "
    "`ackclock scenarios` lists what is ready to run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ScenarioPath = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="A TOML file, or the name of a ready scenario.", show_default=False)
]


def main() -> None:
    """Run the command line."""
    prepare_streams()
    with faults_as_text(), _without_dask():
        app()


@contextmanager
def _without_dask() -> Iterator[None]:
    """Keep pint and xarray from importing dask, which takes as long as pint itself; only a cluster needs it."""
    modules: MutableMapping[str, Any] = sys.modules
    modules.setdefault("dask", None)  # None there keeps a module from being imported
    try:
        yield
    finally:
        if modules.get("dask", sys) is None:
            del modules["dask"]


def _print_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        typer.echo(f"ackclock {ackclock.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(short_help="Simulate a scenario: tables, a verdict, a picture.")
def run(  # noqa: PLR0913  one argument an option
    scenario: ScenarioPath,
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep result.json, traces, captures and picture in this folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary alone, as JSON.")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of all random streams (run.seed).")] = None,
    replications: Annotated[int | None, typer.Option(help="Independent runs (run.replications).")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Replications at a time; all cores by default.")] = None,
    overrides: Overrides = None,
    limit: Limit = None,
    picture: Annotated[
        bool, typer.Option("--picture/--no-picture", help="Draw cwnd and queues. Default: unless --json without --out.")
    ] = True,
) -> None:
    """Simulate SCENARIO; print its flows, links, a verdict and the theory, and draw cwnd and queues.

    The picture goes to DIR with --out, else into the current folder: geo.png for geo.toml, geo-2.png if there is one.
    Ctrl-C keeps the replications that are finished. Exit status: 0, 2 for bad input, 130 after Ctrl-C.
    """
    from ackclock import api, folders, storage  # noqa: PLC0415

    picture = picture and (out is not None or not as_json)
    resolved, warnings = api.resolve_with_warnings(scenario, changes(overrides, seed, replications))
    if out is not None or picture:
        names = () if out is None else (storage.RESULT, *storage.PICTURES)
        within = () if out is None else (storage.TRACE_FOLDER, storage.CAPTURE_FOLDER)
        folders.prepare_folder(Path() if out is None else out, names, within)
    comparison = _simulate(resolved, warnings, picture=picture, threads=threads, limit=limit or None)
    result = comparison.result
    print_run(comparison, as_json=as_json)
    _keep(comparison, out, storage.free_path(Path(f"{scenario.stem}.png")) if picture else None, as_json=as_json)
    if result.interrupted:
        typer.echo(
            f"Interrupted: {result.summary['replications']} of {resolved.run.replications} "
            "replications had finished; the numbers are theirs",
            err=True,
        )
        raise typer.Exit(INTERRUPTED)


def _simulate(resolved: "Resolved", warnings: list[str], *, picture: bool, **how: Any) -> "Comparison":
    """Simulate a scenario and compare it with theory; what is printed and drawn then is in the time left too."""
    from ackclock import api  # noqa: PLC0415
    from ackclock.comparison import compare  # noqa: PLC0415

    if said := api.said_before(resolved, how["threads"]):
        typer.echo(said, err=True)
    with ProgressBar(steps=1, step_s=COMPARE_S + DRAW_S * picture) as bar:
        try:
            result = api.simulate(resolved, warnings, picture=picture, on_progress=bar, **how)
        except KeyboardInterrupt:
            typer.echo("Interrupted before a replication had finished: nothing to save", err=True)
            raise typer.Exit(INTERRUPTED) from None
        bar.step("comparing with theory")
        return compare(result)


def _keep(comparison: "Comparison", out: Path | None, picture: Path | None, *, as_json: bool) -> None:
    """Save the result's folder, or its picture alone; with --json, standard output is not for this."""
    result = comparison.result
    if out is not None:
        result.save(out, picture=picture is not None, reference_lines=comparison.reference_lines)
        typer.echo(f"Result: {out}", err=as_json)
        picture = picture and out / "picture.png"
    elif picture is not None:
        result.save_picture(picture, comparison.reference_lines)
    if picture is not None:
        typer.echo(f"Picture: {picture}", err=as_json)


@app.command("predict", short_help="Say what the models predict of a scenario; simulate nothing.")
def predict(
    scenario: ScenarioPath,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the prediction as JSON.")] = False,
    overrides: Overrides = None,
) -> None:
    """Say which models apply to SCENARIO and what they predict, and why the others do not."""
    from ackclock import api  # noqa: PLC0415

    prediction = api.predict(scenario, overrides=changes(overrides))
    if as_json:
        typer.echo(json_text(prediction.to_dict()))
    else:
        console().print(prediction)


@app.command("advise", short_help="Say what to change, by which rule, and what a simulation makes of it.")
def advise(  # noqa: PLR0913  one argument an option
    scenario: ScenarioPath,
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep advice.json, and the picture queues.png, in this folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the advice as JSON.")] = False,
    simulate: Annotated[
        bool, typer.Option("--simulate/--no-simulate", help="Try each recommendation by a simulation: before, after.")
    ] = True,
    topics: Annotated[
        list[str] | None, typer.Option("--topic", metavar="TOPIC", help="Answer this question alone. May be repeated.")
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="NAME=VALUE",
            help="What a buffer or a window is to reach: utilisation=99% (of that with an ample one), loss=1%, "
            "rtt-p95=50ms. May be repeated.",
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Simulations at a time; all cores by default.")] = None,
    overrides: Overrides = None,
    limit: Limit = None,
    picture: Annotated[
        bool, typer.Option("--picture/--no-picture", help="Draw the queues that are compared. Default: unless --json.")
    ] = True,
) -> None:
    """Say what to change on SCENARIO's path: what a simulation has borne out, next to what rules say.

    Buffers and windows are searched: the smallest that meets the targets, which are 99% of the utilisation that an
    ample one gives, and for web sources a loss of at most 1%, unless --target names others. Where packets wait long, or
    with --topic which-queue, queues are compared: the present one, a smaller buffer, CoDel, PIE, FQ-CoDel, SFQ, others.
    Their picture goes to DIR with --out, else into the current folder: geo-queues.png for geo.toml.
    """
    from ackclock import folders, storage  # noqa: PLC0415
    from ackclock.advice import advise as ask  # noqa: PLC0415
    from ackclock.advice import records  # noqa: PLC0415

    named = [assignment(text, "--target", "rtt-p95=50ms") for text in targets or ()]
    if out is not None:
        folders.prepare_folder(out, records.FILES)
    try:
        with ProgressBar("simulating") as bar:
            advice = ask(
                scenario,
                overrides=changes(overrides),
                topics=topics or None,
                # As text: a time needs its unit.
                targets={name: str(value) for name, value in named} if named else None,
                simulate=simulate,
                threads=threads,
                on_step=lambda what: _tell(what, bar),
                on_estimate=lambda said: typer.echo(said, err=True),
                limit=limit or None,
            )
    except KeyboardInterrupt:
        typer.echo("Interrupted: advice needs all its simulations, nothing to save", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        typer.echo(json_text(advice.to_dict()))
    else:
        console().print(advice)
    if out is not None:
        advice.save(out, picture=picture)
        typer.echo(f"\nAdvice: {out}", err=as_json)
    elif picture and not as_json and advice.charts():
        path = storage.free_path(Path(f"{scenario.stem}-queues.png"))
        folders.write_file(path, advice.save_picture)
        typer.echo(f"\nPicture: {path}")


app.command("sweep", short_help="Simulate a scenario at each point of some axes.")(varying.print_sweep)


@app.command("reproduce", short_help="Make the papers' figures and tables again, and judge them.")
def reproduce(  # noqa: PLR0913  one argument an option
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER[/ITEM]]...",
            help='Such as bottlenecks/figure-4, "RR-3620/fig. 4" or "Table 7"; all by default.',
        ),
    ] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="The papers' lengths and all points; minutes.")] = False,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Simulations, and in its folders quick and full what they show: the report."),
    ] = Path("results/papers"),
    jobs: Annotated[int | None, typer.Option(min=1, help="Simulations at a time; all cores by default.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run them on this dask.distributed scheduler's workers.")
    ] = None,
    overrides: Overrides = None,
    as_list: Annotated[bool, typer.Option("--list", help="List papers and items; make nothing.")] = False,
) -> None:
    """Make the figures and tables of the papers again, next to what the papers say; report.html shows all.

    The report keeps the items of earlier calls. With --set, scenarios that have the field are changed, and the report,
    in a folder of its own, says so; `*` in a name fits several: link.node*.buffer. Finished simulations are kept: the
    same command goes on where an earlier one was interrupted or killed. Exit status: 0 whatever the verdicts are, 2 for
    bad input, 130 after Ctrl-C.
    """
    from ackclock import experiments  # noqa: PLC0415
    from ackclock.experiments.report import print_items  # noqa: PLC0415

    if as_list:
        print_items(experiments.chosen(names or []), console())
        return
    changed = changes(overrides)
    try:
        with ProgressBar("simulating") as bar:
            made = experiments.reproduce(
                names or [],
                full=full,
                overrides=changed,
                out=out,
                jobs=jobs,
                cluster=cluster,
                on_progress=bar,
                on_step=bar.step,
                on_plan=bar.plan,
            )
    except KeyboardInterrupt:
        typer.echo(f"Interrupted: the finished simulations are kept in {out}; the same command goes on", err=True)
        raise typer.Exit(INTERRUPTED) from None
    console().print(made)
    folder = experiments.report_folder(out, full=full, overrides=changed)
    typer.echo(f"Report: {folder / 'report.html'}")


def _tell(what: str, bar: ProgressBar) -> None:
    """Say what is being done, to people at each step, and to files and pipes now and then."""
    if sys.stderr.isatty():
        typer.echo(f"Simulating {what} ...", err=True)
    else:
        bar.step(f"simulating {what}")


@app.command("resolve", short_help="Print a scenario in SI units, nothing implicit (JSON).")
def print_resolved(scenario: ScenarioPath, overrides: Overrides = None) -> None:
    """Print SCENARIO as the engine gets it: JSON in SI units, nothing implicit."""
    from ackclock import api  # noqa: PLC0415

    typer.echo(json_text(api.resolve(scenario, overrides=changes(overrides)).to_dict()))


@app.command("check", short_help="Say what is wrong with a scenario; run nothing.")
def check(scenario: ScenarioPath, overrides: Overrides = None) -> None:
    """Say what is wrong with SCENARIO, without running it."""
    from ackclock import api  # noqa: PLC0415

    _, warnings = api.resolve_with_warnings(scenario, changes(overrides))
    for warning in warnings:
        typer.echo(f"Warning: {warning}")
    typer.echo(f"{scenario}: no faults")


@app.command("deliveries", short_help="Write a link's rate as a packet-delivery file of Mahimahi.")
def deliveries(
    scenario: ScenarioPath,
    link: Annotated[str, typer.Argument(metavar="LINK", help="Its name; NAME.reverse is the other direction.")],
    *,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The file to write, in a folder that is created where it is missing.")
    ],
    replication: Annotated[int, typer.Option(min=0, help="Replication whose random rate is written.")] = 0,
    overrides: Overrides = None,
) -> None:
    """Write the rate of a LINK of SCENARIO as a packet-delivery file, which mm-link of Mahimahi reads.

    Each line is an instant at which the link, if it is always busy, has delivered 1504 bytes more [ms]. The file lasts
    as long as the run.
    """
    from ackclock import folders, mahimahi  # noqa: PLC0415

    with as_options({"link": "LINK", "replication": "--replication"}, "deliveries"):
        times_ms = mahimahi.deliveries(scenario, link, replication=replication, overrides=changes(overrides))
    folders.prepare_folder(out.parent, (out.name,))
    mahimahi.write_deliveries(out, times_ms)
    typer.echo(f"{len(times_ms)} deliveries in {times_ms[-1] / 1e3:g} s: {out}")


@app.command("lab", short_help="Open a page on which a scenario is changed and its curves follow at once.")
def lab(
    scenario: Annotated[
        str | None,
        typer.Argument(metavar="[SCENARIO]", help="A TOML file, a ready scenario's name, or an address to share."),
    ] = None,
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for one that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> None:
    """Serve a page on this machine alone, print its address, and open it in a browser; Ctrl-C ends it."""
    from ackclock.lab.serving import serve  # noqa: PLC0415

    serve(scenario, port=port, browser=browser)


app.command("story", short_help="Say what happened to a packet, or list the losses.")(telling.print_story)
app.command("scenarios")(listings.print_scenarios)
app.command("presets")(listings.print_presets)
app.command("schema")(listings.print_schema)
