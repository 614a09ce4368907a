"""What names a crawl or a topic is given to every command the same way."""

import argparse
import re
from importlib import import_module

from mmcrawl.archive import Capture, open_archive
from mmcrawl.commands import rank
from mmcrawl.commands.archive import Command as ArchiveCommand
from mmcrawl.crawl import FocusedParams, as_time
from tests.commands.running import called, exit_code, runner
from tests.tables import each
from tests.test_documented_commands import command_of

TAKEN = {
    "archive list": {"store", "archive"},
    "blocks": {"web"},
    "experiment": {
        *("web", "topic", "keywords", "seeds", "media", "sites"),
        *("max_layer", "max_depth"),
    },
    "links why": {"store", "job"},
    "rank": {"store", "archive", "topic", "keywords"},
    "rules test": {"store", "job", "rules"},
    "topic score": {"topic", "keywords", "media", "web"},
}


@each("words, names", TAKEN.items())
def test_a_command_takes_arguments_of_the_crawl_in_both_forms(words, names):
    command, _, name = words.partition(" ")
    made = command_of(command)
    parser = made.parser_of(next(one for one in made.subcommands if one.name == name))
    flags = set(re.findall(r"^ +(--[\w-]+)", parser.format_help(), re.M))
    taken = {name for name in FocusedParams.model_fields if f"--{name.replace('_', '-')}" in flags}
    assert taken == names
    for name in names:
        for given in ([f"--{name.replace('_', '-')}", "x"], ["-a", f"{name}=x"]):
            assert getattr(parser.parse_args(given), name) == "x"


@each("words", [["list", "sqlite:///mine.db"], ["list", "--archive", "mine.db"]])
def test_the_archive_of_a_file_is_opened_where_it_is_named(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with open_archive("sqlite:///mine.db") as archive:
        archive.store(Capture("http://h.test/lens", b"<p>lens", 1.0))
    assert exit_code(ArchiveCommand, *words) == 0
    assert "http://h.test/lens" in capsys.readouterr().out


@each("command", ["browse", "rank"])
@each("place", ["mine.db", "mongodb://h.test/mine"])
def test_commands_that_take_an_archive_take_its_name_alone(command, place, monkeypatch):
    made = import_module(f"mmcrawl.commands.{command}").Command
    taken: list[argparse.Namespace] = []
    monkeypatch.setattr(made, "prepared", lambda self, words, opts: lambda: taken.append(opts))
    assert exit_code(made, place) == 0
    assert [one.archive for one in taken] == [place]


@each(
    "words, told",
    [
        (["crawl", "focused", "--topic=x"], "there is no option --topic; an argument of a spider"),
        (["crawl", "focussed"], "no spider 'focussed'; there are .*; did you mean focused"),
        (["crawl", "-s", "MMCRAWL_TOPIC_TRESHOLD=1"], "TRESHOLD; did you mean MMCRAWL_TOPIC_THRES"),
        (["crawl", "revisit", "--due", "all"], "an argument of a spider is given as -a due=…"),
        (["fetch", "--spider", "focused", "-s", "MMCRAWL_WEP=x"], "did you mean MMCRAWL_WEB"),
        (["crawl", "revisit", "-a", "stor=x.db"], "no argument 'stor'; there are store, archive"),
        (["crawl", "collect", "-a", "store=none.db"], "there is no store none.db"),
        (["list", "-s", "NO=1"], ""),
        (["archive", "list", "-s", "MMCRAWL_ARCHVIE=x"], "did you mean MMCRAWL_ARCHIVE"),
    ],
)
@each("program", ["scrapy", "mmcrawl"])
def test_what_is_misspelt_is_told_in_a_sentence(program, words, told, capsys):
    if program == "scrapy" and words[:2] == ["crawl", "-s"]:
        words = ["crawl", "focused", *words[1:]]
    said = called(program, *words, capture=capsys)
    assert said.code == (2 if told else 0), said
    assert re.search(told, said.err)
    if told:
        assert re.fullmatch(rf"{program} \w+: .*\n", said.err)


@each(
    "text, end",
    [
        ("2026-11-26", "2026-11-26T23:59:59.999"),
        ("202611", "2026-11-30T23:59:59.999"),
        ("2024-02", "2024-02-29T23:59:59.999"),
        ("2026", "2026-12-31T23:59:59.999"),
        ("2026-11-26T08:30", "2026-11-26T08:30"),
        ("@5", "1970-01-01T00:00:05"),
    ],
)
def test_a_day_a_month_and_a_year_are_asked_for_as_of_their_end(text: str, end: str) -> None:
    assert as_time(text, end=True) == as_time(end)


def test_of_a_day_the_last_version_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    url, run = "http://h.test/lens", runner(ArchiveCommand, capsys)
    with open_archive("sqlite:///crawl-archive.db") as archive:
        for number, time in enumerate(("2026-11-26T09:00", "2026-11-26T21:00", "2026-11-28T09:00")):
            archive.store(Capture(url, b"<p>lens %d" % number, as_time(time)))
    shown = {at: run("show", url, "--at", at, "--json").json()["number"]
             for at in ("2026-11-26T12:00", "2026-11-26", "2026-11", "2026")}  # fmt: skip
    assert list(shown.values()) == [1, 2, 3, 3]
    for at, code in (("2026-11-26T08:00", 1), ("2026-11-26", 0)):
        ranked = exit_code(
            rank.Command, "--at", at, "--format=jsonl", "-a", "archive=crawl-archive.db"
        )
        assert ranked == code


@each("words", ["archive list", "blocks --format md x.html", "crawl"])
def test_a_folder_that_was_deleted_is_told_in_a_sentence(words, tmp_path, monkeypatch, capsys):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    said = called("mmcrawl", *words.split(), capture=capsys)
    assert said.code == 2
    assert "the folder you are in was deleted" in said.err
