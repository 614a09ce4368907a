"""The bytes of a page as a tree: the only reader of HTML.

The encoding is found (:mod:`.encoding`), or guessed from the bytes where nothing good declares it
(:mod:`.guessed_encoding`). Tokens (:mod:`.tags`) are ranges of the body, which is read a window at
a time; :mod:`.building` makes a :class:`PageTree` of them (:mod:`.tree`, begin there), and
:mod:`.run_texts` gives the text of its runs.
"""
