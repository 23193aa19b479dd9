// What stands where there is nothing (yet): waiting, failed, empty, warned.

import { h, hops, say } from "./dom.js";

export function waiting(text) {
  return h("p", { class: "row dim waiting" }, hops(), h("span", {}, text));
}

export function failure(problem, retry) {
  const title = titleOf(problem);
  say(`${title}. ${problem.message}`);
  return h("section", { class: "failed", role: "group", "aria-label": "Error" },
    h("h2", {}, title),
    h("p", {}, problem.message),
    retry && h("button", { class: "button", type: "button", onclick: retry }, "Try again"));
}

const BY_KIND = {
  "index-missing": "There is no index yet",
  "index-mismatch": "The index was made with other settings",
  "index-locked": "Another run of notehop is at work",
  "note-missing": "No such note",
  model: "The model cannot be used",
};
const BY_STATUS = {
  404: "Not there",
  413: "That is too long",
  422: "That cannot be taken as it stands",
  429: "Too many requests",
  503: "Not right now",
};

/** Status phrases are for programs. */
function titleOf({ type, status, title }) {
  return BY_KIND[type?.split(":").pop()] || BY_STATUS[status] || title || "That did not work";
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
