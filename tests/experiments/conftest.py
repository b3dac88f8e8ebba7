"""All papers in their quick form, made once for the tests that read them."""

from pathlib import Path

import pytest

from ackclock.experiments import Reproduction, reproduce


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reproduction, Path]:
    """Make all papers in their quick form."""
    out = tmp_path_factory.mktemp("papers")
    return reproduce(out=out), out
