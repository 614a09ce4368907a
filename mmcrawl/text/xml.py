"""Writing XML: text that it can hold, and documents."""

import re
from typing import cast

from lxml import etree

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Return a text without the characters that XML 1.0 has no way to write (section 2.2).

    >>> xml_text(chr(11) + 'ab')
    'ab'
    """
    return _FORBIDDEN.sub("", text)


def xml_document(root: etree._Element) -> bytes:
    """Return a document as UTF-8, with its declaration."""
    document = etree.tostring(root, encoding="utf-8", xml_declaration=True, pretty_print=True)
    return cast("bytes", document)
