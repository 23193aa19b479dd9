// The view of the index: is it up to date, what of the vault is in it, and what is not and why.

import { get } from "../api.js";
import { h, loader, moment, plural, put, waiting } from "../dom.js";

export const title = "Status";

export function show(root) {
  const result = h("div", { class: "result" }, waiting("Looking at vault and index…"));
  const { load, dispose } = loader(result, async (signal) => {
    put(result, draw(await get("/status", {}, signal)));
  });
  const again = h("button", { class: "button small", type: "button", onclick: load }, "Look again");
  root.append(h("div", { class: "narrow" }, h("div", { class: "row spread" }, h("h1", { class: "title" }, "Status"), again), result));
  load();
  return { dispose };
}

/** How fresh an index is: [class, heading, text]. */
function freshness(status) {
  if (status.problem) return ["bad", "Index cannot be used", status.problem];
  const { pending } = status;
  const waiting = pending ? pending.read + pending.skip + pending.gone : 0;
  if (pending === null) return ["behind", "Vault out of sight", "The vault cannot be looked at, so nobody knows what changed in it."];
  if (waiting) return ["behind", `${plural(waiting, "change")} waiting`, `${plural(waiting, "note")} changed since the index was made. notehop index takes them in${status.watcher ? "; the watcher does by itself" : ""}.`];
  return ["", "Up to date", "Every note is in the index as it stands in your vault."];
}

const WATCHER = { indexing: "taking in changes now", following: "taking in changes as you make them", waiting: "waiting", held: "waiting for you" };

function draw(status) {
  const [kind, title, text] = freshness(status);
  const { notes, links } = status;
  return [
    h("section", { class: `verdict ${kind}`, "aria-label": "Freshness" },
      h("h2", {}, title), h("p", {}, text),
      h("p", { class: "small dim" }, [`Last written ${moment(status.updated)}`, status.watcher ? `watched: ${status.watcher.detail || WATCHER[status.watcher.state]}` : "not watched"].join(" · "))),
    h("section", { class: "coverage", "aria-labelledby": "coverage" },
      h("h2", { class: "label", id: "coverage" }, "Coverage"),
      counts("Notes", [["indexed", notes.indexed], ["skipped", notes.skipped], ["failed", notes.failed]]),
      counts("Passages", [["", status.chunks]]),
      counts("Links", Object.entries(links).sort(([, one], [, other]) => other - one)),
      kept("Failed", status.failed, true), kept("Left out", status.skipped), kept("No notes", status.passed_over),
      untold(status) && h("p", { class: "small dim" }, "notehop status, in a terminal, says which notes are left out and why: their names are not told here.")),
  ];
}

/** Counted, but not named: private notes stay out of every reply of the server. */
function untold({ notes, skipped, failed }) {
  return (notes.skipped || 0) + (notes.failed || 0) > skipped.length + failed.length;
}

function counts(name, parts) {
  const told = parts.filter(([, count]) => count).map(([kind, count]) => `${count.toLocaleString("en")} ${kind}`);
  return h("p", {}, `${name}: ${told.join(" · ") || "none"}`);
}

function kept(name, list, open = false) {
  if (!list.length) return null;
  return h("details", { class: "kept-out", open },
    h("summary", {}, `${name} (${list.length})`),
    h("ul", {}, list.map((one) => h("li", {}, h("span", {}, one.path), h("span", { class: "dim" }, one.reason)))));
}
