"""The stories of packets and of losses: where each copy was, and what the sender made of it."""

from ackclock.stories.captured import departures
from ackclock.stories.followed import followed, followed_scenario
from ackclock.stories.journeys import Journey, journeys, plain
from ackclock.stories.story import LOSSES, LossList, Story, losses_of, story_of_loss, story_of_packet
from ackclock.stories.told import stories

__all__ = [
    "LOSSES",
    "Journey",
    "LossList",
    "Story",
    "departures",
    "followed",
    "followed_scenario",
    "journeys",
    "losses_of",
    "plain",
    "stories",
    "story_of_loss",
    "story_of_packet",
]
