"""The table of snippets: what a person sees on pieces of pages is what is found there."""

from tests.page.snippet_table import ASIDE, compare, found_by_us, read_snippets, total

SNIPPETS = read_snippets()
# Names that do not tell whether a file is sound or film: a clip of RealMedia, and WebM beside MP3.
KNOWN_MISSES = {"RealPlayer", "Howler with two formats"}


def test_what_a_person_sees_is_found_and_nothing_else():
    wrong = {}
    for snippet in SNIPPETS:
        found = found_by_us(snippet)
        score = compare(snippet, found)
        if (score.both, score.found, score.rightly) != (score.seen, score.seen, score.named):
            wrong[snippet.about] = f"{snippet.part}: {found}"
    assert wrong.keys() == set(KNOWN_MISSES), wrong


def test_the_table_is_large_and_part_of_it_was_kept_aside():
    aside = [one for one in SNIPPETS if one.part == ASIDE]
    assert len(SNIPPETS) >= 150
    assert len(aside) >= 40
    assert len({one.about for one in SNIPPETS}) == len(SNIPPETS)
    assert sum(not one.sees for one in SNIPPETS) >= 15


def test_most_pieces_have_each_medium_once():
    score = total(compare(one, found_by_us(one)) for one in SNIPPETS)
    assert score.recall > 0.98
    assert score.precision > 0.98
