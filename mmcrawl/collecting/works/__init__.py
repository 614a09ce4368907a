"""Works: a record for each recording, film or animation that was found, not for each address.

A page *mentions* addresses of media (:mod:`.mentions`) and says who made it, when, and under which
licence (:mod:`.works_page`, :mod:`.licences`). Mentions of one work are grouped (:mod:`.grouping`)
and described (:mod:`.describing`).
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.collecting.works.describing import FoundPage, Sources, describe
    from mmcrawl.collecting.works.licences import best_first, licence_of_url, licences_in_text
    from mmcrawl.collecting.works.model import (
        Evidence,
        Licence,
        Sighting,
        Subtitles,
        Work,
        WorkFile,
    )
    from mmcrawl.collecting.works.works_page import FileTags, WorksPage, read_works_page, tags_of
