// What this page asked, and in which conversation. A question in an address that this page did not
// make is only written into the field: whoever leads a browser here must not ask for its user.

const OWN = "notehop.own";
const MOST = 100;

/** Remember an address that this page leads to by itself. */
export function own(hash) {
  const known = read().filter((one) => one !== hash);
  sessionStorage.setItem(OWN, JSON.stringify([...known, hash].slice(-MOST)));
}

export function isOwn(hash) {
  return read().includes(hash);
}

function read() {
  try {
    const known = JSON.parse(sessionStorage.getItem(OWN));
    return Array.isArray(known) ? known : [];
  } catch {
    return [];
  }
}

/** A name for a new conversation. */
export function begin() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
