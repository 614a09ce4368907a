"""Where things are kept besides files: URIs, and a MongoDB database."""
