"""How often Python looks for garbage in cycles of references."""

import gc

_NEW_OBJECTS = 100_000, 20, 100
"""More than the new containers of a page, then after so many looks at the young, at the others."""


def collect_seldom() -> None:
    """Look for garbage seldom, and never again in what this process holds by now.

    A page becomes some ten thousands of objects, in no cycles, all gone with it. With Python's own
    thresholds these are walked through again and again while the page is read: a sixth of the time
    of parsing it, a fourth of that of naming the kinds and topics of its blocks.
    """
    gc.collect()
    gc.freeze()  # dictionaries and lexicons stay
    gc.set_threshold(*_NEW_OBJECTS)
