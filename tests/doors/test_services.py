"""Machines that share a catalog on a server: what one writes the others answer from, whatever is
killed."""

import signal
from pathlib import Path

import httpx
import pytest

from tests.support.commands import call, options
from tests.support.notes import NOTES, write_notes
from tests.support.postgres import PASSWORD, PostgresServer
from tests.support.processes import notehop_serve, until
from tests.support.real_index import real_index

pytestmark = [pytest.mark.services, pytest.mark.model, pytest.mark.timeout(300)]

PATIENCE = 120.0


def found(url: str, words: str) -> list[str]:
    reply = httpx.post(f"{url}/search", json={"query": words}, timeout=PATIENCE)
    assert reply.status_code == 200, reply.text
    return [hit["path"] for hit in reply.json()["hits"]]


@pytest.mark.slow
def test_what_a_machine_writes_others_answer_from(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = write_notes(tmp_path / "My vault", NOTES)
    url = postgres.new_database()
    monkeypatch.setenv("NOTEHOP_CATALOG__URL", url)
    monkeypatch.setenv("NOTEHOP_CATALOG__SCHEMA_NAME", "shared")
    one, two = tmp_path / "one", tmp_path / "two"
    real_index(vault, one)
    # Another machine: another folder of caches, made by nobody yet.
    with notehop_serve(vault, two) as (there, _):
        assert found(there, "launch of Atlas")
        text = "# Quagga\n\nThe quagga grazes by the weir at dusk.\n"
        (vault / "Quagga.md").write_text(text)
        real_index(vault, one)
        assert found(there, "quagga grazes")[0] == "Quagga.md"
        postgres.restart(signal.SIGKILL)
        assert found(there, "quagga grazes")[0] == "Quagga.md"
        postgres.stop()
        try:
            away = httpx.post(f"{there}/search", json={"query": "quagga weir"}, timeout=PATIENCE)
        finally:
            postgres.start()
        assert away.status_code == 503
        assert "does not answer" in away.json()["detail"]
        until(lambda: found(there, "quagga grazes")[:1] == ["Quagga.md"], PATIENCE)
        # One that becomes private is in no answer, of no machine.
        (vault / "Quagga.md").write_text(f"---\nprivate: true\n---\n{text}")
        assert "Quagga.md" not in found(there, "quagga grazes")
        real_index(vault, one)
        assert "Quagga.md" not in found(there, "quagga grazes")
    where = options(vault, two)
    status = call("status", "--json", *where).output
    assert "database" in status
    assert "schema shared" in status
    assert PASSWORD not in status
    assert "Index  sound" in call("doctor", *where).output


def test_a_password_in_the_address_is_refused_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = write_notes(tmp_path / "My vault", NOTES)
    where = options(vault, tmp_path / "index")
    monkeypatch.setenv("NOTEHOP_CATALOG__URL", f"postgresql+psycopg://me:{PASSWORD}@db/notes")
    told = call("index", *where)
    assert told.exit_code == 2
    assert "PGPASSWORD" in told.output
    assert PASSWORD not in told.output
    monkeypatch.delenv("NOTEHOP_CATALOG__URL")
    (vault / "notehop.toml").write_text('[catalog]\nurl = "postgresql://elsewhere.example/x"\n')
    told = call("index", *where)
    assert told.exit_code == 2
    assert "cannot be set by a vault" in told.output
