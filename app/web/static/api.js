// Speaks with the server: JSON both ways, server-sent events, problem details, and the token.

/** What the server says is wrong (RFC 9457), or that it does not answer. */
export class Problem extends Error {
  constructor({ title, detail, status, type }) {
    super(detail || title);
    this.title = title;
    this.status = status;
    this.type = type || "about:blank";
  }
}

function isAbort(error) {
  return error.name === "AbortError";
}

/** Whether an error is to be told: not that of a request which was ended. What is no problem is thrown on. */
export function isProblem(error) {
  if (!isAbort(error) && !(error instanceof Problem)) throw error;
  return !isAbort(error);
}

// The vault that is asked: all routes are below its address, as this page is.
let vault = /^\/vaults\/[^/]+/.exec(location.pathname)?.[0] ?? "";

/** The address of the vault of this page; empty for the default. */
export function vaultUrl() {
  return vault;
}

/** Ask another vault from now on. */
export function useVault(url) {
  vault = url;
}

/** An address with parameters; those that are empty are left out. */
export function withParams(path, params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) for (const one of [value].flat()) if (one) query.append(name, one);
  return query.size ? `${path}?${query}` : path;
}

async function send(method, path, { body, signal, accept = "application/json" } = {}) {
  for (;;) {
    const token = keptToken();
    const headers = { Accept: accept };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (token) headers.Authorization = `Bearer ${token}`;
    let response;
    try {
      response = await fetch(`${vault}${path}`, {
        method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
        credentials: "omit", cache: "no-store",
      });
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new Problem({
        title: "The server does not answer", status: 0,
        detail: "Is notehop serve still running? Start it again, then try once more.",
      });
    }
    if (response.status === 401) {
      response.body?.cancel(); // or the connection stays taken
      await askToken(Boolean(token));
      continue;
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  }
}

async function problemOf(response) {
  const wait = response.headers.get("Retry-After");
  let told = {};
  try {
    told = await response.json();
  } catch {
    // Not a problem detail: its status has to do.
  }
  const detail = told.detail || `The server said ${response.status} ${response.statusText}`;
  return new Problem({
    title: "That did not work", // the phrase of a status is for programs
    detail: wait && !detail.includes("again") ? `${detail}; try again in ${wait} s` : detail,
    status: response.status,
    type: told.type,
  });
}

export async function get(path, params = {}, signal) {
  return (await send("GET", withParams(path, params), { signal })).json();
}

export async function post(path, body, signal) {
  return (await send("POST", path, { body, signal })).json();
}

const EVENT = /^event: ([^\n]*)\ndata: ([^\n]*)$/m; // as this server writes one; JSON has no line ends

/** The events of a stream, as [name, data]. Leaving the loop, or the signal, ends the request. */
export async function* events(path, body, signal) {
  const response = await send("POST", path, { body, signal, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      held += value;
      for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
        const [, name, data] = EVENT.exec(held.slice(0, end)) || [];
        held = held.slice(end + 2);
        if (name) yield [name, JSON.parse(data)];
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Snippets (and an answer) as HTML. */
export function render(texts, query, { answer = "", signal } = {}) {
  return post("/web/render", { snippets: texts, query, answer }, signal);
}

// The token of a server that wants one. It lives as long as the tab, and goes in a header.

const KEY = "notehop.token";
let asking = null;
let given = null;

/** Use a token that is kept elsewhere, and here in memory alone; `refuse` is called, and throws, where it will not do. */
export function useToken(token, refuse) {
  given = { token, refuse };
}

function keptToken() {
  return given ? given.token : sessionStorage.getItem(KEY);
}

/** Resolves when there is a token to try; requests that wait together ask once. */
async function askToken(wrong) {
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
