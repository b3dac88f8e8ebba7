"""Comments, docstrings and messages use the words of docs/words.md; the check itself is tested on small samples."""

from pathlib import Path

import pytest

from words.rules import Rules, faults, read_rules
from words.texts import Kind, Text, markdown_texts, python_texts, rust_texts

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "words.md"
READERS = {".rs": rust_texts, ".py": python_texts, ".md": markdown_texts}
HELD = (
    "crates/**/*.rs",
    "fuzz/**/*.rs",
    "python/ackclock/**/*.py",
    "crosscheck/**/*.py",
    "benches/**/*.py",
    "tests/words/rules.py",
    "tests/words/texts.py",
    "docs/words.md",
)
"""The files that are held to the rules."""

PAGE_OF_SAMPLES = """
| word | meaning | avoided | reason |
|---|---|---|---|
| drop | to discard a packet | `throw* out`, `threw out` | an idiom |
| index | a number | `place` | many meanings |

| word | avoided | reason |
|---|---|---|
| is not a | `is no` | read twice |

| allowed | where | reason |
|---|---|---|
| `there is no` | everywhere | English |
| `place` | crates/*/check.rs | a path of a field |
"""


def rules() -> Rules:
    return read_rules(PAGE.read_text(encoding="utf-8"))


def found(pattern: str) -> list[str]:
    """List the faults of files as `file:line: kind: fault`."""
    page = rules()
    lines = []
    for path in sorted(ROOT.glob(pattern)):
        file = path.relative_to(ROOT).as_posix()
        for text in READERS[path.suffix](path.read_text(encoding="utf-8")):
            lines += [f"{file}:{text.line}: {text.kind}: {fault}" for fault in faults(text, file, page)]
    return lines


@pytest.mark.parametrize("pattern", HELD)
def test_the_words_are_those_of_the_page(pattern: str) -> None:
    assert not (lines := found(pattern)), "\n".join(["see docs/words.md", *lines])


def test_the_patterns_find_files() -> None:
    assert all(any(ROOT.glob(pattern)) for pattern in HELD)


def test_no_phrase_is_listed_twice() -> None:
    phrases = [avoided.phrase.lower() for avoided in rules().avoided]
    assert len(phrases) == len(set(phrases)) > 100


def test_each_exception_has_an_avoided_phrase_in_it() -> None:
    page = rules()
    bare = Rules(page.avoided, ())
    idle = [
        allowed.phrase
        for allowed in page.allowed
        if not list(faults(Text(1, "comment", allowed.phrase.replace("*", "")), "any", bare))
    ]
    assert not idle


def fault_count(prose: str, kind: Kind = "comment", file: str = "crates/net/src/link.rs") -> int:
    return len(list(faults(Text(1, kind, prose), file, read_rules(PAGE_OF_SAMPLES))))


@pytest.mark.parametrize(
    "prose",
    [
        "packets are thrown out",
        "Throwing\n    out a packet",
        "it threw  out a packet",
        "the place of a queue",
        "is no number",
        "There is a place, and there is no other",
    ],
)
def test_avoided_phrases_are_found(prose: str) -> None:
    assert fault_count(prose) == 1


@pytest.mark.parametrize(
    "prose",
    [
        "overthrow out",
        "in places",
        "there is no number",
        "`place` and `is no`",
        "```\nthis is no prose\n```",
        'the paper says "the place is no matter"',
        "is not",
    ],
)
def test_other_phrases_are_not(prose: str) -> None:
    assert fault_count(prose) == 0


def test_a_message_has_no_quotations() -> None:
    assert fault_count('"the place" of it', "message") == 1


def test_an_exception_counts_in_its_files_only() -> None:
    assert fault_count("the place of a fault", file="crates/sim/src/check.rs") == 0
    assert fault_count("the place of a fault", file="crates/sim/src/route.rs") == 1


@pytest.mark.parametrize(
    "prose",
    [
        *("What it drops.", "Of a flow, the path.", "As before, but later.", "It.", "Two words."),
        *("By a Markov chain of two states.", "With fewer packets it ends.", "From paths to hops: the links."),
    ],
)
def test_headless_doc_comments_are_found(prose: str) -> None:
    assert fault_count(prose, "doc") == 1
    assert fault_count(prose, "comment") == 0


def test_only_a_truth_value_begins_with_whether() -> None:
    page = read_rules(PAGE_OF_SAMPLES)
    prose = "Whether the link is idle."
    assert not list(faults(Text(1, "doc", prose, of_bool=True), "any.rs", page))
    assert list(faults(Text(1, "doc", prose), "any.rs", page))
    assert list(faults(Text(1, "doc", "What is idle is idle.", of_bool=True), "any.rs", page))


RUST = r"""
//! A module
//! of links.

/// Whether the link is idle.
#[serde(default)]
pub idle: bool,
/// A rate.
pub rate: f64, // not a "string"
fn f() -> char {
    // One line,
    // another.
    let quote = '"';
    let lifetime: &'static str = "key";
    panic!("no such link \"{name}\": \
            {count} known");
    r#"a raw "string" of words"#
}
"""


def test_the_texts_of_rust() -> None:
    texts = sorted(rust_texts(RUST), key=lambda text: text.line)
    assert [(text.kind, text.prose.replace("\n", " "), text.of_bool) for text in texts] == [
        ("doc", "A module of links.", False),
        ("doc", "Whether the link is idle.", True),
        ("doc", "A rate.", False),
        ("comment", 'not a "string"', False),
        ("comment", "One line, another.", False),
        ("message", r"no such link \"{name}\": {count} known", False),
        ("message", 'a raw "string" of words', False),
    ]
    assert [text.line for text in texts] == [2, 5, 8, 9, 11, 15, 17]


PYTHON = '''
"""A module of links."""

class Link:
    """A link."""

    idle: bool
    """Whether it is idle."""
    lost: BoolArray
    """Whether each packet is lost."""

def f(name):
    # One line,
    # another.
    key = "key"
    raise ValueError(f"no such link {name}: "
                     "none known")
'''


def test_the_texts_of_python() -> None:
    texts = sorted(python_texts(PYTHON), key=lambda text: text.line)
    assert [(text.line, text.kind, text.prose.replace("\n", " "), text.of_bool) for text in texts] == [
        (2, "doc", "A module of links.", False),
        (5, "doc", "A link.", False),
        (8, "doc", "Whether it is idle.", True),
        (10, "doc", "Whether each packet is lost.", True),
        (13, "comment", "One line, another.", False),
        (16, "message", "no such link {}: none known", False),
    ]


def test_the_texts_of_markdown() -> None:
    page = "A paragraph\nof prose.\n\n| a | b |\n|---|---|\n| c | d |\n"
    assert [text.line for text in markdown_texts(page)] == [1, 4, 5, 6]
