"""Reads scripts without running them: addresses in them, and where they send a browser.

:mod:`.literals` finds addresses written as string literals. For moves (:mod:`.moves`, begin there),
:mod:`.javascript` walks over the syntax tree of a short script, with the objects that a browser
offers (:mod:`.browser_objects`).
"""
