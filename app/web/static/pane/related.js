// What the open note has to do with: notes alike, and places that name it without a link.

import { get, post, render } from "../api.js";
import { dress, sourceCard } from "../cards.js";
import { encoded, folderOf, h, hasLines, lineHref, nameOf, plural, put, say } from "../dom.js";
import { tell } from "./plugin.js";
import { behind, empty, failure, loader, waiting } from "../states.js";

const MOST = 12;
const READ = 1500; // characters of a note that say what it is about: more than the model reads

/** Draw the view of a note; `refresh` looks again and draws what is new, without a flicker. */
export function show(root, path) {
  return followed(root, path, "Looking for related notes…", async (isNew, signal) => {
    const note = await get(`/notes/${encoded(path)}`, {}, signal);
    const found = await post("/search", {
      query: gist(note), literal: true, results: "notes", top_k: MOST + 1, intent: "none", connected: { max: 0 },
    }, signal);
    const hits = found.hits.filter((hit) => hit.path !== note.path).slice(0, MOST);
    if (!isNew([note.title, hits.map((hit) => [hit.path, hit.text]), note.unlinked_mentions])) return;
    // What is near by chance says nothing, unless there is nothing else.
    const near = hits.filter((hit) => !hit.weak);
    const shown = near.length ? near : hits.slice(0, 3);
    const cards = draw(root, note, shown, found.pending);
    const { snippets } = await render(shown.map((hit) => hit.text), "", { signal });
    dress(cards, snippets);
  });
}

/** A view of a note that is looked at again. `look` asks, and draws where what it found is new. */
export function followed(root, path, meanwhile, look) {
  let drawn = "";
  const isNew = (found) => drawn !== (drawn = JSON.stringify(found));
  root.append(waiting(meanwhile));
  const { load, dispose } = loader(root, (signal) => look(isNew, signal), (error, again) => {
    drawn = "";
    return [heading(nameOf(path), path), unknown(error) || failure(error, again)];
  });
  load();
  return { dispose, refresh: load };
}

/** What a note says first, without its properties. */
function gist({ title, text }) {
  const body = text.replace(/^---\r?\n[^]*?\r?\n---\r?\n/, "").trim();
  return `${title}\n${body}`.slice(0, READ);
}

function draw(root, note, shown, pending) {
  const linked = new Set([...note.links.map((link) => link.target), ...note.backlinks.map((link) => link.source)]);
  const cards = shown.map((hit) => card(hit, linked.has(hit.path), note.path));
  put(root,
    heading(note.title, note.path),
    shown.length
      ? group("alike-title", "Related notes", cards)
      : empty("Nothing is related yet", "As the vault grows, notes on the same things stand here."),
    mentions(note),
    pending && h("p", { class: "made" }, behind(pending)));
  say(`${plural(shown.length, "related note")}, ${plural(note.mention_count, "mention")} without a link`);
  return cards;
}

/** A part of the pane: cards below a heading, which says how many there are if that is given. */
export function group(id, title, cards, count) {
  return h("section", { "aria-labelledby": id },
    h("h2", { class: "label", id }, title, count && [" ", h("span", { class: "chip" }, String(count))]),
    h("ol", { class: "cards", "aria-labelledby": id }, cards));
}

/** The name of the open note, above what is said of it. */
export function heading(title, path) {
  return h("div", { class: "pane-note" },
    h("h1", {}, title),
    folderOf(path) && h("p", { class: "small dim" }, folderOf(path).replaceAll("/", " › ")));
}

/** What stands there for a note that the server does not know; null for another error. */
function unknown({ type }) {
  return type.endsWith(":note-missing") ? empty("This note is not in the index", "A new note is there a moment after it is written; a private or excluded one never is.") : null;
}

function card(hit, linked, note) {
  const made = sourceCard(hit, { marker: false });
  made.querySelector(".card-name").after(linked
    ? h("span", { class: "chip", title: "One of the two links to the other." }, "linked")
    : linkButton(note, hit.path, hit.title));
  return made;
}

/** Inserts a link to another note at the cursor of the open one. */
export function linkButton(note, path, title) {
  return h("button", { class: "button small", type: "button", "aria-label": `Insert a link to ${title}`, onclick: () => tell("link", { note, path }) }, "Link");
}

function mentions({ unlinked_mentions: found, mention_count: count }) {
  if (!found.length) return null;
  return group("mentions-title", "Mentions without a link", found.map((one) => h("li", { class: "card", "data-path": one.path },
    h("h3", {}, h("a", { class: "card-title", href: lineHref(one.path, one.line) }, one.title)),
    h("p", { class: "where" }, folderOf(one.path) && h("span", {}, folderOf(one.path)), hasLines(one.path) && h("span", {}, `line ${one.line}`)),
    h("p", { class: "evidence" }, marked(one.sentence, one.name)))), count);
}

/** A sentence with the words marked that are meant. */
export function marked(sentence, words) {
  const at = words ? sentence.toLowerCase().indexOf(words.toLowerCase()) : -1;
  if (at < 0) return sentence;
  return [sentence.slice(0, at), h("mark", {}, sentence.slice(at, at + words.length)), sentence.slice(at + words.length)];
}
