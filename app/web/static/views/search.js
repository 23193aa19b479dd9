// The view that searches: passages or notes as one types.

import { post, render } from "../api.js";
import { connectedCard, connectedNotes, dress, sourceCard } from "../cards.js";
import { behind, empty, filtered, h, hovers, loader, plural, put, say, searchedFor, waiting, warned } from "../dom.js";

const PAUSE = 220; // ms without a key before a search begins

export const title = "Search";

export function show(root, params, { keep }) {
  let timer = 0;
  const field = h("input", {
    id: "search-field", class: "main-field", type: "search", autocomplete: "off", spellcheck: "false", enterkeyhint: "search",
    placeholder: "Words, names, tag:project, \"exact words\"", "aria-label": "Search", "data-main": true, oninput: later,
  });
  field.value = params.get("q") || "";
  const kinds = ["chunks", "notes"].map((kind) => h("input", { type: "radio", name: "results", value: kind, id: `kind-${kind}`, onchange: now, checked: (params.get("results") || "chunks") === kind }));
  const form = h("form", { role: "search", "aria-label": "Search your notes", onsubmit: (event) => { event.preventDefault(); now(); } },
    h("div", { class: "field" }, field, h("button", { class: "button primary", type: "submit" }, "Search")),
    h("div", { class: "row options" },
      h("fieldset", { class: "segments" }, h("legend", { class: "unseen" }, "Show"),
        kinds.map((input, at) => h("label", { for: input.id }, input, h("span", {}, ["Passages", "Notes"][at])))),
      h("p", { class: "small dim" }, "tag:project, path:Meetings, after:2w, before:2026-11, type:person, any property, \"exact words\"; - before one leaves out.")));
  const result = h("div", { class: "result" });
  root.append(h("h1", { class: "title" }, "Search"), form, result);
  const { load: search, dispose } = loader(result, look);
  if (field.value) search();
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
    const query = field.value.trim();
    const results = kinds.find((input) => input.checked).value;
    keep("search", { q: query, results: results === "chunks" ? "" : results });
    if (!query) return blank();
    if (!result.querySelector(".card")) put(result, waiting("Searching…"));
    const reply = await post("/search", {
      query, results, top_k: 12, connected: { max: 3 },
    }, signal);
    const found = [...reply.hits, ...reply.connected_notes];
    const { snippets } = await render(found.map((one) => one.text), query, { signal });
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
