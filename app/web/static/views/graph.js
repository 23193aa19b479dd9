// The view of the links: the notes around some, or those where most links meet.

import { get } from "../api.js";
import { empty, folderOf, h, loader, nameOf, noteHref, plural, put, s, say, waiting, warned } from "../dom.js";

const MARGIN = { x: 70, y: 34 };
const HEIGHT = 560;
const PER_NAME = 80; // pixels of width for each name that is shown: of the weightiest; of others while one points at them

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

/** A laid-out part of the graph as SVG, `width` pixels wide. Its nodes lead to their notes by click; for the
 *  keyboard and for screen readers the same stands below it as a list. */
function picture(view, width) {
  const top = Math.max(...view.nodes.map((node) => node.pagerank), Number.EPSILON);
  const lines = s("g");
  const dots = s("g");
  const svg = s("svg", { class: "graph", viewBox: `0 0 ${width} ${HEIGHT}`, "aria-label": `Graph of ${plural(view.nodes.length, "note")}`, role: "group" }, lines, dots);

  const named = Math.round(width / PER_NAME);
  const order = [...view.nodes].sort((one, other) => other.seed - one.seed || other.pagerank - one.pagerank || (one.path < other.path ? -1 : 1));
  const nodes = new Map(order.map((node, at) => [node.path, draw(node, at)]));
  const edges = view.edges.filter((edge) => nodes.has(edge.source) && nodes.has(edge.target)).map((edge) => {
    const [one, other] = [nodes.get(edge.source), nodes.get(edge.target)];
    // A slight bend, as of a hop, parts the links of two notes to each other.
    const [mx, my] = [(one.x + other.x) / 2 + (other.y - one.y) * 0.09, (one.y + other.y) / 2 - (other.x - one.x) * 0.09];
    const path = s("path", { "stroke-width": (1 + Math.log2(edge.count) * 0.6).toFixed(2), d: `M${one.x} ${one.y}Q${mx} ${my} ${other.x} ${other.y}` });
    lines.append(path);
    return { ...edge, path };
  });

  function draw(node, at) {
    const x = width / 2 + node.x * (width / 2 - MARGIN.x);
    const y = HEIGHT / 2 + node.y * (HEIGHT / 2 - MARGIN.y);
    const radius = 4.5 + 9 * Math.sqrt(node.pagerank / top);
    const element = s("a", {
      href: noteHref(node.path), class: `node${node.seed ? " seed" : at < named ? "" : " unnamed"}`, "data-path": node.path,
      "aria-label": `${node.title}, ${plural(node.degree, "link")}`, tabindex: "-1", transform: `translate(${x} ${y})`,
      onpointerenter: () => light(node), onpointerleave: () => light(null),
    },
    s("title", {}, node.title), s("circle", { r: Math.max(radius + 6, 13), class: "grip" }), s("circle", { r: radius }),
    s("text", { "text-anchor": "middle", y: radius + 14 }, clip(node.title)));
    dots.prepend(element); // The weightier lies above, with its name.
    return { x, y, element };
  }

  /** Show what a node is linked with; null shows all alike. */
  function light(node) {
    svg.classList.toggle("lit", node !== null);
    const near = new Set(node ? [node.path] : []);
    for (const edge of edges) {
      const on = node !== null && (edge.source === node.path || edge.target === node.path);
      edge.path.classList.toggle("on", on);
      if (on) near.add(edge.source).add(edge.target);
    }
    for (const [path, one] of nodes) one.element.classList.toggle("on", near.has(path));
  }

  return h("figure", { class: "picture" }, svg);
}

function clip(title) {
  return title.length > 26 ? `${title.slice(0, 24).trimEnd()}…` : title;
}
