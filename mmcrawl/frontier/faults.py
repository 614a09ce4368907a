"""What can be wrong with a store, and what a user is told of it."""

from mmcrawl.errors import StoreError

# What the schema cannot say: ids are counted from 0 in each job, and what is named is there.
FAULTS = """
SELECT 'links of no job' FROM link WHERE id >> 40 NOT IN (SELECT id FROM job)
UNION ALL SELECT 'links are missing' FROM link
    GROUP BY id >> 40 HAVING max(id) <> (id >> 40 << 40) + count(*) - 1
UNION ALL SELECT 'hosts are missing' FROM host GROUP BY job HAVING max(id) <> count(*) - 1
UNION ALL SELECT 'links of no host' FROM link
    WHERE NOT EXISTS (SELECT 1 FROM host WHERE host.job = link.id >> 40 AND host.id = link.host)
UNION ALL SELECT 'pages of no link' FROM page WHERE id NOT IN (SELECT id FROM link)
UNION ALL SELECT 'numbers out of range' FROM link WHERE settled NOT BETWEEN 1 AND 1 << 40
    OR logical_layer NOT BETWEEN 0 AND 1 << 40 OR physical_layer NOT BETWEEN 0 AND 1 << 40
UNION ALL SELECT 'notes of a job' FROM job WHERE json_type(arguments) <> 'object'
    OR json_type(memory) <> 'object' OR json_type(archives) <> 'object'
    OR EXISTS (SELECT 1 FROM json_each(archives) WHERE type <> 'integer')
LIMIT 1
"""


def damaged(store: str, fault: object) -> StoreError:
    """Return the error that says of a store that it is damaged, and how, and what can be done."""
    what = " ".join(str(fault).split())[:200]
    return StoreError(
        f"store {store} is damaged ({what}); restore it from a copy, or name another file: an"
        " archive of the crawl's pages is not concerned"
    )


def why_it_failed(name: str, error: Exception) -> str:
    """Return what a user is told of an error of SQLite, or of a value of a store."""
    text = str(error)
    if "disk is full" in text or "disk I/O" in text:
        return f"store {name} cannot be written ({text}); make room and run the same command again"
    if "not a database" in text:
        return f"{name} is not a store of mmcrawl; name another file"
    if any(sign in text for sign in ("malformed", "corrupt", "decode", "no such")):
        return str(damaged(name, text))
    if "unable to open" in text:
        return f"store {name} cannot be opened; does its folder exist, and may you write there?"
    if "readonly" in text:
        return f"store {name} is read-only; change its permissions, or name another file"
    return f"store {name} failed: {text}"
