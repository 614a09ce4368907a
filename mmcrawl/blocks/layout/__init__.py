"""What elements and lines of a page look like, estimated from the markup: nothing is rendered."""
