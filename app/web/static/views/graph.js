// The view of the links: the notes around some, or those where most links meet.

import { get } from "../api.js";
import { folderOf, h, nameOf, noteHref, plural, put, say } from "../dom.js";
import { picture } from "./picture.js";
import { empty, loader, waiting, warned } from "../states.js";

export const title = "Graph";

export function show(root, params, { go }) {
  const around = params.getAll("around");
  const depth = params.get("depth") === "2" ? "2" : "1";
  const field = h("input", { id: "graph-field", autocomplete: "off", spellcheck: "false", placeholder: "A note by name, alias or path", "aria-label": "Note to look around", "data-main": true });
  const deeper = h("select", { id: "depth", "aria-label": "How far", onchange: () => go("graph", { around, depth: deeper.value }) },
    h("option", { value: "1", selected: depth === "1" }, "1 hop"), h("option", { value: "2", selected: depth === "2" }, "2 hops"));
  const result = h("div", { class: "result" }, waiting("Laying out…"));
  root.append(
    h("h1", { class: "title" }, "Graph"),
    h("form", { class: "row graph-form", "aria-label": "Notes to look around", onsubmit: add },
      field, h("button", { class: "button", type: "submit" }, "Look around"), deeper,
      around.length > 0 && h("a", { class: "small", href: "#/graph" }, "Whole vault")),
    ...(around.length ? [h("ul", { class: "row seeds", "aria-label": "Around" }, around.map((name) => h("li", {},
      h("button", { class: "chip seed", type: "button", "aria-label": `Without ${name}`, onclick: () => go("graph", { around: around.filter((one) => one !== name), depth }) }, nameOf(name), h("span", { "aria-hidden": "true" }, "×")))))] : []),
    result);
  const { load, dispose } = loader(result, async (signal) => draw(await get("/graph", { around, depth, most: 60 }, signal)));
  load();

  function add(event) {
    event.preventDefault();
    if (field.value.trim()) go("graph", { around: [...around, field.value.trim()], depth });
  }

  function draw(view) {
    if (!view.nodes.length) return put(result, warned(view.warnings), empty("No links to draw", "Notes appear here once they link to each other with [[…]]."));
    const told = `${plural(view.nodes.length, "note")}${view.total > view.nodes.length ? ` of ${view.total.toLocaleString("en")}` : ""}, ${plural(view.edges.length, "link")} between them`;
    put(result,
      warned(view.warnings),
      picture(view, Math.max(result.clientWidth, 320)),
      h("p", { class: "made" }, told),
      h("details", { class: "node-list" }, h("summary", {}, "The same as a list"),
        h("ol", {}, [...view.nodes].sort((one, other) => other.degree - one.degree).map((node) => h("li", {},
          h("a", { href: noteHref(node.path) }, node.title), h("span", { class: "dim small" }, ` ${folderOf(node.path)} · ${plural(node.degree, "link")}`))))));
    say(told);
  }

  return { dispose };
}
