"""Files of rules for addresses: what may stand in them, what is told of wrong lines, the export."""

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.crawl import read_rules, rules_text
from mmcrawl.errors import RuleError
from mmcrawl.frontier import PatternRecord
from mmcrawl.scoring import Pattern, PinnedRule
from tests.tables import each


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str, encoding: str = "utf-8") -> str:
        path = tmp_path / "rules.txt"
        path.write_bytes(text.encode(encoding))
        return str(path)

    return write


def refused(path: str) -> list[str]:
    with pytest.raises(RuleError) as caught:
        read_rules(path)
    return [line.removeprefix(f"{path}, ") for line in str(caught.value).splitlines()]


def test_a_line_is_a_pattern_with_weight_topic_and_remarks(written) -> None:
    path = written(
        "# of our own\n\nhttp://h.test/a/*\n  http://h.test/b/** never # forum\r\n"
        "re:/c[0-9]+\ttopic=physics-senior 12 #x\nre:#d 0\n"
    )
    assert read_rules(path).rules == (
        PinnedRule("http://h.test/a/*", 1, "", f"{path}, line 3"),
        PinnedRule("http://h.test/b/**", 0, "", f"{path}, line 4"),
        PinnedRule("re:/c[0-9]+", 12, "physics-senior", f"{path}, line 5"),
        PinnedRule("re:#d", 0, "", f"{path}, line 6"),
    )


def test_the_guide_shows_a_file_of_rules(written) -> None:
    guide = Path(__file__).parents[2] / "docs" / "guide" / "rules.md"
    example = guide.read_text(encoding="utf-8").split("```")[1]
    assert [rule.weight for rule in read_rules(written(example)).rules] == [9, 5, 2, 0]


@each("encoding", ["utf-8", "utf-8-sig", "gbk", "utf-16"])
def test_a_teachers_editor_may_write_any_usual_encoding(written, encoding: str) -> None:
    path = written("# 高中物理的视频课程\nhttp://h.test/物理/** 5\n", encoding)
    assert read_rules(path).weight_of("http://h.test/%E7%89%A9%E7%90%86/1.htm") == 5


def test_all_bad_rules_are_named_up_to_twenty(written) -> None:
    assert len(refused(written("a\nhttp://h.test/\nb\n"))) == 2
    path = written("a\n" * 30)
    problems = refused(path)
    assert (len(problems), problems[-1]) == (21, f"10 more lines of {path} are wrong")


def test_a_pattern_stands_once_for_a_topic(written) -> None:
    path = written("http://h.test/ 3\nhttp://h.test/ never\n")
    assert refused(path) == [
        f"line 2: the pattern is already in {path}, line 1; remove one of them"
    ]
    both = written("http://h.test/ 3 topic=physics-senior\nhttp://h.test/ 4\n")
    assert len(read_rules(both).rules) == 2


def test_rules_for_other_topics_are_left_out_and_that_is_told(written, caplog) -> None:
    path = written(
        "http://h.test/a 2 topic=mathematics-senior\nhttp://h.test/a 3 topic=physics-senior\n"
        "http://h.test/b 4\n"
    )
    with caplog.at_level(logging.INFO):
        rules = read_rules(path, {"physics-senior"})
    assert [rule.weight for rule in rules.rules] == [3, 4]
    assert caplog.messages == ["Rules for other topics, which are left out: 1 of 3"]


def test_what_is_exported_says_how_it_did_and_leaves_poor_patterns_as_remarks(written) -> None:
    learnt = [
        PatternRecord("h.test", "http://h.test/a/*", 9, 5, 5),
        PatternRecord("h.test", "http://h.test/b/**", 9, 1_234, 0),
        PatternRecord("h.test", "http://h.test/c/*", 9, 1, 9),
    ]
    text = rules_text(learnt, 0.1, "physics-senior")
    assert text.splitlines()[-3:] == [
        "http://h.test/b/**?  10  topic=physics-senior  # 1,234 hits, 0 misses;"
        r" re:^https?://h\.test/b(?:/[^?]*)?$",
        r"http://h.test/a/*  5  topic=physics-senior  # 5 hits, 5 misses; re:^https?://h\.test/a/[^/?]*$",
        r"# http://h.test/c/*  1  topic=physics-senior  # 1 hits, 9 misses; re:^https?://h\.test/c/[^/?]*$",
    ]
    assert [rule.weight for rule in read_rules(written(text)).rules] == [10, 5]


@given(
    st.builds(
        Pattern,
        st.sampled_from(["h.test", "h.test:8080"]),
        st.lists(st.sampled_from(["*", "a", "b.htm", "x%2A", "it's(1)"]), min_size=1).map(tuple),
        st.lists(
            st.tuples(st.sampled_from(["id", "p[]", ""]), st.sampled_from(["*", "1", "a=b/?"])),
            max_size=2,
        ).map(lambda pairs: tuple(sorted(pairs))),
        st.booleans(),
    )
)
def test_every_learnt_pattern_can_be_fed_back(tmp_path_factory, pattern: Pattern) -> None:
    path = tmp_path_factory.getbasetemp() / "fed-back.txt"
    record = PatternRecord(pattern.host, str(pattern), 4, 4, 0)
    path.write_text(rules_text([record], 0.1), encoding="utf-8")
    (rule,) = read_rules(str(path)).rules
    assert rule.regex in path.read_text(encoding="utf-8").partition("re:")[2]
