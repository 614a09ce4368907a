"""Writes docs/reference/licences.md: the licence of every pinned package, as its metadata say it.

python tools/write_licences.py, in an environment that has them all: `make constraints` does.
"""

from importlib.metadata import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "licences.md"
HEAD = """# Licences of what it needs

The packages of `constraints.txt` with the licences that their metadata name. mmcrawl's own files
are under BSD-3-Clause ([but for two tables](https://creativecommons.org/licenses/by-sa/4.0/)); a
wheel of it holds none of these packages. Three are under the GPL or LGPL, and none is installed
without an extra: **mutagen** is loaded by a process of its own, which tells the tags of files;
**libzim** is loaded where works are exported as ZIM; frozendict is for tests only. ffmpeg and
yt-dlp are run as programs.

| package | licence |
|---|---|
"""


def licence_of(package: str) -> str:
    """Return the licence of an installed package."""
    said = metadata(package)
    classes = [line.split(" :: ") for line in said.get_all("Classifier") or []]
    named = [one[-1] for one in classes if one[0] == "License" and one[-1] != "OSI Approved"]
    text = str(said.get("License") or "").partition("\n")[0]
    known = "" if "Proprietary" in " ".join(named) else "; ".join(named)
    return str(said.get("License-Expression") or "") or known or text[:80]


if __name__ == "__main__":
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    names = [pin.partition("==")[0] for pin in pins if not pin.startswith("#")]
    rows = "".join(f"| {name} | {licence_of(name)} |\n" for name in names)
    PAGE.write_text(HEAD + rows, encoding="utf-8")
