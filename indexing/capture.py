"""Keeps a text as a new note: under a name that every disk takes and a link can say, all of it or
nothing, and never over another file. Nothing else in notehop writes among the notes."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from unicodedata import category, normalize

from notehop.config.errors import CaptureFailed, CaptureFolder, QueryError, VaultError
from notehop.indexing.display import on_one_line, printable
from notehop.indexing.graph.files import fold
from notehop.indexing.stores.layout import sync_folder
from notehop.indexing.vault.front_matter import read_front_matter
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.parse import parse_note
from notehop.indexing.vault.plain import plain_text, without_emphasis
from notehop.indexing.vault.properties import TAG_CHARACTERS, is_tag

MAX_BYTES = 180  # of a file name. Most disks take 255; sync tools add "(conflicted copy …)" to it
FIRST_LINE = 60  # characters of a text's first line that make a title: enough to know it by

# What Windows, macOS or a link of the app does not take in a name; ``%%`` would be a comment.
_FORBIDDEN = re.compile(r'[\[\]#^|\\/:*?"<>%]+')
_JOINERS = "\u200c\u200d"  # cannot be seen, and are part of words and of emoji
_LEADING = re.compile(r"^(?:[ \t>]*(?:#{1,6}|[-*+]|\d{1,9}[.)])(?=[ \t])[ \t]*)*(?:\[.\][ \t]+)?")
_LONGEST_LINE = 2_000  # characters; what stands behind them is in no title


def title_of(note: Note) -> str:
    """The first line of a note that says something, without its marks, cut between words."""
    for line in plain_text(note, note.body_start, len(note.text)).splitlines():
        bare = _LEADING.sub("", line[:_LONGEST_LINE], count=1)
        words = " ".join(without_emphasis(bare).split())
        if any(char.isalnum() for char in words):
            return words if len(words) <= FIRST_LINE else _to_a_word(words[:FIRST_LINE])
    return ""


def file_name(title: str, now: datetime, number: int = 1) -> str:
    """The name of a note captured at a time: ``2026-11-22 0931 Title.md``.

    It begins with a digit, so that it is none of the names that Windows keeps for itself.

    :param title: any text; nothing of it may be left.
    :param number: 2 and up where the name without one is taken.
    """
    moment, end = now.strftime("%Y-%m-%d %H%M"), f" {number}.md" if number > 1 else ".md"
    shown = cut_bytes(safe(title), MAX_BYTES - len(f"{moment} {end}".encode()))
    return f"{moment} {shown}".rstrip(" .") + end


def safe(title: str) -> str:
    """A title as a part of a file name: what a disk or a link refuses becomes a blank."""
    # No control, lone surrogate, or sign that turns text around.
    seen = "".join(
        " " if category(char).startswith("C") and char not in _JOINERS else char
        for char in normalize("NFC", title)
    )
    return " ".join(_FORBIDDEN.sub(" ", seen).split()).strip(" .")


def cut_bytes(text: str, most: int) -> str:
    """The beginning of a text in at most so many bytes of UTF-8, cut between words if it can be."""
    data = text.encode()
    return text if len(data) <= most else _to_a_word(data[:most].decode(errors="ignore"))


def _to_a_word(cut: str) -> str:
    """A text that was cut, up to the end of a word if there is one in its second half."""
    return (cut.rsplit(" ", 1)[0] if " " in cut[len(cut) // 2 :] else cut).rstrip(" .,;:-")


_NOT_IN_A_TAG = re.compile(rf"(?:(?!{TAG_CHARACTERS}).)+", re.DOTALL)
# What YAML 1.2 does not call printable (5.1), and its line breaks.
_NOT_IN_YAML = re.compile("[^ -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAK = re.compile("\r\n|\r")


def note_text(text: str, *, title: str | None, tags: Sequence[str], now: datetime) -> str:
    """The note of a text, with its properties, and ``title`` among them if it is given.

    One that has properties itself is left as it is, in all that it may say (``private``), but for tags
    (of :func:`tag_names`) as a last line.
    """
    text = _clean(text).strip("\n").rstrip() + "\n"
    own = read_front_matter("", text)
    if own.end or own.broken is not None:
        return text + (f"\n{' '.join(f'#{tag}' for tag in tags)}\n" if tags else "")
    properties = [f"created: {now.strftime('%Y-%m-%dT%H:%M:%S')}"]
    properties += [f"title: {_quoted(title)}"] if title is not None else []
    properties += ["tags:", *(f"  - {_quoted(tag)}" for tag in tags)] if tags else []
    return "\n".join(["---", *properties, "---", "", text])


def tag_names(tags: Iterable[str]) -> list[str]:
    """The tags as the app takes them, without ``#``, each once, hyphens for blanks; or QueryError."""
    named: dict[str, str] = {}
    for tag in tags:
        words = "-".join(_NOT_IN_YAML.sub(" ", _clean(tag)).strip().removeprefix("#").split())
        name = _NOT_IN_A_TAG.sub("", words).strip("/-")
        if not is_tag(name):
            raise QueryError(
                f"{on_one_line(tag)[:80]!r} can be no tag; a tag has letters, digits, - or _, / "
                "between those nested in each other, and not digits alone"
            )
        named.setdefault(name.casefold(), name)
    return list(named.values())


def _quoted(value: str) -> str:
    """A text as a YAML scalar in double quotes: JSON's strings are YAML's."""
    return json.dumps(" ".join(_NOT_IN_YAML.sub(" ", _clean(value)).split()), ensure_ascii=False)


def _clean(text: str) -> str:
    """The text with plain line ends, as it can be encoded, without NUL, which ends a text in C."""
    plain = _BREAK.sub("\n", text.removeprefix("\ufeff")).replace("\0", "")
    return plain.encode("utf-8", "replace").decode()


_ATTEMPTS = 10_000


def write_new(vault: Path, folder: str, name: Callable[[int], str], text: str) -> str:
    """Write a note under the first name that is free; return its path in the vault, with ``/``.

    :param folder: relative to the vault, with ``/``; it is made if it is not there.
    :param name: the file's name at the 1st, 2nd … attempt, all of them different.
    :raises VaultError, CaptureFolder, CaptureFailed: as :func:`keep`.
    """
    if not vault.is_dir():
        raise VaultError(f"{vault}: there is no such folder; is its disk mounted?")
    root, place = vault.resolve(), vault / folder
    try:
        inbox = _inside(root, place)
        inbox.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError, ValueError) as exc:
        says = f"no folder for new notes: {exc}; mend it, or set capture.folder"
        raise CaptureFolder(f"{printable(str(place))}: {says}") from exc
    try:
        below = f"{inbox.relative_to(root).as_posix()}/".removeprefix("./")
        return below + _written(inbox, name, text.encode())
    except OSError as exc:
        says = f"the note cannot be written: {exc.strerror or exc}"
        raise CaptureFailed(f"{inbox}: {says}") from exc


def _inside(root: Path, place: Path) -> Path:
    """Where a folder is, symbolic links followed; or CaptureFolder if that is not in the vault."""
    real, shown = place.resolve(), printable(str(place))
    if not real.is_relative_to(root):
        wrong = f"leads out of the vault, to {printable(str(real))}"
    elif any(part.startswith(".") for part in real.relative_to(root).parts):
        wrong = "is below a folder whose name begins with a dot, which is no part of the vault"
    else:
        return real
    raise CaptureFolder(
        f"{shown}: {wrong}, and nothing is written there; set capture.folder to a folder of the vault"
    )


def _written(inbox: Path, name: Callable[[int], str], data: bytes) -> str:
    # No part of a vault: it begins with a dot.
    temporary = inbox / f".notehop-{secrets.token_hex(8)}.tmp"
    _create(temporary, data)
    try:
        # A disk that tells small letters from capitals may be copied to one that does not.
        taken = {fold(entry.name) for entry in inbox.iterdir()}
        for attempt in range(1, _ATTEMPTS + 1):
            chosen = name(attempt)
            if fold(chosen) not in taken and _placed(temporary, inbox / chosen, data):
                with suppress(OSError):
                    sync_folder(inbox)
                return chosen
        raise CaptureFailed(f"{inbox}: {_ATTEMPTS:,} notes of this name are there already")
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _placed(temporary: Path, file: Path, data: bytes) -> bool:
    """Whether a written file got its name, which may be another file's by now."""
    with suppress(FileExistsError):
        try:
            file.hardlink_to(temporary)
        except FileExistsError:
            raise
        except OSError:  # the disk knows no hard links, or says itself what is wrong
            _create(file, data)
        return True
    return False


def _create(file: Path, data: bytes) -> None:
    """Make a file that is not there and write it to the disk; nothing is left if that fails."""
    with file.open("xb") as stream:
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        except BaseException:
            with suppress(OSError):
                file.unlink()
            raise


def keep(
    vault: Path, folder: str, text: str, *, title: str | None = None, tags: Sequence[str] = (), now: datetime
) -> Note:
    """Write a text as a new note, named by time and title, and return it as it is read.

    A title that the name of a file cannot say whole is kept as a property.

    :param folder: relative to the vault, with ``/``.
    :param title: None or blank takes the one that the text's properties name, else its first line.
    :raises QueryError: if nothing is left of the text that a file can hold, or a tag is none.
    :raises VaultError: if the vault is not there.
    :raises CaptureFolder: if the folder is none of the vault.
    :raises CaptureFailed: if the note cannot be written; then nothing is.
    """
    if not _clean(text).strip():
        raise QueryError("there is nothing to keep: the text is empty; give it some words")
    given = " ".join((title or "").split())
    note = parse_note("", text.encode("utf-8", "replace"))
    named = given or note.title or title_of(note)
    whole = safe(given) == given and file_name(given, now).endswith(f" {given}.md")
    kept = None if not given or whole else given
    data = note_text(text, title=kept, tags=tag_names(tags), now=now)
    path = write_new(vault, folder, partial(file_name, named, now), data)
    return parse_note(path, data.encode())
