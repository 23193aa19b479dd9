// What the links make of the notes: the themes of the vault, below the picture of its links.

import { post } from "../api.js";
import { writtenBy } from "../cards.js";
import { address, h, noteHref, plural, put } from "../dom.js";
import { loader, passing, waiting, warned } from "../states.js";

/** The section of the themes; it fills itself. */
export function themes(signal) {
  const list = h("div", {}, waiting("Looking for themes…"));
  const section = h("section", { class: "themes", "aria-labelledby": "themes-title" },
    h("h2", { class: "label", id: "themes-title" }, "Themes"), list);
  loader(list, async () => {
    const found = await post("/themes", {}, signal);
    put(list, warned(found.warnings), cards(found), rest(found));
  }, passing).load();
  return section;
}

function cards(found) {
  return h("ul", { class: "cards" }, found.themes.map((theme) => h("li", { class: "card theme", "data-theme": theme.id },
    h("div", { class: "card-head" }, h("div", { class: "card-name" },
      h("h3", {}, h("a", { class: "card-title", href: address("graph", { around: theme.notes.map((note) => note.path) }), "data-nav": true, title: "Draw the links around these notes" }, theme.name)),
      h("p", { class: "where" }, h("span", {}, plural(theme.count, "note"))))),
    theme.summary && h("p", { class: "snippet-line" }, writtenBy(theme.written_by), theme.summary),
    h("p", { class: "aside" }, theme.notes.map((note, at) => [at > 0 && " · ", h("a", { href: noteHref(note.path) }, note.title)])))));
}

function rest(found) {
  const told = [
    found.total > found.themes.length && `${plural(found.total - found.themes.length, "smaller theme")} not shown`,
    found.small > 0 && `${plural(found.small, "note")} in groups too small to be themes`,
    found.unlinked > 0 && `${plural(found.unlinked, "note")} that no link connects with another`,
  ].filter(Boolean);
  return told.length ? h("p", { class: "made" }, told.join(" · ")) : null;
}
