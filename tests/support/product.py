"""The product's insides that tests stand on, by name: a module that moves changes no line of a test.

``from tests.support.product import Indexer`` loads the module that defines ``Indexer`` and no other; a
file that stands on many of them writes ``from tests.support import product`` and ``product.Indexer``.
A name that no module defines is that of a module. Other test files import from here, from ``notehop``,
``notehop.app`` and ``notehop.indexing`` (``open_vault``, ``index_vault``, ``NotehopError``,
``extract_wiki_links``), and nothing else of the product.
"""

import re
from collections import defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

ROOT = Path(__file__).parents[2]

_HOMES: dict[str, str] = {
    "notehop.app.answer.follow_up": "subject_of",
    "notehop.app.answer.quotes.blocks": "Passage",
    "notehop.app.api.middleware": "is_loopback",
    "notehop.app.evaluation.questions": "KnownQuestion=Question",
    "notehop.app.evaluation.variants": "EvaluationPlan=Plan",
    "notehop.app.models.query": "Query",
    "notehop.app.models.reply": "Source",
    "notehop.app.retrieval.filters": "ParsedQuery=Written",
    "notehop.app.retrieval.intents": "RULES",
    "notehop.app.services.capture": "capture",
    "notehop.app.services.doctor": "REBUILD",
    "notehop.app.web.render": "MOST",
    "notehop.app.web.routes": "routes",
    "notehop.config": "errors",
    "notehop.indexing.capture": "MAX_BYTES title_of note_text",
    "notehop.indexing.embed.embedder": "Vectors=EmbedderVectors",
    "notehop.indexing.embed.identity": "model_identity",
    "notehop.indexing.embed.models": "ask_hub=ask fetch_model=fetch",
    "notehop.indexing.embed.ray_embedding": "Address=RayAddress",
    "notehop.indexing.graph.pagerank": "pagerank=graph_pagerank",
    "notehop.indexing.llm.egress": "FORMER is_loopback=consent_is_loopback NAME",
    "notehop.indexing.report": "Progress=Silent",
    "notehop.indexing.stores.database": "among",
    "notehop.indexing.stores.served": "postgres_connection=stores_postgres",
    "notehop.indexing.tokens.tokenizer": "MOST=COMPOUNDS_MOST",
    "notehop.indexing.tokens.words": "fold",
    "notehop.indexing.vault": "parse=note_parser",
    "notehop.indexing.vault.body": "MAX_CHARACTERS",
    "notehop.indexing.vault.plain": "words_of",
    "notehop.indexing.watch.service": "follow=follow_follow",
}
"""Names that several modules define, and whose is meant; with an alias where tests need more of them."""

_PLACES = {
    alias or name: (home, name)
    for home, names in _HOMES.items()
    for name, _, alias in (one.partition("=") for one in names.split())
}

_DEFINED = re.compile(r"^(?:async )?(?:def|class) (\w+)|^(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)


@cache
def _modules() -> dict[str, set[str]]:
    """The modules that define a name; those of a name that none defines."""
    found, called = defaultdict(set), defaultdict(set)
    for folder in ("app", "indexing", "config"):
        for file in (ROOT / folder).rglob("*.py"):
            module = ".".join(("notehop", *file.relative_to(ROOT).with_suffix("").parts))
            module = module.removesuffix(".__init__")
            called[module.rpartition(".")[2]].add(module)
            for names in _DEFINED.findall(file.read_text(encoding="utf-8")):
                found["".join(names)].add(module)
    return called | found


def update_index(place: Any, **options: Any) -> Any:
    """Index the vault at a place, as ``notehop index`` does."""
    from notehop.indexing import index_vault

    where = {"index_dir": place.layout.root, "settings": place.settings}
    return index_vault(place.vault, **where, **options)


def create_app(vaults: Any, settings: Any = None, *, workers: Any = None, **options: Any) -> "FastAPI":
    """The API of some vaults, or of one that is open, with the settings of a new user if no others."""
    from notehop.app.api.app import create_app
    from notehop.app.api.workers import Workers
    from notehop.app.services.vaults import Vaults
    from notehop.config import load_settings

    settings = settings or load_settings().server
    found = vaults if isinstance(vaults, Vaults) else Vaults.of(vaults)
    return create_app(found, settings, workers or Workers(settings), **options)


def __getattr__(exported: str) -> Any:
    if exported in _PLACES:
        home, name = _PLACES[exported]
    elif len(modules := _modules().get(exported, ())) == 1:
        [home], name = modules, exported
    else:
        raise AttributeError(f"{exported} is defined in {sorted(modules)}: say in the table which one")
    module = import_module(home)
    if hasattr(module, name):
        return getattr(module, name)
    return module if home.endswith(f".{name}") else import_module(f"{home}.{name}")
