// Cards of sources, connected notes and captured connections.

import { copy, folderOf, h, hasLines, lineHref, linesSaid, noteHref, put, rendered, spotOf, within } from "./dom.js";

/** A passage that may be cited. */
export function sourceCard(source, { marker = true } = {}) {
  const name = source.marker.replace(/[[\]]/g, "");
  const href = noteHref(source.path, spotOf(source));
  return h("li", { class: source.weak ? "card source weak" : "card source", id: marker ? `cite-${name}` : null, "data-path": source.path },
    h("div", { class: "card-head" },
      marker && h("span", { class: "number", title: `Source ${name}` }, name),
      h("div", { class: "card-name" },
        h("h3", {}, h("a", { class: "card-title", href }, source.title, within(source))),
        h("p", { class: "where" }, place(source), !marker && worth(source))),
      source.weak && h("span", { class: "chip warn", title: "No nearer to what was asked than notes are by chance." }, "weak match"),
      h("span", { class: "cited-mark", hidden: true }, "cited")),
    source.second_look && h("p", { class: "dim" }, `found by way of ${source.second_look.title}`),
    h("div", { class: "snippet" }, h("p", { class: "prose" }, source.text)),
    foot(source));
}

/** A note one link away: context, not evidence. */
export function connectedCard(note) {
  const from = note.linked_from;
  return h("li", { class: "card connected", id: `cite-${note.label}`, "data-path": note.path },
    h("figure", { class: "via" },
      h("figcaption", {},
        h("a", { href: lineHref(from.path, from.line) }, from.title),
        h("span", { class: "dim" }, `, line ${from.line}, ${from.sentence ? "says:" : "links to it"}`)),
      from.sentence && h("blockquote", {}, `“${from.sentence}”`)),
    h("div", { class: "card-head" },
      h("span", { class: "number far", title: `Connected note ${note.label}` }, note.label),
      h("div", { class: "card-name" },
        h("h3", {}, h("a", { class: "card-title", href: noteHref(note.path, spotOf(note)) }, note.title, within(note))),
        h("p", { class: "where" }, place(note)))),
    h("div", { class: "snippet short" }, h("p", { class: "prose" }, note.text)),
    foot(note),
    h("details", { class: "explain" }, h("summary", {}, "Why this note"), h("p", { class: "dim" }, `${note.reason[0].toUpperCase()}${note.reason.slice(1)}.`)));
}

/** The cards of connected notes below what they are. */
export function connectedNotes(cards, told) {
  return [
    h("h2", { class: "label", id: "connected-title" }, "Connected notes"),
    h("p", { class: "aside" }, h("strong", {}, "Context, not evidence."), ` ${told}`),
    h("ol", { class: "cards", "aria-label": "Connected notes" }, cards),
  ];
}

function place({ path, lines, page }) {
  const folder = folderOf(path);
  return [folder && h("span", {}, folder), hasLines(path) && h("span", {}, linesSaid(lines)), page && h("span", {}, `page ${page}`)];
}

/** How near a hit is; 1 is as near as can be. */
function worth({ relevance }) {
  return relevance !== null && h("span", { class: "worth", title: "How much of what was asked this passage holds, from 0 to 1." }, `relevance ${relevance.toFixed(2)}`);
}

function foot(one) {
  return h("p", { class: "card-foot" },
    h("button", { class: "plain more", type: "button", hidden: true, "aria-expanded": "false", onclick: unfold }, "Show all"),
    offer(one));
}

const openInApp = ({ uri, title }) => h("a", { class: "plain", href: uri, "aria-label": `Open ${title} in Obsidian` }, "Open in Obsidian");

let offer = openInApp;

/** Have the feet of cards offer something else than to open the app: beside a note in it, one writes. */
export function offerInstead(make) {
  offer = make;
}

function unfold({ currentTarget: button }) {
  const open = button.closest(".card").querySelector(".snippet").classList.toggle("open");
  button.setAttribute("aria-expanded", String(open));
  button.textContent = open ? "Show less" : "Show all";
}

/** Put rendered texts into cards; one that is folded and does not fit gets a button. */
export function dress(cards, html) {
  cards.forEach((card, at) => {
    const snippet = card.querySelector(".snippet");
    put(snippet, rendered(html[at]));
    resized.observe(snippet);
  });
}

// A card gets narrower when connected notes come to stand beside it.
const resized = new ResizeObserver((changes) => changes.forEach(({ target }) => {
  const fits = !target.classList.contains("open") && target.scrollHeight <= target.clientHeight + 4;
  target.closest(".card").querySelector(".more").hidden = fits;
}));

/** Says that a text is a model's and not the note's; nothing where it is the note's own. */
function writtenBy(model) {
  return model ? h("span", { class: "badge", title: "This summary is not the note's own words." }, `written by ${model}`) : null;
}

/** A note that a captured text has to do with. */
export function relatedCard(one) {
  return h("li", { class: "card related", "data-path": one.path },
    h("div", { class: "card-head" },
      h("div", { class: "card-name" },
        h("h3", {},
          h("span", { class: "badge" }, one.folder || "vault"),
          h("a", { class: "card-title", href: noteHref(one.path) }, one.title))),
      h("button", { class: "button small", type: "button", onclick: () => copy(one.link), "aria-label": `Copy ${one.link}` },
        "Copy ", h("code", {}, "[[link]]"))),
    h("p", { class: "dim snippet-line" }, one.snippet, writtenBy(one.written_by)),
    h("p", { class: "card-foot" }, openInApp(one)));
}
