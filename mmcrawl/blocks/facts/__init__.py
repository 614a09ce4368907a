"""What a page says of itself: authors, dates, site, language, licence, and where it says so.

:func:`page_facts` reads them from structured data (JSON-LD, microdata), ``meta`` tags, elements
that are marked as dates or bylines, the address, and lines near the headline, the surest first.
"""
