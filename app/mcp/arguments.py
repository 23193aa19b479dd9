"""What an agent hands to a tool, and the schemas that it is told of. The descriptions are read by the
agent: they are all it knows, and every token of them is paid for in each of its conversations.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import ErrorDetails

from notehop.app import models
from notehop.app.models.notes import MOST_SEEDS, Seed
from notehop.app.models.query import FilterFields, at_most, listed
from notehop.config.errors import QueryError, UsageError

LEAST, MOST = 200, 50_000  # tokens that a budget may be: fewer hold no passage, more no model wants

LONGEST = 200
"""Characters of a name or message that is told back: a name may be as long as a request."""

Budget = Annotated[int, Field(ge=LEAST, le=MOST)]


class SearchArguments(models.SearchQuery):
    """Arguments of ``smart_search``."""

    budget: Budget = 2_000


class AskArguments(models.Query):
    """Arguments of ``ask``; ``connected`` is the most connected notes."""

    connected: Annotated[
        models.ConnectedOptions,
        BeforeValidator(lambda value: {"max": value} if isinstance(value, int) else value),
    ] = Field(default_factory=models.ConnectedOptions)
    budget: Budget = 3_000


class BrowseArguments(models.BrowseQuery):
    """Arguments of ``graph_browse``."""

    guessed: ClassVar = {**models.BrowseQuery.guessed, "path": "seeds", "file": "seeds"}

    budget: Budget = 2_000


class ReadArguments(models.Parameters):
    """Arguments of ``read_note``."""

    guessed: ClassVar = {
        "note": "notes",
        "path": "notes",
        "file": "notes",
        "name": "notes",
        "heading": "section",
    }

    notes: Annotated[list[Seed], at_most(MOST_SEEDS), BeforeValidator(listed)] = Field(
        min_length=1, max_length=MOST_SEEDS
    )
    section: Seed | None = None
    from_line: int = Field(default=1, ge=1)
    outline_only: bool = False
    budget: Budget = 4_000

    def check(self) -> None:
        """Refuse what is of one note where there are several.

        :raises UsageError: if a section or a line is named as well.
        """
        if len(self.notes) > 1 and (self.section is not None or self.from_line > 1):
            raise UsageError(
                "section and from_line are of one note; of several, name sections as Note#Heading"
            )


class SuggestArguments(models.SuggestQuery):
    """Arguments of ``suggest_links``."""

    budget: Budget = 2_000


class OverviewArguments(models.Parameters):
    """Arguments of ``vault_overview``."""

    budget: Budget = 1_500


_TEXTS = {"type": "array", "items": {"type": "string"}}

FILTERS = {
    "type": "object",
    "description": "What notes must have; vault_overview tells what there is.",
    "properties": {
        "tag": {**_TEXTS, "description": "All of them."},
        "path": {**_TEXTS, "description": "Folders, notes or globs; any of them."},
        "after": {
            "type": "string",
            "description": "From this day on: 2026-10-07, 2026-10, 7d, 2w.",
        },
        "before": {"type": "string", "description": "Before this day."},
        "type": {**_TEXTS, "description": "Page types; any of them."},
        "properties": {"type": "object", "description": "Front matter: key to value."},
        "phrases": {**_TEXTS, "description": "Exact words."},
        "not": {"type": "object", "description": "The same fields, negated."},
    },
}

_AS_IN_SEARCH = {"type": "object", "description": "As in smart_search."}

SHOWN: dict[type[models.Parameters], dict[str, str | dict[str, Any]]] = {
    SearchArguments: {
        "query": 'A question or key words. Filters may stand in it: tag:fish path:Projects after:2w "exact '
        'words" -tag:old.',
        "filters": FILTERS,
        "intent": "What you are after, where the words do not say it.",
        "top_k": "Passages at most.",
        "results": "notes: the best passage of each.",
        "min_score": "Least relevance, 0 to 1; 0 shows weak hits, too.",
        "second_look": "Ask again with what was found.",
        "budget": "Tokens that the reply may take; what does not fit is named, not cut.",
    },
    AskArguments: {
        "question": "One question in plain words.",
        "filters": _AS_IN_SEARCH,
        "intent": {"type": "string", "description": "As in smart_search."},
        "top_k": "",
        "connected": {
            "type": "integer",
            "description": "Connected notes at most.",
        },
        "second_look": "",
        "budget": "",
    },
    BrowseArguments: {
        "notes": "Paths, titles or aliases.",
        "depth": "Links to follow: 1 or 2.",
        "direction": "forward: what they link to.",
        "rank": "",
        "max": "",
        "filters": _AS_IN_SEARCH,
        "budget": "",
    },
    ReadArguments: {
        "notes": "Paths, titles, aliases, or places: Note.md:17-24, Note#Heading.",
        "section": "A heading (Plans, or Plans > Spring), or ^block.",
        "from_line": "Line to go on from.",
        "outline_only": "Headings and links alone.",
        "budget": "",
    },
    SuggestArguments: {
        "note": "A path, title or alias; none: the whole vault.",
        "limit": "",
        "budget": "",
    },
    models.CaptureQuery: {
        "text": "Markdown.",
        "title": "Else the first line of the text.",
        "tags": "",
    },
    OverviewArguments: {"budget": ""},
}
"""What agents are told of: a description or a whole schema by argument. No other is taken."""

_KEPT = ("type", "enum", "items", "default")


VAULT = "vault"
"""The argument of every tool that says which vault it is for, where there are several."""


def input_schema(kind: type[models.Parameters], vaults: Sequence[str] = ()) -> dict[str, Any]:
    """What a tool takes. Unknown arguments are refused, which the schema says at its top.

    :param vaults: names of those that can be asked, the default first; of one nothing is said.
    """
    schema, names = kind.model_json_schema(), _own_names(kind)
    fields = {
        argument: told if isinstance(told, dict) else _lean(schema["properties"][name], told)
        for (argument, told), name in zip(SHOWN[kind].items(), names.values(), strict=True)
    }
    if len(vaults) > 1:
        fields[VAULT] = {"type": "string", "enum": [*vaults], "default": vaults[0]}
    required = [one for one, name in names.items() if name in schema.get("required", ())]
    needed = {"required": required} if required else {}
    return {"type": "object", "properties": fields, **needed, "additionalProperties": False}


def _lean(field: Mapping[str, Any], told: str = "") -> dict[str, Any]:
    """A field's schema with what an agent can use of it, and what it is told."""
    options = [one for one in field.get("anyOf", ()) if one != {"type": "null"}]
    merged = {**field, **(options[0] if options else {})}
    found = {key: merged[key] for key in _KEPT if merged.get(key) is not None}
    if "items" in found:
        found["items"] = _lean(found["items"])
    return {**found, "description": told} if told else found


def _own_names(kind: type[models.Parameters]) -> dict[str, str]:
    """The arguments that an agent is told of, with the names of their fields."""
    guesses = kind.guessed
    return {one: one if one in kind.model_fields else guesses[one] for one in SHOWN[kind]}


ArgumentsT = TypeVar("ArgumentsT", bound=models.Parameters)


def read_arguments(kind: type[ArgumentsT], given: Mapping[str, Any]) -> ArgumentsT:
    """The arguments of a call.

    Agents are forgiven what they are known for: null for what is left out, and lists, objects and
    numbers written as text.

    :raises QueryError: naming the argument that is missing, unknown or wrong; without its value.
    """
    said = kind.by_own_names({name: value for name, value in given.items() if value is not None})
    own = {name: argument for argument, name in _own_names(kind).items()}
    wrong = [f"{name[:LONGEST]}: {_none_such(kind, name)}" for name in said if name not in own]
    if wrong:
        raise QueryError(f"wrong arguments: {'; '.join(wrong[:5])}")
    schema = input_schema(kind)["properties"]
    for name, value in said.items():
        if isinstance(value, str):
            said[name] = _unpacked(value, schema[own[name]].get("type"))
    if isinstance(said.get("filters"), str) and isinstance(said.get("query"), str):
        # As they are written in a query.
        said["query"] = f"{said.pop('filters')} {said['query']}"
    try:
        return kind(**said)
    except ValidationError as exc:
        told = [_told(own, error) for error in exc.errors()[:5]]
        raise QueryError(f"wrong arguments: {'; '.join(told)}") from exc


_GUESSED = FilterFields.guessed


def read_vault(given: Mapping[str, Any], vaults: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The vault that a call is for, and its other arguments.

    :param vaults: as for :func:`input_schema`; of one, the argument is not known.
    :raises QueryError: if there is no such vault.
    """
    rest = {**given}
    name = rest.pop(VAULT, None) if len(vaults) > 1 else None
    if name is None:
        return vaults[0], rest
    found = [one for one in vaults if one.casefold() == str(name).casefold()]
    if not found:
        raise QueryError(
            f"{VAULT}: there is no {str(name)[:LONGEST]!r}; one of {', '.join(vaults)}"
        )
    return name if name in found else found[0], rest


def _none_such(kind: type[models.Parameters], name: str) -> str:
    if "filters" in kind.model_fields and name in {*FilterFields.model_fields, *_GUESSED}:
        return f'it is a filter; write "filters": {{"{_GUESSED.get(name, name)}": …}}'
    return f"there is none; it takes {', '.join(SHOWN[kind])}"


def _told(own: Mapping[str, str], error: ErrorDetails) -> str:
    first, *rest = map(str, error["loc"] or ("together",))
    place = ".".join([own.get(first, first), *rest])
    return f"{place[:LONGEST]}: {error['msg'][:LONGEST]}"


def _unpacked(text: str, kind: str | None) -> Any:
    """The value that a text was meant to be, by the type that its field has."""
    if kind == "string":
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(found, list | dict) is not (kind in ("array", "object")):
        return text
    return text if isinstance(found, str) else found
