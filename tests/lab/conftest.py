from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benches.browser import Lab, served


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with served() as found:
        yield found


@pytest.fixture
def lab(browser: Any, address: str, tmp_path: Path) -> Iterator[Lab]:
    """The page as it is first opened, which must have no error when the test ends."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    page = Lab(context.new_page()).open(address)
    yield page
    context.close()
    assert page.faults == []
