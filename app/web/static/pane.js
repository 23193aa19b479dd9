// The side pane of the app: tabs for the open note and for questions. It asks nothing of the server
// before the plugin has said hello.

import { get, isProblem, post, Problem, render, useToken, useVault } from "./api.js";
import { dress, offerInstead, sourceCard } from "./cards.js";
import {
  address, behind, empty, encoded, failure, folderOf, h, hasLines, lineHref, loader, nameOf, noteHref, plural, put, say, toast, waiting,
} from "./dom.js";
import * as ask from "./views/ask.js";

const views = { related: showRelated, suggest: showSuggestions, ask: ask.show };
const root = document.getElementById("view");
const tabs = [...document.querySelectorAll("[role=tab]")];
const vault = { name: "" };
const state = { tab: "related", note: "", question: "#/ask", shown: null, wrong: "", met: false };

const context = {
  vault,
  go: (_, params) => asked(address("ask", params)),
  here: () => state.question,
  // Whoever opens the pane in the app asks by hand; no address leads here, and a frame may keep nothing.
  own: () => {},
  isOwn: () => true,
};

// Tabs

function select(tab, { focus = false } = {}) {
  state.tab = views[tab] ? tab : "related";
  for (const one of tabs) {
    const on = one.dataset.tab === state.tab;
    one.setAttribute("aria-selected", String(on));
    one.tabIndex = on ? 0 : -1;
    if (on) root.setAttribute("aria-labelledby", one.id);
  }
  draw();
  // A view may have a field that takes the focus: whoever goes over the tabs stays on them.
  if (focus) tabs.find((one) => one.dataset.tab === state.tab).focus();
}

function draw() {
  state.shown?.dispose?.();
  root.replaceChildren();
  root.className = `view-${state.tab}`;
  window.scrollTo(0, 0);
  if (state.wrong) root.append(h("h1", {}, "Another vault"), h("p", { class: "notice", role: "alert" }, state.wrong));
  else if (state.tab === "ask") state.shown = views.ask(root, new URLSearchParams(state.question.split("?")[1]), context);
  else if (state.note) state.shown = views[state.tab](root, state.note);
  else root.append(h("h1", { class: "unseen" }, "No note"), empty("No note is open", "Open a note, and what it has to do with stands here."));
}

function asked(hash) {
  state.question = hash;
  select("ask");
  root.querySelector("[data-main]")?.focus({ preventScroll: true });
}

for (const tab of tabs) tab.addEventListener("click", () => select(tab.dataset.tab));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const at = tabs.indexOf(event.target);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  select(tabs[(next + tabs.length) % tabs.length].dataset.tab, { focus: true });
});

// Links and keys

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented) return;
  const href = link.getAttribute("href");
  // The frame stays where it is, whatever a note links to.
  event.preventDefault();
  if (href.startsWith("#/note/")) open(href, event.ctrlKey || event.metaKey);
  else if (href.startsWith("#/ask")) asked(href);
  else if (/^https?:/.test(href)) tell("web", { url: href });
});

function open(href, tab) {
  const [path, query] = href.slice("#/note/".length).split(/\?(.*)/s);
  const params = new URLSearchParams(query);
  const name = path.split("/").map(decodeURIComponent).join("/");
  const line = (hasLines(name) && Number(params.get("lines")?.split("-")[0])) || 0;
  tell("open", { path: name, line, at: params.get("at") || "", tab });
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.key === "Escape" && !state.shown?.escape?.()) tell("leave");
});

offerInstead((source) => h("button", {
  class: "plain", type: "button", "aria-label": `Cite ${source.title} in the open note`,
  onclick: (event) => {
    const { quote = "", heading = source.heading } = event.currentTarget.closest(".card").dataset;
    tell("cite", { path: source.path, heading, quote: quote.slice(0, 1500) });
  },
}, "Insert citation"));

// The plugin of the app that frames the side pane: messages of fixed kinds, each with its fields, to and
// from the app's origin alone. The plugin's main.js has the same table.

const APP = "app://obsidian.md";

/** What the plugin may say, and of which type each field is. */
const HEARD = {
  hello: { token: "string", vault: "string", theme: "string", tab: "string" },
  note: { path: "string", changed: "boolean" },
  theme: { theme: "string" },
  show: { tab: "string" },
  ask: { question: "string" },
  done: { ok: "boolean", text: "string" },
};

/** Whether the page is in a frame, as the app has it. */
const framed = window.parent !== window;

/** Tell the plugin: ready, open, link, cite, web or leave. */
function tell(kind, fields = {}) {
  if (framed) window.parent.postMessage({ notehop: kind, ...fields }, APP);
}

/** Hear the plugin: by kind, a function that gets its fields. */
function hear(handlers) {
  window.addEventListener("message", ({ origin, data }) => {
    // By origin alone: the plugin may stand in another window of the app than the one that has the frame.
    if (!framed || origin !== APP) return;
    if (!Object.hasOwn(HEARD, data?.notehop)) return;
    const fields = Object.entries(HEARD[data.notehop]);
    if (fields.every(([name, type]) => typeof data[name] === type)) handlers[data.notehop](data);
  });
}

hear({
  // An older plugin does not tell the folder.
  async hello({ token, vault: name, folder = "", theme, tab }) {
    document.documentElement.dataset.theme = theme;
    useToken(token, refuse);
    await check(name, folder);
    state.met = true;
    select(tab);
  },
  note({ path, changed }) {
    if (state.note === path && !changed) return;
    const same = state.note === path;
    state.note = path;
    if (!state.met || state.tab === "ask") return;
    if (same) state.shown?.refresh?.();
    else draw();
  },
  theme({ theme }) {
    document.documentElement.dataset.theme = theme;
  },
  show({ tab }) {
    select(tab, { focus: true });
    root.querySelector("[data-main]")?.focus();
  },
  ask: ({ question }) => asked(question ? address("ask", { q: question }) : "#/ask"),
  done({ ok, text }) {
    if (ok) toast(text);
    else say(text);
  },
});

function refuse(wrong) {
  throw new Problem({
    title: wrong ? "The token is not the one of this server" : "This server asks for a token", status: 401,
    detail: "Put the token that notehop serve was started with into the settings of notehop in the app.",
  });
}

/** Ask for the vault that is open in the app, by its folder or its name, if the server answers for it. */
async function check(name, folder) {
  try {
    const { vaults } = await get("/vaults");
    const named = vaults.filter((one) => one.vault === name);
    const own = vaults.find((one) => one.folder && one.folder === folder) || (named.length === 1 && named[0]);
    vault.name = own ? own.vault : "";
    if (own && !own.default) useVault(own.url);
    const others = vaults.map((one) => `“${one.vault}”`).join(", ");
    state.wrong = own ? "" : `The server at this address answers for the vault ${others}, and this one is “${name}”${folder && ` in ${folder}`}. Start notehop serve for this vault too: name it with a further --vault, or give it a port of its own and its address in the settings of notehop, below Community plugins.`;
  } catch (error) {
    isProblem(error); // the view that needs the server says what is wrong
  }
}

// What the open note has to do with: notes alike, and places that name it without a link

const MOST_RELATED = 12;
const READ = 1500; // characters of a note that say what it is about: more than the model reads

/** Draw the view of a note; `refresh` looks again and draws what is new, without a flicker. */
function showRelated(root, path) {
  return followed(root, path, "Looking for related notes…", async (isNew, signal) => {
    const note = await get(`/notes/${encoded(path)}`, {}, signal);
    const found = await post("/search", {
      query: gist(note), literal: true, results: "notes", top_k: MOST_RELATED + 1, intent: "none", connected: { max: 0 },
    }, signal);
    const hits = found.hits.filter((hit) => hit.path !== note.path).slice(0, MOST_RELATED);
    if (!isNew([note.title, hits.map((hit) => [hit.path, hit.text]), note.unlinked_mentions])) return;
    // What is near by chance says nothing, unless there is nothing else.
    const near = hits.filter((hit) => !hit.weak);
    const shown = near.length ? near : hits.slice(0, 3);
    const cards = drawRelated(root, note, shown, found.pending);
    const { snippets } = await render(shown.map((hit) => hit.text), "", { signal });
    dress(cards, snippets);
  });
}

/** A view of a note that is looked at again. `look` asks, and draws where what it found is new. */
function followed(root, path, meanwhile, look) {
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

function drawRelated(root, note, shown, pending) {
  const linked = new Set([...note.links.map((link) => link.target), ...note.backlinks.map((link) => link.source)]);
  const cards = shown.map((hit) => relatedNote(hit, linked.has(hit.path), note.path));
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
function group(id, title, cards, count) {
  return h("section", { "aria-labelledby": id },
    h("h2", { class: "label", id }, title, count && [" ", h("span", { class: "chip" }, String(count))]),
    h("ol", { class: "cards", "aria-labelledby": id }, cards));
}

/** The name of the open note, above what is said of it. */
function heading(title, path) {
  return h("div", { class: "pane-note" },
    h("h1", {}, title),
    folderOf(path) && h("p", { class: "small dim" }, folderOf(path).replaceAll("/", " › ")));
}

/** What stands there for a note that the server does not know; null for another error. */
function unknown({ type }) {
  return type.endsWith(":note-missing") ? empty("This note is not in the index", "A new note is there a moment after it is written; a private or excluded one never is.") : null;
}

function relatedNote(hit, linked, note) {
  const made = sourceCard(hit, { marker: false });
  made.querySelector(".card-name").after(linked
    ? h("span", { class: "chip", title: "One of the two links to the other." }, "linked")
    : linkButton(note, hit.path, hit.title));
  return made;
}

/** Inserts a link to another note at the cursor of the open one. */
function linkButton(note, path, title) {
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
function marked(sentence, words) {
  const at = words ? sentence.toLowerCase().indexOf(words.toLowerCase()) : -1;
  if (at < 0) return sentence;
  return [sentence.slice(0, at), h("mark", {}, sentence.slice(at, at + words.length)), sentence.slice(at + words.length)];
}

// Links that could be made in the open note, each with the sentence that speaks for it

const MOST_SUGGESTED = 15;

/** What is said of each kind, by whether the open note or another one would hold the link. */
const GROUPS = [
  ["Named here, and not linked", (one, here) => here && one.kind === "mention"],
  ["Alike, and not linked", (one, here) => here && one.kind === "alike"],
  ["Linked here, and not written yet", (one, here) => here && one.kind === "dangling"],
  ["Could link here", (_, here) => !here],
];

/** Draw the view of a note; `refresh` looks again. */
function showSuggestions(root, path) {
  return followed(root, path, "Looking for links that could be made…", async (isNew, signal) => {
    const found = await get("/suggest", { note: path, limit: MOST_SUGGESTED }, signal);
    if (isNew(found.suggestions)) drawSuggestions(root, path, found);
  });
}

function drawSuggestions(root, path, { suggestions, pending }) {
  const groups = GROUPS
    .map(([title, holds]) => [title, suggestions.filter((one) => holds(one, one.source === path))])
    .filter(([, list]) => list.length);
  put(root,
    heading(nameOf(path), path),
    groups.map(([title, list], at) => group(`suggest-${at}`, title, list.map((one) => suggestion(one, path)), list.length)),
    !suggestions.length && empty("No link is missing here", "What is alike or named is linked already."),
    pending && h("p", { class: "made" }, behind(pending)));
  say(`${plural(suggestions.length, "link")} could be made`);
}

/** A suggestion: the note at its other end, and the sentence that speaks for it. */
function suggestion(one, path) {
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

if (framed) tell("ready");
else root.append(h("h1", { class: "unseen" }, "Side pane"), empty("This is the side pane of Obsidian", "Its plugin shows it there. The whole page is at the address of this server, without /pane."));
