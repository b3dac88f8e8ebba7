"""Advice on one topic."""

from typing import Any

import ackclock
from ackclock.advice import Recommendation


def recommended(scenario: Any, topic: str, **arguments: Any) -> Recommendation:
    """Ask for one topic alone: others take as long again."""
    (found,) = ackclock.advise(scenario, topics=[topic], **arguments).recommendations
    return found
