// What this page asked, and in which conversation. A question in an address that this page did not
// make is only written into the field: whoever leads a browser here must not ask for its user.

const OWN = "notehop.own ";

/** Remember an address that this page leads to by itself. */
export function own(hash) {
  sessionStorage.setItem(OWN + hash, "");
}

export function isOwn(hash) {
  return sessionStorage.getItem(OWN + hash) !== null;
}

/** A name for a new conversation. */
export function newTalk() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
