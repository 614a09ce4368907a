"""Spiders: thin, they turn a response into a page and nothing more."""
