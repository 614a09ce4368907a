"""No CSV that the project writes has a cell that a spreadsheet takes for a formula."""

import ast
import csv
import io
from pathlib import Path

from lxml import etree

import mmcrawl
from mmcrawl.engine import MediaCsvExporter
from mmcrawl.text import CsvWriter, harmless, xml_document, xml_text

SIGNS = ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe66", "\u2212"]
BEFORE = ["", " ", "\ufeff", "\u200b", "\u202e", "\u00a0", "\t", "\r", "\n", "\0", "\u3000\u2066"]
FORMULAS = [f"{before}{sign}HYPERLINK(1)" for before in BEFORE for sign in SIGNS] + ["\ta", "\ra"]
PLAIN = ["-1", "-1.5", "-1e-5", "a=1", "", "'=1", "1-2", "工 = 1", -3, 2.5, None]


def test_a_formula_is_text() -> None:
    for formula in FORMULAS:
        assert harmless(formula) == harmless(harmless(formula)) == f"'{formula}"


def test_numbers_and_texts_stay() -> None:
    assert [harmless(cell) for cell in PLAIN] == PLAIN
    assert harmless("-1+cmd|' /C calc'!A0").startswith("'")
    text = io.StringIO()
    CsvWriter(text, lineterminator="\n").writerows([["a", "=b"], [1, None]])
    assert text.getvalue() == "a,'=b\n1,\n"


def test_items_of_a_crawl_have_no_formulas() -> None:
    file = io.BytesIO()
    exporter = MediaCsvExporter(file, fields_to_export=["title", "audio", "score"])
    exporter.start_exporting()
    exporter.export_item({"title": FORMULAS[1], "audio": ["=a", "b"], "score": -1.5})
    exporter.export_item({"title": "a", "audio": [{"url": "=1"}], "score": 1})
    exporter.finish_exporting()
    rows = list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))
    assert rows[1:] == [["'" + FORMULAS[1], "'=a; b", "-1.5"], ["a", '[{"url": "=1"}]', "1"]]


def test_nothing_writes_csv_in_another_way() -> None:
    root = Path(mmcrawl.__file__).parent
    for path in root.rglob("*.py"):
        if path.name != "writing.py" and "csv" in (text := path.read_text("utf-8")):
            tree = ast.parse(text)
            used = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            assert not used & {"csv.writer", "csv.DictWriter"}, path


def test_what_xml_cannot_hold_is_left_out_and_all_else_stays() -> None:
    assert xml_text("a\x00b\x1f\ud800\uffff\t\n杠杆 <&>") == "ab\t\n杠杆 <&>"


def test_a_document_is_utf_8_and_says_so() -> None:
    root = etree.Element("works")
    root.text = xml_text("杠\x08杆 & <load>")
    written = xml_document(root)
    assert written.startswith(b"<?xml version='1.0' encoding='utf-8'?>")
    assert etree.fromstring(written).text == "杠杆 & <load>"
