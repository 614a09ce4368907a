"""The table of snippets: what a person sees on pieces of pages is what is found there."""

import tomllib
from pathlib import Path
from typing import Any

from mmcrawl.page import Resolver, parse_page, resource_key

PAGE = "http://school.test/physics/lever.html"
SNIPPETS = [
    {"part": path.stem, **one}
    for path in sorted(Path(__file__).with_name("snippets").glob("*.toml"))
    for one in tomllib.loads(path.read_text(encoding="utf-8"))["snippet"]
]
# Names that do not tell whether a file is sound or film: a clip of RealMedia, and WebM beside MP3.
KNOWN_MISSES = {"RealPlayer", "Howler with two formats"}


def as_seen(snippet: dict[str, Any]) -> bool:
    """Whether all media that a person sees are found, by their words, and nothing else."""
    resolve = Resolver(PAGE, "utf-8")
    waiting = [
        (kind, text, {resource_key(resolve(address).url) for address in addresses})
        for kind, text, *addresses in snippet["sees"]
    ]
    for medium in parse_page(snippet["html"].encode(), PAGE, "text/html; charset=utf-8").media:
        keys = {resource_key(address) for address in (medium.url, *medium.others)}
        match = next((one for one in waiting if one[0] == medium.kind and one[2] & keys), None)
        if match is None or (match[1] and match[1] != medium.text):
            return False
        waiting.remove(match)
    return not waiting


def test_what_a_person_sees_is_found_and_nothing_else() -> None:
    assert {one["about"] for one in SNIPPETS if not as_seen(one)} == KNOWN_MISSES


def test_the_table_is_large_and_part_of_it_was_kept_aside() -> None:
    assert len({one["about"] for one in SNIPPETS}) == len(SNIPPETS) >= 150
    assert sum(one["part"] == "aside" for one in SNIPPETS) >= 40
    assert sum(not one["sees"] for one in SNIPPETS) >= 15
