"""Reads scripts: addresses in them, and where they send a browser.

:mod:`.literals` finds addresses written as string literals. For moves (:mod:`.moves`, begin there),
short scripts run in a process of their own (:mod:`.sandbox`), in front of what a browser offers
(``browser.js``).
"""
