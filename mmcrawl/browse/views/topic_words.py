"""Topics of words, written in the browser: one concept a line, with words suggested by marks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response

from mmcrawl.browse.arguments import Arguments, Form, Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import page
from mmcrawl.errors import TopicError
from mmcrawl.topic.loading import learnt_file, parse_plain

_LONGEST_NAME = 64
_LONGEST = 100_000  # characters of a topic


@dataclass(frozen=True, slots=True)
class TopicWordViews:
    """Topics of words."""

    context: Context

    def words(self, arguments: Arguments) -> Response:
        """Show the words of a topic to be changed; those of a new one are suggested by marks."""
        desk = self.context.topics
        name = arguments.text("name", longest=_LONGEST_NAME)
        marked = arguments.text("marks", longest=_LONGEST_NAME)
        try:
            text = _text_of(name) if name else ""
            suggested = desk.suggested(marked) if marked else []
        except (TopicError, OSError) as error:
            raise Problem(400, "entry", error=error) from error
        return page(
            arguments,
            "topic_words",
            name=name,
            marked=marked,
            text=text,
            suggested=suggested,
            marks=[one for one in desk.names() if desk.marks(one)],
        )

    def save(self, form: Form) -> str:
        """Keep the words of a topic, if they are some."""
        name = form.text("name", longest=_LONGEST_NAME)
        ticked = "\n".join(form.several("add"))
        text = f"{form.text('words', longest=_LONGEST)}\n{ticked}".strip() + "\n"
        text = text.replace("\r\n", "\n")
        try:
            path = _file(name)
            parse_plain(text.encode(), name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{path.name}.new")
            beside.write_text(text, encoding="utf-8")
            beside.replace(path)
        except (TopicError, OSError, UnicodeError) as error:
            raise Problem(400, "entry", error=error) from error
        return form.to("/topic/words", name=name)


def _file(name: str) -> Path:
    learnt = learnt_file(name)
    if learnt.is_file():
        raise TopicError(f"what was learnt is called {name!r} already; take another name")
    return learnt.with_name(f"{name}.txt")


def _text_of(name: str) -> str:
    path = _file(name)
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
