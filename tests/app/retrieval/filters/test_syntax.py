"""What in the text of a query is a filter, and what stays text however much it looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import Condition, Written, read, words_in_order
from tests.support.product import ConditionKind as Kind

PROPERTIES = {"status", "note", "due-date", "größe", "book.author"}


def reading(query: str) -> Written:
    return read(query, lambda key: key.lower() in PROPERTIES)


FILTERS = {
    "tag": ("tag:fish eels", "eels", ["tag:fish"]),
    "nested tag": ("tag:fish/eel eels", "eels", ["tag:fish/eel"]),
    "tag with its sign": ("tag:#fish eels", "eels", ["tag:#fish"]),
    "plural": ("tags:fish eels", "eels", ["tag:fish"]),
    "case of a key": ("Tag:fish TYPE:book x", "x", ["tag:fish", "type:book"]),
    "in the middle": ("when do tag:fish elvers come", "when do elvers come", ["tag:fish"]),
    "at the end": ("elvers path:Topics", "elvers", ["path:Topics"]),
    "quoted value": ('path:"Projects/Hollin Reach" x', "x", ['path:"Projects/Hollin Reach"']),
    "curly quotes": ("path:“Hollin Reach” x", "x", ['path:"Hollin Reach"']),
    "path from the root": ("path:/Topics x", "x", ["path:/Topics"]),
    "glob": ("path:Daily/2026-* x", "x", ["path:Daily/2026-*"]),
    "glob that ends in a sign": ("path:Daily/2026-10-0? x", "x", ['path:"Daily/2026-10-0?"']),
    "question that ends in a path": ("what is in path:Daily?", "what is in ?", ["path:Daily"]),
    "dates": ("after:2026-10-01 before:2w x", "x", ["after:2026-10-01", "before:2w"]),
    "negated": ("-tag:fish -path:Archive x", "x", ["-tag:fish", "-path:Archive"]),
    "property": ("status:open x", "x", ["status:open"]),
    "property of another script": ("größe:klein x", "x", ["größe:klein"]),
    "nested property": ("book.author:Ellery x", "x", ["book.author:Ellery"]),
    "end of a sentence": ("what is status:open?", "what is ?", ["status:open"]),
    "list": ("tag:fish, tag:bird.", ", .", ["tag:fish", "tag:bird"]),
    "in brackets": ("eels (tag:fish)", "eels", ["tag:fish"]),
    "brackets in a value": ("path:Notes(old) x", "x", ['path:"Notes(old)"']),
    "phrase": ('"tide gate" cost', "tide gate cost", ['"tide gate"']),
    "phrase with curly quotes": ("“tide gate” cost", "tide gate cost", ['"tide gate"']),
    "negated phrase": ('cost -"tide gate"', "cost", ['-"tide gate"']),
    "phrase before a sign": ('who said "we wait"?', "who said we wait?", ['"we wait"']),
    "filter in a phrase": ('say "status:open"', "say status:open", ['"status:open"']),
    "twice": ("tag:fish tag:fish x", "x", ["tag:fish"]),
    "nothing else": ("tag:fish", "", ["tag:fish"]),
}


@pytest.mark.parametrize(("query", "text", "said"), FILTERS.values(), ids=FILTERS)
def test_a_filter(query: str, text: str, said: list[str]) -> None:
    found = reading(query)
    assert (found.text, [str(one) for one in found.conditions]) == (text, said)
    assert (found.unknown, found.without_value) == ((), ())


TEXTS = {
    "label": "note: call Bob",
    "label in capitals": "NOTE: status: open",
    "address": "see http://x.org/a?b=c and status://x",
    "time": "at 12:30 or 9:15pm",
    "verse": "John 3:16",
    "language": "C++: why",
    "scope": "std::vector and status::open",
    "port": "localhost:8080 python:3.11",
    "mail": "mailto:bob@x.com",
    "drive": "C:\\notes x:y",
    "emoji": ":smile: and :status:open",
    "code": "`status:open`",
    "in a word": "pre/status:open",
    "inches": '5" pipe and 3" hose',
    "quotes without words": '"?!" said',
    "open quote": 'say "tide gate',
    "hyphen": "pre-war - status -draft --flag",
    "other colon": "状态：完成 tag：鱼",
    "path of a page": "foo:a/b",
    "empty": "",
}


@pytest.mark.parametrize("query", TEXTS.values(), ids=TEXTS)
def test_ordinary_text(query: str) -> None:
    assert reading(query) == Written(query)


@pytest.mark.parametrize(
    ("query", "unknown"),
    [
        ("foo:bar baz", ("foo:bar",)),
        ("-foo:bar baz", ("-foo:bar",)),
        ('foo:"bar baz"', ('foo:"bar baz"',)),
        ("due_date:friday stat:x", ("due_date:friday", "stat:x")),
    ],
)
def test_what_looks_like_a_filter_is_text_and_said(query: str, unknown: tuple[str, ...]) -> None:
    assert reading(query) == Written(query, unknown=unknown)


@pytest.mark.parametrize("query", ["tag: fish", "fish tag:", "what was before: the flood"])
def test_a_key_without_value_is_text_and_said(query: str) -> None:
    found = reading(query)
    assert (found.text, found.conditions, len(found.without_value)) == (query, (), 1)


queries = st.text(
    st.sampled_from('tagpathstatus: -"“”()#/.,?!x\n\t\\`') | st.characters(), max_size=40
)


@given(query=queries)
def test_any_text_is_read(query: str) -> None:
    found = reading(query)
    # Words are dropped with filters only.
    assert found.conditions or found.text == query.strip()


values = st.text("abÄ /-_#*?東().,:!", min_size=1, max_size=12).map(lambda s: " ".join(s.split()))


@given(
    kind=st.sampled_from(["tag", "path", "type", "phrase"]),
    value=values.filter(words_in_order),
    negated=st.booleans(),
)
def test_a_filter_is_read_as_it_is_written(kind: Kind, value: str, negated: bool) -> None:
    condition = Condition(kind, value, negated=negated)
    assert reading(f"x {condition} y").conditions == (condition,)
