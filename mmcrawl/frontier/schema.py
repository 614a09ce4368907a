"""The tables of a store. One whose tables are others was not made by this version of mmcrawl."""

from collections.abc import Iterable

APPLICATION_ID = 0x6D6D6372  # "mmcr"
SCHEMA_VERSION = 4

SCHEMA = """
CREATE TABLE job (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    arguments TEXT NOT NULL CHECK (json_valid(arguments)),
    started_at REAL NOT NULL, finished_at REAL, reason TEXT NOT NULL DEFAULT '',
    memory TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(memory)),
    archives TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(archives))
) STRICT;
CREATE TABLE host (
    job INTEGER NOT NULL, id INTEGER NOT NULL, origin TEXT NOT NULL,
    PRIMARY KEY (job, id), UNIQUE (job, origin)
) WITHOUT ROWID, STRICT;
CREATE TABLE link (
    id INTEGER PRIMARY KEY, key INTEGER, host INTEGER NOT NULL, path TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('W', 'R', 'C', 'E')),
    score REAL NOT NULL, content REAL NOT NULL, structure REAL NOT NULL,
    parent INTEGER CHECK (parent < id AND parent >> 40 = id >> 40),
    logical_layer INTEGER NOT NULL, physical_layer INTEGER NOT NULL,
    priority INTEGER NOT NULL, url_words TEXT NOT NULL, anchor TEXT NOT NULL,
    group_title TEXT NOT NULL, request BLOB, error TEXT NOT NULL DEFAULT '', settled INTEGER,
    block TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX link_key ON link (key);
CREATE TABLE page (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, title TEXT NOT NULL,
    keywords TEXT NOT NULL, description TEXT NOT NULL, digest INTEGER NOT NULL,
    contains_media INTEGER NOT NULL, relevant INTEGER NOT NULL, topic_score REAL NOT NULL,
    links BLOB NOT NULL CHECK (length(links) % 4 = 0),
    links_on_page INTEGER NOT NULL, visited_at REAL NOT NULL
) STRICT;
CREATE TABLE note (
    id INTEGER PRIMARY KEY, job INTEGER NOT NULL, text TEXT NOT NULL CHECK (json_valid(text))
) STRICT;
CREATE INDEX page_digest ON page (digest);
CREATE TABLE media_page (
    job INTEGER NOT NULL, url TEXT NOT NULL, title TEXT NOT NULL, topic_score REAL NOT NULL,
    words TEXT NOT NULL, audio INTEGER NOT NULL, video INTEGER NOT NULL,
    animation INTEGER NOT NULL, status INTEGER NOT NULL, visited_at REAL NOT NULL,
    extra TEXT NOT NULL DEFAULT '', PRIMARY KEY (job, url)
) WITHOUT ROWID, STRICT;
CREATE TABLE media_resource (
    job INTEGER NOT NULL, url TEXT NOT NULL, page TEXT NOT NULL, kind TEXT NOT NULL,
    tag TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (job, page, url)
) WITHOUT ROWID, STRICT;
CREATE INDEX media_resource_url ON media_resource (job, url);
CREATE TABLE section (
    job INTEGER NOT NULL, name TEXT NOT NULL, pages INTEGER NOT NULL, PRIMARY KEY (job, name)
) WITHOUT ROWID, STRICT;
CREATE TABLE sighting (
    job INTEGER NOT NULL, section TEXT NOT NULL, url TEXT NOT NULL, pages INTEGER NOT NULL,
    PRIMARY KEY (job, section, url)
) WITHOUT ROWID, STRICT;
CREATE TABLE site_wide (
    job INTEGER NOT NULL, url TEXT NOT NULL, PRIMARY KEY (job, url)
) WITHOUT ROWID, STRICT;
CREATE TABLE pattern (
    job INTEGER NOT NULL, host TEXT NOT NULL, pattern TEXT NOT NULL, urls INTEGER NOT NULL,
    PRIMARY KEY (job, pattern)
) WITHOUT ROWID, STRICT;
"""


def layout(statements: Iterable[str | None]) -> set[str]:
    """Return statements that make tables and indexes, apart from their white space."""
    return {" ".join(statement.split()) for statement in statements if statement} - {""}


LAYOUT = layout(SCHEMA.split(";"))
