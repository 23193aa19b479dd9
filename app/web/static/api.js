// Speaks with the server: JSON both ways, server-sent events, problem details, and the token.

import { askToken, keptToken } from "./token.js";

/** What the server says is wrong (RFC 9457), or that it does not answer. */
export class Problem extends Error {
  constructor({ title, detail, status, type }) {
    super(detail || title);
    this.title = title;
    this.status = status;
    this.type = type || "about:blank";
  }
}

export function isAbort(error) {
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
    title: told.title || "That did not work",
    detail: wait && !detail.includes("again") ? `${detail}; try again in ${wait} s` : detail,
    status: response.status,
    type: told.type,
  });
}

export async function get(path, params = {}, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value].flat()) if (one !== null && one !== undefined && one !== "") query.append(name, one);
  }
  const text = query.toString();
  return (await send("GET", text ? `${path}?${text}` : path, { signal })).json();
}

export async function post(path, body, signal) {
  return (await send("POST", path, { body, signal })).json();
}

/** The events of a stream, as [name, data]. Leaving the loop, or the signal, ends the request. */
export async function* events(path, body, signal) {
  const response = await send("POST", path, { body, signal, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      held += value.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
      for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
        const event = read(held.slice(0, end));
        held = held.slice(end + 2);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function read(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") name = value;
    else if (field === "data") data.push(value);
  }
  return data.length ? [name, JSON.parse(data.join("\n"))] : null;
}

/** Snippets (and an answer) as HTML. */
export function render(texts, query, { answer = "", signal } = {}) {
  return post("/web/render", { snippets: texts, query, answer }, signal);
}
