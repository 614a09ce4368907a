"""The content of a page as a document: headings, lists, tables, code, formulas, and their formats.

:func:`page_document` puts the chosen lines of a page into their places, with the markup that says
what they are; it is written as Markdown, plain text or JSON.
"""
