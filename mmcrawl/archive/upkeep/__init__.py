"""Numbers of an archive; examining, copying and purging it."""
