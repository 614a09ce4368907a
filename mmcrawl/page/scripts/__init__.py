"""What scripts say without being run: addresses in them, and where they move a browser to.

:mod:`.literals` finds addresses that stand there as texts. For moves (:mod:`.moves`, begin there),
:mod:`.javascript` walks over the syntax tree of a short script with what a browser offers it
(:mod:`.browser_objects`).
"""
