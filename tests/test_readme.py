"""What the README shows is what the programs print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ackclock.scenario import load, resolve

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)


def printed(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "ackclock", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, check=False)


def trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def block(start: str) -> str:
    return next(text for _, text in BLOCKS if text.startswith(start))


def test_the_scenario_of_the_readme_is_the_ready_one() -> None:
    ready = ROOT / "scenarios" / "geo-retransmission-loss.toml"
    shown = next(text for language, text in BLOCKS if language == "toml")
    assert resolve(load(shown)).to_dict() == resolve(load(ready)).to_dict()


def test_the_run_of_the_readme_prints_what_it_shows(tmp_path: Path) -> None:
    command, *shown = trimmed(block("$ .venv/bin/ackclock run"))
    arguments = command.removeprefix("$ .venv/bin/ackclock ").split()
    out = arguments[-1]
    arguments[-1] = str(tmp_path / "out")
    lines = trimmed(printed(*arguments).stdout)
    # Where the files went is wrapped by its length.
    places = [index for index, line in enumerate(lines) if line.startswith("Result:")]
    assert lines[: places[0]] == [line for line in shown if out not in line]


def test_the_advice_of_the_readme_begins_as_it_shows() -> None:
    command, *shown = trimmed(block("$ .venv/bin/ackclock advise"))
    lines = trimmed(printed(*command.removeprefix("$ .venv/bin/ackclock ").split()).stdout)
    assert lines[: len(shown)] == shown


def test_the_faults_of_the_readme_are_what_check_prints(tmp_path: Path) -> None:
    shown = block("demo.toml: ")
    text = (
        'title = "a mistake or two"\n\n[[link]]\nname = "satellite"\nrate = 1.5\nbufer = "18 pkt"\n\n'
        '[[flow]]\npath = ["satelite"]\nrtt = "560 m"\n\n[run]\nduration = "150 s"\n'
    )
    (tmp_path / "demo.toml").write_text(text, encoding="utf-8")
    done = printed("check", "demo.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert trimmed(done.stderr) == trimmed(shown)


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#:]+)\)", README))
def test_the_links_of_the_readme_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


@pytest.mark.parametrize("page", ["README.md", "docs/scenario.md"])
def test_the_python_of_a_page_runs(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE))
    assert "import ackclock" in code
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
