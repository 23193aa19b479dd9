// Links that could be made in the open note, each with the sentence that speaks for it.

import { get } from "../api.js";
import { folderOf, h, hasLines, lineHref, nameOf, noteHref, plural, put, say } from "../dom.js";
import { followed, group, heading, linkButton, marked } from "./related.js";
import { behind, empty } from "../states.js";

const MOST = 15;

/** What is said of each kind, by whether the open note or another one would hold the link. */
const GROUPS = [
  ["Named here, and not linked", (one, here) => here && one.kind === "mention"],
  ["Alike, and not linked", (one, here) => here && one.kind === "alike"],
  ["Linked here, and not written yet", (one, here) => here && one.kind === "dangling"],
  ["Could link here", (_, here) => !here],
];

/** Draw the view of a note; `refresh` looks again. */
export function show(root, path) {
  return followed(root, path, "Looking for links that could be made…", async (isNew, signal) => {
    const found = await get("/suggest", { note: path, limit: MOST }, signal);
    if (isNew(found.suggestions)) draw(root, path, found);
  });
}

function draw(root, path, { suggestions, pending }) {
  const groups = GROUPS
    .map(([title, holds]) => [title, suggestions.filter((one) => holds(one, one.source === path))])
    .filter(([, list]) => list.length);
  put(root,
    heading(nameOf(path), path),
    groups.map(([title, list], at) => group(`suggest-${at}`, title, list.map((one) => card(one, path)), list.length)),
    !suggestions.length && empty("No link is missing here", "What is alike or named is linked already."),
    pending && h("p", { class: "made" }, behind(pending)));
  say(`${plural(suggestions.length, "link")} could be made`);
}

/** A suggestion: the note at its other end, and the sentence that speaks for it. */
function card(one, path) {
  const here = one.source === path;
  const other = here ? one.target : one.source;
  const title = here ? one.title : nameOf(one.source);
  const written = one.kind !== "dangling";
  const place = hasLines(one.source) ? `line ${one.line}` : "the place";
  const at = lineHref(one.source, one.line);
  return h("li", { class: "card", "data-path": other },
    h("div", { class: "card-head" },
      h("div", { class: "card-name" },
        h("h3", {}, written ? h("a", { class: "card-title", href: here ? noteHref(other) : at }, title) : title),
        h("p", { class: "where" }, written ? folderOf(other) && h("span", {}, folderOf(other)) : h("span", {}, `${plural(one.notes, "note")} link to it`),
          h("span", { title: "How likely it is that this link is wanted." }, `${Math.round(one.score * 100)} %`))),
      here && written && linkButton(path, other, title)),
    h("p", { class: "evidence" }, marked(one.text, spoken(one)), " ", h("a", { class: "small", href: at, "aria-label": `Open ${place} of ${nameOf(one.source)}` }, place)));
}

/** The words of its sentence that the link would stand on. */
function spoken({ kind, link, title }) {
  if (kind === "alike") return "";
  return /\|([^\]]+)\]\]$/.exec(link)?.[1] || title;
}
