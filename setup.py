"""For `python setup.py bdist_egg`, which scrapyd-client calls, and for what pyproject.toml cannot
say: packages that are found, and one more that lies elsewhere. All else is in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["mmcrawl", "mmcrawl.*"]), "mmcrawl.dictionaries"],
    package_dir={"mmcrawl.dictionaries": "dictionaries"},
)
