"""One word for one thing: names that were replaced do not come back."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
GONE = {
    # word: what is said instead, as in docs/glossary.md
    "absorb": "merge",
    "claim": "reserve",
    "disproved": "corrupt",
    "knowledge": "model",
    "leftover": "orphan",
    "nameless": "orphan",
    "parted": "separated",
    "portion": "batch, partition",
    "proof": "checksum",
    "shelf": "catalogue",
    "sighting": "appearance, boilerplate media",
    "taught": "learnt",
    "teaching": "learning",
    "twin": "alias",
    "uncut": "unsegmented",
    "wished": "requested",
}
GONE_IN = {  # rooms in which a word had a meaning of its own
    "cluster": {"gift": "handoff", "letter": "message", "mail": "message", "sign": "heartbeat"},
    "works": {"mention": "occurrence"},
}


def gone_words(name: str, room: str) -> Iterator[str]:
    """Yield the words of a name that were replaced."""
    for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name):
        singular = word.lower().removesuffix("s")
        if instead := (GONE | GONE_IN.get(room, {})).get(singular):
            yield f"{name}: say {instead}"


def names(source: str) -> Iterator[str]:
    """Yield what is defined, and texts that name something: columns, keys, options."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.arg() | ast.keyword():
                yield node.arg or ""
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr
            case ast.Constant(value=str(text)) if re.fullmatch(r"-{0,2}[\w./-]+", text):
                yield text
            case ast.Constant(value=str(text)):
                yield from re.findall(r"\b[a-zA-Z]+(?:_[a-zA-Z]+)+\b", text)


def found_in(path: Path) -> Iterator[str]:
    relative = path.relative_to(ROOT)
    room = relative.parts[1] if len(relative.parts) > 2 else ""
    text = path.read_text(encoding="utf-8")
    words = "|".join(GONE | GONE_IN.get(room, {}))
    defined = names(text) if re.search(words, text, re.IGNORECASE) else ()  # most have none
    for name in (path.stem, *defined):
        yield from (f"{relative}: {wrong}" for wrong in gone_words(name, room))


def test_no_name_has_a_word_that_is_gone() -> None:
    paths = (path for folder in ("mmcrawl", "spiders", "pipelines")
             for path in sorted((ROOT / folder).rglob("*.py")))  # fmt: skip
    assert [wrong for path in paths for wrong in found_in(path)] == []
    words = tomllib.loads((ROOT / "mmcrawl/browse/words.toml").read_text(encoding="utf-8"))
    assert [wrong for key in words for wrong in gone_words(key, "browse")] == []


def test_a_word_that_is_gone_is_found_in_any_kind_of_name() -> None:
    for source in ("class Twins: ...", "def a(known_twin): ...", "a.twin_key = 1", "f(twin=1)",
                   'b = "SELECT twin_key FROM link"', '"--twins"'):  # fmt: skip
        assert [wrong for name in names(source) for wrong in gone_words(name, "crawl")], source
    assert [*gone_words("alphabet_letters", "text"), *gone_words("letters", "cluster")] == [
        "letters: say message"
    ]
