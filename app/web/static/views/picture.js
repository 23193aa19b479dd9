// Draws a laid-out part of the graph as SVG. Its nodes lead to their notes by click; for the keyboard and
// for screen readers the same stands below it as a list.

import { h, noteHref, plural, s } from "../dom.js";

const MARGIN = { x: 70, y: 34 };
const HEIGHT = 560;
const PER_NAME = 80; // pixels of width for each name that is shown: of the weightiest; of others while one points at them

/** A figure of a GraphView, `width` pixels wide. */
export function picture(view, width) {
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
