"""The algorithms that rank links by the graph seen so far."""
