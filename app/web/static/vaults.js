// The switch of vaults, where the server has more than one. Each vault has a page of its own, below its
// address.

import { get, isProblem, vaultUrl } from "./api.js";
import { h, put } from "./dom.js";

const choice = document.getElementById("vault");

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
  const own = vaults.find(({ url }) => decodeURIComponent(url) === decodeURIComponent(vaultUrl())) || vaults.find((one) => one.default);
  put(choice, vaults.map((one) => h("option", { value: one.default ? "" : one.url, selected: one === own }, one.name)));
  choice.hidden = false;
  choice.addEventListener("change", () => {
    // What was asked or looked for is asked of the other vault.
    location.href = `${choice.value}/${/^#\/(?:ask|search|status)/.exec(location.hash) ? location.hash : ""}`;
  });
}
