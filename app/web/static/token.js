// Asks for the token of a server that wants one. It lives as long as the tab, and goes in a header.

const KEY = "notehop.token";
let asking = null;
let given = null;

/** Use a token that is kept elsewhere, and here in memory alone; `refuse` is called, and throws, where it will not do. */
export function useToken(token, refuse) {
  given = { token, refuse };
}

export function keptToken() {
  return given ? given.token : sessionStorage.getItem(KEY);
}

/** Resolves when there is a token to try; requests that wait together ask once. */
export async function askToken(wrong) {
  if (given) return given.refuse(wrong);
  if (wrong) sessionStorage.removeItem(KEY);
  asking ??= ask(wrong).finally(() => { asking = null; });
  return asking;
}

function ask(wrong) {
  const dialog = document.getElementById("door");
  const field = document.getElementById("door-token");
  const form = document.getElementById("door-form");
  document.getElementById("door-title").textContent = wrong
    ? "That token is not the one" : "This server asks for a token";
  field.value = "";
  return new Promise((resolve) => {
    const stay = (event) => event.preventDefault();
    dialog.addEventListener("cancel", stay);
    form.addEventListener("submit", () => {
      sessionStorage.setItem(KEY, field.value.trim());
      field.value = "";
      dialog.removeEventListener("cancel", stay);
      resolve();
    }, { once: true });
    if (!dialog.open) dialog.showModal();
    field.focus();
  });
}
