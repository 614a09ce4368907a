"""Only for `python setup.py bdist_egg`, which scrapyd-client calls; everything is in pyproject.toml."""

from setuptools import setup

setup()
