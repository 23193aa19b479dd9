// Draws a laid-out part of the graph as SVG, whose nodes are links: by click and by keyboard.

import { h, noteHref, plural, s } from "../dom.js";

const MARGIN = { x: 70, y: 34 };
const NAMED = 14; // nodes whose name is shown, the weightiest; of the others while one points at them

/** A figure of a GraphView; nodes are links to their notes. */
export function picture(view) {
  const size = { width: 640, height: 560 };
  const top = Math.max(...view.nodes.map((node) => node.pagerank), Number.EPSILON);
  const svg = s("svg", { class: "graph", role: "group", "aria-label": `Graph of ${plural(view.nodes.length, "note")}; arrow keys move between them`, tabindex: "-1" });
  const lines = s("g", { "aria-hidden": "true" });
  const dots = s("g", {});
  svg.append(lines, dots);

  const nodes = new Map(view.nodes.map((node) => [node.path, { ...node, radius: 4.5 + 9 * Math.sqrt(node.pagerank / top) }]));
  const order = [...nodes.values()].sort((one, other) => other.seed - one.seed || other.pagerank - one.pagerank || (one.path < other.path ? -1 : 1));
  for (const node of order) {
    node.text = s("text", { "text-anchor": "middle", y: (node.radius + 14).toFixed(1) }, clip(node.title));
    node.circle = s("circle", { r: node.radius.toFixed(1) });
    node.element = s("a", { href: noteHref(node.path), class: `node${node.seed ? " seed" : order.indexOf(node) < NAMED ? "" : " unnamed"}`, "aria-label": `${node.title}, ${plural(node.degree, "link")}`, "data-path": node.path, tabindex: node === order[0] ? "0" : "-1" },
      s("title", {}, node.title), s("circle", { r: Math.max(node.radius + 6, 13).toFixed(1), class: "grip" }), node.circle, node.text);
    node.element.addEventListener("pointerenter", () => light(node));
    node.element.addEventListener("focus", () => {
      // One stop for Tab; the arrows move on from it.
      for (const one of order) one.element.setAttribute("tabindex", one === node ? "0" : "-1");
      light(node);
    });
    node.element.addEventListener("pointerleave", () => light(null));
    node.element.addEventListener("blur", () => light(null));
    dots.append(node.element);
  }
  const edges = view.edges.filter((edge) => nodes.has(edge.source) && nodes.has(edge.target)).map((edge) => {
    const path = s("path", { "stroke-width": (1 + Math.log2(edge.count) * 0.6).toFixed(2) });
    lines.append(path);
    return { ...edge, path };
  });

  function light(node) {
    svg.classList.toggle("lit", node !== null);
    const near = new Set(node ? [node.path] : []);
    for (const edge of edges) {
      const on = node && (edge.source === node.path || edge.target === node.path);
      edge.path.classList.toggle("on", Boolean(on));
      if (on) near.add(edge.source).add(edge.target);
    }
    for (const one of order) one.element.classList.toggle("on", near.has(one.path));
  }

  function place() {
    const { width, height } = size;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    for (const node of order) {
      node.px = width / 2 + node.x * (width / 2 - MARGIN.x);
      node.py = height / 2 + node.y * (height / 2 - MARGIN.y);
      node.element.setAttribute("transform", `translate(${node.px.toFixed(1)} ${node.py.toFixed(1)})`);
    }
    for (const { source, target, path } of edges) {
      const [one, other] = [nodes.get(source), nodes.get(target)];
      // A slight bend, as of a hop, parts the links of two notes to each other.
      const [mx, my] = [(one.px + other.px) / 2 + (other.py - one.py) * 0.09, (one.py + other.py) / 2 - (other.px - one.px) * 0.09];
      path.setAttribute("d", `M${one.px.toFixed(1)} ${one.py.toFixed(1)}Q${mx.toFixed(1)} ${my.toFixed(1)} ${other.px.toFixed(1)} ${other.py.toFixed(1)}`);
    }
  }

  svg.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!steps[event.key]) return;
    step(...steps[event.key]);
    event.preventDefault();
    event.stopPropagation();
  });

  /** Focus the nearest node that lies in a direction. */
  function step(dx, dy) {
    const here = nodes.get(document.activeElement?.dataset?.path) || order[0];
    let best = null;
    for (const node of order) {
      const [x, y] = [node.px - here.px, node.py - here.py];
      const along = x * dx + y * dy;
      const cost = along + 2 * Math.abs(x * dy - y * dx);
      if (node !== here && along > 0 && (!best || cost < best.cost)) best = { node, cost };
    }
    (best?.node || here).element.focus();
  }

  const figure = h("figure", { class: "picture" }, svg);
  new ResizeObserver(([entry]) => {
    const { width, height } = entry.contentRect;
    if (!width || !height) return;
    Object.assign(size, { width, height });
    place();
  }).observe(svg);
  return figure;
}

function clip(title) {
  return title.length > 26 ? `${title.slice(0, 24).trimEnd()}…` : title;
}
