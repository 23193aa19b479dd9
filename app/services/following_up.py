"""Reads a question as part of a conversation: what it means after what was said before.

Touches: index (reads), vault-read, model (a language model, which may be across the network).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from notehop.app.answer.conversation import (
    CarriedSubject,
    Turn,
    history,
    lacks_subject,
    standalone,
    subject_of,
    with_subject,
)
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.models import Answer, ConversationTurn, Query
from notehop.app.problems import agent_text, unforeseen
from notehop.app.retrieval.background import question_words
from notehop.app.retrieval.filters.syntax import Written, read
from notehop.app.retrieval.subject import SMALL, Subject
from notehop.app.retrieval.trace import TracedQuery
from notehop.app.services.conversations import Conversations
from notehop.app.services.machinery import Machinery
from notehop.app.services.place import Place
from notehop.app.services.standing import Standing
from notehop.config.errors import NotehopError
from notehop.indexing.llm.egress import sending
from notehop.indexing.llm.tokens import counter
from notehop.indexing.stores.labels import property_label
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.fold import fold

_log = logging.getLogger(__name__)

STAGE = "condense"
"""The stage of a query that asks the model what a follow-up means."""

WITHDRAWN = "(what this answer said is no longer in the vault)"
"""What is left of an answer from a note that was deleted, or made private, since."""

COVERED = 0.6
"""Share of the words of a question that the name of the note has to cover that it is about."""

TOO_LONG = "what it means after what was said before is longer than a question may be"


class FollowUp:
    """One question in its conversation, or in none."""

    def __init__(
        self,
        asked: Query,
        query: TracedQuery,
        talks: Conversations,
        machinery: Machinery,
        place: Place,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        """:param cancelled: says whether nobody waits for the answer any more."""
        self._asked = asked
        self._query = query
        self._talks = talks
        self._machinery = machinery
        self._place = place
        self._cancelled = cancelled
        self._turn: ConversationTurn | None = None
        self._before: tuple[str, ...] = ()
        # What a follow-up is about where no model reads it; empty where that is not known.
        self._carried: str | None = None

    def read(self) -> None:
        """Rewrite the query to what it means after what was said before it.

        Its filters are kept as they were written, and those of earlier questions are not taken up.
        What the model writes is text: nothing in it is a filter. Without a model, a question that has
        no subject of its own is one about the last. Where a model fails, a warning says that the
        question is taken as it stands.
        """
        name = self._asked.conversation_id
        if name is None:
            return
        turns = self._talks.turns(name)
        self._turn = ConversationTurn(conversation_id=name, turn=len(turns) + 1)
        if not turns:
            return
        with self._machinery.reader.snapshot() as view:
            written = self._written(view)
            if not written.text.strip():
                return
            with self._query.trace.timed(STAGE):
                question = self._condensed(written.text, turns, view)
            if question is None or question == written.text:
                return
            if not self._asked.literal:
                question = _without_filters(question, _properties(view))
        # The filters come first: a quote that the model left open would take one in.
        rewritten = " ".join([*map(str, written.conditions), question])
        if len(rewritten) > self._place.settings.retrieval.max_query_chars:
            self._query.trace.warn(f"the follow-up is taken as it stands: {TOO_LONG}")
            return
        self._turn = self._turn.model_copy(update={"question": question, "subject": self._carried})
        self._query.query_str = rewritten

    @property
    def synthesizer(self) -> VaultSynthesizer:
        """What answers: where a subject was carried over, it says so first."""
        own = self._machinery.synthesizer
        return own if self._carried is None else CarriedSubject(own, self._carried)

    def kept(self, answer: Answer) -> Answer:
        """Remember the answer for the questions after it, and say in it which turn it is."""
        if self._turn is None:
            return answer
        notes = [source.path for source in answer.sources]
        notes += [note.path for note in answer.connected_notes]
        if self._turn.question is not None:
            # What the model made of the follow-up tells of the notes of the turns before it.
            notes += self._before
        asked = self._turn.question or self._asked.query
        turn = Turn(
            asked,
            answer.answer,
            tuple(dict.fromkeys(notes)),
            self._asked.query,
            self._carried or self._subject(answer),
        )
        # Counted now: another question may have been asked in the conversation meanwhile.
        number = self._talks.add(self._turn.conversation_id, turn)
        told = self._turn.model_copy(update={"turn": number})
        return answer.model_copy(update={"conversation": told})

    def _written(self, view: Snapshot) -> Written:
        """The question and its filters."""
        text = self._query.query_str
        return Written(text) if self._asked.literal else read(text, _properties(view))

    def _condensed(self, text: str, turns: Sequence[Turn], view: Snapshot) -> str | None:
        """The follow-up as a question of its own; None, with a warning, if no model could help."""
        try:
            llm = self._machinery.llm
            standing = Standing(view, self._place)
            shown = [_shown(turn, standing) for turn in turns]
            if llm is None:
                return self._about(text, shown[-1].subject, view)
            settings = self._place.settings
            said = history(shown, settings.conversation.max_tokens, counter(settings).count)
            notes = dict.fromkeys(path for turn in shown[-len(said) // 2 :] for path in turn.paths)
            self._before = tuple(notes)
            with sending(notes, purpose="condense", cancelled=self._cancelled) as sent:
                try:
                    return standalone(llm, said, text)
                finally:
                    for notice in sent.notices:
                        self._query.trace.warn(notice)
        except Exception as exc:  # noqa: BLE001 (any provider's error; the reply carries it)
            if not isinstance(exc, NotehopError):
                _log.debug("the language model failed", exc_info=exc)
            told = agent_text(exc) if isinstance(exc, NotehopError) else unforeseen(exc)
            reason = (told.strip() or type(exc).__name__).splitlines()[0][:300]
            self._query.trace.warn(f"the follow-up is taken as it stands: {reason}")
            return None

    def _about(self, text: str, subject: str, view: Snapshot) -> str | None:
        """The follow-up with the last subject, where it has none of its own."""
        words = question_words(text, self._machinery.tokenizer, view.lexical)
        # Where there are no others, small words are a question.
        content = [one.written for one in words if fold(one.written).casefold() not in SMALL]
        if _named(text, view) or not lacks_subject(text, content):
            return None
        self._carried = subject
        return with_subject(text, subject) if subject else None

    def _subject(self, answer: Answer) -> str:
        """What a question of its own was about."""
        with self._machinery.reader.snapshot() as view:
            text = self._written(view).text
            named = [note.title for note in view.notes_at(_named(text, view)).values()]
        cited = [one.title for one in answer.citations]
        return subject_of(text, named, cited, self._machinery.tokenizer.query)


def _named(text: str, view: Snapshot) -> tuple[str, ...]:
    """The notes that a question is about by name: "run tests" is not about a note called *Run*."""
    return Subject(view, text, None, covered=COVERED).notes(())


def _shown(turn: Turn, standing: Standing) -> Turn:
    """A turn; once a note that it came from may not be shown, only what the user typed in it."""
    there = set(standing.notes_at(turn.paths))
    if there.issuperset(turn.paths):
        return turn
    subject = turn.subject if turn.subject.casefold() in turn.typed.casefold() else ""
    return Turn(turn.typed, WITHDRAWN, subject=subject)


def _properties(view: Snapshot) -> Callable[[str], bool]:
    labels = view.labels
    return lambda key: labels.has(property_label(key))


def _without_filters(question: str, is_property: Callable[[str], bool]) -> str:
    """A text in which nothing is read as a filter: the words of phrases stay."""
    while (written := read(question, is_property)).conditions:
        question = written.text
    return question
