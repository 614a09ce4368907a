"""The content of a page as a document: headings, lists, tables, code, formulas, and output formats.

:func:`page_document` puts the chosen lines of a page into their places, with the markup that gives
their role; the document is written as Markdown, plain text or JSON.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.blocks.rendering.formulas import mathml_to_tex
