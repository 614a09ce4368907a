"""Topics of words, written in the browser: one concept a line, with words suggested by marks.

And words that people hand in for a topic, by school stage and subject (Yang 2009, 5.1.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from mmcrawl.browse.arguments import Arguments, Form, Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import page
from mmcrawl.errors import MissingRecordError, TopicError
from mmcrawl.topic.loading import parse_plain, shipped_topic, topic_names
from mmcrawl.topic.own_words import own_words

_LONGEST_NAME = 64
_LONGEST = 100_000  # characters of a topic
_LONGEST_HANDED_IN = 2_000
_MOST_SHOWN = 200


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
            text = own_words(name) if name else ""
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
        try:
            self.context.topics.keep_words(name, text.replace("\r\n", "\n"))
        except (TopicError, OSError, UnicodeError) as error:
            raise Problem(400, "entry", error=error) from error
        return form.to("/topic/words", name=name)

    # -- words that people hand in ------------------------------------------------------------

    def suggestions(self, arguments: Arguments) -> Response:
        """Show the form in which words are handed in, and those that wait to be decided."""
        desk = self.context.topics
        by_stage: dict[str, list[str]] = {}
        for name in topic_names():
            by_stage.setdefault(shipped_topic(name).stage, []).append(name)
        waiting = desk.suggestions()
        return page(
            arguments,
            "suggestions",
            topic=arguments.text("topic", longest=_LONGEST_NAME),
            by_stage=by_stage,
            own=[name for name in desk.names_of_words() if name not in topic_names()],
            waiting=waiting[:_MOST_SHOWN],
            count=len(waiting),
            new=arguments.whole("new", -1, least=0),
            can_mark=desk.can_mark,
        )

    def suggest(self, form: Form) -> str:
        """Keep what is handed in."""
        desk, text = self.context.topics, form.text("words", longest=_LONGEST_HANDED_IN)
        name = form.choice("topic", (*topic_names(), *desk.names_of_words()))
        try:
            concepts = parse_plain(text.encode(), name, name).concepts
            new = desk.suggest(name, concepts, form.text("by", longest=_LONGEST_NAME))
        except (TopicError, UnicodeError) as error:
            raise Problem(400, "entry", error=error) from error
        return form.to("/topic/suggestions", topic=name, new=new)

    def decide(self, form: Form) -> str:
        """Take what was handed in into its topic, or decline it."""
        accepted = form.choice("decision", ("accept", "decline")) == "accept"
        try:
            self.context.topics.decide(form.text("id", longest=_LONGEST_NAME), accepted=accepted)
        except (TopicError, MissingRecordError, OSError) as error:
            raise Problem(400, "entry", error=error) from error
        return form.to("/topic/suggestions")
