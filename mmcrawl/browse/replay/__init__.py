"""Archived pages as they were, for browsers and for programs (Memento, CDX)."""
