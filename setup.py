"""For `python setup.py bdist_egg`, which scrapyd-client calls; all else is in pyproject.toml."""

from setuptools import setup

setup()
