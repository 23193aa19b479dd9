"""``notehop models pull``: a fetch on the user's word."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexing.embed.fake_hub import COMMIT, NAME, NEEDED, Hub, name_hub, running_hub
from tests.support.product import run
from tests.support.tables import rows


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache, empty; and no vault here."""
    from huggingface_hub import constants

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The hub that the library asks, on the loopback."""
    with running_hub() as server:
        name_hub(server, monkeypatch)
        yield server


def models(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["models", *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_a_fetch_says_what_from_where_and_how_large(
    capsys: pytest.CaptureFixture[str], hub: Hub, cache: Path
) -> None:
    code, out, err = models(capsys, "pull", NAME)
    assert code == 0
    assert f"{NAME} of {hub.url}, commit {COMMIT[:12]}: " in err
    assert f" MB in {len(NEEDED)} files, licence mit; to {cache}" in err
    assert f"{NAME} fetched: {cache}" in out


@pytest.mark.usefixtures("hub")
def test_a_copy_that_lacks_a_file_is_mended(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = models(capsys, "--json", "pull", NAME)
    lost = Path(json.loads(out)["folder"], "1_Pooling", "config.json")
    lost.unlink()
    code, out, err = models(capsys, "--json", "pull", NAME)
    assert (code, json.loads(out)["commit"]) == (0, COMMIT)
    assert f"to {lost.parents[4]}" in err
    assert lost.is_file()


@pytest.mark.parametrize(("arguments", "code", "said"), rows(__file__, "mistakes"))
def test_mistakes(
    capsys: pytest.CaptureFixture[str],
    hub: Hub,  # noqa: ARG001
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    found, out, err = models(capsys, *arguments)
    assert (found, out) == (code, "")
    assert said in err
