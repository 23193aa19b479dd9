"""Writes the parts of the documentation that the product can tell: settings, commands, rules.

``python docs/generate.py`` rewrites them, ``--check`` says whether they are as they should be.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
INTENTS = ROOT / "docs" / "intents.md"
THEMES = ROOT / "docs" / "themes.md"
DEFAULTS = ROOT / "config" / "default.toml"

_KEY = re.compile(r"([a-z0-9_]+) = (.+)")
_SECTION = re.compile(r"\[([a-z0-9_.]+)\]")


def settings_table(text: str) -> str:
    """Make the table of settings from the comments over each key of ``default.toml``."""
    from notehop.config.layers import vault_may_set

    rows = ["| setting | default | vault | what it is |", "| --- | --- | --- | --- |"]
    rows += [
        f"| `{key}` | `{value}` | {'yes' if vault_may_set(key) else ''} | {said} |"
        for key, value, said in _settings(text)
    ]
    return "\n".join(rows)


def _settings(text: str) -> Iterator[tuple[str, str, str]]:
    known = tomllib.loads(text)
    section, comment = "", [""]
    for line in text.splitlines():
        if line.startswith("#"):
            comment.append(line.lstrip("# "))
        elif found := _SECTION.fullmatch(line):
            section = found[1]
            comment = []
        elif found := _KEY.fullmatch(line):
            value = known
            for part in (*section.split("."), found[1]):
                value = value[part]
            if not comment:
                raise ValueError(f"{section}.{found[1]} is not documented in {DEFAULTS}")
            said = " ".join(comment).replace("|", "\\|")
            yield f"{section}.{found[1]}", found[2].strip('"') or '""', said
            comment = []
        else:
            comment = []


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
    from notehop.app.retrieval.intent_rules import RULES

    rows = ["| intent | | rule | strict | example |", "| --- | --- | --- | --- | --- |"]
    for rule in RULES:
        phrase = rule.phrase.replace("|", "\\|")
        strict = "yes" if rule.strict else ""
        rows.append(f"| {rule.intent} | {rule.language} | `{phrase}` | {strict} | {rule.example} |")
    return "\n".join(rows)


def theme_rules_table() -> str:
    """Make the table of the rules that tell a question about the whole vault."""
    from notehop.app.retrieval.theme_rules import RULES

    rows = ["| | rule | example | about |", "| --- | --- | --- | --- |"]
    for rule in RULES:
        phrase = rule.phrase.replace("|", "\\|")
        rows.append(f"| {rule.language} | `{phrase}` | {rule.example} | {rule.about or 'all'} |")
    return "\n".join(rows)


def with_theme_rules(page: str) -> str:
    """Return docs/themes.md with the rules as they are."""
    marks = re.compile(r"(<!-- themes:begin -->\n).*?(<!-- themes:end -->)", re.DOTALL)
    return marks.sub(lambda found: f"{found[1]}{theme_rules_table()}\n{found[2]}", page)


def with_rules(page: str) -> str:
    """Return docs/intents.md with the rules as they are."""
    marks = re.compile(r"(<!-- rules:begin -->\n).*?(<!-- rules:end -->)", re.DOTALL)
    return marks.sub(lambda found: f"{found[1]}{rules_table()}\n{found[2]}", page)


def generated(readme: str) -> str:
    """Return the README with its generated parts as they should be."""
    parts = {
        "settings": settings_table(DEFAULTS.read_text(encoding="utf-8")),
        "commands": commands_table(),
    }
    for name, part in parts.items():
        marks = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
        if not marks.search(readme):
            raise ValueError(f"README.md has no part {name}")
        readme = marks.sub(lambda found, part=part: f"{found[1]}{part}\n{found[2]}", readme)
    return readme


def main() -> None:
    """Write the generated parts, or check that they are current."""
    for path, made in ((README, generated), (INTENTS, with_rules), (THEMES, with_theme_rules)):
        before = path.read_text(encoding="utf-8")
        after = made(before)
        if "--check" in sys.argv and before != after:
            sys.exit(f"{path.relative_to(ROOT)}: generated parts are old; run: make docs")
        if before != after:
            path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
