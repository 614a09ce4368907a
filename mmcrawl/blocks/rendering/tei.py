"""A document as XML of the Text Encoding Initiative (TEI P5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from mmcrawl.blocks.facts.facts import PageFacts
from mmcrawl.blocks.rendering.parts import (
    Block,
    Break,
    CodeBlock,
    Document,
    Formula,
    Heading,
    Image,
    Inline,
    Items,
    Link,
    Paragraph,
    Quote,
    Styled,
    Table,
)

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RENDERED = {
    "strong": "bold", "emphasis": "italic", "deleted": "strikethrough",
    "superscript": "superscript", "subscript": "subscript",
}  # fmt: skip


def tei(
    document: Document, facts: PageFacts, *, comments: Sequence[str] = (), url: str | None = None
) -> str:
    """Return a document as TEI: facts in the header, sections as nested divisions."""
    body = [*_sections(document), *_comments(comments)] or ["<p/>"]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<TEI xmlns="http://www.tei-c.org/ns/1.0">\n'
        f"{_header(document, facts, url)}\n"
        "<text>\n<body>\n" + "\n".join(body) + "\n</body>\n</text>\n</TEI>\n"
    )


def _header(document: Document, facts: PageFacts, url: str | None) -> str:
    authors = "".join(f"<author>{_text(name)}</author>" for name in facts.authors)
    title = f"<title>{_text(document.title)}</title>"
    published = facts.published
    date = (
        f"<date when={_quoted(published.value)}>{_text(published.written)}</date>"
        if published
        else ""
    )
    licence = (
        f"<availability><licence{_target(facts.licence)}>{_text(facts.licence)}</licence></availability>"
        if facts.licence
        else ""
    )
    publisher = f"<publisher>{_text(facts.site_name or 'unknown')}</publisher>"
    address = url or facts.canonical
    pointer = f"<ptr target={_quoted(address)}/>" if address else ""
    changed = facts.modified
    change = f"<change when={_quoted(changed.value)}/>" if changed else ""
    language = facts.language
    profile = f"<abstract><p>{_text(facts.description)}</p></abstract>" if facts.description else ""
    if language:
        profile += f"<langUsage><language ident={_quoted(language)}/></langUsage>"
    return (
        f"<teiHeader>\n<fileDesc>\n<titleStmt>{title}{authors}</titleStmt>\n"
        f"<publicationStmt>{publisher}{licence}</publicationStmt>\n"
        f"<sourceDesc><bibl>{title}{authors}{publisher}{date}{pointer}</bibl></sourceDesc>\n"
        "</fileDesc>\n"
        + (f"<profileDesc>{profile}</profileDesc>\n" if profile else "")
        + (f"<revisionDesc>{change}</revisionDesc>\n" if change else "")
        + "</teiHeader>"
    )


def _target(licence: str) -> str:
    return f" target={_quoted(licence)}" if licence.startswith(("http:", "https:")) else ""


def _sections(document: Document) -> Iterator[str]:
    """Yield the blocks; a heading begins a division, up to the next of its level or above."""
    yield "<div>"
    if document.title:
        yield f"<head>{_text(document.title)}</head>"
    levels = [0]
    empty = True  # whether the innermost division holds nothing but its heading
    for block in document.blocks:
        if isinstance(block, Heading):
            if empty and len(levels) > 1:
                yield "<p/>"
            while levels[-1] >= block.level:
                levels.pop()
                yield "</div>"
            levels.append(block.level)
            yield f"<div><head>{_inlines(block.inlines)}</head>"
        else:
            yield _block(block)
        empty = isinstance(block, Heading)
    if empty:
        yield "<p/>"
    yield "</div>" * len(levels)


def _comments(comments: Sequence[str]) -> Iterator[str]:
    if comments:
        yield '<div type="comments">'
        yield from (f"<p>{_text(comment)}</p>" for comment in comments)
        yield "</div>"


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f'<p><hi rend="bold">{_inlines(block.inlines)}</hi></p>'
        case Paragraph():
            return f"<p>{_inlines(block.inlines)}</p>"
        case CodeBlock():
            language = f" lang={_quoted(block.language)}" if block.language else ""
            code = f'<code{language} xml:space="preserve">{_text(block.text)}</code>'
            return f'<ab type="code">{code}</ab>'
        case Quote():
            return "<quote>" + "".join(map(_block, block.blocks)) + "</quote>"
        case Items():
            items = ("<item>" + "".join(map(_block, item)) + "</item>" for item in block.items)
            kind = "numbered" if block.ordered else "bulleted"
            return f'<list rend="{kind}">' + "".join(items) + "</list>"
        case Table():
            return _table(block)


def _table(table: Table) -> str:
    head = f"<head>{_inlines(table.caption)}</head>" if table.caption else ""
    rows = []
    for row in table.rows:
        cells = []
        for cell in row:
            role = ' role="label"' if cell.header else ""
            spans = f' cols="{cell.columns}"' if cell.columns > 1 else ""
            spans += f' rows="{cell.rows}"' if cell.rows > 1 else ""
            cells.append(f"<cell{role}{spans}>{_inlines(cell.inlines)}</cell>")
        rows.append("<row>" + "".join(cells) + "</row>")
    return f"<table>{head}{''.join(rows)}</table>"


def _inlines(inlines: Sequence[Inline]) -> str:
    return "".join(map(_inline, inlines))


def _inline(part: Inline) -> str:
    match part:
        case str():
            text = _text(part)
        case Break():
            text = "<lb/>"
        case Formula():
            rend = ' rend="display"' if part.display else ""
            text = f'<formula notation="TeX"{rend}>{_text(part.tex)}</formula>'
        case Image():
            shows = f"<figDesc>{_text(part.text)}</figDesc>" if part.text else ""
            text = f"<figure><graphic url={_quoted(part.address)}/>{shows}</figure>"
        case Link():
            text = f"<ref target={_quoted(part.address)}>{_inlines(part.inlines)}</ref>"
        case Styled(style="code"):
            code = "".join(one for one in part.inlines if isinstance(one, str))
            text = f"<code>{_text(code)}</code>"
        case Styled():
            text = f'<hi rend="{_RENDERED[part.style]}">{_inlines(part.inlines)}</hi>'
    return text


def _text(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text), quote=False)


def _quoted(text: str) -> str:
    value = escape(_NO_XML.sub("\ufffd", text))
    return f'"{value}"'
