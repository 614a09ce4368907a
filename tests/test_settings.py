"""Settings and arguments are declared once: pages, help and checks come from there."""

import importlib.util
import re
from pathlib import Path

import pytest
from scrapy.settings import Settings

from mmcrawl.commands.terminal import algorithm_help, argument_help
from mmcrawl.crawl import FocusedParams
from mmcrawl.engine import Configuration
from mmcrawl.errors import MmcrawlError
from mmcrawl.scoring import algorithm_names, default_parameters
from mmcrawl.settings import declared, value_of
from tests.tables import each

ROOT = Path(__file__).resolve().parents[1]
TOOL = ROOT / "tools" / "write_reference.py"


def test_the_pages_of_the_reference_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("write_reference", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    pages = tool.pages()
    assert {page.name for page in pages} == {"settings.md", "arguments.md", "links.md"}
    for page, text in pages.items():
        assert page.read_text(encoding="utf-8") == text, f"run python tools/{TOOL.name}"


def test_every_setting_that_is_read_is_declared() -> None:
    named: set[str] = set()
    for file in (ROOT / "mmcrawl").rglob("*.py"):
        named.update(re.findall(r"""["'](MMCRAWL_[A-Z_]+)["']""", file.read_text("utf-8")))
    assert named - {"MMCRAWL_REVISIT_"} == set(declared)


def test_settings_hold_without_a_project_that_says_them() -> None:
    Configuration.read(Settings())
    assert {name: value_of(Settings(), name) for name in declared} == {
        name: setting.default for name, setting in declared.items()
    }


@each("name", [s.name for s in declared.values() if s.may_be])
def test_a_value_out_of_range_is_told_with_an_example(name: str) -> None:
    with pytest.raises(MmcrawlError, match=f"^{name} must be an? .* as [0-9.:]+$"):
        Configuration.read(Settings({name: "-1"}))


def test_help_names_every_argument_and_every_parameter_of_an_algorithm() -> None:
    shown = argument_help(FocusedParams)
    for name, field in FocusedParams.model_fields.items():
        [line] = re.findall(rf"(?m)^  {name} +(\S.*)$", shown)
        assert line.split()[0] == str(field.description).split()[0]
    assert "num2" not in shown
    for algorithm in algorithm_names():
        shown = " ".join(algorithm_help([algorithm]).split())
        for name, default in default_parameters(algorithm).items():
            shown_default = str(default).lower() if isinstance(default, bool) else default
            assert re.search(rf" {name} \w[^:]+.*? \(default: {shown_default}\b", shown), name
    shown = " ".join(algorithm_help(["urlrule-2009"]).split())
    assert "NUM(2) of (4.2), pages probed in physical layer 2" in shown
    assert "(default: 18; from 0)" in shown
