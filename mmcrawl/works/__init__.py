"""Works: one record for each recording, film or animation found, not for each address.

A page names addresses of media (:mod:`.grouping`) and says who made it, when, and under which
licence (:mod:`.describing`, :mod:`.licences`); files say more (:mod:`.file_tags`). Occurrences of
one work are grouped (:mod:`.grouping`) and described (:mod:`.describing`). The :mod:`.catalogue`
keeps works with an editor's corrections (:mod:`.corrections`) and collections
(:mod:`.collections`), in a file or a database. Lists are answered from an :mod:`.index` of it;
:mod:`.exporting` writes works in other formats.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.works.catalogue import COLLECTIONS, Catalogue, open_catalogue
    from mmcrawl.works.collections import (
        BEST,
        Collections,
        Marks,
        Member,
        Suggestion,
        Suggestions,
    )
    from mmcrawl.works.corrections import Correction, read_corrections
    from mmcrawl.works.describing import FoundPage, Sources, WorksPage, describe, read_works_page
    from mmcrawl.works.file_tags import FileTags, TagReader, tags_of
    from mmcrawl.works.index import FACETS, Asked, Entry, WorkIndex, open_index
    from mmcrawl.works.licences import best_first, licence_of_url, licences_in_text
    from mmcrawl.works.model import (
        Appearance,
        Evidence,
        Licence,
        Subtitles,
        Work,
        WorkFile,
    )
