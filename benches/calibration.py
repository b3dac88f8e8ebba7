"""A fixed piece of work, by whose cost machines are compared: `calibrate.rs`."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from benches.cost import children_cpu_s

SOURCE = Path(__file__).with_name("calibrate.rs")
# The flags of .cargo/config.toml and of a release; apart from Cargo, so that no change of a profile changes them.
COMPILE = ["rustc", "--edition=2021", "-Copt-level=3", "-Cllvm-args=-align-loops=64", str(SOURCE), "-o"]


@dataclass(frozen=True)
class Calibration:
    """The compiled work.

    Parameters
    ----------
    program : Path
        The executable.
    """

    program: Path

    @classmethod
    def compiled(cls, folder: Path) -> "Calibration":
        """Compile the work into a folder."""
        program = folder / "calibrate"
        subprocess.run([*COMPILE, str(program)], check=True)
        return cls(program)

    def ns_per_step(self) -> float:
        """Do the work; return the CPU time of one of its steps [ns]."""
        before = children_cpu_s()
        done = subprocess.run([str(self.program)], stdout=subprocess.PIPE, text=True, check=True)
        return 1e9 * (children_cpu_s() - before) / int(done.stdout)


def compiler() -> str:
    """Return the name and version of the compiler."""
    return subprocess.run(["rustc", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()  # noqa: S607
