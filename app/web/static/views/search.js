// The view that searches: passages or notes as one types, filters as fields.

import { post, render } from "../api.js";
import { connectedCard, connectedNotes, dress, sourceCard } from "../cards.js";
import { h, hovers, plural, put, say } from "../dom.js";
import { behind, empty, failure, filtered, loader, searchedFor, waiting, warned } from "../states.js";

const PAUSE = 220; // ms without a key before a search begins
const FIELDS = [
  ["tag", "Tag", "project"],
  ["path", "Folder or note", "Meetings"],
  ["after", "From", "2026-10 or 2w"],
  ["before", "Before", "2026-11"],
  ["type", "Type", "meeting"],
  ["phrase", "Exact words", "second casting"],
  ["not", "Leave out (folder)", "Archive"],
];

export const title = "Search";

export function show(root, params, { keep }) {
  let timer = 0;
  const field = h("input", {
    id: "search-field", class: "main-field", type: "search", autocomplete: "off", spellcheck: "false", enterkeyhint: "search",
    placeholder: "Words, names, tag:project, \"exact words\"", "aria-label": "Search", "data-main": true, oninput: later,
  });
  field.value = params.get("q") || "";
  const inputs = Object.fromEntries(FIELDS.map(([name, , example]) => [name, h("input", { id: `filter-${name}`, placeholder: example, autocomplete: "off", spellcheck: "false", oninput: later, value: params.get(name) || null })]));
  const kinds = ["chunks", "notes"].map((kind) => h("input", { type: "radio", name: "results", value: kind, id: `kind-${kind}`, onchange: now, checked: (params.get("results") || "chunks") === kind }));
  const set = FIELDS.filter(([name]) => params.get(name)).length;
  const count = h("span", { class: "count", hidden: !set }, String(set));
  const form = h("form", { role: "search", "aria-label": "Search your notes", onsubmit: (event) => { event.preventDefault(); now(); } },
    h("div", { class: "field" }, field, h("button", { class: "button primary", type: "submit" }, "Search")),
    h("div", { class: "row options" },
      h("fieldset", { class: "segments" }, h("legend", { class: "unseen" }, "Show"),
        kinds.map((input, at) => h("label", { for: input.id }, input, h("span", {}, ["Passages", "Notes"][at])))),
      h("details", { class: "filters", open: set > 0 },
        h("summary", {}, "Filters ", count),
        h("div", { class: "filter-grid" }, FIELDS.map(([name, label]) => h("div", {}, h("label", { for: `filter-${name}` }, label), inputs[name]))))));
  const result = h("div", { class: "result" });
  root.append(h("h1", { class: "title" }, "Search"), form, result);
  const { load: search, dispose } = loader(result, look, (error) => failure(error, error.status === 422 ? null : now));
  if (field.value || set) search();
  else {
    blank();
    if (hovers()) field.focus();
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE);
  }

  function now() {
    clearTimeout(timer);
    search();
  }

  function blank() {
    put(result, empty("Find the passage, not just the note",
      "Words in any of their forms and words that mean the same are both found. Filters alone list the newest notes."));
  }

  async function look(signal) {
    const asked = Object.fromEntries(FIELDS.map(([name]) => [name, inputs[name].value.trim()]));
    const query = field.value.trim();
    const results = kinds.find((input) => input.checked).value;
    const many = Object.values(asked).filter(Boolean).length;
    count.textContent = String(many);
    count.hidden = !many;
    keep("search", { q: query, results: results === "chunks" ? "" : results, ...asked });
    if (!query && !many) return blank();
    if (!result.querySelector(".card")) put(result, waiting("Searching…"));
    const reply = await post("/search", {
      query, results, top_k: 12, filters: filters(asked), connected: { max: 3 },
    }, signal);
    const found = [...reply.hits, ...reply.connected_notes];
    const { snippets } = await render(found.map((one) => one.text), `${query} ${asked.phrase}`, { signal });
    draw(reply, snippets);
  }

  function draw(reply, html) {
    const cards = reply.hits.map((hit) => sourceCard(hit, { marker: false }));
    const far = reply.connected_notes.map(connectedCard);
    const told = `${plural(cards.length, kinds[1].checked ? "note" : "passage")}${reply.timings_ms.total ? ` in ${Math.round(reply.timings_ms.total)} ms` : ""}`;
    const late = behind(reply.pending);
    put(result,
      h("h2", { class: "unseen" }, "Results"),
      h("p", { class: "made" }, [told, late].filter(Boolean).join(" · ")),
      searchedFor(reply.searched_for), filtered(reply.filters), warned(reply.warnings),
      cards.length
        ? h("div", { class: "columns" },
          h("div", { class: "first" }, h("ol", { class: "cards", "aria-label": "Results" }, cards)),
          h("div", { class: "second" }, far.length > 0 && h("section", { class: "connected-notes", "aria-labelledby": "connected-title" },
            connectedNotes(far, "One link away from a result, through the sentence shown."))))
        : empty("Nothing matches", "Try fewer words or fewer filters, or another spelling of a name."));
    dress([...cards, ...far], html);
    say(told);
  }

  return { dispose: () => { clearTimeout(timer); dispose(); } };
}

function filters(asked) {
  const list = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);
  return {
    tag: list(asked.tag), path: list(asked.path), type: list(asked.type),
    ...(asked.after && { after: asked.after }), ...(asked.before && { before: asked.before }),
    phrases: asked.phrase ? [asked.phrase] : [],
    ...(asked.not && { not: { path: list(asked.not) } }),
  };
}
