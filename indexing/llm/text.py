"""Text on its way to a language model, and what of a model's text is its answer. Pure: nobody is asked,
and nothing is loaded."""

from __future__ import annotations

import re
from math import ceil
from string import ascii_letters

_CONTROL = re.compile(
    r"<(?=[|｜][^<>|｜\n]{1,60}[|｜]>)"  # <|im_start|>, <|eot_id|>, <｜User｜>
    r"|<(?=<?/?SYS>>)|(?<=<)<(?=/?SYS>>)"  # <<SYS>>
    r"|<(?=/?(?:s|bos|eos|pad|unk|sop|eop|\w{2,20}_of_(?:turn|text|image|document|audio)"
    r"|(?:BOS|EOS|PAD|UNK)_TOKEN|think|tool_call|tool_response|tools|unused\d{1,4})>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|ARGS|CALL_ID"
    r"|IMG(?:_BREAK|_END)?|BEGIN_AUDIO|AUDIO|PREFIX|SUFFIX|MIDDLE|THINK|gMASK|sMASK)\])",
    re.IGNORECASE,
)
"""What begins a token by which the chat templates of models tell who speaks: ChatML, Llama 2 to 4,
Mistral, Gemma, Phi, DeepSeek, Command, GLM and those that follow them."""

_VISIBLE = str.maketrans("<[", "＜［")

_NAMES = r"think|thinking|thought|reasoning"
_OPENS = re.compile(rf"<({_NAMES})>|\[(THINK)\]", re.IGNORECASE)
_MAY_OPEN = re.compile(r"(?:<[a-z]{0,9}|\[[a-z]{0,5})?\Z", re.IGNORECASE)
_CLOSES_ALONE = re.compile(rf"^[ \t]*(?:</(?:{_NAMES})>|\[/THINK\])[ \t]*$", re.I | re.M)
_SURROGATE = re.compile("[\ud800-\udfff]")


def without_control(text: str) -> str:
    """A text in which no token of a chat template stands: ``＜|im_start|>``, ``［INST]``.

    To a server that reads its prompt as one text, such a token in a note would end the note and
    begin the words of somebody else.
    """
    return _CONTROL.sub(lambda found: found[0].translate(_VISIBLE), text)


class AnswerText:
    """Takes what a model says in any pieces; gives what of it is its answer.

    Left out are thoughts, which models that reason write first (``<think>…</think>``), and NUL.
    Half of a surrogate pair becomes U+FFFD, since nothing can encode it.
    """

    def __init__(self) -> None:
        self.thinks = False
        """Whether it began to think, and has not ended."""
        self._begins = True
        self._pending = ""
        self._closing = _SURROGATE

    def feed(self, piece: str) -> str:
        """Take a piece; return what is answer by now, which may be nothing."""
        text = self._pending + _SURROGATE.sub("\ufffd", piece.replace("\0", ""))
        self._pending = ""
        if self._begins:
            text, self._pending = self._answer(text)
        return text

    def close(self) -> str:
        """Return the rest: nothing follows."""
        rest = "" if self.thinks else self._pending
        self._pending = ""
        return rest

    def _answer(self, text: str) -> tuple[str, str]:
        """The answer, once it begins, and what is not known yet to be one."""
        while True:
            if self.thinks:
                if (end := self._closing.search(text)) is None:
                    return "", text[1 - len("</reasoning>") :]
                text = text[end.end() :]
                self.thinks = False
            text = text.lstrip()
            if (opens := _OPENS.match(text)) is not None:
                self.thinks = True
                name = opens[1] or opens[2]
                closing = f"</{name}>" if opens[1] else f"[/{name}]"
                self._closing = re.compile(re.escape(closing), re.IGNORECASE)
                text = text[opens.end() :]
            elif _MAY_OPEN.match(text):
                return "", text
            else:
                self._begins = False
                return text, ""


def answer_of(text: str) -> str:
    """What of a model's whole text is its answer (see :class:`AnswerText`).

    Where a template wrote the beginning of a thought itself, only its end stands in the text: what
    comes before that is no answer either.
    """
    whole = AnswerText()
    answer = whole.feed(text) + whole.close()
    if (found := _CLOSES_ALONE.search(answer)) and not _OPENS.search(answer, 0, found.start()):
        return answer[found.end() :].lstrip()
    return answer


LETTERS_PER_TOKEN = 3.5
SPACES_PER_TOKEN = 8
BYTES_PER_TOKEN = 1.3
"""What a token holds at least: letters and spaces of ASCII, and bytes of other scripts; each digit
and each sign counts as a token. By the two tokenizers of OpenAI that come with LlamaIndex, no note
of 730 (prose, tables, code, lists of versions) has more tokens than this says; half of them have
0.67 to 0.91 as many. Smaller vocabularies take up to a sixth more, which is why it is no closer."""

_LETTERS = [letter.encode() for letter in ascii_letters]


def count_tokens(text: str) -> int:
    """Tokens of a text, rather too many."""
    plain = text.encode("ascii", "ignore")
    letters = sum(map(plain.count, _LETTERS))
    spaces = plain.count(b" ")
    signs = len(plain) - letters - spaces
    others = len(text.encode("utf-8", "surrogatepass")) - len(plain)
    return ceil(letters / LETTERS_PER_TOKEN + spaces / SPACES_PER_TOKEN + signs + others / BYTES_PER_TOKEN)
