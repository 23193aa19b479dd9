// The view that captures: a text becomes a note, and the vault says what it has on it.

import { isProblem, post } from "../api.js";
import { relatedCard } from "../cards.js";
import { appHref, copy, failure, h, hovers, nameOf, plural, put, say, waiting } from "../dom.js";

const draft = { text: "", title: "", tags: "" }; // survives a look at another view

export const title = "Capture";

export function show(root, _params, { vault }) {
  let running = null;
  const text = h("textarea", { id: "capture-text", class: "sheet", rows: "6", placeholder: "What do you want to keep?", required: true, "data-main": true, oninput: begin, onkeydown: keys });
  const name = h("input", { id: "capture-title", autocomplete: "off", maxlength: "200", placeholder: "The first line, if empty", oninput: begin, onkeydown: keys });
  const tags = h("input", { id: "capture-tags", autocomplete: "off", placeholder: "idea, project/atlas", oninput: begin, onkeydown: keys });
  Object.entries({ text, title: name, tags }).forEach(([key, input]) => { input.value = draft[key]; });
  const button = h("button", { class: "button primary", type: "submit" }, "Keep it");
  const result = h("div", { class: "result", "aria-live": "polite" });
  root.append(h("div", { class: "narrow" },
    h("h1", { class: "title" }, "Capture"),
    h("form", { class: "capture", "aria-label": "Capture a note", onsubmit: save },
      h("label", { for: "capture-text" }, "Text"), text,
      h("div", { class: "pair" },
        h("div", {}, h("label", { for: "capture-title" }, "Title (optional)"), name),
        h("div", {}, h("label", { for: "capture-tags" }, "Tags (optional)"), tags)),
      h("div", { class: "row" }, button,
        h("span", { class: "small dim hint" }, h("span", { class: "with-keys" }, h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Enter"), " keeps it too. "), "It becomes a new note in your inbox; nothing else is touched."))),
    result));
  if (hovers()) text.focus();

  function begin() {
    Object.assign(draft, { text: text.value, title: name.value, tags: tags.value });
    // What belongs to the last capture goes when the next one begins.
    if (!running) result.replaceChildren();
  }

  function keys(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(event);
  }

  async function save(event) {
    event.preventDefault();
    if (running) return;
    if (!text.value.trim()) return text.focus();
    running = new AbortController();
    button.disabled = true;
    result.replaceChildren(waiting("Keeping it, and looking for what your vault has on it…"));
    const body = { text: text.value, tags: tags.value.split(",").map((tag) => tag.trim().replace(/^#/, "")).filter(Boolean) };
    if (name.value.trim()) body.title = name.value.trim();
    try {
      const reply = await post("/capture", body, running.signal);
      for (const input of [text, name, tags]) input.value = "";
      Object.assign(draft, { text: "", title: "", tags: "" });
      result.replaceChildren(kept(reply), ...related(reply.connections));
      say(`Kept as ${reply.filename}. ${plural(reply.connections.length, "related note")}`);
      // A phone would raise its keyboard over what was found.
      if (hovers()) text.focus({ preventScroll: true });
      else result.scrollIntoView({ block: "start", behavior: "smooth" });
    } catch (error) {
      if (isProblem(error)) put(result, failure(error));
    } finally {
      running = null;
      button.disabled = false;
    }
  }

  function kept(reply) {
    const link = `[[${nameOf(reply.filename)}]]`;
    return h("div", { class: "kept" },
      h("p", {}, h("strong", {}, "Kept"), " as ", h("code", {}, reply.filename)),
      h("p", { class: "row" },
        vault.name && h("a", { class: "plain", href: appHref(vault.name, reply.filename) }, "Open in Obsidian"),
        h("button", { class: "plain", type: "button", onclick: () => copy(link) }, "Copy its link")));
  }

  function related(connections) {
    if (!connections.length) return [h("p", { class: "dim small" }, "Nothing in your vault is close to it yet.")];
    return [h("h2", { class: "label", id: "related" }, "Related in your vault:"),
      h("ul", { class: "cards", "aria-labelledby": "related" }, connections.map(relatedCard))];
  }

  return { dispose: () => running?.abort() };
}
