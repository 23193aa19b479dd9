// The side pane of the app: tabs for the open note and for questions. It asks nothing of the server
// before the plugin has said hello.

import { get, isProblem, Problem, useVault } from "../api.js";
import * as ask from "../views/ask.js";
import { offerInstead } from "../cards.js";
import { address, h, hasLines, say, toast } from "../dom.js";
import * as related from "./related.js";
import * as suggest from "./suggest.js";
import { framed, hear, tell } from "./plugin.js";
import { empty } from "../states.js";
import { useToken } from "../token.js";

const views = { related, suggest, ask };
const root = document.getElementById("view");
const tabs = [...document.querySelectorAll("[role=tab]")];
const vault = { name: "" };
const state = { tab: "related", note: "", question: "#/ask", shown: null, wrong: "", met: false };

const context = {
  vault,
  go: (_, params) => asked(address("ask", params)),
  here: () => state.question,
  // Whoever opens the pane in the app asks by hand; no address leads here, and a frame may keep nothing.
  own: () => {},
  isOwn: () => true,
};

// Tabs

function select(tab, { focus = false } = {}) {
  state.tab = views[tab] ? tab : "related";
  for (const one of tabs) {
    const on = one.dataset.tab === state.tab;
    one.setAttribute("aria-selected", String(on));
    one.tabIndex = on ? 0 : -1;
    if (on) root.setAttribute("aria-labelledby", one.id);
  }
  draw();
  // A view may have a field that takes the focus: whoever goes over the tabs stays on them.
  if (focus) tabs.find((one) => one.dataset.tab === state.tab).focus();
}

function draw() {
  state.shown?.dispose?.();
  root.replaceChildren();
  root.className = `view-${state.tab}`;
  window.scrollTo(0, 0);
  if (state.wrong) root.append(h("h1", {}, "Another vault"), h("p", { class: "notice", role: "alert" }, state.wrong));
  else if (state.tab === "ask") state.shown = ask.show(root, new URLSearchParams(state.question.split("?")[1]), context);
  else if (state.note) state.shown = views[state.tab].show(root, state.note);
  else root.append(h("h1", { class: "unseen" }, "No note"), empty("No note is open", "Open a note, and what it has to do with stands here."));
}

function asked(hash) {
  state.question = hash;
  select("ask");
  root.querySelector("[data-main]")?.focus({ preventScroll: true });
}

for (const tab of tabs) tab.addEventListener("click", () => select(tab.dataset.tab));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const at = tabs.indexOf(event.target);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  select(tabs[(next + tabs.length) % tabs.length].dataset.tab, { focus: true });
});

// Links and keys

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented) return;
  const href = link.getAttribute("href");
  // The frame stays where it is, whatever a note links to.
  event.preventDefault();
  if (href.startsWith("#/note/")) open(href, event.ctrlKey || event.metaKey);
  else if (href.startsWith("#/ask")) asked(href);
  else if (/^https?:/.test(href)) tell("web", { url: href });
});

function open(href, tab) {
  const [path, query] = href.slice("#/note/".length).split(/\?(.*)/s);
  const params = new URLSearchParams(query);
  const name = path.split("/").map(decodeURIComponent).join("/");
  const line = (hasLines(name) && Number(params.get("lines")?.split("-")[0])) || 0;
  tell("open", { path: name, line, at: params.get("at") || "", tab });
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.key === "Escape" && !state.shown?.escape?.()) tell("leave");
});

offerInstead((source) => h("button", {
  class: "plain", type: "button", "aria-label": `Cite ${source.title} in the open note`,
  onclick: (event) => {
    const { quote = "", heading = source.heading } = event.currentTarget.closest(".card").dataset;
    tell("cite", { path: source.path, heading, quote: quote.slice(0, 1500) });
  },
}, "Insert citation"));

// The app

hear({
  // An older plugin does not tell the folder.
  async hello({ token, vault: name, folder = "", theme, tab }) {
    document.documentElement.dataset.theme = theme;
    useToken(token, refuse);
    await check(name, folder);
    state.met = true;
    select(tab);
  },
  note({ path, changed }) {
    if (state.note === path && !changed) return;
    const same = state.note === path;
    state.note = path;
    if (!state.met || state.tab === "ask") return;
    if (same) state.shown?.refresh?.();
    else draw();
  },
  theme({ theme }) {
    document.documentElement.dataset.theme = theme;
  },
  show({ tab }) {
    select(tab, { focus: true });
    root.querySelector("[data-main]")?.focus();
  },
  ask: ({ question }) => asked(question ? address("ask", { q: question }) : "#/ask"),
  done({ ok, text }) {
    if (ok) toast(text);
    else say(text);
  },
});

function refuse(wrong) {
  throw new Problem({
    title: wrong ? "The token is not the one of this server" : "This server asks for a token", status: 401,
    detail: "Put the token that notehop serve was started with into the settings of notehop in the app.",
  });
}

/** Ask for the vault that is open in the app, by its folder or its name, if the server answers for it. */
async function check(name, folder) {
  try {
    const { vaults } = await get("/vaults");
    const named = vaults.filter((one) => one.vault === name);
    const own = vaults.find((one) => one.folder && one.folder === folder) || (named.length === 1 && named[0]);
    vault.name = own ? own.vault : "";
    if (own && !own.default) useVault(own.url);
    const others = vaults.map((one) => `“${one.vault}”`).join(", ");
    state.wrong = own ? "" : `The server at this address answers for the vault ${others}, and this one is “${name}”${folder && ` in ${folder}`}. Start notehop serve for this vault too: name it with a further --vault, or give it a port of its own and its address in the settings of notehop, below Community plugins.`;
  } catch (error) {
    isProblem(error); // the view that needs the server says what is wrong
  }
}

if (framed) tell("ready");
else root.append(h("h1", { class: "unseen" }, "Side pane"), empty("This is the side pane of Obsidian", "Its plugin shows it there. The whole page is at the address of this server, without /pane."));
