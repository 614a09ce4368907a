"""One crawl worked on by several processes, on one machine or many.

What they have in common is the *shared store*, a MongoDB database. Every process is a worker: it
fetches the links that are leased to it and reports what became of them. One of them coordinates
besides: it holds the frontier and the scores, and writes everything that happens into a log in the
shared store, from which another one takes over when it is gone.
"""
