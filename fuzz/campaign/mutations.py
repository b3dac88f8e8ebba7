"""Mutations of texts, bytes and tables."""

import copy
import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_QUOTED = re.compile(r'"[^"\n]*"')
_FACTORS = (0.0, 1e-6, 0.1, 0.5, 0.9, 2.0, 3.0, 10.0, 1e6)
_ODD_NUMBERS = (
    "-1",
    "1e999",
    "1e-999",
    "0x7fff",
    "9" * 5000,
    "00",
    "1_000",
    "nan",
    "-inf",
    "9223372036854775808",
    ".5",
)
_ODD_TEXTS = (
    *("", " ", "1", "-5 ms", "0 s", "1e999 s", "1 ps", "1e-999 pkt", "99999 Tbit/s", "unlimited", "until 1%", "50%"),
    *(
        "1 s 1",
        "satellite.reverse",
        "../../etc/passwd",
        "/dev/zero",
        "µ",
        "名",
        "$x_{",
        "x" * 100_000,
        "9" * 5000 + " s",
    ),
)
_FRAGMENTS = (
    *(
        b"\x00",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\r",
        b"'",
        b'"',
        b'"""',
        b"[",
        b"[[",
        b"{",
        b"}",
        b"=",
        b".",
    ),
    *(b"\n", b"#", b"[" * 2000, b"a." * 2000, b"{a=" * 500, b"9" * 5000, b"1e", b"\\u0000", b"[link]\n", b"[[flow]]\n"),
)
_WORDS = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 12, 28, 0x0A0D0D0A)


def odd_value(random: Random) -> Any:
    """Draw a value that a scenario, a result or an argument does not expect."""
    loop: list[Any] = []
    loop.append(loop)
    deep: list[Any] = []
    for _ in range(3000):
        deep = [deep]
    values: tuple[Any, ...] = (
        *(None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, 10**400, -(10**5000), 0.0, -0.0, 1.5, 1e308, 5e-324),
        *(float("inf"), float("nan"), 1j, Decimal("NaN"), b"bytes", bytearray(3), {1, 2}, range(3), object(), object),
        *([], [[]], {}, {"": 1}, {1: 2}, {"mean": None}, (), (1, "2"), loop, deep, iter([1]), len, Ellipsis),
        *(dt.date(2020, 1, 1), dt.time(1), np.float64(2.5), np.int64(3), np.zeros(3), np.array(1), np.nan),
        *("\udcff", "\x00", "\x1b[2J", "[run]\n", "a\nb"),
    )
    return random.choice(values) if random.random() < 0.7 else random.choice(_ODD_TEXTS)


def mutated_text(random: Random, text: str, others: list[str]) -> bytes:
    """Mutate a text of lines, one to four times; numbers most often, so that some texts stay valid."""
    for _ in range(random.choice((1, 1, 2, 4))):
        change = random.choices((_scaled, _odd_number, _odd_text, _lines, _spliced), (5, 1, 1, 2, 1))[0]
        text = change(random, text, others)
    content = text.encode("utf-8", "surrogatepass")
    return mutated_bytes(random, content) if random.random() < 0.2 else content


def _scaled(random: Random, text: str, _others: list[str]) -> str:
    return _replaced(random, _NUMBER, text, lambda found: f"{float(found) * random.choice(_FACTORS):.12g}")


def _odd_number(random: Random, text: str, _others: list[str]) -> str:
    return _replaced(random, _NUMBER, text, lambda _: random.choice(_ODD_NUMBERS))


def _odd_text(random: Random, text: str, others: list[str]) -> str:
    quoted = _QUOTED.findall(random.choice(others))
    if quoted and random.random() < 0.5:
        return _replaced(random, _QUOTED, text, lambda _: random.choice(quoted))
    return _replaced(random, _QUOTED, text, lambda _: f'"{random.choice(_ODD_TEXTS)}"')


def _replaced(random: Random, pattern: "re.Pattern[str]", text: str, new: Callable[[str], str]) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    chosen = random.choice(found)
    return text[: chosen.start()] + new(chosen[0]) + text[chosen.end() :]


def _lines(random: Random, text: str, others: list[str]) -> str:
    """Remove, double or move a line, or bring one from another text."""
    lines = text.split("\n")
    place = random.randrange(len(lines))
    line = lines[place]
    match random.randrange(4):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, line)
        case 2:
            lines.insert(random.randrange(len(lines)), lines.pop(place))
        case _:
            lines.insert(place, random.choice(random.choice(others).split("\n")))
    return "\n".join(lines)


def _spliced(random: Random, text: str, others: list[str]) -> str:
    """Bring a table from another text."""
    tables = re.split(r"\n(?=\[)", random.choice(others))
    return f"{text}\n{random.choice(tables)}\n"


def mutated_bytes(random: Random, content: bytes) -> bytes:
    """Mutate bytes, one to six times."""
    data = bytearray(content)
    for _ in range(random.randint(1, 6)):
        random.choice((_flip, _overwrite, _insert, _remove, _put_word, _double, _cut))(random, data)
    return bytes(data)


def _place(random: Random, data: bytearray) -> int:
    return random.randrange(len(data) + 1)


def _flip(random: Random, data: bytearray) -> None:
    if data:
        data[_place(random, data) % len(data)] ^= 1 << random.randrange(8)


def _overwrite(random: Random, data: bytearray) -> None:
    if data:
        data[_place(random, data) % len(data)] = random.randrange(256)


def _insert(random: Random, data: bytearray) -> None:
    place = _place(random, data)
    data[place:place] = random.choice(_FRAGMENTS)


def _remove(random: Random, data: bytearray) -> None:
    place = _place(random, data)
    del data[place : place + random.choice((1, 4, 100, 10_000))]


def _put_word(random: Random, data: bytearray) -> None:
    place = _place(random, data)
    data[place : place + 4] = random.choice(_WORDS).to_bytes(4, random.choice(("little", "big")))


def _double(random: Random, data: bytearray) -> None:
    place = _place(random, data)
    data[place:place] = data[place : place + random.choice((4, 100, 2000))]


def _cut(random: Random, data: bytearray) -> None:
    if random.random() < 0.3:
        del data[_place(random, data) :]


def mutated_tables(random: Random, tables: Any, others: list[Any]) -> Any:
    """Mutate a tree of tables, one to three times."""
    tables = copy.deepcopy(tables)
    for _ in range(random.choice((1, 1, 2, 3))):
        nodes = list(_nodes(tables))
        if nodes:
            _mutate_node(random, random.choice(nodes), others)
    return odd_value(random) if random.random() < 0.01 else tables


def _nodes(tree: Any) -> list[tuple[Any, Any]]:
    """Give each place of a tree as its container and key."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting and len(found) < 20_000:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        found += [(node, key) for key in keys]
        waiting += [node[key] for key in keys if node[key] is not node]
    return found


def _mutate_node(random: Random, node: tuple[Any, Any], others: list[Any]) -> None:
    container, key = node
    if isinstance(container, list) and key >= len(container):
        return
    value = container.get(key) if isinstance(container, dict) else container[key]
    match random.randrange(6):
        case 0:
            del container[key]
        case 1:
            container[key] = odd_value(random)
        case 2 if isinstance(container, dict):
            other, name = random.choice(_nodes(random.choice(others)))
            container[name if isinstance(name, str) else "name"] = _copy(other[name])
        case 3 if isinstance(container, dict):
            container[odd_key(random)] = value
        case 4 if isinstance(container, list):
            container += [_copy(value)] * random.choice((1, 2, 100))
        case _:
            container[key] = _near(random, value)


def _copy(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except RecursionError:  # of an odd value that came before
        return value


def odd_key(random: Random) -> Any:
    """Draw a key that tables do not have."""
    return random.choice(("", "x", "a.b", "\udcff", "x" * 10_000, 0, 1.5, None, True, (1, 2), "name", "file", "kind"))


def _near(random: Random, value: Any) -> Any:
    """Change a value a little."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        real = float(value) if value.bit_length() < 1000 else 1e300
        shown = str(value) if value.bit_length() < 10_000 else "1e3010"
        return random.choice((value + 1, value - 1, value * 10, -value, 0, real, shown))
    if isinstance(value, float):
        return value * random.choice((*_FACTORS, -1.0))
    if isinstance(value, str):
        return _scaled(random, value, []) if _NUMBER.search(value) else value[: random.randrange(len(value) + 1)]
    return odd_value(random)
