"""The requests and events that the OpenAPI schema shows."""

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

THEMES: dict[str, Any] = {
    "all": {"summary": "All themes, the largest first", "value": {}},
    "some": {
        "summary": "Those that have to do with something, within a folder",
        "value": {"query": "tide gates", "filters": {"path": "Projects"}, "max": 3},
    },
}

BROWSES: dict[str, Any] = {
    "around": {
        "summary": "The notes that link to one, and those it links to",
        "value": {"seeds": ["Hollin Reach"]},
    },
    "far": {
        "summary": "Two links forward, the newest first, with the passages that they lead to",
        "value": {
            "seeds": ["Hollin Reach", "People/Gwen Aldous.md"],
            "depth": 2,
            "direction": "forward",
            "rank": "recency",
            "results": "chunks",
            "max": 10,
        },
    },
}

CAPTURES: dict[str, Any] = {
    "thought": {
        "summary": "A text; its first line names the note",
        "value": {"text": "Ask Gwen about the second casting of the tide gate."},
    },
    "titled": {
        "summary": "With a title and tags",
        "value": {
            "text": "The eelgrass by the hatchery is back.",
            "title": "Eelgrass",
            "tags": ["estuary", "to-check"],
        },
    },
}

TEXTS: dict[str, Any] = {
    "query": {"summary": "As a query", "value": {"texts": ["When do elvers come?"]}},
    "passages": {
        "summary": "As passages of notes",
        "value": {"texts": ["Elvers come in April.", "The gate opens."], "kind": "passage"},
    },
}

EVENTS: dict[str, Any] = {
    "answer": {
        "summary": "An answer, shortened",
        "value": (
            'event: sources\ndata: {"event":"sources","sources":[]}\n\n'
            'event: connected\ndata: {"event":"connected","connected_notes":[]}\n\n'
            'event: token\ndata: {"event":"token","text":"The launch "}\n\n'
            'event: done\ndata: {"event":"done","answer":{}}\n\n'
        ),
    },
}
