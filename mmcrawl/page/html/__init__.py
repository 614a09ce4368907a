"""The bytes of a page as a tree: the only reader of HTML.

The encoding is found, or guessed from the bytes where nothing good declares it (:mod:`.encoding`).
Tokens (:mod:`.tags`) are ranges of the body, which is read a window at a time; :mod:`.building`
makes a :class:`PageTree` of them (:mod:`.tree`, begin there).
"""
