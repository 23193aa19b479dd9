"""The index on disk: the catalog, which is the truth, and what is derived from it."""
