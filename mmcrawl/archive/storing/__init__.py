"""Captures that are stored while a crawl goes on: by a thread, or by a process of its own."""
