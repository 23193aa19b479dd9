// What stands where there is nothing (yet): waiting, failed, empty, warned.

import { isProblem } from "./api.js";
import { h, put, say } from "./dom.js";

const AGAIN = 5000; // ms after which what needs a first index is asked for again

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
