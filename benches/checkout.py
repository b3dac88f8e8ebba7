"""Runs the engine of a checkout: of this one, or of another whose cost is compared with it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benches.cost import Cost


@dataclass(frozen=True)
class Checkout:
    """A checkout of ackclock with its engine built; its own Python code resolves scenarios and runs them.

    Parameters
    ----------
    root : Path
        The checkout's folder.
    """

    root: Path

    def scenarios(self) -> dict[str, Path]:
        """Return this checkout's scenarios by name."""
        folder = self.root / "benches" / "scenarios"
        return {path.stem: path for path in sorted(folder.glob("*.toml"))}

    def has_engine(self) -> bool:
        """Say whether the engine has been built in place."""
        return any((self.root / "python" / "ackclock").glob("_engine*.so"))

    def resolve(self, path: Path, tcp: str | None = None, changes: tuple[str, ...] = ()) -> dict[str, Any]:
        """Resolve a scenario, with another preset of TCP for its flows if one is given, and with other changes."""
        found = self._resolve(path.resolve())
        if tcp is None:
            return found
        more = [f"flow.{flow['name']}.tcp={tcp}" for flow in found["flows"]]
        return self._resolve(path.resolve(), *(f"--set={change}" for change in (*more, *changes)))

    def _resolve(self, path: Path, *options: str) -> dict[str, Any]:
        return dict(json.loads(_resolved_text(self, path, path.read_text(encoding="utf-8"), options)))

    def run(self, resolved: dict[str, Any]) -> Cost:
        """Run a resolved scenario in a process of its own, so that the peak of memory is the run's."""
        return Cost(**json.loads(self.python("benches.one_run", text=json.dumps(resolved))))

    def python(self, module: str, *arguments: str, text: str | None = None) -> str:
        """Run a module of this checkout in a process of its own, and return what it prints."""
        root = self.root.resolve()
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "python"), str(root)])}
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            input=text,
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"bench: {module} failed in {self.root}\n{done.stderr}")
        return done.stdout


@cache
def _resolved_text(checkout: Checkout, path: Path, _text: str, options: tuple[str, ...]) -> str:
    """Resolve a scenario in a process of the checkout, once for all rows that have it, while its text is the same."""
    return checkout.python("ackclock", "resolve", str(path), *options)


HERE = Checkout(Path(__file__).parents[1])


def shortened(resolved: dict[str, Any], share: float) -> dict[str, Any]:
    """Return the resolved scenario with a share of its duration."""
    run = resolved["run"]
    return resolved | {"run": run | {"duration_s": run["duration_s"] * share}}
