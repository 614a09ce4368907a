"""Topics that are learnt from pages: what is known of them, pages to mark, and marking."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from starlette.responses import RedirectResponse, Response

from mmcrawl.browse.arguments import Arguments, Form, Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import page
from mmcrawl.browse.text import address
from mmcrawl.errors import TopicError
from mmcrawl.learning.training import CAUTIONS
from mmcrawl.topic.page_model import PageModel

_LONGEST_NAME = 64
_MOST_MARKS = 200
_MARKS = {"good": True, "bad": False, "none": None}


@dataclass(frozen=True, slots=True)
class TopicViews:
    """Learnt topics."""

    context: Context

    def topics(self, arguments: Arguments) -> Response:
        """List the topics, or lead to one that is named."""
        desk = self.context.topics
        if name := arguments.text("name", longest=_LONGEST_NAME):
            words = arguments.words
            lang = words.language if words.chosen else None
            return RedirectResponse(address("/topic", name=name, lang=lang), 303)
        listed = []
        for name in desk.names():
            marks = desk.marks(name)
            good = sum(mark.is_good for mark in marks)
            listed.append((name, _measured(self._model(name)), good, len(marks) - good))
        own = desk.names_of_words()
        return page(arguments, "topics", topics=listed, own=own, can_mark=desk.can_mark)

    def topic(self, arguments: Arguments) -> Response:
        """Show a topic, and the pages about which it is least sure."""
        desk = self.context.topics
        name = arguments.text("name", longest=_LONGEST_NAME)
        model = self._model(name)
        marks = desk.marks(name)
        return page(
            arguments,
            "topic",
            name=name,
            measured=_measured(model),
            examples=(len(model.good), len(model.bad)) if model else (0, 0),
            marks=marks[:_MOST_MARKS],
            good=sum(mark.is_good for mark in marks),
            bad=sum(not mark.is_good for mark in marks),
            candidates=desk.least_sure(name),
            can_mark=desk.can_mark,
            again=3 if desk.is_learning(name) else 0,
            failure=desk.failure(name),
        )

    # -- what forms do --------------------------------------------------------------------------

    def mark(self, form: Form) -> str:
        """Mark a page as right or wrong for a topic, or take the mark back."""
        url, name = form.url(), form.text("new", longest=_LONGEST_NAME)
        name = name or form.text("topic", longest=_LONGEST_NAME)
        self.context.visits(url)
        self.context.topics.mark(name, url, is_good=_MARKS[form.choice("mark", tuple(_MARKS))])
        if form.text("from", longest=10) == "page":
            return form.to("/page", url=url)
        return form.to("/topic", name=name)

    def learn(self, form: Form) -> str:
        """Learn a topic from what is marked."""
        name = form.text("name", longest=_LONGEST_NAME)
        try:
            self.context.topics.learn(name)
        except TopicError as error:
            raise Problem(400, "entry", error=error) from error
        return form.to("/topic", name=name)

    def _model(self, name: str) -> PageModel | None:
        try:
            return self.context.topics.model(name)
        except TopicError as error:
            raise Problem(400, "entry", error=error) from error


def _measured(model: PageModel | None) -> dict[str, Any] | None:
    """Return what a page shows of a model, whatever its file says; None if there is none."""
    if model is None:
        return None
    told = model.measured

    def number(name: str) -> float:
        value = told.get(name, 0)
        return float(value) if isinstance(value, int | float) else 0.0

    def texts(name: str) -> list[str]:
        value = told.get(name, [])
        return [str(one) for one in value] if isinstance(value, list) else []

    return {
        **{name: number(name) for name in ("precision", "recall", "good", "bad", "learnt_at")},
        **{name: texts(name) for name in ("words", "against")},
        "cautions": dict(_cautions(told.get("cautions"))),
    }


def _cautions(told: Any) -> Iterator[tuple[str, int]]:
    for name, number in told.items() if isinstance(told, dict) else ():
        if name in CAUTIONS and isinstance(number, int):
            yield name, number
