"""Whatever a note, a snippet or an answer holds: nothing of it runs, loads or leads astray."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.support.product import NoteView, answer_html, note_html, snippets_html

ALLOWED = {
    *("a", "p", "blockquote", "pre", "hr", "ul", "ol", "li", "section", "div", "table", "thead"),
    *("tbody", "tr", "th", "td", "h3", "h4", "h5", "h6", "em", "strong", "s", "code", "br"),
    *("mark", "span", "sup"),
}
ATTRIBUTES = {
    *("class", "href", "id", "data-line", "data-end", "data-kind", "start", "role"),
    *("aria-label", "target", "rel"),
}
SAFE = re.compile(r"#|https?://|mailto:|obsidian://open\?")

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "script-split": "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "script-unclosed": "<script>alert(1)",
    "script-in-svg": "<svg><script>alert(1)</script></svg>",
    "script-null": "<scr\x00ipt>alert(1)</script>",
    "img-onerror": "<img src=x onerror=alert(1)>",
    "img-backticks": "<img src=`x` onerror=`alert(1)`>",
    "img-remote": '<img src="https://evil.example/p.png">',
    "svg-onload": "<svg onload=alert(1)>",
    "svg-use": "<svg><use href='data:image/svg+xml,<svg id=x>#x'/></svg>",
    "svg-style": "<svg><style>*{background:url(https://evil.example)}</style></svg>",
    "math": "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "mutation": "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "template": "<template><img src=x onerror=alert(1)></template>",
    "iframe": "<iframe src=https://evil.example></iframe>",
    "iframe-srcdoc": "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "base": "<base href=https://evil.example/>",
    "meta": '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    "style-attribute": "<p style='position:fixed;inset:0;background:url(https://evil.example)'>x</p>",
    "form": "<form action=https://evil.example><input name=q autofocus onfocus=alert(1)></form>",
    "handler": "<a href=# onclick=alert(1) onmouseover=alert(1)>x</a>",
    "details": "<details open ontoggle=alert(1)>",
    "comment": "<!--><img src=x onerror=alert(1)>-->",
    "clobbering": "<a id=view name=view><a id=reader name=innerHTML>x</a>",
    "class": "<p class='toast up'>fake</p>",
    "broken": "<b <i <u <script alert(1)",
    "javascript": "[x](javascript:alert(1))",
    "javascript-entity": "[x](&#106;avascript:alert(1)) [y](javascript&colon;alert(1))",
    "javascript-tab": "[x](java\tscript:alert(1)) [y](<java\nscript:alert(1)>)",
    "javascript-encoded": "[x](javascript%3Aalert(1)) [y](%6Aavascript:alert(1))",
    "javascript-image": "![x](javascript:alert(1))",
    "javascript-title": '[x](# "\\"onmouseover=alert(1)")',
    "javascript-wikilink": "[[javascript:alert(1)]] [[javascript:alert(1)|click]]",
    "file": "[x](file:///etc/passwd) <file:///etc/passwd>",
    "data": "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "data-image": "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    "protocol-relative": "[x](//evil.example/a) ![y](//evil.example/p.png)",
    "absolute": "[x](/web/notes/Secret.md) [y](../../etc/passwd) [z](/status)",
    "obsidian-command": "[x](obsidian://advanced-uri?commandid=app%3Areload)",
    "image-alternative": '![" onerror="alert(1)](x) ![<script>alert(1)</script>](x)',
    "code": "`<script>alert(1)</script>`\n\n```html\n<img src=x onerror=alert(1)>\n```",
    "code-language": '```"><script>alert(1)</script>\nx\n```',
    "wikilink-markup": "[[<img src=x onerror=alert(1)>]] [[a|<svg/onload=alert(1)>]]",
    "tag-markup": '#x<img/onerror=alert(1)> #"onclick=alert(1)',
    "callout-kind": '> [!note" onclick="alert(1)] T\n> x\n\n> [!<script>] T',
    "comment-block": "%%\n<script>alert(1)</script>\n%%",
    "block-id": 'text ^id" onclick="alert(1)\n\ntext ^view',
    "math-markup": "$<img src=x onerror=alert(1)>$\n\n$$\n<script>alert(1)</script>\n$$",
    "footnote": '[^1]\n\n[^1]: <script>alert(1)</script>\n\n[^"onclick=alert(1)]',
    "table": "| <script>alert(1)</script> | b |\n|---|---|\n| <img src=x onerror=alert(1)> | x |",
    "front-matter": "---\na: <script>alert(1)</script>\n---\n---\nx: '</script>'\n---",
    "task": '- [" onclick="alert(1)] x\n- [<] <img src=x onerror=alert(1)>\n- ["] x',
    "bidi": "\u202e<script>alert(1)</script>\u202c",
    "control": "\x00\x08\x1b[31m<script>alert(1)</script>\x7f",
    "marker": '[1] [C1] [1](javascript:alert(1)) [1" onclick="alert(1)]',
}


class _Seen(HTMLParser):
    """Every tag and attribute of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.other: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, sorted(attrs, key=str)))

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)


def note(text: str) -> NoteView:
    return NoteView(
        path="Folder/Note.md",
        title="Note",
        folder="Folder",
        aliases=[],
        tags=[],
        page_type=None,
        created=None,
        modified=0.0,
        lines=(1, text.count("\n") + 1),
        text=text,
        outline=[],
        links=[],
        backlinks=[],
        uri="obsidian://open?vault=V&file=Folder%2FNote.md",
        generation=1,
    )


def renderings(text: str) -> list[str]:
    """A text in every place where it may stand."""
    return [
        note_html(note(text), "V")[0],
        *snippets_html([text], "alert script img onerror 1 x"),
        answer_html(text),
    ]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_nothing_of_it_is_left(text: str) -> None:
    for html in renderings(text):
        seen = _Seen(html)
        assert not seen.other
        for tag, attributes in seen.tags:
            assert tag in ALLOWED
            for name, value in attributes:
                assert name in ATTRIBUTES
                if name == "href":
                    assert SAFE.match(value or ""), value
                if name == "id":
                    assert re.match(r"(b-|fn)", value or ""), value


def test_the_second_wall_stands_alone() -> None:
    """The sanitiser does not rely on what the grammar lets through."""
    from tests.support.product import sanitise

    for text in HOSTILE.values():
        for tag, attributes in _Seen(sanitise(text)).tags:
            assert tag in ALLOWED
            assert {name for name, _ in attributes} <= ATTRIBUTES
            for name, value in attributes:
                assert name != "href" or SAFE.match(value or "")
