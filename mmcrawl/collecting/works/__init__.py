"""Works: a record for each recording, film or animation that was found, not for each address.

A page *mentions* addresses of media (:mod:`.mentions`) and says who made it, when, and under which
licence (:mod:`.page_facts`, :mod:`.licences`). Mentions of one work are grouped (:mod:`.grouping`)
and described (:mod:`.describing`).
"""

from mmcrawl.collecting.works.model import Evidence, Licence, Sighting, Subtitles, Work, WorkFile

__all__ = ["Evidence", "Licence", "Sighting", "Subtitles", "Work", "WorkFile"]
