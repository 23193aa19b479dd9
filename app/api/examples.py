"""The requests that the OpenAPI schema shows."""

from __future__ import annotations

from typing import Any

FILTERED: dict[str, Any] = {
    "written": {
        "summary": "Filters in the text: a folder, a time, a phrase",
        "value": {"query": 'path:Daily after:2026-10-01 "second casting"'},
    },
    "fields": {
        "summary": "The same kinds of filters as fields",
        "value": {
            "query": "atlas timeline",
            "filters": {
                "tag": "project",
                "after": "2w",
                "properties": {"status": "open"},
                "not": {"path": ["Archive", "Templates"]},
            },
        },
    },
    "newest": {
        "summary": "Filters alone: the newest notes that they leave",
        "value": {"query": "", "filters": {"type": "daily", "after": "7d"}},
    },
}

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
    **FILTERED,
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
    **FILTERED,
}
