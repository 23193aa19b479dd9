// The view that asks: a question, an answer as it comes, its sources, and the notes around them.

import { events, get, isProblem, Problem, render } from "../api.js";
import { connectedCard, connectedNotes, dress, sourceCard } from "../cards.js";
import { doubts, leftOut, legend, quoteIn, support } from "../evidence.js";
import { address, behind, encoded, failure, filtered, folderOf, h, hovers, noteHref, plural, put, rendered, say, searchedFor, waiting, warned } from "../dom.js";

const KEPT = 20;
const answers = new Map();

export const title = "Ask";

export function show(root, params, { vault, go, here, own, isOwn }) {
  const question = params.get("q")?.trim() || "";
  const key = here();
  const named = params.get("in") || "";
  const talk = (/^[\w-]{1,64}$/.test(named) && named) || answers.get(key)?.conversation?.conversation_id || newTalk();
  let stop = null;

  const field = h("textarea", {
    id: "ask-field", class: "main-field", rows: "1", name: "q", autocomplete: "off", enterkeyhint: "send",
    placeholder: "What do you want to know?", "aria-label": "Question", "data-main": true,
    oninput: () => fit(field), onkeydown: enter,
  });
  field.value = question;
  const button = h("button", { class: "button primary", type: "submit" }, "Ask");
  const form = h("form", { class: "field", role: "search", "aria-label": "Ask your notes", onsubmit: submit }, field, button);
  const result = h("div", { class: "result" });

  function enter(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  }

  function submit(event) {
    event.preventDefault();
    if (stop) return halt();
    const text = field.value.trim();
    if (!text) return field.focus();
    if (text === question) again();
    else go("ask", { q: text });
  }

  function again() {
    own(key);
    answers.delete(key);
    begin();
  }

  const halt = () => stop?.abort();

  function busy(on) {
    button.textContent = on ? "Stop" : "Ask";
    button.classList.toggle("primary", !on);
  }

  if (question) {
    put(root, h("h1", { class: "unseen" }, question), form, result);
    if (isOwn()) begin();
    else offered();
  } else {
    root.append(h("div", { class: "hero" },
      h("h1", {}, "Ask ", h("em", {}, vault.name || "your notes")),
      h("p", { class: "dim" }, "Answers are quoted or written from your notes, with the lines they stand in. Links are followed one hop further, as context."),
      form, result));
    examples(result, own);
    if (hovers()) field.focus();
  }
  fit(field);

  function offered() {
    result.replaceChildren(h("p", { class: "notice" }, "This question came with the address. Press Enter to ask it."));
    field.focus();
    say("This question came with the address. Press Enter to ask it.");
  }

  function begin() {
    const kept = answers.get(key);
    result.replaceChildren();
    if (kept) done(draft(result, question), kept);
    else ask();
  }

  function done(page, answer) {
    finish(page, answer);
    // Without a language model a follow-up is one more question.
    if (answer.mode === "llm") page.further.replaceChildren(further());
  }

  function further() {
    const next = h("input", {
      id: "further-field", class: "main-field", autocomplete: "off", enterkeyhint: "send",
      placeholder: "And then?", "aria-label": "Follow-up",
    });
    function follow(event) {
      event.preventDefault();
      const text = next.value.trim();
      if (text && text === question && named) again();
      else if (text) go("ask", { q: text, in: talk });
    }
    return h("form", { class: "field further", "aria-label": "Ask a follow-up", onsubmit: follow }, next, h("button", { class: "button", type: "submit" }, "Ask on"));
  }

  async function ask() {
    const own = new AbortController();
    stop = own;
    busy(true);
    const page = draft(result, question);
    let text = "";
    let finished = false;
    try {
      for await (const [name, data] of events("/query/stream", { query: question, conversation_id: talk }, own.signal)) {
        if (name === "sources") sources(page, data.sources, own.signal);
        else if (name === "connected") connected(page, data.connected_notes, own.signal);
        else if (name === "token" || name === "reset") {
          text = name === "token" ? text + data.text : data.text;
          write(page, text);
        } else if (name === "error") throw new Problem({ ...data.problem, title: "That did not work" });
        else if (name === "done") {
          answers.set(key, data.answer);
          if (answers.size > KEPT) answers.delete(answers.keys().next().value);
          finished = true;
          done(page, data.answer);
        }
      }
      if (!finished) throw new Problem({ title: "The answer broke off", detail: "The server ended before the answer did. Ask once more." });
    } catch (error) {
      if (isProblem(error)) {
        page.answer.setAttribute("aria-busy", "false");
        page.progress.replaceChildren(failure(error, begin));
      } else if (root.isConnected) stopped(page, text);
    } finally {
      if (stop === own) {
        stop = null;
        busy(false);
      }
    }
  }

  return { dispose: halt, escape: () => stop !== null && (halt(), true) };
}

function fit(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

/** Before the first question: questions out of aliases and headings of notes where links meet, one a note, and for what
 * links to those that have neither. */
async function examples(root, chosen) {
  try {
    const { nodes } = await get("/graph", { most: 40 });
    // The names of views and canvases make no questions.
    const best = nodes.filter((node) => node.path.endsWith(".md")).slice(0, 9).sort((a, b) => b.degree - a.degree).slice(0, 6);
    const notes = await Promise.all(best.map((node) =>
      get(`/notes/${encoded(node.path)}`, { mentions: "false" }).catch(() => null)));
    const linked = best.filter(({ title }) => PLAIN.test(title)).map(({ title }) => `Which notes link to ${title}?`);
    const own = notes.filter(Boolean).map(example).filter(Boolean);
    const found = [...new Set(own.length ? own : linked)].slice(0, 4);
    if (!found.length || !root.isConnected) return;
    root.append(h("section", { class: "examples", "aria-labelledby": "examples" },
      h("h2", { id: "examples", class: "label" }, "For example"),
      h("ul", { class: "row" }, found.map((text) => {
        const href = address("ask", { q: text });
        // Whoever chooses a question of this page asks it.
        return h("li", {}, h("a", { class: "chip question", href, onclick: () => chosen(href) }, text));
      }))));
  } catch (error) {
    if (root.isConnected && error instanceof Problem) root.append(failure(error));
  }
}

const PLAIN = /^[\p{L}\p{M}’' -]{3,40}$/u;

/** A question that a note can answer, in its own words; null if nothing in it suggests one. */
function example({ path, title, aliases, outline, page_type: type }) {
  const headings = outline.map((one) => one.heading).filter((text) => text !== title);
  const question = headings.find((text) => text.length < 80 && text.endsWith("?"));
  if (question) return question;
  const heading = headings.find((text) => PLAIN.test(text));
  if (heading) return `${title}: ${heading}`;
  const alias = aliases.find((name) => PLAIN.test(name) && name !== title);
  if (!alias) return null;
  return /^(person|people|contact)s?$/i.test(type || path.split("/").at(-2) || "") ? `Who is ${alias}?` : `What is ${alias}?`;
}

/** The places that an answer fills while it comes. */
function draft(root, question) {
  const page = {
    question,
    progress: h("div", { class: "progress" }, waiting("Looking through your notes…")),
    answer: h("div", { class: "answer", "aria-live": "polite", "aria-busy": "true" }),
    meta: h("div", { class: "meta" }),
    further: h("div"),
    sources: h("section", { class: "sources", "aria-labelledby": "sources-title", hidden: true }),
    connected: h("section", { class: "connected-notes", "aria-labelledby": "connected-title", hidden: true }),
    cards: [],
    far: [],
  };
  root.append(h("div", { class: "columns" },
    h("div", { class: "first" },
      h("article", { class: "reply", "aria-label": "Answer" }, page.answer, page.progress, page.meta, page.further), page.sources),
    h("div", { class: "second" }, page.connected)));
  page.answer.addEventListener("click", follow);
  say("Looking through your notes");
  return page;
}

function follow(event) {
  const link = event.target.closest("a.cite");
  if (!link) return;
  event.preventDefault();
  const card = document.getElementById(link.getAttribute("href").slice(1));
  card?.closest("details")?.setAttribute("open", "");
  card?.scrollIntoView({ block: "center", behavior: "smooth" });
  card?.querySelector(".card-title")?.focus({ preventScroll: true });
}

function sources(page, found, signal) {
  if (page.cards.length || !found.length) return;
  page.progress.replaceChildren(waiting(`Reading ${plural(found.length, "source")}…`));
  page.cards = found.map((source) => sourceCard(source));
  page.sources.hidden = false;
  page.sources.replaceChildren(
    h("h2", { class: "label", id: "sources-title" }, "Sources"),
    h("ol", { class: "cards", "aria-label": "Sources" }, page.cards));
  snippets(page.cards, found, page.question, signal);
}

function connected(page, found, signal) {
  if (page.far.length || !found.length) return;
  page.far = found.map(connectedCard);
  page.connected.hidden = false;
  put(page.connected, connectedNotes(page.far, "One link away from a source, through the sentence shown. The answer never cites them."));
  snippets(page.far, found, page.question, signal);
}

async function snippets(cards, found, question, signal) {
  try {
    const { snippets: html } = await render(found.map((one) => one.text), question, { signal });
    dress(cards, html);
    for (const card of cards) quoteIn(card);
  } catch (error) {
    isProblem(error); // the plain text stands there already
  }
}

/** The answer so far, as plain text. */
function write(page, text) {
  page.answer.replaceChildren(h("div", { class: "prose raw" }, text));
  page.progress.replaceChildren(waiting("Writing…"));
}

function stopped(page, text) {
  page.answer.setAttribute("aria-busy", "false");
  page.progress.replaceChildren(h("p", { class: "notice" }, text ? "Stopped. What was written stands above; its citations were not checked." : "Stopped before anything was written."));
  say("Stopped");
}

async function finish(page, answer) {
  if (answer.sources.length !== page.cards.length) {
    // A connected note that answers is a source by now, with a marker of its own.
    page.cards = [];
    page.far = [];
    page.connected.hidden = true;
  }
  sources(page, answer.sources);
  connected(page, answer.connected_notes);
  const cited = new Map(answer.citations.map((one) => [one.marker.replace(/[[\]]/g, ""), one]));
  for (const card of page.cards) {
    const citation = cited.get(card.id.slice("cite-".length));
    card.classList.toggle("used", Boolean(citation));
    card.querySelector(".cited-mark").hidden = !citation;
    if (citation) support(card, citation);
  }
  const unsure = answer.claims.filter((claim) => claim.flag || claim.lacks.length).length;
  const refused = answer.mode === "none" && answer.sources.length > 0 && !LISTED.test(answer.answer);
  put(page.meta, legend(unsure), searchedFor(answer.searched_for), understood(answer), warned(answer.warnings), leftOut(answer.left_out), filtered(answer.filters), made(answer));
  try {
    const { answer: html } = await render([], "", { answer: answer.answer });
    const prose = rendered(html);
    atTheEnd(prose);
    for (const link of prose.querySelectorAll("a.cite")) name(link, page);
    doubts(prose, answer.claims);
    for (const line of prose.querySelectorAll("br")) attribute(line);
    page.answer.replaceChildren(refused ? refusal(page, answer) : answer.sources.length ? prose : h("div", {}, prose, nothing()));
  } catch (error) {
    isProblem(error);
    write(page, answer.answer);
  }
  page.progress.replaceChildren();
  page.answer.classList.toggle("unsure", answer.mode === "extractive" && (answer.likelihood ?? 1) < SURE);
  page.answer.setAttribute("aria-busy", "false");
  fold(page, refused);
  if (refused) return say(`Nothing in your notes answers this.${NEAREST.test(answer.answer) ? " The nearest notes are linked." : ""}`);
  say(`Answer complete: ${plural(answer.sources.length, "source")}, ${plural(answer.connected_notes.length, "connected note")}`);
}

/** Below it the answer begins by saying that it is not sure: CONFIDENT_LIKELIHOOD of app/answer/draft.py. */
const SURE = 0.85;
const LISTED = /^There is no question beside the filters/;
const NEAREST = / Nearest: [^]*$/;

/** An answer that there is none: said as such, with where to go from here. */
function refusal(page, answer) {
  const near = [...new Map(answer.sources.filter((one) => !one.weak).map((one) => [one.path, one])).values()].slice(0, 3);
  const [said, ...more] = answer.answer.replace(NEAREST, "").split(/(?<=\.) (?=No (?:note|passage))/);
  const field = document.getElementById("ask-field");
  return h("section", { class: "refusal", "aria-label": "No answer" },
    h("h2", {}, said.replace(/\.$/, "")),
    more.map((text) => h("p", {}, text)),
    near.length > 0 && h("div", {},
      h("h3", { class: "label" }, "Nearest notes"),
      h("ul", {}, near.map((one) => h("li", {},
        h("a", { href: noteHref(one.path, { lines: one.lines.join("-") }) }, one.title, one.heading && ` › ${one.heading.replaceAll(" > ", " › ")}`),
        folderOf(one.path) && h("span", { class: "dim small" }, folderOf(one.path)))))),
    h("div", { class: "row" },
      h("a", { class: "button", href: address("search", { q: page.question }) }, "Search for these words"),
      h("button", { class: "button", type: "button", onclick: () => { field.focus(); field.select(); } }, "Ask in other words")),
    h("p", { class: "dim small" }, "Names of notes, people and projects find most."));
}

/** Show the sources that are cited, and the others on demand: one sentence needs no five screens. */
function fold(page, refused) {
  const rest = page.cards.filter((card) => !card.classList.contains("used"));
  if (!rest.length || (!refused && rest.length === page.cards.length)) return;
  if (refused) {
    document.getElementById("sources-title").remove();
    // What is linked from notes that do not answer is noise.
    page.connected.hidden = true;
  }
  const more = h("ol", { class: "cards", "aria-label": refused ? "Sources" : "More sources" }, rest);
  const count = refused ? plural(rest.length, "passage was", "passages were") : plural(rest.length, "more passage was", "more passages were");
  const box = h("details", { class: "explain rest" }, h("summary", {}, `${count} looked at`), more);
  page.sources.querySelector(".cards:empty")?.remove();
  page.sources.append(box);
}

/** Put the marker of a quote at the end of its words, where it was left in a line of its own. */
function atTheEnd(prose) {
  for (const line of prose.querySelectorAll("p")) {
    const [mark] = line.childNodes;
    const quote = line.previousElementSibling;
    if (!mark?.matches?.("a.cite") || !quote?.matches("blockquote, ul, ol")) continue;
    const texts = quote.querySelectorAll("p, li, td, pre code");
    const last = texts[texts.length - 1] || quote;
    last.append(" ", mark);
    if (line.firstChild?.nodeName === "BR") line.firstChild.remove();
    if (!line.textContent.trim()) line.remove();
    else line.classList.add("from");
  }
}

/** What a follow-up was taken to mean. */
function understood({ conversation }) {
  // What a follow-up was taken to be about without a model, the answer says itself.
  return conversation?.question && !conversation.subject ? h("p", { class: "dim small" }, `Understood as: ${conversation.question}`) : null;
}

function name(link, page) {
  const label = link.textContent;
  const far = label.startsWith("C");
  const card = (far ? page.far : page.cards).find((one) => one.id === `cite-${label}`);
  const title = card?.querySelector(".card-title").textContent || "not shown";
  link.classList.toggle("far", far);
  link.setAttribute("aria-label", `${far ? "Connected note" : "Source"} ${label}: ${title}`);
  link.title = title;
}

/** The line below a quote that says where it is from. */
function attribute(line) {
  const text = line.nextSibling;
  if (text?.nodeType === Node.TEXT_NODE && /^\s*— /.test(text.data)) line.replaceWith(h("span", { class: "from" }, text));
}

function nothing() {
  return h("p", { class: "dim hint" }, "Other words may find it; so may fewer filters. Names of notes, people and projects work best.");
}

function made(answer) {
  const seconds = answer.timings_ms.total ? `${(answer.timings_ms.total / 1000).toFixed(2)} s` : "";
  const quoted = answer.mode === "extractive" ? "Your notes in their own words: no language model is set" : "";
  const written = answer.model ? `Written by ${answer.model} from the sources below` : quoted;
  return h("p", { class: "made" }, [written, seconds, behind(answer.pending)].filter(Boolean).join(" · "));
}

/** A name for a new conversation. */
function newTalk() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
