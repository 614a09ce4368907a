"""Experiments of the papers, each in one command: `scrapy experiment --preset NAME`.

`yang2009` compares crawls. The others measure on labelled data; each is a module of its name with

    def tables(data: Path | None, progress: Told) -> Iterator[PaperTable]

where `data` is the folder given by `--data`, None for what ships.
"""

CRAWLS = "yang2009"
"""The preset that crawls a stored web; it takes the options of other experiments."""

LABELLED: tuple[str, ...] = ("song2008", "wang2012", "quark")
"""The presets that measure on labelled data."""
