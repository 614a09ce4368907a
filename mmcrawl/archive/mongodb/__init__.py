"""The archive in a MongoDB database, for crawls on more than one machine."""
