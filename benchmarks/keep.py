"""Run a script of this folder and keep what it prints, with date, commit and machine.

    python benchmarks/keep.py NAME [ARGUMENT…]

writes `results/NAME.md`: the command, when and of what it was run, and all that the script said. A
script that fails leaves the figures of before.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from gate import source

HERE = Path(__file__).resolve().parent


def main() -> int:
    name, *arguments = sys.argv[1:] or ["--help"]
    script = HERE / f"{name.removesuffix('.py')}.py"
    if not script.is_file():
        print(__doc__)
        return 2
    said: list[str] = []
    command = [sys.executable, str(script), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout or ():
            print(line, end="", flush=True)
            said.append(line)
    if running.returncode:
        return running.returncode
    told = f"python benchmarks/{script.name} {shlex.join(arguments)}".strip()
    text = f"# {script.name}\n\n`{told}`\n{source()}\n\n```\n{''.join(said).strip()}\n```\n"
    (HERE / "results" / f"{script.stem}.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
