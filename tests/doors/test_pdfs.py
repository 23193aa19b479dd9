"""PDFs of a vault: found and cited by their page, and no danger."""

import errno
import json
import os
import re
import subprocess
import threading
import time
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest
from pypdf import PdfReader, PdfWriter

from notehop import open_vault
from tests.support import product
from tests.support.commands import call, options
from tests.support.notes import write_notes
from tests.support.processes import until
from tests.support.real_index import real_index
from tests.support.serving import request, say, serving

pytestmark = pytest.mark.model


def pdf(pages: Sequence[str], others: Mapping[int, bytes] | None = None) -> bytes:
    """A PDF of these pages; ``others`` stand in the place of what a page holds, compressed."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * at) for at in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for at, text in enumerate(pages):
        lines = b" T* ".join(b"(%s) Tj" % line.encode("latin-1") for line in text.split("\n"))
        own = zlib.compress(b"BT /F1 12 Tf 14 TL 50 700 Td %s ET" % lines)
        own = (others or {}).get(at, own)
        objects += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>"
            b"/Contents %d 0 R>>" % (5 + 2 * at),
            b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(own), own),
        ]
    written, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n"
    return written + head + table + end % (len(objects) + 1, len(written))


def encrypted() -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf(["Nobody reads this."]))))
    writer.encrypt("secret", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def bomb() -> bytes:
    packed: Any = zlib.compressobj(9)
    return b"".join(packed.compress(bytes(10_000_000)) for _ in range(20)) + packed.flush()


@cache
def endless() -> bytes:
    return zlib.compress(b"BT /F1 1 Tf " + b"(a) Tj " * 8_000_000 + b"ET", 1)


TIDES = pdf(
    [
        "Tide tables of Penhallow.",
        "",
        "The harbour master is Jory Pascoe.\nHe keeps the key of the dredger. [[Nowhere]] #tagged",
    ]
)
NOTES = {
    "Key.md": "Who has the key: ![[Tides.pdf#page=3]], and how it looks: [[Tides.pdf#height=400]].\n",
    "Bread.md": "Feed the starter every morning.\n",
}


def indexed(folder: Path, files: dict[str, bytes], **settings: object) -> product.Place:
    vault = write_notes(folder / "My vault", NOTES)
    for path, data in files.items():
        (vault / path).parent.mkdir(exist_ok=True)
        (vault / path).write_bytes(data)
    return real_index(vault, folder / "index", **settings)


def opened(place: product.Place) -> product.VaultHandle:
    return open_vault(place.vault, index_dir=place.layout.root)


def run(place: product.Place, *words: str) -> str:
    where = options(place.vault, place.layout.root)
    return " ".join(call(*words, *where, env={"COLUMNS": "200"}).output.split())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> product.Place:
    return indexed(tmp_path_factory.mktemp("pdfs"), {"Attachments/Tides.pdf": TIDES})


def test_a_page_is_found_and_cited(place: product.Place) -> None:
    with opened(place) as vault:
        answer = vault.ask("Who is the harbour master?")
        (cited,) = answer.citations
        assert (cited.path, cited.page, cited.heading) == ("Attachments/Tides.pdf", 3, "Page 3")
        assert "Jory Pascoe" in cited.quote
        assert cited.uri.endswith("&file=Attachments%2FTides.pdf%23page%3D3")
        assert "Attachments/Tides.pdf#page=3" in str(answer)
        assert "page" not in vault.search("starter").hits[0].model_dump()
    assert "Attachments/Tides.pdf#page=3" in run(place, "search", "dredger")
    with serving(product.create_app(opened(place))) as port:
        said = say(port, request("POST", "/search", body=b'{"query": "dredger"}'))
        assert json.loads(said.body)["hits"][0]["page"] == 3


def test_a_link_to_a_page_leads_there_and_text_of_a_page_is_only_text(place: product.Place) -> None:
    with opened(place) as vault:
        links = vault.note("Key").links
        assert {(link.status, link.target) for link in links} == {("resolved", "Attachments/Tides.pdf")}
        page = vault.note("Tides.pdf#page=3")
        assert (page.section, page.links, page.tags) == ("Page 3", [], [])
        assert "dredger" in page.text
        assert "Penhallow" not in page.text
        assert [one.source for one in page.backlinks] == ["Key.md", "Key.md"]


def test_a_changed_pdf_shows_nothing_until_it_is_indexed(tmp_path: Path) -> None:
    place = indexed(tmp_path, {"Tides.pdf": TIDES})
    file = place.vault / "Tides.pdf"
    with opened(place) as vault:
        os.utime(file, (1, 1))  # the same bytes
        assert vault.search("dredger").hits[0].page == 3
        file.write_bytes(pdf(["The harbour master is Loveday."]))
        assert all(hit.path != "Tides.pdf" for hit in vault.search("harbour master").hits)
        product.update_index(place)
        assert "Loveday" in vault.search("harbour master").hits[0].text
        file.unlink()
        assert all(hit.path != "Tides.pdf" for hit in vault.search("harbour master").hits)


def test_one_that_became_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = indexed(tmp_path, {"Tides.pdf": TIDES})
    with opened(place) as vault:
        assert "dredger" in vault.note("Tides.pdf").text
        monkeypatch.setattr(product.changes, "MAX_PDF_BYTES", len(TIDES) - 1)
        with pytest.raises(product.NoteMissing):
            vault.note("Tides.pdf")


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    hostile = {
        "scan.pdf": (pdf(["", ""]), "has no text on its 2 pages"),
        "locked.pdf": (encrypted(), "it is encrypted"),
        "noise.pdf": (b"%PDF-1.4\n" + bytes(range(256)) * 40, "it is damaged"),
        "cut.pdf": (TIDES[:80], "it is damaged"),
        "empty.pdf": (b"", "it is damaged"),
        "bomb.pdf": (pdf([""], {0: bomb()}), "page 1 cannot be read (LimitReachedError"),
    }
    place = indexed(tmp_path, {name: data for name, (data, _) in hostile.items()})
    with (place.vault / "huge.pdf").open("wb") as file:
        file.truncate(500_000_000)
    (place.vault / "Tides.pdf").write_bytes(TIDES)
    product.update_index(place)
    with opened(place) as vault:
        status = vault.status()
        reasons = {one.path: one.reason for one in status.failed}
        assert reasons.keys() == hostile.keys()
        for name, (_, reason) in hostile.items():
            assert reason in reasons[name]
        (skipped,) = status.skipped
        assert (skipped.path, "500.0 MB" in skipped.reason) == ("huge.pdf", True)
        assert vault.search("dredger").hits[0].page == 3
        assert vault.search("starter").hits[0].path == "Bread.md"


def test_pages_and_time_have_limits() -> None:
    parts, warnings = product.read_pdf(TIDES, pages=1)
    assert [one.headings for one in parts] == [((1, "Page 1"),)]
    assert "1 of 3 pages were read" in warnings[0]
    with pytest.raises(ValueError, match=r"has no text on its 2 pages: .*\(OCR\).*; 2 of 3 pages"):
        product.read_pdf(pdf(["", "", "x"]), pages=2)
    with pytest.raises(ValueError, match=r"0 of 1 pages were read: reading it took longer than 0\.5 s"):
        product.read_pdf(pdf(["x"], {0: endless()}), seconds=0.5)


def test_a_page_that_cannot_be_read_takes_no_other_with_it() -> None:
    pages = ["The heron stands.", "", "The egret flies.", "", "", ""]
    slow = dict.fromkeys((3, 4, 5), endless())  # some machines give one of them up within the limit
    parts, warnings = product.read_pdf(pdf(pages, {1: bomb(), **slow}), seconds=3)
    assert [one.headings for one in parts] == [((1, "Page 1"),), ((1, "Page 3"),)]
    assert re.fullmatch(r"[34] of 6 pages were read: reading it took longer than 3 s", warnings[0])
    assert "page 2 cannot be read (LimitReachedError" in warnings[1]


def test_one_whose_reading_is_stopped_is_not_taken_for_read() -> None:
    def stop() -> None:
        # As a terminal and a service manager do: all processes of the group.
        until(lambda: _readers() != [])
        time.sleep(1)
        for one in _readers():
            one.terminate()

    stopping = threading.Thread(target=stop)
    stopping.start()
    with pytest.raises(InterruptedError):
        product.read_pdf(pdf(["The heron stands.", ""], {1: endless()}))
    stopping.join()


def test_one_that_cannot_be_read_now_is_read_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = indexed(tmp_path, {})
    (place.vault / "Egret.pdf").write_bytes(pdf(["", "The egret flies."]))
    with monkeypatch.context() as patched:
        no_memory = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        patched.setattr(subprocess, "run", Mock(side_effect=no_memory))
        product.update_index(place)
    with opened(place) as vault:
        (failed,) = vault.status().failed
        assert failed.reason == "cannot be read now: Cannot allocate memory"
    product.update_index(place)
    with opened(place) as vault:
        assert vault.status().failed == []
        assert vault.search("egret").hits[0].page == 2


def _readers() -> list[psutil.Process]:
    found = psutil.Process().children()
    return [one for one in found if any(part.endswith("pdf_child.py") for part in one.cmdline())]


def test_the_setting_leaves_them_out(tmp_path: Path) -> None:
    off = indexed(tmp_path, {"Tides.pdf": TIDES}, vault__pdf=False)
    with opened(off) as vault:
        assert all(hit.path != "Tides.pdf" for hit in vault.search("dredger").hits)
        assert {link.status for link in vault.note("Key").links} == {"resolved"}
    on = product.locate(off.vault, index_dir=off.layout.root)
    product.update_index(on)
    with opened(on) as vault:
        assert vault.search("dredger").hits[0].page == 3
    product.update_index(off)
    with opened(off) as vault:
        assert all(hit.path != "Tides.pdf" for hit in vault.search("dredger").hits)


def test_without_the_extra_they_are_attachments_and_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product.changes, "is_installed", lambda: False)
    place = indexed(tmp_path, {"Tides.pdf": TIDES, "x.pdf": TIDES})
    for command in ("index", "status"):
        assert "not read: 2 PDFs; pip install 'notehop[pdf]'" in run(place, command)
    with opened(place) as vault:
        assert {link.status for link in vault.note("Key").links} == {"resolved"}
    monkeypatch.undo()
    product.update_index(place)
    with opened(place) as vault:
        assert vault.search("dredger").hits[0].page == 3
