// The switch of vaults, where the server has more than one: a button that names this one, and links to
// all. Each vault has a page of its own, below its address.

import { get, isProblem, vaultUrl } from "./api.js";
import { h } from "./dom.js";

const button = document.getElementById("vault-button");
const menu = document.getElementById("vault-menu");

/** Show the switch, if there is a choice. */
export async function offerVaults() {
  let vaults;
  try {
    ({ vaults } = await get("/vaults"));
  } catch (error) {
    isProblem(error);
    return; // the view that needs the vault says what is wrong
  }
  if (vaults.length < 2) return;
  const own = vaults.find(isHere) || vaults.find((one) => one.default);
  button.textContent = own.name;
  button.setAttribute("aria-label", `Vault: ${own.name}`);
  button.hidden = false;
  menu.addEventListener("beforetoggle", ({ newState }) => {
    if (newState !== "open") return;
    const { left, bottom } = button.getBoundingClientRect();
    menu.style.left = `${left}px`;
    menu.style.maxWidth = `calc(100vw - ${left}px - 0.5rem)`;
    menu.style.top = `${bottom + 6}px`;
    menu.replaceChildren(h("ul", {}, vaults.map((one) => link(one, one === own))));
  });
}

function isHere({ url }) {
  return decodeURIComponent(url) === decodeURIComponent(vaultUrl());
}

/** A link that keeps the view, and what was asked or looked for. */
function link(vault, here) {
  const [, view, query = ""] = /^#\/(ask|search|capture|graph|status)(\?.*)?$/.exec(location.hash) || [null, "ask"];
  const hash = `#/${view}${view === "ask" || view === "search" ? query : ""}`;
  return h("li", {}, h("a", {
    href: `${vault.default ? "" : vault.url}/${hash}`, "aria-current": here && "page", autofocus: here,
  }, vault.name));
}
