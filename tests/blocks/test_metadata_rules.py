"""Metadata of pages by the rules of an administrator."""

import json

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from mmcrawl.archive import Capture
from mmcrawl.blocks import MetadataRules, ReceivedText
from mmcrawl.engine import Configuration, PageItem
from mmcrawl.errors import MmcrawlError
from mmcrawl.page import parse_page
from mmcrawl.pipelines import MetadataPipeline
from tests.tables import each

HTML = """<html><head><meta name=Author content=""><meta name=author content=" A.  Medes ">
<meta property="article:published_time" content="2010-08-01"></head>
<body><p class=by>By <b>A. Medes</b></p><time datetime=2011>then</time></body></html>"""
PAGE = ReceivedText("http://h.test/2010/08/levers.html", (("X-Course", "8.01"),), HTML)


@each(
    "rule, value",
    [
        ("meta author", "A. Medes"),
        ("meta article:published_time", "2010-08-01"),
        ("header x-course", "8.01"),
        ("header X-Term", ""),
        ("css p.by", "By A. Medes"),
        ("css time::attr(datetime)", "2011"),
        ("css b::text", "A. Medes"),
        (r"url /(\d{4})/", "2010"),
        (r"url \w+\.html", "levers.html"),
        (r"url /(\d{9})?levers", ""),
    ],
)
def test_a_rule_finds_what_a_page_says(rule: str, value: str):
    assert MetadataRules({"it": rule})(PAGE) == {"it": value}


@each(
    "rules",
    [
        {"author": "meta"},
        {"the author": "meta author"},
        {"year": "url ("},
        {"year": "css p[["},
        {"year": 7},
    ],
)
def test_a_rule_that_is_not_understood_is_named(rules: dict[str, str]):
    with pytest.raises(MmcrawlError, match=f"metadata '{next(iter(rules))}'"):
        MetadataRules.read(json.dumps(rules))
    for settings in (rules, "[]"):
        with pytest.raises(MmcrawlError, match="metadata"):
            Configuration.read(Settings({"MMCRAWL_METADATA": settings}))


def test_what_the_rules_find_are_columns_of_the_feeds():
    settings = {"MMCRAWL_METADATA": '{"author": "meta author", "course": "header X-Course"}'}
    pipeline = MetadataPipeline.from_crawler(get_crawler(settings_dict=settings))
    body = HTML.encode()
    capture = Capture(PAGE.url, body, 0.0, headers=PAGE.headers)
    item = PageItem(parse_page(body, PAGE.url), 200, capture=capture)
    assert pipeline.process_item(item).extra == {"author": "A. Medes", "course": "8.01"}
    with pytest.raises(NotConfigured):
        MetadataPipeline.from_crawler(get_crawler())
