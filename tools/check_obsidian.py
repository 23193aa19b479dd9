"""Checks the list of what the plugin uses of the app's interface against the package ``obsidian``.

npm install --no-save obsidian@1.13.1 && python tools/check_obsidian.py node_modules/obsidian
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

MEMBERS = Path(__file__).parents[1] / "tests" / "browser" / "obsidian_members.json"


def declared(text: str) -> dict[str, set[str]]:
    """Of each class and interface, and of ``function``, the members that are declared, a line each."""
    found: dict[str, set[str]] = {}
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    head = r"^( *)(?:export )?(?:abstract )?(?:class|interface) (\w+)[^\n{]*\{\n(.*?)^\1\}"
    for _, name, body in re.findall(head, text, re.DOTALL | re.MULTILINE):
        members = re.findall(r"^\s*(?:(?:abstract|protected) )*(.+);$", body, re.MULTILINE)
        found.setdefault(name, set()).update(members)
    found["function"] = set(re.findall(r"^export function (.+);$", text, re.MULTILINE))
    return found


def main(package: Path) -> int:
    there = declared((package / "obsidian.d.ts").read_text(encoding="utf-8"))
    wanted = json.loads(MEMBERS.read_text(encoding="utf-8"))
    version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    missing = [
        f"{owner}: {member}"
        for owner, members in wanted.items()
        for member in members
        if member not in there.get(owner, ())
    ]
    count = sum(map(len, wanted.values()))
    told = [f"not declared by obsidian {version}: {one}" for one in missing]
    sys.stdout.write("\n".join([*told, f"{count - len(missing)} of {count} members are declared\n"]))
    return bool(missing)


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
