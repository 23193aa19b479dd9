// What of an answer its sources bear out: badges on cards, quotes in them, doubts in the text.

import { h, hasLines, linesSaid, noteHref, plural, put, spotOf, within } from "./dom.js";

const SAID = { high: "supported", partial: "supported in part", none: "not supported" };
const WORD = /[\p{L}\p{N}]/u;
// What of a text is not shown as text: boxes of tasks, numbers of lists, targets of links.
const UNSEEN = /^[\s>]*(?:[-*+]|\d{1,9}[.)])\s+\[[^\]]\]\s|^[\s>]*\d{1,9}[.)]\s+|(?<=\])\([^()\s]*\)|(?<=\[\[)[^\[\]|]*\|/gmu;

/** Say on the card of a cited source how far it supports the answer, and mark its words. */
export function support(card, citation) {
  const badge = card.querySelector(".cited-mark");
  badge.textContent = SAID[citation.support] || "cited";
  badge.className = `cited-mark ${citation.support || ""}`;
  badge.title = citation.quote_lines && hasLines(citation.path) ? `By ${linesSaid(citation.quote_lines)}` : "";
  if (!citation.quote) return;
  Object.assign(card.dataset, { quote: citation.quote, heading: citation.heading });
  const title = card.querySelector(".card-title");
  title.href = noteHref(citation.path, { ...spotOf(citation, citation.quote_lines), say: citation.quote.slice(0, 600) });
  put(title, citation.title, within(citation));
  quoteIn(card);
  const link = card.querySelector(".card-foot a");
  if (link) link.href = citation.quote_uri;
}

/** Mark the words of a card that the answer rests on, once they stand there, and open it at them. */
export function quoteIn(card) {
  const snippet = card.querySelector(".snippet");
  if (!card.dataset.quote || snippet.querySelector(".quoted")) return;
  const [first] = mark(snippet, card.dataset.quote, "quoted");
  // In the side pane a card shows a few lines.
  if (first && first.offsetTop >= snippet.clientHeight / 2) snippet.scrollTop = first.offsetTop - 28;
}

/** Mark the sentences of an answer that its sources do not bear out. */
export function doubts(prose, claims) {
  const doubtful = claims.filter((claim) => claim.flag || claim.lacks.length);
  const places = findAll(prose, claims.map((claim) => claim.text.replace(UNSEEN, "")));
  for (const claim of doubtful.reverse()) {
    const pieces = places[claims.indexOf(claim)];
    if (!pieces?.length) continue;
    const wrapped = pieces.map((piece) => wrap(piece, "doubt"));
    const why = reason(claim);
    const last = wrapped[wrapped.length - 1];
    // Inside a link it would be part of its name, which a screen reader says instead.
    (last.closest("a") || last).after(h("span", { class: "doubt-mark", role: "img", "aria-label": `Check this: ${why}`, title: why }, "?"));
  }
}

export function legend(count) {
  if (!count) return null;
  return h("p", { class: "doubt-legend" }, h("span", { class: "doubt-mark", "aria-hidden": "true" }, "?"),
    ` ${plural(count, "sentence is", "sentences are")} not borne out by your notes. Check ${count === 1 ? "it" : "them"} before you rely on ${count === 1 ? "it" : "them"}.`);
}

/** What a language model was not shown. */
export function leftOut(left) {
  if (!left.length) return null;
  return h("details", { class: "explain" }, h("summary", {}, `${plural(left.length, "passage")} not shown to the language model`),
    h("ul", {}, left.map((one) => h("li", {}, `${one.title}${one.heading ? ` › ${one.heading}` : ""}${hasLines(one.path) ? `, ${linesSaid(one.lines)}` : ""}`))));
}

function reason({ flag, lacks, markers, mentioned }) {
  const named = markers.map((one) => one.replace(/[[\]]/g, "")).join(" and ");
  const lacking = lacks.join(", ");
  if (flag === "uncited") return "no source is named";
  if (flag === "context") return `it rests on ${mentioned.join(", ")} alone, which is context and no evidence`;
  const sources = `source ${named}`;
  if (flag === "unsupported") return lacking ? `${sources} does not say ${lacking}` : `${sources} does not say this`;
  return `${sources} lacks ${lacking}`;
}

/** Where texts stand in an element, one after the other: for each a list of [node, start, end].
 *  Compared by letters and digits alone, as marks and blanks are shown in another way. */
function findAll(element, texts) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const places = [];
  let shown = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    let at = 0;
    for (const letter of node.data) {
      if (WORD.test(letter)) {
        shown += letter;
        for (let unit = 0; unit < letter.length; unit++) places.push([node, at + unit]);
      }
      at += letter.length;
    }
  }
  let from = 0;
  return texts.map((text) => {
    const wanted = [...text].filter((letter) => WORD.test(letter)).join("");
    const at = wanted ? shown.indexOf(wanted, from) : -1;
    if (at < 0) return [];
    from = at + wanted.length;
    return pieces(places.slice(at, from));
  });
}

/** Put elements of a class around a quote, as far as it stands in an element: whole, else line by line. */
export function mark(element, quote, name) {
  const said = quote.replace(UNSEEN, "");
  let [found] = findAll(element, [said]);
  if (!found.length) found = findAll(element, said.split("\n")).flat();
  return found.reverse().map((piece) => wrap(piece, name)).reverse();
}

/** Places in order as the stretches of text nodes that hold them, with what stands in between, and
 *  with the full stop behind the last. */
function pieces(places) {
  const found = [];
  for (const [node, at] of places) {
    const last = found[found.length - 1];
    if (last?.[0] === node) {
      last[2] = at + 1;
      continue;
    }
    if (last) last[2] = last[0].data.length;
    found.push([node, last ? 0 : at, at + 1]);
  }
  const last = found[found.length - 1];
  if (last) last[2] += /^[^\s\p{L}\p{N}]*/u.exec(last[0].data.slice(last[2]))[0].length;
  return found;
}

/** Put a span around a stretch of a text node; those behind it have to be done before. */
function wrap([node, start, end], name) {
  const range = document.createRange();
  range.setStart(node, start);
  range.setEnd(node, end);
  const element = h("span", { class: name });
  range.surroundContents(element);
  return element;
}
