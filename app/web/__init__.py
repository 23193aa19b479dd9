"""The page at ``/``: its files, and Markdown as HTML that is safe to show."""

from notehop.app.web.routes import routes

__all__ = ["routes"]
