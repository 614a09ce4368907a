"""`scrapy experiment --preset NAME --data DIR`: labelled pages measured from the command line."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from mmcrawl.commands import experiment as module
from mmcrawl.experiment import Plan
from mmcrawl.experiment.presets import LABELLED, PaperTable
from tests.commands.test_experiment import run

BODY = b"<h1>Levers</h1><p>A bar.</p>"
REGIONS = [{"start": 0, "end": 15, "kind": "title"}, {"start": 15, "end": 28, "kind": "topic"}]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a labelled page."""
    folder = tmp_path / "data"
    folder.mkdir()
    page = {"name": "levers", "source": "levers.html", "type": "topic", "regions": REGIONS}
    (folder / "levers.html").write_bytes(BODY)
    (folder / "pages.json").write_text(json.dumps({"pages": [page]}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize("preset", ["wang2012", "quark"])
def test_given_pages_are_measured(data, preset, capsys):
    assert preset in LABELLED
    assert run("--preset", preset, "--data", str(data)) == 0
    shown = " ".join(capsys.readouterr().out.split())
    written = json.loads(Path(f"experiment-{preset}", "tables.json").read_text(encoding="utf-8"))
    assert written
    assert all(table["title"] in shown for table in written)
    assert any("100.0%" in row for table in written for row in table["rows"])


def test_one_preset_compares_crawls_of_webs_of_several_seeds(tmp_path, monkeypatch, capsys):
    done: list[tuple[str, Path]] = []

    def shown(web: str, outcomes: Iterable[None]) -> PaperTable:
        return PaperTable(web, ("",), tuple((f"{outcome}",) for outcome in outcomes))

    def run_experiment(plan: Plan, out: Path, **_: object) -> str:
        out.mkdir()
        done.append((plan.web, out))
        return plan.web

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "run_experiment", run_experiment)
    monkeypatch.setattr(module.yang2009, "over_webs", shown)
    for _ in range(2):  # a second time over the tables of before
        web = "sim:pages=100,sites=2,seed=8-10,media=0.1"
        assert run("--preset", "yang2009", "--keywords", "optics", "--web", web) == 0
        out = Path("experiment-yang2009")
        assert [folder for _, folder in done] == [out / f"seed={n}" for n in (8, 9, 10)]
        [table] = json.loads((out / "tables.json").read_text())
        assert [row[0] for row in table["rows"]] == [
            web.replace("8-10", n) for n in ("8", "9", "10")
        ]
        for _, folder in done:
            folder.rmdir()
        done.clear()
    (out / "letter.txt").write_text("Dear")
    assert run("--preset", "yang2009", "--keywords", "optics", "--web", web) == 2
    assert "holds other files (letter.txt)" in capsys.readouterr().err
