"""The requests that the OpenAPI schema shows."""

from __future__ import annotations

from typing import Any

QUERIES: dict[str, Any] = {
    "question": {
        "summary": "A question",
        "value": {"query": "When does the Atlas project launch?"},
    },
    "options": {
        "summary": "More sources, no connected notes",
        "value": {
            "query": "What did we decide about the Atlas launch?",
            "top_k": 8,
            "connected": {"max": 0},
        },
    },
}

SEARCHES: dict[str, Any] = {
    "passages": {
        "summary": "The best passages",
        "value": {"query": "atlas timeline", "top_k": 10},
    },
    "notes": {
        "summary": "One hit a note, with the ranks that each signal gave",
        "value": {"query": "atlas timeline", "results": "notes", "explain": True},
    },
}
