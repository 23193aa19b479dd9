// Builds elements. Text always goes in as text; HTML only through rendered(), which takes what the
// server has rendered and sanitised.

import { isProblem, withParams } from "./api.js";

const AGAIN = 5000; // ms after which what needs a first index is asked for again
const SVG = "http://www.w3.org/2000/svg";

export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Children that are nothing (null, undefined, false) are left out. */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return element;
}

/** Put other children into an element, as h() does. */
export function put(element, ...children) {
  element.replaceChildren();
  return fill(element, {}, children);
}

/** HTML of /web/render and /web/notes, and of nothing else. */
export function rendered(html, name = "prose") {
  const element = h("div", { class: name });
  element.innerHTML = html;
  return element;
}

export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

const said = document.getElementById("said");

/** Tell users of screen readers what changed. */
export function say(text) {
  said.textContent = text;
}

let lowering = 0;

/** Tell everyone, shortly. */
export function toast(text) {
  const element = document.getElementById("toast");
  element.textContent = text;
  element.classList.add("up");
  clearTimeout(lowering);
  lowering = setTimeout(() => element.classList.remove("up"), 2400);
  say(text);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Not allowed, or not a secure page: the old way.
    const { activeElement } = document;
    const field = h("textarea", { class: "unseen" });
    field.value = text;
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    activeElement.focus();
    if (!copied) return toast(`This page may not copy: ${text}`);
  }
  toast(`Copied ${text}`);
}

/** Whether there is a mouse, and so most likely a keyboard. */
export function hovers() {
  return matchMedia("(hover: hover)").matches;
}

export function folderOf(path) {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

export function nameOf(path) {
  return path.split("/").pop().replace(/\.md$/, "");
}

/** A path in the vault as a part of an address. */
export function encoded(path) {
  return path.split("/").map(encodeURIComponent).join("/");
}

export function noteHref(path, options = {}) {
  return address(`note/${encoded(path)}`, options);
}

/** The address of a line of a note. */
export function lineHref(path, line) {
  return noteHref(path, { lines: `${line}-${line}` });
}

/** A link that opens a file in the app, which need not be a note. */
export function appHref(vault, path) {
  return `obsidian://open?vault=${encodeURIComponent(vault)}&file=${encodeURIComponent(path)}`;
}

/** The address of a view of the page. */
export function address(view, params) {
  return withParams(`#/${view}`, params);
}

/** Where a source stands in its note: its lines, and the page of a PDF. */
export function spotOf({ lines, page }, quoted = null) {
  return { lines: (quoted || lines).join("-"), at: page && `page=${page}` };
}

/** The heading that a place stands under, behind the name of its note. */
export function within({ heading }) {
  return heading && h("span", { class: "within" }, ` › ${heading.replaceAll(" > ", " › ")}`);
}

/** Whether the app shows the file by its lines: not a canvas, a base or a PDF. */
export function hasLines(path) {
  return !/\.(?:canvas|base|pdf)$/i.test(path);
}

/** Whether notehop reads files of this kind. */
export function isRead(path) {
  return /\.(?:md|canvas|base|pdf)$/i.test(path);
}

export function linesSaid([first, last]) {
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}

/** A time, in seconds since the epoch, as it is where the reader is. */
export function moment(seconds) {
  return new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "long", timeStyle: "short" });
}

// What stands where there is nothing (yet): waiting, failed, empty, warned.

export function waiting(text) {
  return h("p", { class: "dim waiting" }, text);
}

/** What went wrong; to be tried again where the same request may do better. */
export function failure(problem, again) {
  const { title } = problem;
  const retry = problem.status && problem.status < 500 ? null : again;
  say(`${title}. ${problem.message}`);
  const shown = h("section", { class: "failed", role: "group", "aria-label": "Error" },
    h("h2", {}, title),
    h("p", {}, problem.message),
    retry && h("button", { class: "button", type: "button", onclick: retry }, "Try again"));
  if (retry && problem.type?.endsWith(":indexing")) setTimeout(() => shown.isConnected && retry(), AGAIN);
  return shown;
}

/** Fills an element: `look` asks and draws, at each load() anew; what `failed` makes of a problem is shown there. */
export function loader(element, look, failed = failure) {
  let running = null;
  async function load() {
    running?.abort();
    const own = new AbortController();
    running = own;
    element.setAttribute("aria-busy", "true");
    try {
      await look(own.signal);
    } catch (error) {
      if (isProblem(error)) put(element, failed(error, load));
    } finally {
      if (running === own) element.setAttribute("aria-busy", "false");
    }
  }
  return { load, dispose: () => running?.abort() };
}

export function empty(title, ...lines) {
  return h("div", { class: "empty" }, h("strong", {}, title), lines.map((line) => h("p", {}, line)));
}

export function warned(warnings) {
  if (!warnings?.length) return null;
  return h("div", { class: "notice" }, h("ul", {}, warnings.map((text) => h("li", {}, text))));
}

export function filtered(filters) {
  if (!filters?.length) return null;
  return h("p", { class: "row small dim" }, "Narrowed to", filters.map((text) => h("span", { class: "chip" }, text)));
}

/** What was searched for, where that is not what was typed. */
export function searchedFor(words) {
  const told = Object.entries(words || {});
  if (!told.length) return null;
  return h("p", { class: "row small dim" }, "Searched for", told.map(([typed, read]) => h("span", { class: "chip", title: `“${typed}” stands in no note` }, h("em", {}, read), ` for ${typed}`)));
}

export function behind(pending) {
  return pending ? `${pending === 1 ? "1 note has" : `${pending} notes have`} changed since the index was made` : "";
}
