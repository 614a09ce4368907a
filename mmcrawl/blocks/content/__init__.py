"""What a page says: headline, main text, its kind, and the model that tells content from noise.

:func:`page_document` puts the chosen lines of a page into their places, with the markup that gives
their role; the document is written as Markdown, plain text or JSON.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.blocks.content.beside import beside_text
    from mmcrawl.blocks.content.content import best_lines
    from mmcrawl.blocks.content.formulas import mathml_to_tex
    from mmcrawl.blocks.content.line_features import PAGE_COLUMNS, LineFeatures
    from mmcrawl.blocks.content.metadata import PageMetadata, page_headline, page_metadata
    from mmcrawl.blocks.content.model import GENRES, ContentModel, content_model
    from mmcrawl.blocks.content.page_type import PAGE_TYPES, page_type
    from mmcrawl.blocks.content.surroundings import StartTags
