"""Stores captures while a crawl runs: by a thread, or by a process of its own."""
