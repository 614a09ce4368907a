"""XML that is written."""

from lxml import etree

from mmcrawl.text import xml_document, xml_text


def test_what_xml_cannot_hold_is_left_out_and_all_else_stays() -> None:
    assert xml_text("a\x00b\x1f\ud800\uffff\t\n杠杆 <&>") == "ab\t\n杠杆 <&>"


def test_a_document_is_utf_8_and_says_so() -> None:
    root = etree.Element("works")
    root.text = xml_text("杠\x08杆 & <load>")
    written = xml_document(root)
    assert written.startswith(b"<?xml version='1.0' encoding='utf-8'?>")
    assert etree.fromstring(written).text == "杠杆 & <load>"
