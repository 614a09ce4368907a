"""How many pages each partition may fetch, so that the sum stays within `max_pages`.

* ``budget``: ``JOB/pages``; ``granted``, JSON: by partition, the epoch of the owner that wrote
  last, and the pages granted in all.

A grant stays with its partition when the owner dies; an owner gives back what it does not use.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from mmcrawl.cluster.leases import Lease
from mmcrawl.cluster.store import Row, SharedStore

_NAME = "pages"
_LARGEST = 64  # pages granted at once: more would lie where other partitions have better links


class Budget:
    """The budget of a crawl of so many pages at most, as one worker sees it."""

    def __init__(self, documents: SharedStore, most: int) -> None:
        self._documents, self._most = documents, most
        self._is_there = False

    def grant(
        self,
        own: Mapping[int, Lease],
        wants: Mapping[int, int],
        spare: Mapping[int, int],
        leases: Collection[Lease],
    ) -> dict[int, int]:
        """Grant pages to some of a worker's partitions; give back what others do not use.

        Args:
            own: leases of the worker.
            wants: pages that each had crawled or was fetching, where it needs more, the most
                promising ones first; of others' partitions nothing is done.
            spare: pages that each has crawled, where it uses no more.
            leases: of all partitions, which may be some seconds old.

        Returns:
            How many pages of each of these may be fetched in all.
        """
        if not self._is_there:
            self._documents.insert("budget", {_NAME: {"version": 0, "granted": "{}"}})
            self._is_there = True
        pages = {lease.partition: lease.pages for lease in (*leases, *own.values())}
        workers = len({lease.owner for lease in (*leases, *own.values())} - {""}) or 1
        result: dict[int, int] = {}

        def granted(row: Row) -> Row | None:
            told: dict[str, list[int]] = json.loads(row["granted"])
            before = json.dumps(told)
            asked = {*wants, *spare} & own.keys()
            mine = {
                partition
                for partition in asked
                if told.get(str(partition), [0])[0] <= own[partition].epoch
            }
            for partition in mine & spare.keys():
                told[str(partition)] = [own[partition].epoch, spare[partition]]
            room = self._most - sum(
                max(told.get(str(partition), [0, 0])[1], pages.get(partition, 0))
                for partition in {*pages, *map(int, told)}
            )
            share = max(room // (2 * workers), min(room, 1))  # others may want more just as well
            for partition in wants:
                if partition in mine:
                    has = max(told.get(str(partition), [0, 0])[1], own[partition].pages)
                    # What it has not used yet it may have from an owner that is no more.
                    more = max(min(_LARGEST, share) - (has - wants[partition]), 0)
                    told[str(partition)] = [own[partition].epoch, has + more]
                    share -= more
            result.clear()
            result.update({partition: told[str(partition)][1] for partition in mine})
            changed = json.dumps(told)
            return None if changed == before else {"granted": changed}

        self._documents.change_one("budget", _NAME, granted)
        return result
