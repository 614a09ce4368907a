"""Experiments of the papers, each in one command: `scrapy experiment --preset NAME`.

`yang2009` compares crawls. The others measure on labelled data; each is a module of its name with

    def tables(data: Path | None, progress: Told) -> Iterator[PaperTable]

where `data` is the folder given by `--data`, None for what ships.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.experiment.presets.labelled_pages import (
        RELATED,
        TOPIC,
        LabelledPage,
        NodeLabels,
        Ranges,
        labelled_pages,
        pages_in,
    )
    from mmcrawl.experiment.presets.page_pairs import (
        KINDS,
        ChangedPart,
        Grade,
        Judgement,
        PagePair,
        changed_text,
        grade_of,
        judge,
        labelled_pairs,
        versions,
    )
    from mmcrawl.experiment.presets.quark import (
        FINDING,
        TYPING,
        Scores,
        content_scores,
        type_scores,
    )
    from mmcrawl.experiment.presets.quark import tables as quark_tables
    from mmcrawl.experiment.presets.song2008 import CASES, WAYS, judged
    from mmcrawl.experiment.presets.song2008 import tables as song2008_tables
    from mmcrawl.experiment.presets.tables import PaperTable, reserve, write_tables
    from mmcrawl.experiment.presets.wang2012 import (
        CELLS,
        MEASURES,
        PUBLISHED,
        Gdom,
        Ypm,
        crawls,
        kept_of,
        method_of,
        node_places,
        nom,
        six_measures,
    )
    from mmcrawl.experiment.presets.wang2012 import tables as wang2012_tables
    from mmcrawl.experiment.presets.yang2009 import ALGORITHMS, over_webs, webs_of
    from mmcrawl.experiment.presets.yang2009 import tables as yang2009_tables


CRAWLS = "yang2009"
"""The preset that crawls a stored web; it takes the options of other experiments."""

LABELLED: tuple[str, ...] = ("song2008", "wang2012", "quark")
"""The presets that measure on labelled data."""
