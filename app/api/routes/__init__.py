"""The routes of the API, by topic; each module makes a router over one service."""
