// Speaks with the plugin of the app that frames the side pane: messages of fixed kinds, each with its
// fields, to and from the app's origin alone. The plugin's main.js has the same table.

const APP = "app://obsidian.md";

/** What the plugin may say, and of which type each field is. */
const HEARD = {
  hello: { token: "string", vault: "string", theme: "string", tab: "string" },
  note: { path: "string", changed: "boolean" },
  theme: { theme: "string" },
  show: { tab: "string" },
  ask: { question: "string" },
  done: { ok: "boolean", text: "string" },
};

/** Whether the page is in a frame, as the app has it. */
export const framed = window.parent !== window;

/** Tell the plugin: ready, open, link, cite, web or leave. */
export function tell(kind, fields = {}) {
  if (framed) window.parent.postMessage({ notehop: kind, ...fields }, APP);
}

/** Hear the plugin: by kind, a function that gets its fields. */
export function hear(handlers) {
  window.addEventListener("message", ({ origin, data }) => {
    // By origin alone: the plugin may stand in another window of the app than the one that has the frame.
    if (!framed || origin !== APP) return;
    if (!Object.hasOwn(HEARD, data?.notehop)) return;
    const fields = Object.entries(HEARD[data.notehop]);
    if (fields.every(([name, type]) => typeof data[name] === type)) handlers[data.notehop](data);
  });
}
