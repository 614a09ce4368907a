"""One crawl worked on by several processes, on one machine or many.

They share a *board*, a MongoDB database. Every process is a worker: it fetches the links that are
leased to it and reports what became of them. One of them coordinates besides: it holds the frontier
and the scores, and writes everything that happens into a log on the board, from which another one
takes over when it is gone.
"""
