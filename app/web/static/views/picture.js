// Draws a laid-out part of the graph as SVG: zoom, pan, click and keyboard.

import { h, noteHref, plural, s } from "../dom.js";

const MARGIN = { x: 70, y: 34 };
const MOST_ZOOM = 6;

/** A figure of a GraphView; nodes are links to their notes. */
export function picture(view, { small = false } = {}) {
  const size = { width: 640, height: small ? 320 : 560 };
  const camera = { zoom: 1, x: 0, y: 0 };
  const top = Math.max(...view.nodes.map((node) => node.pagerank), Number.EPSILON);
  const svg = s("svg", { class: "graph", role: "group", "aria-label": `Graph of ${plural(view.nodes.length, "note")}; arrow keys move between them`, tabindex: "-1" });
  const lines = s("g", { "aria-hidden": "true" });
  const dots = s("g", {});
  svg.append(lines, dots);

  const nodes = new Map(view.nodes.map((node) => [node.path, { ...node, radius: (small ? 3.5 : 4.5) + (small ? 6 : 9) * Math.sqrt(node.pagerank / top) }]));
  const order = [...nodes.values()].sort((one, other) => other.seed - one.seed || other.pagerank - one.pagerank || (one.path < other.path ? -1 : 1));
  for (const node of order) {
    node.text = s("text", { "text-anchor": "middle" }, clip(node.title));
    node.circle = s("circle", { r: node.radius.toFixed(1) });
    node.element = s("a", { href: noteHref(node.path), class: node.seed ? "node seed" : "node", "aria-label": `${node.title}, ${plural(node.degree, "link")}`, "data-path": node.path, tabindex: node === order[0] ? "0" : "-1" },
      s("title", {}, node.title), s("circle", { r: Math.max(node.radius + 6, 13).toFixed(1), class: "grip" }), node.circle, node.text);
    node.element.addEventListener("pointerenter", () => light(node));
    node.element.addEventListener("focus", () => {
      // One stop for Tab; the arrows move on from it.
      for (const one of order) one.element.setAttribute("tabindex", one === node ? "0" : "-1");
      light(node);
    });
    node.element.addEventListener("pointerleave", () => light(null));
    node.element.addEventListener("blur", () => light(null));
    node.element.addEventListener("dragstart", (event) => event.preventDefault());
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
      node.px = width / 2 + camera.x + node.x * (width / 2 - MARGIN.x) * camera.zoom;
      node.py = height / 2 + camera.y + node.y * (height / 2 - MARGIN.y) * camera.zoom;
      node.element.setAttribute("transform", `translate(${node.px.toFixed(1)} ${node.py.toFixed(1)})`);
    }
    for (const { source, target, path } of edges) {
      const [one, other] = [nodes.get(source), nodes.get(target)];
      // A slight bend, as of a hop, parts the links of two notes to each other.
      const [mx, my] = [(one.px + other.px) / 2 + (other.py - one.py) * 0.09, (one.py + other.py) / 2 - (other.px - one.px) * 0.09];
      path.setAttribute("d", `M${one.px.toFixed(1)} ${one.py.toFixed(1)}Q${mx.toFixed(1)} ${my.toFixed(1)} ${other.px.toFixed(1)} ${other.py.toFixed(1)}`);
    }
    label();
  }

  /** Name what can be named without lying on something, the weightiest first; seeds may lie on dots. */
  function label() {
    const font = small ? 11 : 12.5;
    const dotBoxes = order.map((node) => [node.px - node.radius, node.py - node.radius, node.px + node.radius, node.py + node.radius, node]);
    const names = [];
    for (const node of order) {
      const half = node.text.textContent.length * font * (node.seed ? 0.29 : 0.27) + 3;
      const aside = node.radius + half + 2;
      const spots = [[0, node.radius + font + 1], [0, -node.radius - 5], [aside, font * 0.35], [-aside, font * 0.35]];
      let best = null;
      for (const [x, y] of spots) {
        const box = [node.px + x - half, node.py + y - font, node.px + x + half, node.py + y + 3];
        if (names.some((other) => meet(box, other)) || box[0] < 0 || box[2] > size.width) continue;
        const cost = dotBoxes.filter((other) => other[4] !== node && meet(box, other)).length;
        if (!best || cost < best.cost) best = { x, y, box, cost };
      }
      const free = best && (best.cost === 0 || node.seed);
      node.element.classList.toggle("unnamed", !free);
      const [x, y] = free ? [best.x, best.y] : spots[0];
      node.text.setAttribute("x", x.toFixed(1));
      node.text.setAttribute("y", y.toFixed(1));
      if (free) names.push(best.box);
    }
  }

  function zoom(by, at = { x: size.width / 2, y: size.height / 2 }) {
    const next = Math.min(MOST_ZOOM, Math.max(0.5, camera.zoom * by));
    const real = next / camera.zoom;
    camera.x = at.x - size.width / 2 - (at.x - size.width / 2 - camera.x) * real;
    camera.y = at.y - size.height / 2 - (at.y - size.height / 2 - camera.y) * real;
    camera.zoom = next;
    place();
  }

  function reset() {
    Object.assign(camera, { zoom: 1, x: 0, y: 0 });
    place();
  }

  function spot(event) {
    const box = svg.getBoundingClientRect();
    return { x: (event.clientX - box.left) * (size.width / box.width), y: (event.clientY - box.top) * (size.height / box.height) };
  }

  svg.addEventListener("wheel", (event) => {
    // A page that scrolls past must not zoom: the small picture waits for Ctrl, as maps do.
    if (small && !event.ctrlKey) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), spot(event));
  }, { passive: false });

  const held = new Map();
  let moved = 0;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    held.set(event.pointerId, spot(event));
    moved = 0;
  });
  svg.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (!before) return;
    const now = spot(event);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (moved > 6 && !svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
    if (held.size === 2) {
      const [other] = [...held].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
      zoom(apart(now, other) / Math.max(apart(before, other), 1), other);
    } else {
      camera.x += now.x - before.x;
      camera.y += now.y - before.y;
      place();
    }
    held.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) svg.addEventListener(name, (event) => held.delete(event.pointerId));
  svg.addEventListener("click", (event) => {
    if (moved > 6) event.preventDefault();
  }, true);

  svg.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "+" || event.key === "=") zoom(1.3);
    else if (event.key === "-") zoom(1 / 1.3);
    else if (event.key === "0") reset();
    else if (steps[event.key]) step(...steps[event.key]);
    else return;
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

  const button = (text, name, act) => h("button", { class: "icon", type: "button", "aria-label": name, title: name, onclick: act }, text);
  const figure = h("figure", { class: small ? "picture small-picture" : "picture" }, svg,
    h("div", { class: "zoom" }, button("+", "Zoom in", () => zoom(1.4)), button("−", "Zoom out", () => zoom(1 / 1.4)), button("⤢", "Show all", reset)));
  new ResizeObserver(([entry]) => {
    const { width, height } = entry.contentRect;
    if (!width || !height) return;
    Object.assign(size, { width, height });
    place();
  }).observe(svg);
  return figure;
}

function meet(one, other) {
  return one[0] < other[2] && one[2] > other[0] && one[1] < other[3] && one[3] > other[1];
}

function apart(one, other) {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

function clip(title) {
  return title.length > 26 ? `${title.slice(0, 24).trimEnd()}…` : title;
}
