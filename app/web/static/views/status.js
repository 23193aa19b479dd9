// The view of the index: is it up to date, what of the vault is in it, and what is not and why.

import { get } from "../api.js";
import { ago, h, plural, put } from "../dom.js";
import { loader, waiting } from "../states.js";

export const title = "Status";

export function show(root, _params, { heard }) {
  const result = h("div", { class: "result" }, waiting("Looking at vault and index…"));
  const { load, dispose } = loader(result, async (signal) => {
    const status = await get("/status", {}, signal);
    heard(status);
    put(result, draw(status));
  });
  const again = h("button", { class: "button small", type: "button", onclick: load }, "Look again");
  root.append(h("div", { class: "narrow" }, h("div", { class: "row spread" }, h("h1", { class: "title" }, "Status"), again), result));
  load();
  return { dispose };
}

/** How fresh an index is: [class, short, long]. */
export function freshness(status) {
  if (status.problem) return ["bad", "index cannot be used", status.problem];
  const { pending } = status;
  const waiting = pending ? pending.read + pending.skip + pending.gone : 0;
  if (pending === null) return ["behind", "vault out of sight", "The vault cannot be looked at, so nobody knows what changed in it."];
  if (waiting) return ["behind", `${plural(waiting, "change")} waiting`, `${plural(waiting, "note")} changed since the index was made. notehop index takes them in${status.watcher ? "; the watcher does by itself" : ""}.`];
  return ["", "up to date", "Every note is in the index as it stands in your vault."];
}

const WATCHER = { indexing: "taking in changes now", following: "taking in changes as you make them", waiting: "waiting", held: "waiting for you" };

function draw(status) {
  const [kind, short, long] = freshness(status);
  const notes = status.notes;
  const all = Object.values(notes).reduce((sum, count) => sum + count, 0);
  const links = status.links;
  const linked = Object.values(links).reduce((sum, count) => sum + count, 0);
  return [
    h("section", { class: `verdict ${kind}`, "aria-label": "Freshness" },
      h("h2", {}, short[0].toUpperCase() + short.slice(1)), h("p", {}, long),
      h("p", { class: "small dim" }, [`Last written ${ago(status.updated)}`, status.watcher ? `watched: ${status.watcher.detail || WATCHER[status.watcher.state]}` : "not watched"].join(" · "))),
    h("section", { class: "coverage", "aria-labelledby": "coverage" },
      h("h2", { class: "label", id: "coverage" }, "Coverage"),
      h("div", { class: "figures" },
        figure(notes.indexed || 0, "notes", all ? `of ${all.toLocaleString("en")}` : ""),
        figure(status.chunks, "passages", ""),
        figure(links.resolved || 0, "links followed", `of ${linked.toLocaleString("en")}`)),
      bar("Notes", [["indexed", notes.indexed], ["skipped", notes.skipped], ["failed", notes.failed]]),
      bar("Links", Object.entries(links).sort(([, one], [, other]) => other - one)),
      kept("Failed", status.failed, true), kept("Left out", status.skipped), kept("No notes", status.passed_over),
      untold(status) && h("p", { class: "small dim" }, "notehop status, in a terminal, says which notes are left out and why: their names are not told here.")),
    h("section", { "aria-labelledby": "details" },
      h("h2", { class: "label", id: "details" }, "Details"),
      h("dl", { class: "facts" }, facts(status).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))))),
  ];
}

/** Counted, but not named: private notes stay out of every reply of the server. */
function untold({ notes, skipped, failed }) {
  return (notes.skipped || 0) + (notes.failed || 0) > skipped.length + failed.length;
}

function figure(count, name, of) {
  return h("p", { class: "figure" }, h("b", {}, count.toLocaleString("en")), h("span", {}, name), of && h("span", { class: "dim" }, of));
}

function bar(name, parts) {
  const some = parts.filter(([, count]) => count);
  const all = some.reduce((sum, [, count]) => sum + count, 0);
  const blocks = some.map(([kind, count]) => {
    const block = h("i", { class: kind });
    block.style.flexGrow = count / all;
    return block;
  });
  return h("figure", { class: "bar" },
    h("div", { class: "blocks", "aria-hidden": "true" }, blocks),
    h("figcaption", { class: "small" }, `${name}: `, some.map(([kind, count]) => `${count.toLocaleString("en")} ${kind}`).join(" · ")));
}

function kept(name, list, open = false) {
  if (!list.length) return null;
  return h("details", { class: "kept-out", open },
    h("summary", {}, `${name} (${list.length})`),
    h("ul", {}, list.map((one) => h("li", {}, h("span", {}, one.path), h("span", { class: "dim" }, one.reason)))));
}

function facts(status) {
  return [
    ["Vault", status.vault],
    ["Index", `${status.index_dir} · ${bytes(status.bytes)}`],
    ["Generation", String(status.generation)],
    ["Model", `${status.made_with.model || "?"}, ${status.made_with.dimensions || "?"} dimensions`],
    ["Settings", status.settings_file],
  ];
}

function bytes(count) {
  return count < 1e6 ? `${Math.round(count / 1e3)} kB` : `${(count / 1e6).toFixed(1)} MB`;
}
