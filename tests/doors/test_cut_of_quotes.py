"""Where quotes begin and end, and what stands beside them, over notes in which answers lost their half."""

from collections.abc import Iterator

import pytest

from tests.support.product import VaultHandle
from tests.support.real_index import opened_with
from tests.support.tables import rows

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultHandle]:
    notes = dict(one.values for one in rows(__file__, "notes"))
    with opened_with(tmp_path_factory.mktemp("cut"), notes) as opened:
        yield opened


@pytest.mark.parametrize(("question", "has", "never"), rows(__file__, "a_quote_has"))
def test_a_quote_has(cut: VaultHandle, question: str, has: str, never: str) -> None:
    answer = cut.ask(question).answer.partition("\n")[2].replace("\n> ", "\n")
    assert has in answer
    assert not never or never not in answer
