"""Where things are kept besides files: a MongoDB database."""
