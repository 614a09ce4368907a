"""Item pipelines: every page is archived, cut into blocks if wished, and judged."""
