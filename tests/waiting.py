"""How long a test waits for what must happen: until it does, or until it is clear that it hangs."""

HANG = 570.0
"""Seconds, a little less than pytest's own time-out, which would not say what was waited for."""
