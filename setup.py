"""For `python setup.py bdist_egg`, which scrapyd-client calls, and for what pyproject.toml cannot
say: packages that are found, one more that lies elsewhere, and the demo web in one file. All else
is in pyproject.toml."""

import io
import tarfile
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py


class BuildWithDemo(build_py):
    """Packs ``demo/`` into the package, the same bytes each time; not for an editable install."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        demo = Path(__file__).parent / "demo"
        with tarfile.open(Path(self.build_lib, "mmcrawl", "demo.tar.xz"), "w:xz") as packed:
            for path in sorted(path for path in demo.rglob("*") if path.is_file()):
                member = tarfile.TarInfo(path.relative_to(demo).as_posix())
                member.size = path.stat().st_size
                packed.addfile(member, io.BytesIO(path.read_bytes()))


setup(
    packages=[*find_packages(include=["mmcrawl", "mmcrawl.*"]), "mmcrawl.dictionaries"],
    package_dir={"mmcrawl.dictionaries": "dictionaries"},
    cmdclass={"build_py": BuildWithDemo},
)
