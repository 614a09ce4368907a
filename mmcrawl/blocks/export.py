"""A partition as JSON: for programs that do not speak Python, and to keep."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from mmcrawl.blocks.partition import Block, Partition


def partition_record(page: Partition) -> dict[str, Any]:
    """Return a partition as plain lists and dictionaries.

    ``url``, ``method``, ``level``, ``encoding``; ``size`` in bytes; ``layout``, the sizes of the
    pieces before, between and after the innermost blocks; ``blocks``, those of level 1, each with
    ``start`` and ``end`` (bytes of the page as received), ``level``, ``path``, ``kind``, ``score``,
    ``features``, ``topic``, ``text``, ``links`` (``href`` as written, ``text``) and ``children``,
    the blocks inside of it. A number that is none (not finite) is None.
    """
    roots: list[dict[str, Any]] = []
    siblings = [roots]  # where blocks of each level are added, from level 1 on
    for block in page:
        record = _block_record(block)
        del siblings[block.level :]
        siblings[-1].append(record)
        siblings.append(record["children"])
    return {
        "url": page.url,
        "method": page.method,
        "level": page.level,
        "encoding": page.encoding,
        "size": len(page.body),
        "layout": [len(piece) for piece in page.layout],
        "blocks": roots,
    }


def partition_json(page: Partition, metadata: Mapping[str, str] | None = None) -> str:
    """Return :func:`partition_record` as one JSON document, with a line feed at its end.

    Args:
        page: In blocks.
        metadata: Of the page, which becomes its ``metadata``; None leaves it out.

    Blocks are nested in the document as they are on the page: a level of some hundreds is more
    than the ``json`` module nests.

    >>> from mmcrawl.blocks import partition
    >>> print(partition_json(partition(b"", method="quark")).splitlines()[1])
      "url": null,
    """
    record = partition_record(page)
    if metadata is not None:
        record["metadata"] = dict(metadata)
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _block_record(block: Block) -> dict[str, Any]:
    return {
        "start": block.start,
        "end": block.end,
        "level": block.level,
        "path": block.path,
        "kind": block.kind,
        "score": _finite(block.score),
        "features": _finite_values(block.features),
        "topic": block.topic,
        "text": block.text,
        "links": [{"href": link.href, "text": link.text} for link in block.links],
        "children": [],
    }


def _finite_values(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _finite(value) for name, value in values.items()}


def _finite(value: float) -> float | None:
    number = float(value)  # numpy's are not known to the json module
    return number if isfinite(number) else None
