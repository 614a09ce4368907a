"""Experiments of the papers, each in one command: `scrapy experiment --preset NAME`.

`yang2009` compares crawls. The others measure on labelled data; each is a module of its name with

    def tables(data: Path | None, progress: Told) -> Iterator[PaperTable]

where `data` is the folder given by `--data`, None for what ships.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.experiment.presets.archive_cases import CASES
    from mmcrawl.experiment.presets.labelled_pages import (
        RELATED,
        TOPIC,
        LabelledPage,
        NodeLabels,
        Ranges,
        labelled_pages,
        pages_in,
    )
    from mmcrawl.experiment.presets.made_versions import KINDS, changed_text, versions
    from mmcrawl.experiment.presets.page_pairs import (
        ChangedPart,
        Grade,
        Judgement,
        PagePair,
        grade_of,
        judge,
        labelled_pairs,
    )
    from mmcrawl.experiment.presets.quark import (
        FINDING,
        TYPING,
        Scores,
        content_scores,
        type_scores,
    )
    from mmcrawl.experiment.presets.quark import tables as quark_tables
    from mmcrawl.experiment.presets.song2008 import WAYS, judged
    from mmcrawl.experiment.presets.song2008 import tables as song2008_tables
    from mmcrawl.experiment.presets.tables import PaperTable, claim, write_tables
    from mmcrawl.experiment.presets.wang2012 import (
        MEASURES,
        PUBLISHED,
        crawls,
        kept_of,
        method_of,
        six_measures,
    )
    from mmcrawl.experiment.presets.wang2012 import tables as wang2012_tables
    from mmcrawl.experiment.presets.yang2009 import over_webs, webs_of
    from mmcrawl.experiment.presets.yang2009 import tables as yang2009_tables
    from mmcrawl.experiment.presets.yang2009_published import ALGORITHMS, LAYERS
    from mmcrawl.experiment.presets.yang2009_published import PUBLISHED as PUBLISHED_CRAWLS


CRAWLS = "yang2009"
"""The preset that crawls a stored web; it takes the options of other experiments."""

LABELLED: tuple[str, ...] = ("song2008", "wang2012", "quark")
"""The presets that measure on labelled data."""
