"""Themes come of the links, last while notes change, and hold nothing of what is not indexed."""

from pathlib import Path

import pytest

from tests.support import product
from tests.support.notes import Bench

BIRDS = {
    "birds/Geese.md": "Geese eat grass on the marsh in winter. See [[Redshank]] and [[Mud]].",
    "birds/Redshank.md": "Redshank feed on the marsh, close to the [[Geese]].",
    "birds/Mud.md": "Mud of the marsh feeds [[Geese]] and [[Redshank]].",
    "birds/Nests.md": "Nests on the marsh: [[Geese]], [[Redshank]].",
}
BOATS = {
    "boats/Dinghy.md": "The dinghy needs planks and varnish. See [[Sails]] and [[Mast]].",
    "boats/Sails.md": "Sails of the dinghy, with varnish on the [[Mast]]; see [[Dinghy]].",
    "boats/Mast.md": "A mast for the [[Dinghy]], planks for the rest.",
    "boats/Oars.md": "Oars of the [[Dinghy]] need varnish, like the [[Mast]].",
}
OTHERS = {
    "Membership.md": "[[Geese]] [[Redshank]] [[Mud]] [[Nests]] [[Dinghy]] [[Sails]] [[Mast]] [[Oars]]",
    "Lonely.md": "Nobody links here.",
    "Pair.md": "See [[Other]].",
    "Other.md": "Of a pair.",
    "Templates/Bird.md": "[[Geese]] [[Redshank]] [[Dinghy]] [[Lonely]]",
    "Secret.md": "---\nprivate: true\n---\nA secret of [[Geese]], [[Dinghy]] and [[Lonely]].",
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.settings = with_themes(bench.settings)
    for path, text in (BIRDS | BOATS | OTHERS).items():
        bench.write(path, text)
    return bench


def with_themes(settings: product.Settings, **more: object) -> product.Settings:
    return settings.with_overrides(
        {"themes.enabled": True, **{f"themes.{key}": value for key, value in more.items()}}
    )


def themes(bench: Bench) -> product.Themes:
    with bench.catalog() as catalog, catalog.snapshot() as view:
        return product.make_themes(view, product.read_templates(bench.vault).contains)


def by_name(bench: Bench) -> dict[str, product.Theme]:
    return {one.name: one for one in themes(bench).themes}


def test_what_belongs_together_is_a_theme(bench: Bench) -> None:
    bench.index()
    found = themes(bench)
    assert [set(one.notes) - {"Membership.md"} for one in found.themes] == [set(BIRDS), set(BOATS)]
    birds, boats = found.themes
    assert (birds.name, boats.name) == ("Geese", "Dinghy")
    assert birds.notes[0] == birds.named_after == "birds/Geese.md"
    assert (found.small, found.unlinked) == (2, 1)
    said = repr(found)
    assert not [word for word in ("Secret", "secret", "Templates") if word in said]


def test_no_theme_is_named_after_a_day(bench: Bench) -> None:
    bench.write("2026-10-04.md", "[[Dinghy]] [[Sails]] [[Mast]] [[Oars]]")
    for path in BOATS:
        bench.write(path, "Painted on [[2026-10-04]].")
    bench.write("boats/Mast.md", "For the [[Dinghy]], on [[2026-10-04]].")
    bench.index()
    [boats] = [one for one in themes(bench).themes if "2026-10-04.md" in one.notes]
    assert boats.name == "Dinghy"


def test_a_note_goes_over_to_where_its_links_lead_now(bench: Bench) -> None:
    bench.index()
    before = by_name(bench)
    bench.write("birds/Nests.md", "A nest in the [[Dinghy]], below [[Mast]] and [[Oars]].")
    bench.index()
    after = by_name(bench)
    assert "birds/Nests.md" in after["Dinghy"].notes
    assert "birds/Nests.md" not in after["Geese"].notes
    assert {name: one.id for name, one in after.items()} == {name: one.id for name, one in before.items()}
