"""The turns of a conversation, an answer in events, and what a reply says of how it came about."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any

from llama_index.core.schema import NodeWithScore

from notehop.app import models
from notehop.app.answer.context import escape_body, escape_title
from notehop.app.answer.draft import CONFIDENT_LIKELIHOOD, MIN_ANSWER_LIKELIHOOD
from notehop.app.answer.follow_up import (
    MAX_FOLLOW_UP_WORDS,
    MAX_MORE_PASSAGES,
    MORE_OPENING,
    NEAREST_OPENING,
    NO_MORE,
    SMALL_TALK_REPLIES,
    CarriedSubjectSynthesizer,
    SmallTalkSynthesizer,
    Turn,
    lacks_subject,
    last_question,
    may_be_follow_up,
    new_subject,
    repeat_for_subject,
    replace_subject,
    small_talk_kind,
    subject_of,
    subject_with_condition,
    with_subject,
)
from notehop.app.answer.llm_synthesizer import condense_follow_up, recent_messages
from notehop.app.answer.names import capitalized_names
from notehop.app.answer.quotes.question import parse_question as question
from notehop.app.answer.quotes.text_analyzer import find_person, refers_back
from notehop.app.answer.synthesizer import NotehopQueryEngine
from notehop.app.lists.rewording import shift_period
from notehop.app.problems import problem, reason_of
from notehop.app.retrieval.chain import RetrievalRequest
from notehop.app.retrieval.components import TracedQuery
from notehop.app.retrieval.filters import MAX_QUERY_CHARS, ParsedQuery, split_filters
from notehop.app.retrieval.intents import ALL_FUNCTION_WORDS, SubjectFinder
from notehop.app.retrieval.relevance import question_words
from notehop.app.services.engine import Engine, VaultRetriever, not_shown
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.app.services.status import PendingCount
from notehop.config.errors import NotehopError
from notehop.indexing.llm.egress import sending
from notehop.indexing.llm.text import count_tokens
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.plain import sentence_spans

_log = logging.getLogger(__name__)

STAGE = "condense"  # the stage of a query that asks the model what a follow-up means
THEMES = "themes"  # the stage of a question about the whole vault, and what it is said to be after

WITHDRAWN = "(what this answer said is no longer in the vault)"
"""What is left of an answer from a note that was deleted, or made private, since."""

COVERED = 0.6
"""Share of the words of a question that the name of the note has to cover that it is about."""

AS_IT_STANDS = "the follow-up is taken as it stands"

CONVERSATIONS = 100  # that are remembered at once; the one that was left first is forgotten first
TURNS = 10  # questions of each, with their answers, that are remembered
KEEP_S = 3_600  # seconds after its last question when a conversation is forgotten
FOLLOW_UP_TOKENS = 2_000  # of what was said before, that a language model is sent with a follow-up


class Conversations:
    """The last turns of the conversations that were used last, by id. Threads may share it.

    An id that is not known, or no more, begins a conversation.
    """

    def __init__(self) -> None:
        # Those that were used last come last: when, how many turns there were, the last of them.
        self._talks: dict[str, tuple[float, int, tuple[Turn, ...]]] = {}
        self._busy = threading.Lock()

    def turns(self, name: str) -> tuple[Turn, ...]:
        """The turns of a conversation, oldest first; none if it is not known."""
        with self._busy:
            self._forget()
            return self._talks[name][2] if name in self._talks else ()

    def add(self, name: str, turn: Turn) -> int:
        """Remember a turn, and return its number, from 1, in the order in which turns came."""
        with self._busy:
            self._forget()
            _, count, turns = self._talks.pop(name, (0.0, 0, ()))
            kept = (*turns, turn)[-TURNS:]
            self._talks[name] = time.monotonic(), count + 1, kept
            for oldest in [*self._talks][:-CONVERSATIONS]:
                del self._talks[oldest]
            return count + 1

    def _forget(self) -> None:
        """Forget those that nobody went on with."""
        oldest = time.monotonic() - KEEP_S
        self._talks = {name: talk for name, talk in self._talks.items() if talk[0] >= oldest}


@dataclass(slots=True)
class QuestionRun:
    """A question on its way to its answer, at once or in events; it is asked once.

    ``cancelled`` says whether nobody waits for the answer any more. Of a question in a conversation,
    ``turn`` says where it stands, ``before`` names the notes of the turns that a model was told, and
    ``carried`` is what a follow-up is about where no model reads it; empty where that is not known.
    What asks nothing new is answered by what is still to show of the turn ``again``, else with what is
    ``told``. ``last`` is the turn before it.
    """

    asked: models.Query
    query: TracedQuery
    retriever: VaultRetriever
    engine: Engine
    talks: Conversations
    pending: PendingCount
    cancelled: Callable[[], bool] | None
    started: float = field(default_factory=time.perf_counter)
    turn: models.ConversationTurn | None = None
    before: tuple[str, ...] = ()
    carried: str | None = None
    again: Turn | None = None
    told: str = ""
    last: Turn | None = None

    def answer(self) -> models.Answer:
        self._read_follow_up()
        response = self._response(None)
        return self._reply(str(response), response.metadata)

    def events(self) -> Generator[models.StreamEvent, None, None]:
        """The sources, the connected notes, the answer in pieces, the whole of it; last what goes wrong."""
        cancelled = self.cancelled or (lambda: False)
        try:
            self._read_follow_up()
            if cancelled():
                return
            response = self._response(cancelled)
            found = response.metadata
            yield models.SourcesEvent(sources=explained(found["sources"], self.asked))
            yield models.ConnectedEvent(connected_notes=found["connected_notes"])
            said = ""
            with closing(response.response_gen) as pieces:
                for piece in pieces:
                    said += piece
                    yield models.TokenEvent(text=piece)
            if "answer" in found and not cancelled():
                answer = self._reply(found["answer"], found)
                if said.strip() and said.strip() != answer.answer.strip():
                    yield models.ResetEvent(text=answer.answer)
                yield models.DoneEvent(answer=answer)
        except Exception as exc:  # noqa: BLE001 (an event says so, and the log)
            if not isinstance(exc, NotehopError):
                _log.exception("the answer failed")
            yield models.ErrorEvent(problem=problem(exc))

    def _response(self, cancelled: Callable[[], bool] | None) -> Any:
        """That of LlamaIndex; in pieces where something says whether it is cancelled."""
        synthesizer = self.engine.synthesizer
        if self.told:
            refused = self.again is not None and self.again.was_refused
            synthesizer = SmallTalkSynthesizer(
                synthesizer, self.told, NEAREST_OPENING if refused else MORE_OPENING
            )
        elif self.carried is not None:
            synthesizer = CarriedSubjectSynthesizer(synthesizer, self.carried)
        if cancelled is not None:
            synthesizer = synthesizer.as_streaming(cancelled)
        return NotehopQueryEngine(self.retriever, synthesizer).query(self.query)

    def _reply(self, text: str, found: Mapping[str, Any]) -> models.Answer:
        """:param found: the metadata of the response."""
        llm = self.engine.llm
        model = None
        if llm is not None and found["mode"] == "llm":
            model = llm.metadata.model_name
            model = llm.class_name() if model == "unknown" else model
        # What a response tells of an answer is called as the fields are.
        fields = {name: found[name] for name in models.Answer.model_fields if name in found}
        fields |= {name: explained(found[name], self.asked) for name in ("citations", "sources")}
        timings = found["timings_ms"]
        fields |= reply_fields(self.query, self.asked, self.pending, self.started, timings)
        answer = models.Answer(**fields | {"answer": text, "model": model})
        if (turn := self.turn) is None:
            return answer
        # Remembered for the questions after it.
        notes = [source.path for source in answer.sources]
        notes += [note.path for note in answer.connected_notes]
        if turn.question is not None:
            # What the model made of the follow-up tells of the notes of the turns before it.
            notes += self.before
        asks = bool((self.query.trace.text or "").strip())
        # Filters alone name the notes that they leave, and quote nothing.
        shown = answer.citations if asks or answer.citations else answer.sources
        # What asks nothing new leaves the questions after it about what was asked before it.
        kept = self.again or Turn("", text)
        if not self.told:
            kept = Turn(
                turn.question or self.asked.query,
                text,
                typed_question=self.asked.query,
                subject=self.carried or self._subject(answer),
                person=self._somebody(answer),
                was_refused=asks and answer.mode == "none",
                filters=self.asked.filters,
                year="".join(one[6:10] for one in answer.filters if one.startswith("after:")),
            )
        kept = replace(
            kept,
            answer=text,
            paths=tuple(dict.fromkeys([*notes, *kept.paths])),
            shown_ids=(*kept.shown_ids, *(one.id for one in shown)),
        )
        # Counted now: another question may have been asked in the conversation meanwhile.
        number = self.talks.add(turn.conversation_id, kept)
        told = turn.model_copy(update={"turn": number})
        return answer.model_copy(update={"conversation": told})

    def _read_follow_up(self) -> None:
        """Rewrite the query to what it means after what was said before it.

        Its filters are kept as they were written, and those of earlier questions are not taken up.
        What the model writes is text: nothing in it is a filter. Without a model, a question that has
        no subject of its own is one about the last. Where a model fails, a warning says that the
        question is taken as it stands.
        """
        name = self.asked.conversation_id
        turns: Sequence[Turn] = self.talks.turns(name) if name else ()
        if name:
            self.turn = models.ConversationTurn(conversation_id=name, turn=len(turns) + 1)
        plain = self.engine.llm is None and not self.asked.literal
        kind = small_talk_kind(self.asked.query, first=not turns) if plain else None
        if not turns and kind is None:
            return
        with self.engine.reader.snapshot() as view:
            turns = self._standing(turns, view)
            if kind is not None and not _named(self.asked.query, view):
                last = next((one for one in reversed(turns) if one.question), None)
                self._go_on(kind, last)
                return
            if not turns or self.turn is None:
                return
            self.last = turns[-1]
            written = split_filters(view, self.query.query_str, literal=self.asked.literal)
            if not written.text.strip():
                return
            with self.query.trace.timed(STAGE):
                question = self._condensed(written, turns, view)
            if question is None or question == written.text:
                return
            if not self.asked.literal:
                # Of what would be read as a filter, the words of phrases stay.
                while (found := split_filters(view, question)).conditions:
                    question = found.text
        rewritten = _within(written, question)
        if len(rewritten) > MAX_QUERY_CHARS:
            longer = "what it means after what was said before is longer than a question may be"
            self.query.trace.warn(f"{AS_IT_STANDS}: {longer}")
            return
        self.turn = self.turn.model_copy(update={"question": question, "subject": self.carried})
        self.query.query_str = rewritten

    def _go_on(self, kind: str, last: Turn | None) -> None:
        """Answer what asks nothing new: with more of what was found last, or with a sentence."""
        self.told, self.again = SMALL_TALK_REPLIES[kind], last
        if kind == "asked_before" and last is not None:
            self.told = f"You asked: “{escape_body(escape_title(last.typed_question))}”."
        if kind != "more" or last is None:
            self.query.trace.count("index", generation=self.engine.generation)
            self.retriever = VaultRetriever(lambda *_: [], RetrievalRequest(self.asked), "")
            return
        if self.asked.filters != models.Filters():
            last = replace(last, filters=self.asked.filters)
        self.again, self.told, self.query.query_str = last, NO_MORE, last.question

        def more(found: Sequence[NodeWithScore]) -> list[NodeWithScore]:
            left = not_shown(last, found)
            return left if left and "listed" in left[0].node.metadata else left[:MAX_MORE_PASSAGES]

        asked = self.asked.model_copy(update={"filters": last.filters})
        self.retriever = self.retriever.then(more, query=asked, already_shown=len(last.shown_ids))
        if self.turn is not None:
            self.turn = self.turn.model_copy(update={"question": last.question})

    def _standing(self, turns: Sequence[Turn], view: Snapshot) -> list[Turn]:
        """The turns; of one whose notes may not be shown any more, only what the user typed in it."""
        standing = CurrentNotes(view, self.engine.place)
        shown = [*turns]
        for at, turn in enumerate(turns):
            if set(turn.paths) - standing.notes_at(turn.paths).keys():
                typed, subject = turn.typed_question, turn.subject
                own = subject if subject.casefold() in typed.casefold() else ""
                shown[at] = replace(turn, question=typed, answer=WITHDRAWN, paths=(), subject=own, person="")
        return shown

    def _condensed(self, written: ParsedQuery, turns: Sequence[Turn], view: Snapshot) -> str | None:
        """The follow-up as a question of its own; None, with a warning, if no model could help."""
        llm, text = self.engine.llm, written.text
        try:
            if llm is None:
                return self._about(written, turns[-1], view)
            said = recent_messages(turns, FOLLOW_UP_TOKENS, count_tokens)
            notes = dict.fromkeys(path for turn in turns[-len(said) // 2 :] for path in turn.paths)
            self.before = tuple(notes)
            with sending(notes, purpose="condense", cancelled=self.cancelled) as sent:
                try:
                    return condense_follow_up(llm, said, text)
                finally:
                    for notice in sent.notices:
                        self.query.trace.warn(notice)
        except Exception as exc:  # noqa: BLE001 (any provider's error; the reply carries it)
            if not isinstance(exc, NotehopError):
                _log.debug("the language model failed", exc_info=exc)
            self.query.trace.warn(f"{AS_IT_STANDS}: {reason_of(exc)}")
            return None

    def _about(self, written: ParsedQuery, last: Turn, view: Snapshot) -> str | None:
        """The follow-up with the words of the last question, or with its subject where it has none."""
        text = written.text
        if further := shift_period(last_question(last), text, date.today(), last.year):
            return further
        content = partial(self._content, view=view)
        asked, other = content(last_question(last)), new_subject(text)
        named = bool(_named(other or text, view)) or self._has_it_too(written, other, last, view)
        if last.person and refers_back(text) and not (named or capitalized_names(text)):
            self.carried = last.person
            return with_subject(text, last.person)
        if again := repeat_for_subject(text, last, asked, names_note=named):
            return again
        subject, own = subject_with_condition(last), content(text)
        lacks = not named and lacks_subject(text, own)
        of_it = with_subject(text, subject) if subject else ""
        may = bool(subject) and may_be_follow_up(text, own)
        if lacks and other and subject:  # "What about the shed?" may be a new subject.
            alone, carried = (self._tried(written, one)[0] for one in (text, of_it))
            lacks = not carried < MIN_ANSWER_LIKELIHOOD <= alone
        if not lacks and (named or not may or not self._is_sooner_of(written, subject, view)):
            return None
        self.carried = subject
        return of_it or None

    def _has_it_too(self, written: ParsedQuery, other: str, last: Turn, view: Snapshot) -> bool:
        """Whether the last question is surely answered for another in the place of a note that does not say
        that: it is of its kind, though no note is called so."""
        own = _passages_of(last.subject, view)
        put = replace_subject(last.subject, other, last_question(last)) if other and own else ""
        if not put or self._is_told_by(other, own, view):
            return False
        likely, quoted = self._tried(written, put)
        return likely >= CONFIDENT_LIKELIHOOD and self._is_told_by(put, quoted, view)

    def _tried(self, written: ParsedQuery, question: str) -> tuple[float, list[str]]:
        """How likely what is found answers a question, and the ids of what would be quoted."""
        ask = NotehopQueryEngine(self.retriever, self.engine.synthesizer).query
        found = ask(TracedQuery(_within(written, question))).metadata or {}
        quoted, likely = [one["id"] for one in found.get("citations", ())], found.get("likelihood")
        # What was looked up, and not searched for, has none.
        return float(bool(quoted)) if likely is None else likely, quoted

    def _is_sooner_of(self, written: ParsedQuery, subject: str, view: Snapshot) -> bool:
        """Whether a question is not surely answered alone, and rather as one about a subject: of what it
        names itself, and the vault has, that has to speak."""
        alone, _ = self._tried(written, written.text)
        of_it, quoted = self._tried(written, with_subject(written.text, subject))
        # A word or two, which are not looked up, may be of a note that is quoted then.
        is_bare = alone < 1 and written.text.count(" ") < MAX_FOLLOW_UP_WORDS
        is_bare = is_bare and not _passages_of(subject, view).isdisjoint(quoted[:1])
        if of_it < MIN_ANSWER_LIKELIHOOD or not (is_bare or of_it > alone < CONFIDENT_LIKELIHOOD):
            return False
        return self._is_told_by(written.text, quoted, view)

    def _is_told_by(self, text: str, passages: Collection[str], view: Snapshot) -> bool:
        """Whether passages have what a text names: all its words but everyday ones, and those that no note
        has."""
        words = question_words(text, self.engine.tokenizer, view.lexical)
        tokens = {token for word in words for token in word.tokens}
        held = frozenset().union(*view.lexical.held(tokens, passages).values())
        common = self.engine.embedder.tokens.is_common
        return all(word.is_missing or common(word.text) or not held.isdisjoint(word.tokens) for word in words)

    def _content(self, text: str, view: Snapshot) -> list[str]:
        """The words of a text that say something, as they are written."""
        words = question_words(text, self.engine.tokenizer, view.lexical)
        # Where there are no others, small words are a question.
        return [one.text for one in words if fold(one.text).casefold() not in ALL_FUNCTION_WORDS]

    def _subject(self, answer: models.Answer) -> str:
        """What a question of its own was about; where it was refused, what was spoken of before it."""
        with self.engine.reader.snapshot() as view:
            text = split_filters(view, self.query.query_str, literal=self.asked.literal).text
            named = [note.title for note in view.notes_at(_named(text, view)).values()]
            content, last = self._content(text, view), self.last
            # Of what the vault has, and was not spoken of before, a question is one of its own.
            told = self._is_told_by(text, last.shown_ids if last else (), view)
        strays = (
            len(content) <= MAX_FOLLOW_UP_WORDS
            and (answer.likelihood or CONFIDENT_LIKELIHOOD) < CONFIDENT_LIKELIHOOD
        )
        if (answer.mode == "none" or strays) and not (named or capitalized_names(text)):
            if last is not None and last.subject and (told or len(content) < MAX_FOLLOW_UP_WORDS):
                return last.subject
            if told:
                content = []
        cited = [one.title for one in answer.citations]
        if answer.likelihood is None and len(cited) == 1:
            named = [*named, *cited]  # The only one of those that were asked for.
        return subject_of(text, named, cited, content)

    def _somebody(self, answer: models.Answer) -> str:
        """Whom the answer to a question for somebody names; empty where it is in doubt."""
        asked = question(self.query.query_str)
        several = answer.likelihood is None and len(answer.citations) > 1
        if (
            "person" not in asked.forms
            or (answer.likelihood or CONFIDENT_LIKELIHOOD) < CONFIDENT_LIKELIHOOD
            or several
        ):
            return ""
        with self.engine.reader.snapshot() as view:
            told = (asked, sentence_spans, view.named_any)
            names = (find_person(one.title, one.quote, *told) for one in answer.citations)
            return next(names, "")


def _within(written: ParsedQuery, question: str) -> str:
    """A question within the filters of what was written: these first, for a quote that a model left open
    would take one in."""
    return " ".join([*map(str, written.conditions), question])


def _passages_of(subject: str, view: Snapshot) -> set[str]:
    return {one for path in _named(subject, view) for one in view.chunk_ids_of(path)}


def _named(text: str, view: Snapshot) -> tuple[str, ...]:
    """The notes that a question is about by name: "run tests" is not about a note called *Run*."""
    return SubjectFinder(view, text, None, min_share=COVERED).find_notes(())


def explained(sources: Sequence[Mapping[str, Any]], asked: models.BaseQuery) -> list[Any]:
    """Sources with the record of their ranking only where the query asks for it."""
    if asked.explain:
        return list(sources)
    hidden = dict.fromkeys(("signals", "rerank", "expanded_from", "held_back"))
    return [{**source, **hidden} for source in sources]


def reply_fields(
    query: TracedQuery,
    asked: models.BaseQuery,
    pending: PendingCount,
    started: float,
    timings_ms: Mapping[str, float],
) -> dict[str, Any]:
    """The fields of :class:`Reply` that are known of every query; ``started`` is of ``perf_counter``."""
    trace = query.trace
    total = (time.perf_counter() - started) * 1000
    timings = {name: round(value, 3) for name, value in {**timings_ms, "total": total}.items()}
    found: dict[str, Any] = {
        "filters": trace.filters,
        "searched_for": trace.searched_for,
        "generation": trace.counts["index"]["generation"],
        "pending": pending.value(trace.changed),
        "timings_ms": timings,
    }
    if trace.plan is not None:
        found["intent"] = trace.plan.intent
        counts = {stage: dict(counts) for stage, counts in trace.counts.items()}
        explained = trace.plan.model_copy(update={"counts": counts})
        found["explanation"] = explained if asked.explain else None
    if THEMES in trace.counts:
        found["intent"] = THEMES
    return found
