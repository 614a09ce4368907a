"""Writes LICENCES.md: the licence of every pinned package, as its metadata say it.

python tools/write_licences.py, in an environment that has them all: `make constraints` does.
"""

from collections import defaultdict
from importlib.metadata import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "LICENCES.md"
HEAD = """# Licences of what it needs

The packages of `constraints.txt` by the licence that their metadata name. Of those under the GPL or
LGPL none is installed without an extra, and each works in a program of its own: **mutagen** reads
the tags of files, **libzim** writes ZIM.

| licence | packages |
|---|---|
"""
NAMES = {"Apache Software License": "Apache-2.0", "Python Software Foundation License": "PSF-2.0"}


def licence_of(package: str) -> str:
    """Return the licence of an installed package."""
    said = metadata(package)
    classes = [line.split(" :: ") for line in said.get_all("Classifier") or []]
    named = [one[-1] for one in classes if one[0] == "License" and one[-1] != "OSI Approved"]
    text = str(said.get("License") or "").partition("\n")[0][:80]
    known = "" if "Proprietary" in " ".join(named) else "; ".join(named)
    licence = str(said.get("License-Expression") or "") or known or text
    return NAMES.get(licence, licence.removesuffix(" License"))


if __name__ == "__main__":
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[str]] = defaultdict(list)
    for pin in pins:
        if not pin.startswith("#"):
            name = pin.partition("==")[0]
            found[licence_of(name)].append(name)
    by_number = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
    rows = "".join(f"| {licence} | {', '.join(names)} |\n" for licence, names in by_number)
    PAGE.write_text(HEAD + rows, encoding="utf-8")
