"""The groups of figures that `gate.py` measures: a module a group, each with

    def rows(corpora: Path | None) -> Iterator[Row]

where `corpora` is the folder with real pages. A figure that needs what is not there is None, and
is printed as "no data".
"""
