"""An index whose catalog, or whose vectors, a server holds."""
