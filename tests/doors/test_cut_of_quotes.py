"""Where quotes begin and end, and what stands beside them, over notes in which answers lost their half."""

import pytest

from tests.support.product import VaultHandle
from tests.support.real_index import vault_of_rows
from tests.support.tables import rows

pytestmark = pytest.mark.model


cut = vault_of_rows(__file__, "notes")


@pytest.mark.parametrize(("question", "has", "never"), rows(__file__, "a_quote_has"))
def test_a_quote_has(cut: VaultHandle, question: str, has: str, never: str) -> None:
    answer = cut.ask(question).answer.partition("\n")[2].replace("\n> ", "\n")
    assert has in answer
    assert not never or never not in answer
