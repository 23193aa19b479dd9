"""Writes the parts of the documentation that the product can tell: settings, commands, rules.

``python docs/generate.py`` rewrites them, ``--check`` says whether they are as they should be.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel

ROOT = Path(__file__).resolve().parent.parent

DEFAULTS_HEAD = """\
# Every setting of notehop with its default. Copy what you change into one of
#   notehop.toml in the vault's folder, or
#   notehop.toml in your configuration folder (`notehop status` prints where that is);
# the vault's file wins over yours, an environment variable over both
# (NOTEHOP_SECTION__KEY, for example NOTEHOP_CONNECTED__MAX=5), an argument over all.
# A vault can come from someone else: what is marked so is not for its file to set."""


@dataclass(frozen=True)
class Setting:
    """``default`` is what a file would write, or the tables' own where the key is one."""

    key: str
    default: Any
    description: str
    vault: bool


def sections() -> Iterator[tuple[str, str, list[Setting]]]:
    """The tables of settings in their order: name, what it is about, its keys."""
    from notehop.config.settings import Settings

    return _sections(Settings, "")


def _sections(model: type[BaseModel], name: str) -> Iterator[tuple[str, str, list[Setting]]]:
    descriptions = _descriptions(model)
    own, below = [], []
    for key, field in model.model_fields.items():
        path = f"{name}.{key}" if name else key
        extra = field.json_schema_extra
        if isinstance(extra, dict):
            if not extra.get("constant"):
                own.append(Setting(path, field.default, descriptions[key], bool(extra["vault"])))
        else:
            below.append((field.annotation, path))
    if own:
        yield name, model.__doc__ or "", own
    for section, path in below:
        yield from _sections(section, path)  # type: ignore[arg-type]


def _descriptions(model: type[BaseModel]) -> dict[str, str]:
    """The text below each field of a class, on one line."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    assert isinstance(tree, ast.ClassDef)
    return {
        field.target.id: " ".join(below.value.value.split())  # type: ignore[union-attr]
        for field, below in pairwise(tree.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
    }


def settings_table() -> str:
    """Make the table of settings."""
    rows = ["| setting | default | vault | what it is |", "| --- | --- | --- | --- |"]
    for _, _, own in sections():
        for one in own:
            table = ", ".join(f"{key} = {value}" for key, value in _table(one.default).items())
            shown = table or _toml(one.default).strip('"') or '""'
            said = one.description.replace("|", "\\|")
            rows.append(f"| `{one.key}` | `{shown}` | {'yes' if one.vault else ''} | {said} |")
    return "\n".join(rows)


def default_file() -> str:
    """Make ``default.toml``, which shows every setting and is read by nobody but people."""
    lines = [DEFAULTS_HEAD]
    for name, about, own in sections():
        flat = [one for one in own if not _table(one.default)]
        if flat:
            lines += ["", *_comment(about), f"[{name}]"]
        for one in flat:
            said = one.description + ("" if one.vault else " Not in a vault's file.")
            lines += [*_comment(said), f"{one.key.rsplit('.')[-1]} = {_toml(one.default)}"]
        for one in own:
            if _table(one.default):
                lines += ["", f"[{one.key}]", *_comment(one.description)]
                lines += [f"{key} = {_toml(value)}" for key, value in _table(one.default).items()]
    return "\n".join(lines) + "\n"


def _table(default: Any) -> dict[str, Any]:
    """The keys that a table sets; empty for a plain value."""
    return default.model_dump(exclude_none=True) if isinstance(default, BaseModel) else {}


def _toml(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 10_000:
        return f"{value:_}"
    return json.dumps(value, ensure_ascii=False)


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, 98, break_on_hyphens=False)]


def commands_table() -> str:
    """Make the table of commands from the command line's own help."""
    import typer

    from notehop.app.cli.program import app

    group = typer.main.get_command(app)
    rows = ["| command | what it does |", "| --- | --- |"]
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        context = typer.Context(command, info_name=name)
        usage = " ".join(command.collect_usage_pieces(context)).replace("[OPTIONS]", "")
        # ``{question}...`` is one question of several words, ``[[NOTE]]`` an optional note.
        usage = re.sub(r"\{(\w+)\}\.\.\.", lambda found: found[1].upper(), usage)
        usage = usage.replace("[[", "[").replace("]]", "]").replace("...", "")
        told = f"notehop {name} {usage.strip()}".strip()
        rows.append(f"| `{told}` | {command.help.splitlines()[0]} |")
    return "\n".join(rows)


def rules_table() -> str:
    """Make the table of the rules that tell what a query is after."""
    from notehop.app.retrieval.intents import RULES

    rows = ["| intent | | rule | strict | example |", "| --- | --- | --- | --- | --- |"]
    for rule in RULES:
        phrase = rule.phrase.replace("|", "\\|")
        strict = "yes" if rule.strict else ""
        rows.append(f"| {rule.intent} | {rule.language} | `{phrase}` | {strict} | {rule.example} |")
    return "\n".join(rows)


def theme_rules_table() -> str:
    """Make the table of the rules that tell a question about the whole vault."""
    from notehop.app.retrieval.intents import THEME_RULES

    rows = ["| | rule | example | about |", "| --- | --- | --- | --- |"]
    for rule in THEME_RULES:
        phrase = rule.phrase.replace("|", "\\|")
        rows.append(f"| {rule.language} | `{phrase}` | {rule.example} | {rule.topic or 'all'} |")
    return "\n".join(rows)


def with_part(page: str, name: str, part: str) -> str:
    """Return a page with a generated part as it should be.

    :raises ValueError: if the page has no such part.
    """
    marks = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    if not marks.search(page):
        raise ValueError(f"there is no part {name}")
    return marks.sub(lambda found: f"{found[1]}{part}\n{found[2]}", page)


def main() -> None:
    """Write the generated parts, or check that they are current."""
    parts = (
        ("docs/settings.md", "settings", settings_table),
        ("docs/usage.md", "commands", commands_table),
        ("docs/filters.md", "rules", rules_table),
        ("docs/themes.md", "themes", theme_rules_table),
        ("config/default.toml", None, default_file),
    )
    for name, part, made in parts:
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        after = made() if part is None else with_part(before, part, made())
        if "--check" in sys.argv and before != after:
            sys.exit(f"{path.relative_to(ROOT)}: generated parts are old; run: make docs")
        if before != after:
            path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
