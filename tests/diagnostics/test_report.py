# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The HTML page: nothing in a dump can run, load or break anything in it."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from google.genai import types

from adk_history_guard import PROFILES, RejectedRequest
from adk_history_guard.diagnostics.failures import ProviderError
from adk_history_guard.diagnostics.report import MOST_ROWS, render_html
from tests.builders import SIGNATURE, call, model, response, user

pytestmark = pytest.mark.once

HOSTILE = (
    "<script>document.title='OWNED'</script>"
    "<img src=x onerror=\"document.title='OWNED'\">"
    "<style>body{display:none}</style>"
    '</style></title></svg></textarea>--><a href="javascript:alert(1)">x</a>'
    '{{ 7*7 }} {% raw %} " onmouseover="alert(1)" \' \x1b[31m \x00 \u202e \u2066 \u2028'
)
ALLOWED_TAGS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "footer"),
    *(
        "h1",
        "h2",
        "h3",
        "p",
        "a",
        "dl",
        "dt",
        "dd",
        "ol",
        "li",
        "span",
        "bdi",
        "strong",
    ),
    *("details", "summary", "div", "section", "svg", "path", "circle"),
}
ALLOWED_ATTRIBUTES = {
    *("lang", "dir", "charset", "http-equiv", "content", "name", "class", "id", "href"),
    *("aria-labelledby", "aria-label", "role", "title", "width", "height", "viewbox"),
    *("preserveaspectratio", "d", "cx", "cy", "r"),
}


class Reader(HTMLParser):
    """Collects tags, attributes and texts of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Keep a tag and its attributes."""
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data):
        """Keep a text."""
        self.texts.append(data)


def broken(**fields):
    """Return a request with a call that is not answered."""
    contents = [
        user("How is the weather?"),
        model(
            call("weather", id="c1", city="Oslo", signature=SIGNATURE),
            call("time", id="c2"),
        ),
        user(response("weather", id="c1", rain=True)),
        user("Go on."),
    ]
    error = ProviderError("ClientError", 400, "INVALID_ARGUMENT", "Not so.")
    made = {"contents": contents, "profile": PROFILES["gemini-3"], "error": error}
    return RejectedRequest(**{**made, **fields})


def hostile():
    """Return a request in which every text is hostile."""
    contents = [
        types.Content(
            role=HOSTILE,
            parts=[
                types.Part(text=HOSTILE + "A" * 1_000_000),
                call(HOSTILE, id=HOSTILE, **{HOSTILE: HOSTILE}),
                response(HOSTILE, id=f"{HOSTILE}x", **{HOSTILE: [HOSTILE]}),
                types.Part(inline_data=types.Blob(mime_type=HOSTILE, data=b"1")),
            ],
        ),
        user("\u202e" * 1000, HOSTILE),
    ]
    names = ("model", "agent", "session_id", "invocation_id", "profile_reason")
    return broken(
        contents=contents,
        error=ProviderError("x", 400, HOSTILE, HOSTILE),
        versions={HOSTILE: HOSTILE},
        **dict.fromkeys(names, HOSTILE),
    )


def test_the_page_shows_faults_arcs_and_changes():
    """The rule stands at its place, an arc for each pair, the changes in a list."""
    page = render_html(broken())
    text = " ".join("".join(Reader(page).texts).split())

    assert "HG101 unanswered-call" in text
    assert "contents[1].parts[1]: HG101 add: a placeholder response to 'time'" in text
    assert "As it was sent" in text
    assert "As mode='repair' sends it" in text
    assert "1 arcs from" in page
    assert "2 arcs from" in page
    assert 'href="#before-1-1"' in page
    assert 'id="before-1-1"' in page


def test_the_page_is_the_same_every_time():
    """No clock and no chance: two reports can be compared."""
    assert render_html(broken()) == render_html(broken())


@pytest.mark.parametrize("make", [broken, hostile])
def test_only_known_tags_and_attributes_stand_in_the_page(make):
    """Whatever a dump holds becomes text: no tag, no handler, no style of its own."""
    found = Reader(render_html(make()))

    assert set(found.tags) <= ALLOWED_TAGS
    assert {name for _, name, _ in found.attributes} <= ALLOWED_ATTRIBUTES
    assert found.tags.count("style") == 1
    for tag, name, value in found.attributes:
        assert name != "href" or (tag == "a" and value.startswith("#"))


def test_hostile_text_is_shown_as_text():
    """The reader sees what stood in the dump, with what acts on text written out."""
    page = render_html(hostile())

    assert "&lt;script&gt;document.title" in page
    assert "\\x1b[31m" in page
    assert "\\u202e" in page
    assert "{{ 7*7 }}" in page
    assert not set(page) & set("\x00\x1b\u202e\u2066\u2028")


def test_a_line_of_a_megabyte_does_not_make_a_page_of_a_megabyte():
    """Long texts are cut, with their length beside them."""
    assert len(render_html(hostile())) < 100_000


def test_the_policy_forbids_everything_but_the_one_style_sheet():
    """The CSP allows a style by its hash, which is that of the page's own style."""
    page = render_html(hostile())
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    values = [v for t, n, v in Reader(page).attributes if (t, n) == ("meta", "content")]

    assert values[0] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    )
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert "url(" not in style
    assert "@import" not in style


def test_the_page_needs_nothing_from_elsewhere():
    """No address is loaded; the page works offline."""
    names = {name for _, name, _ in Reader(render_html(broken())).attributes}

    assert not names & {"src", "srcset", "action", "data", "poster", "background"}


def test_a_long_request_is_drawn_around_its_faults():
    """Of ten thousand turns the ends and the faults are drawn, the rest is counted."""
    contents = [user("q"), *[model("a"), user("b")] * 5_000]
    contents[5_000:5_000] = [model(call("look", id="lost", signature=SIGNATURE))]

    page = render_html(broken(contents=contents))

    assert page.count("<li") < 2 * MOST_ROWS
    assert "turns are not shown" in page
    assert "call look (id &#39;lost&#39;)" in page


@pytest.mark.parametrize("contents", [[], [types.Content()], [user()]])
def test_a_request_of_nothing_makes_a_page(contents):
    """Empty contents and empty turns are drawn as such."""
    page = render_html(broken(contents=contents))

    assert "no contents" in page or "no parts" in page


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium")
@pytest.mark.parametrize("make", [broken, hostile])
@pytest.mark.parametrize("dark", ["", "--blink-settings=preferredColorScheme=0"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_the_page_and_runs_nothing(make, dark, width, tmp_path):
    """A real browser: the title is ours, and nothing is wider than the window."""
    page = tmp_path / "report.html"
    page.write_text(render_html(make()), encoding="utf-8")
    shot = tmp_path / "shot.png"
    command = [
        *("chromium", "--headless=new", "--no-sandbox", "--disable-gpu"),
        *(f"--user-data-dir={tmp_path}", "--hide-scrollbars"),
        *(f"--window-size={width},900", f"--screenshot={shot}", "--dump-dom"),
        *([dark] if dark else []),
        page.as_uri(),
    ]

    done = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=100
    )

    assert "<title>Rejected request:" in done.stdout
    assert "<title>OWNED" not in done.stdout
    assert shot.stat().st_size > 5_000
