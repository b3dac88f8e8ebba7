"""Requests that are not what the page sends are refused with a message."""

import pytest

from ackclock.errors import ArgumentError
from ackclock.lab.requests import changes_of, columns_of, number_of, range_of, read_request, text_of


@pytest.mark.parametrize("body", [b"", b"x", b"[]", b"1", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(ArgumentError, match="request, field body"):
        read_request(body)


@pytest.mark.parametrize("value", [None, 1, ["x"], "\ud800"])
def test_a_text_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(ArgumentError, match="request, field toml"):
        text_of({"toml": value}, "toml")


@pytest.mark.parametrize("value", [None, "1", True, float("nan"), float("inf"), -1, 11])
def test_a_number_that_is_none_or_out_of_range_is_refused(value: object) -> None:
    with pytest.raises(ArgumentError, match="request, field start"):
        number_of({"start": value}, "start", 0.0, 10.0)


def test_the_number_of_columns_has_a_default_and_a_limit() -> None:
    assert columns_of({}) == 900
    with pytest.raises(ArgumentError):
        columns_of({"columns": 1e9})


@pytest.mark.parametrize("value", [[], [1], [2, 1], [1, 1], "x", [0, 1e9], [0, None]])
def test_a_part_that_is_none_is_refused(value: object) -> None:
    assert range_of({"range": None}) is range_of({}) is None
    assert range_of({"range": [1, 2]}) == (1.0, 2.0)
    with pytest.raises(ArgumentError, match="request, field range"):
        range_of({"range": value})


@pytest.mark.parametrize("value", [[], "x", {str(number): 1 for number in range(51)}])
def test_changes_that_are_none_or_too_many_are_refused(value: object) -> None:
    with pytest.raises(ArgumentError, match="request, field set"):
        changes_of({"set": value})
