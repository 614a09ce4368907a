"""Fetch the webs that search was developed on from their public repositories, for search_lab.py.

    python benchmarks/search_webs.py /tmp/webs --base ADDRESS
    python tools/train_search_prior.py /tmp/lab /tmp/webs --leave-out /tmp/priors
    python benchmarks/search_lab.py /tmp/lab /tmp/webs --task any --algos all --priors /tmp/priors

ADDRESS is that of the host of the repositories, to which `/OWNER/NAME` is added, or has `{owner}`
and `{name}` where they belong: `/mirror/{owner}+{name}.git` for clones in a folder. The commits in
`data/search_webs.json` are the bytes that everybody measures; only pages are written, with a
manifest. A web that is there is left alone. What cannot be fetched is named, and the rest goes on.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath

DATA = Path(__file__).parent / "data" / "search_webs.json"


def fetch(about: dict, address: str, folder: Path) -> None:
    """Write the pages of a web.

    Raises:
        CalledProcessError: git cannot fetch the commit, or it holds no page.
    """
    owner, name, commit = about["source"].replace("@", "/").split("/")
    with tempfile.TemporaryDirectory() as scratch:
        part = about.get("folder", "")
        for command in (
            ["init", "--quiet"],
            ["remote", "add", "origin", address.format(owner=owner, name=name)],
            ["config", "remote.origin.uploadpack", "git -c uploadpack.allowFilter=1 upload-pack"],
            ["sparse-checkout", "set", "--no-cone", f"/{Path(part, '**', '*.htm*')}"],
            ["fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", commit],
            ["-c", "core.ignoreCase=true", "checkout", "--quiet", commit],  # asks for pages only
        ):
            subprocess.run(["git", "-C", scratch, *command], check=True)
        shutil.rmtree(Path(scratch, ".git"))
        shutil.copytree(Path(scratch, part), folder / about.get("into", ""))


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder for the webs")
    parser.add_argument("--base", required=True, help="address before /OWNER/NAME")
    parser.add_argument("--only", default="", help="names of webs, separated by commas")
    args = parser.parse_args()
    address = args.base if "{name}" in args.base else f"{args.base}/{{owner}}/{{name}}"
    webs: dict[str, dict] = json.loads(DATA.read_text(encoding="utf-8"))
    names = args.only.split(",") if args.only else [PurePosixPath(host).stem for host in webs]
    wanted = {host: about for host, about in webs.items() if PurePosixPath(host).stem in names}
    args.out.mkdir(parents=True, exist_ok=True)
    for host, about in wanted.items():
        try:
            if not (args.out / host).is_dir():
                fetch(about, address, args.out / host)
        except subprocess.CalledProcessError:
            print(f"{about['source']} was not fetched", file=sys.stderr)
    there = {host: about for host, about in webs.items() if (args.out / host).is_dir()}
    manifest = json.dumps(there, ensure_ascii=False, indent=1)
    (args.out / "manifest.json").write_text(manifest, encoding="utf-8")
    print(f"{len(there)} of {len(webs)} webs in {args.out}")
    return wanted.keys() - there.keys() != set()


if __name__ == "__main__":
    sys.exit(main())
