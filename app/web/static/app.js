// The page: addresses, vaults and keys. Each view draws itself.

import { get, isProblem, vaultUrl } from "./api.js";
import * as ask from "./views/ask.js";
import * as capture from "./views/capture.js";
import { address, h, put } from "./dom.js";
import * as graph from "./views/graph.js";
import * as reader from "./views/reader.js";
import * as search from "./views/search.js";
import * as status from "./views/status.js";

const views = { ask, search, capture, graph, status };
const root = document.getElementById("view");
const choice = document.getElementById("vault");
const vault = { name: "" };
const first = location.hash || "#/ask";
let current = {}; // the view that is shown and its address, once there is one

const context = {
  vault,
  go: (view, params) => {
    const hash = address(view, params);
    own(hash);
    location.hash = hash;
  },
  keep: (view, params) => {
    const hash = address(view, params);
    if (hash === current.hash) return;
    history.replaceState(null, "", hash);
    current.hash = hash;
  },
  own,
  isOwn: () => isOwn(current.hash),
  here: () => current.hash,
};

function route() {
  const [path, query] = (location.hash || "#/ask").slice(2).split(/\?(.*)/s);
  const params = new URLSearchParams(query);
  if (path.startsWith("note/")) {
    if (!current.hash) draw("ask", new URLSearchParams(), "#/ask");
    // A note's address may come from anywhere: what is no address of one is shown as such.
    reader.open(decoded(path.slice("note/".length)), params, { close, vault });
    return;
  }
  reader.shut();
  const view = views[path] ? path : "ask";
  const hash = location.hash || "#/ask";
  if (current.hash !== hash) draw(view, params, hash);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function draw(view, params, hash) {
  current.shown?.dispose?.();
  root.replaceChildren();
  root.className = `view-${view}`;
  window.scrollTo(0, 0);
  current = { hash };
  current.shown = views[view].show(root, params, context);
  // Focus would be lost with the link or field that led here, unless the view has a use for it.
  if (!root.contains(document.activeElement) && hash !== first) root.focus({ preventScroll: true });
  document.title = `${params.get("q") || views[view].title} · ${vault.name || "notehop"}`;
  for (const link of document.querySelectorAll(".tabs a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function close() {
  location.hash = current.hash;
}

// Addresses of questions. What this page asked is asked at once; a question in an address that it did not
// make is only written into the field: whoever leads a browser here must not ask for its user.

const OWN = "notehop.own ";

/** Remember an address that this page leads to by itself. */
function own(hash) {
  sessionStorage.setItem(OWN + hash, "");
}

function isOwn(hash) {
  return sessionStorage.getItem(OWN + hash) !== null;
}

// Vaults. Each has a page of its own, below its address.

/** Show the switch, if there is a choice; the name of this page's vault as the app has it. */
async function offerVaults() {
  const { vaults } = await get("/vaults");
  const own = vaults.find(({ url }) => decodeURIComponent(url) === decodeURIComponent(vaultUrl())) || vaults.find((one) => one.default);
  put(choice, vaults.map((one) => h("option", { value: one.default ? "" : one.url, selected: one === own }, one.name)));
  choice.hidden = vaults.length < 2;
  choice.addEventListener("change", () => {
    // What was asked or looked for is asked of the other vault.
    location.href = `${choice.value}/${/^#\/(?:ask|search|status)/.exec(location.hash) ? location.hash : ""}`;
  });
  return own?.vault ?? "";
}

/** Learn the name of the vault, for titles and for links into the app, and which others there are. */
async function learnVaults() {
  try {
    vault.name = await offerVaults();
    if (!vault.name) return; // the token is of another vault
    document.title = document.title.replace("notehop", vault.name);
    const place = root.querySelector(".hero em");
    if (place) place.textContent = vault.name;
  } catch (error) {
    isProblem(error); // the view that needs the index says what is wrong with it
  }
}

// Keys

function typing(element) {
  return element.closest("input, textarea, select, [contenteditable]") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open], :popover-open")) return;
  const inField = typing(event.target);
  if (event.key === "Escape") escape(event);
  else if (inField || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key === "/") {
    event.preventDefault();
    const field = root.querySelector("[data-main]") || root;
    field.focus();
    field.select?.();
  } else if (event.key === "?") document.getElementById("keys").showModal();
  else if (/^[1-5]$/.test(event.key)) context.go(Object.keys(views)[event.key - 1], {});
});

function escape(event) {
  if (current.shown?.escape?.()) return;
  if (reader.isOpen()) close();
  // A field for searches empties itself first.
  else if (typing(event.target) && !(event.target.type === "search" && event.target.value)) event.target.blur();
}

document.getElementById("keys-button").addEventListener("click", () => document.getElementById("keys").showModal());
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  root.focus();
});
window.addEventListener("hashchange", route);
route();
learnVaults();
