"""The page at ``/``: its files, and Markdown as HTML that is safe to show."""
