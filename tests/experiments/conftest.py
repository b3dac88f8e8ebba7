"""All papers in their quick form, made once for the tests that read them."""

from pathlib import Path

import pytest

from ackclock.experiments import Reproduction, reproduce


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests that read the papers to one worker, which makes them once."""
    for item in items:
        if "made" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("papers"))


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reproduction, Path]:
    """Make all papers in their quick form."""
    out = tmp_path_factory.mktemp("papers")
    return reproduce(out=out), out
