"""Links that many notes make in much the same words, and how their sentences are shown."""

from __future__ import annotations

from tests.support.fake_index import FakeIndex, direction, light
from tests.support.product import ConnectedNotesPostprocessor, TracedQuery


def manual(*others: str) -> FakeIndex:
    """A how-to that links to two notes, and other how-tos that link to the first of them, too."""
    index = FakeIndex().add("Themes.md", 0).add("Settings.md", 50).add("Fonts.md", 55)
    index.add("Passage.md", 45, 45)
    for number, sentence in enumerate(others):
        index.add(f"Howto {number}.md", 90)
        index.link(f"Howto {number}.md", "Settings.md", 20, sentence=sentence)
    index.link("Themes.md", "Settings.md", 20, sentence="Open **Settings**.")
    return index.link("Themes.md", "Fonts.md", 25, sentence="A theme may bring Fonts of its own.")


def connected(index: FakeIndex, most: int = 1) -> list[str]:
    stage = ConnectedNotesPostprocessor(
        view=index, top_k=1, context_chunks=1 + most, max_connected=most
    )
    asked = TracedQuery("themes", embedding=direction(0))
    found = stage.postprocess_nodes(light("Themes.md:0", "Passage.md:0", "Passage.md:1"), asked)
    return [hit.node.node_id for hit in found if hit.node.metadata["role"] == "connected"]


def test_what_many_notes_say_alike_counts_less() -> None:
    assert connected(manual()) == ["Settings.md:0"]
    alike = manual("Open **Settings**.", "Then open Settings.", "open Settings", "Open Settings!")
    assert connected(alike) == ["Fonts.md:0"]


def test_such_a_sentence_alone_is_no_evidence_for_a_place() -> None:
    repeated = ["Open Settings."] * 4
    # The passage that would lose its place is likelier than the note.
    assert connected(manual(*repeated), most=2) == ["Fonts.md:0"]
    assert connected(manual(), most=2) == ["Settings.md:0", "Fonts.md:0"]
