"""One crawl worked on by several processes, on one machine or many.

What they have in common is the *shared store*, a MongoDB database. The web is divided into parts by
hosts. A worker has some of the parts, each a crawl of its own in a local file, and reports what
changes there into the log of the part, from which another worker takes over when it is gone. Links
that lead to other parts are sent by mail. Nobody decides for others.
"""
