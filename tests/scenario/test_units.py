import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ackclock.errors import UnitError
from ackclock.units import NUMBER_PATTERN, Quantity, Unit, parse, show


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1.5 Mbit/s", 1.5e6, "bit/s"),
        ("1.5Mbit/s", 1.5e6, "bit/s"),
        (" 2.7  Mbps ", 2.7e6, "bit/s"),
        ("1.5 Mbits/s", 1.5e6, "bit/s"),
        ("3 kB/s", 24e3, "bit/s"),
        ("1 KiB/s", 8192.0, "bit/s"),
        ("1 bit/ms", 1000.0, "bit/s"),
        ("560 ms", 0.56, "s"),
        ("10.1 ms", 0.0101, "s"),
        ("7 µs", 7e-6, "s"),
        ("7 us", 7e-6, "s"),
        ("1.5 h", 5400.0, "s"),
        ("2 minutes", 120.0, "s"),
        ("1 d", 86400.0, "s"),
        ("64 kB", 64000.0, "B"),
        ("64 KiB", 65536.0, "B"),
        ("8 bit", 1.0, "B"),
        ("1 Mbit", 125000.0, "B"),
        ("18 pkt", 18.0, "pkt"),
        ("1 packet", 1.0, "pkt"),
        ("18 packets", 18.0, "pkt"),
        ("-1 ms", -0.001, "s"),
        ("1e-400 s", 0.0, "s"),
        ("1e400 s", math.inf, "s"),
        ("1e-99999999999999999999 s", 0.0, "s"),
        ("1e99999999999999999999 s", math.inf, "s"),
    ],
)
def test_quantities_are_read_exactly(text: str, value: float, unit: Unit) -> None:
    assert parse(text) == Quantity(value, unit)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("10", "has no unit"),
        ("fast", "is not a number with a unit"),
        ("nan s", "is not finite"),
        ("9**9**9 s", "is not a number with a unit"),
        ("1 s + 2 s", 'has the unknown unit "s + 2 s"'),
        ("1,5 ms", 'is not a number with a unit; write a decimal point: "1.5 ms"'),
        ("1 Mb/s", 'has the ambiguous unit "Mb/s"; write "Mbit/s" (bits) or "MB/s" (bytes)'),
        ("1 kb", 'has the ambiguous unit "kb"; write "kbit" (bits) or "kB" (bytes)'),
        ("1 KB", 'has the ambiguous unit "KB"; write "kB" (1000 bytes) or "KiB" (1024 bytes)'),
        ("1 m", 'has the unknown unit "m"; write "ms" (milliseconds) or "min" (minutes)'),
        ("1 mB", 'has the unknown unit "mB"'),
        ("1 pkt/s", 'has the unknown unit "pkt/s"'),
        ("1 kg", 'has the unknown unit "kg"'),
    ],
)
def test_what_is_no_quantity_is_explained(text: str, message: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse(text)
    assert str(caught.value) == message


@given(st.from_regex(NUMBER_PATTERN, fullmatch=True), st.sampled_from([("ms", -3), ("Mbit/s", 6), ("kB", 3)]))
def test_numbers_are_rounded_once(number: str, unit: tuple[str, int]) -> None:
    name, power = unit
    exponent = number.lower().partition("e")[2] or "0"
    assume(len(number) <= 40 and abs(int(exponent)) <= 200)
    assert parse(f"{number} {name}").value == float(Fraction(number) * Fraction(10) ** power)


@given(st.floats(1e-11, 1e15), st.sampled_from(["s", "bit/s", "B", "pkt"]))
def test_what_is_shown_is_read_again(value: float, unit: Unit) -> None:
    again = parse(show(value, unit, 17))
    assert again.unit == unit
    assert again.value == pytest.approx(value, rel=1e-14)


def test_the_prefix_suits_the_rounded_number() -> None:
    assert show(0.99999999, "s") == "1 s"
    assert show(999.99, "bit/s", 3) == "1 kbit/s"


@given(st.text())
def test_any_text_is_a_quantity_or_a_unit_error(text: str) -> None:
    try:
        quantity = parse(text)
    except UnitError:
        return
    assert not math.isnan(quantity.value)
