// The reading view: a note beside what led to it, with its links, backlinks and mentions.

import { get } from "../api.js";
import { address, appHref, copy, encoded, failure, folderOf, h, hasLines, isRead, lineHref, loader, moment, nameOf, noteHref, put, rendered, say, waiting } from "../dom.js";
import { mark } from "../evidence.js";

const aside = document.getElementById("reader");
let asked = {}; // what is shown, or will be
let opener = null;

// Where the note covers the page, nothing behind it can be reached.
const narrow = matchMedia("(max-width: 44rem)");
const behind = [document.getElementById("view"), document.querySelector(".top")];

function cover() {
  for (const one of behind) one.inert = !aside.hidden && narrow.matches;
}

narrow.addEventListener("change", cover);

export function isOpen() {
  return !aside.hidden;
}

/** Show a note, at lines or at a heading or block where the parameters name one. */
export function open(path, params, { close, vault }) {
  const spot = { at: params.get("at"), lines: params.get("lines"), words: params.get("say") };
  if (aside.hidden) opener = document.activeElement;
  aside.hidden = false;
  document.body.classList.add("reading");
  cover();
  // Of a PDF a page is shown: all of it would be a book.
  const section = path.toLowerCase().endsWith(".pdf") && spot.at;
  if (asked.path === path && asked.section === section) return goTo(spot);
  const button = h("button", { class: "icon close", type: "button", "aria-label": "Close the note", title: "Close (Esc)", onclick: close }, "×");
  put(aside, h("div", { class: "reader-bar" }, button), waiting("Opening…"));
  aside.scrollTop = 0;
  button.focus({ preventScroll: true });
  asked = { path, section, spot, button, vault };
  load();
}

const { load, dispose } = loader(aside, async (signal) => {
  const { path, section, spot, button } = asked;
  const page = await get(`/web/notes/${encoded(path)}`, { section }, signal);
  put(aside, draw(page, button));
  document.getElementById("reader-title").focus({ preventScroll: true });
  goTo(spot);
  say(`${page.note.title} is open`);
  if (!hasLines(path)) return; // no link can be written into it there
  const { suggestions } = await get("/suggest", { note: page.note.path, limit: "5" }, signal);
  aside.querySelector(".note")?.append(missing(page.note.path, suggestions) || "");
}, (error) => {
  const { path, button, vault } = asked;
  asked = {};
  // A canvas, a base or a PDF need not be read: the app shows it.
  const other = !hasLines(path) && vault.name && h("a", { class: "button small", href: appHref(vault.name, path) }, "Open in Obsidian");
  return [h("div", { class: "reader-bar" }, other, button), failure(error)];
});

export function shut() {
  if (aside.hidden) return;
  dispose();
  asked = {};
  aside.hidden = true;
  aside.replaceChildren();
  document.body.classList.remove("reading");
  cover();
  if (opener?.isConnected) opener.focus({ preventScroll: true });
  opener = null;
}

function draw({ note, html, cut, vault }, button) {
  const text = rendered(html, "prose note-text");
  text.addEventListener("click", jump);
  const name = nameOf(note.path);
  return [
    h("div", { class: "reader-bar" },
      h("a", { class: "button small", href: note.uri }, "Open in Obsidian"),
      h("button", { class: "button small", type: "button", onclick: () => copy(`[[${name}]]`) }, "Copy [[link]]"),
      h("a", { class: "button small", href: address("graph", { around: note.path }) }, "Graph"), button),
    h("article", { class: "note" },
      h("header", {},
        h("p", { class: "small dim" }, [vault, ...folderOf(note.path).split("/")].filter(Boolean).join(" › ")),
        h("h2", { id: "reader-title", tabindex: "-1" }, note.title),
        h("p", { class: "row small dim" }, h("span", {}, `Changed ${moment(note.modified)}`),
          note.page_type && h("span", {}, note.page_type),
          note.aliases.length ? h("span", {}, `also ${note.aliases.join(", ")}`) : null),
        note.tags.length ? h("p", { class: "row" }, note.tags.map((tag) => h("a", { class: "chip", href: address("search", { q: `tag:${tag}` }) }, `#${tag}`))) : null),
      note.changed && h("p", { class: "notice" }, "This note changed after the index was made: the text is new, its links are those of then."),
      text,
      cut && h("p", { class: "notice" }, "The end of this note is left out: it is too long to show here. Open it in Obsidian."),
      ...relations(note)),
  ];
}

function relations(note) {
  const away = note.links.filter((link) => link.status === "resolved" && link.target !== note.path);
  const missing = note.links.filter((link) => link.status !== "resolved");
  const back = note.backlinks.filter((link) => link.source !== note.path);
  return [
    part("Backlinks", back.length, back.map((link) => row(link.source, nameOf(link.source), link.sentence, link.line))),
    part("Links", away.length, once(away).map((link) => row(link.target, nameOf(link.target), link.sentence, null))),
    part("Mentions without a link", note.mention_count, note.unlinked_mentions.map((one) => row(one.path, one.title, one.sentence, one.line))),
    part("Links that lead nowhere", missing.length, missing.map((link) => h("li", {}, h("code", {}, link.raw), h("span", { class: "dim small" }, ` line ${link.line}, ${link.status}`)))),
  ];
}

/** Links that the note may lack, with the link to paste; notes that name it are listed already. */
function missing(path, suggestions) {
  const own = suggestions.filter((one) => one.source === path);
  return part("Links that may be missing", own.length, own.map((one) => {
    const line = row(one.target, one.title, one.text, null);
    line.append(h("p", { class: "row small dim" },
      h("span", {}, one.kind === "alike" ? "alike, not linked" : one.kind === "mention" ? `named in line ${one.line}, not linked` : `${one.notes} notes link to it, it is not there`),
      h("button", { class: "button small", type: "button", onclick: () => copy(one.link) }, `Copy ${one.link}`)));
    return line;
  }));
}

function once(links) {
  return [...new Map(links.map((link) => [link.target, link])).values()];
}

function part(title, count, rows) {
  if (!rows.length) return null;
  return h("section", { class: "relations", "aria-label": title },
    h("h3", { class: "label" }, `${title} `, h("span", { class: "chip" }, String(count))),
    h("ul", {}, rows));
}

function row(path, title, sentence, line) {
  return h("li", {},
    isRead(path) ? h("a", { href: line ? lineHref(path, line) : noteHref(path) }, title) : h("span", {}, title),
    sentence && h("p", { class: "dim" }, sentence));
}

/** Footnotes lead within the note: their addresses are not the page's. */
function jump(event) {
  const link = event.target.closest('a[href^="#fn"]');
  if (!link) return;
  event.preventDefault();
  document.getElementById(link.getAttribute("href").slice(1))?.scrollIntoView({ block: "center" });
}

function goTo({ at, lines, words }) {
  const text = aside.querySelector(".note-text");
  if (!text) return;
  text.querySelectorAll(".cited").forEach((one) => one.classList.remove("cited"));
  for (const one of text.querySelectorAll(".cited-words")) {
    const around = one.parentNode;
    one.replaceWith(...one.childNodes);
    around.normalize();
  }
  const found = lines ? between(text, lines) : at ? named(text, at) : [];
  // In the block of its lines: the same may stand elsewhere, too.
  const marked = words ? mark(found.length === 1 ? found[0] : text, words, "cited-words") : [];
  // Where the words are known they are marked, and not all that stands around them.
  if (!marked.length) found.forEach((one) => one.classList.add("cited"));
  const first = marked[0] || found[0];
  first?.scrollIntoView({ block: marked.length ? "center" : "start", behavior: "instant" });
}

function between(text, lines) {
  const [first, last] = lines.split("-").map(Number);
  const hit = [...text.querySelectorAll("[data-line]")].filter((one) => Number(one.dataset.line) <= (last || first) && Number(one.dataset.end) >= first);
  // The innermost: a whole list is not meant by one of its items.
  return hit.filter((one) => !hit.some((other) => other !== one && one.contains(other)));
}

function named(text, at) {
  const last = at.split("#").pop().trim();
  if (last.startsWith("^")) return [text.querySelector(`#b-${CSS.escape(last.slice(1).toLowerCase())}`)].filter(Boolean);
  const plain = (string) => string.replace(/[#|^:%[\]\\\s]+/g, " ").trim().toLowerCase();
  return [...text.querySelectorAll("h3, h4, h5, h6")].filter((one) => plain(one.textContent) === plain(last)).slice(0, 1);
}
