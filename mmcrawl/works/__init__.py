"""Works: a record for each recording, film or animation that was found, not for each address.

A page *mentions* addresses of media (:mod:`.mentions`) and says who made it, when, and under which
licence (:mod:`.works_page`, :mod:`.licences`). Mentions of one work are grouped (:mod:`.grouping`)
and described (:mod:`.describing`). The :mod:`.catalogue` keeps them, with what an editor corrected
(:mod:`.corrections`) and the collections people make of them (:mod:`.collections`), in a file or a
database; :mod:`.exporting` writes them in the formats that others take.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.works.catalogue import COLLECTIONS, Shelf, open_shelf
    from mmcrawl.works.collections import (
        BEST,
        Collections,
        Marks,
        Member,
        Suggestion,
        Suggestions,
    )
    from mmcrawl.works.corrections import Correction, read_corrections
    from mmcrawl.works.describing import FoundPage, Sources, describe
    from mmcrawl.works.licences import best_first, licence_of_url, licences_in_text
    from mmcrawl.works.model import (
        Evidence,
        Licence,
        Sighting,
        Subtitles,
        Work,
        WorkFile,
    )
    from mmcrawl.works.works_page import FileTags, WorksPage, read_works_page, tags_of
