// The switch of vaults, where the server has more than one. Each vault has a page of its own, below its
// address.

import { get, vaultUrl } from "./api.js";
import { h, put } from "./dom.js";

const choice = document.getElementById("vault");

/** Show the switch, if there is a choice; the name of this page's vault as the app has it. */
export async function offerVaults() {
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
