"""Statistics of an archive; checking, copying and purging it."""
