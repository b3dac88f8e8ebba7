import pytest

from crosscheck import ns2


@pytest.fixture
def needs_ns2() -> None:
    """Skip where ns-2 is not installed."""
    if ns2.find_ns() is None:
        pytest.skip(ns2.INSTALL_HINT)
