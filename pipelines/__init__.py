"""Item pipelines: thin, they hand items to the library."""
