"""Topics that are learnt from pages, and topics of words.

Of the first: what is known of them, pages to mark, and marking. Of the others one concept a line is
written in the browser, with words suggested by marks, and words that people hand in for a topic, by
school stage and subject (Yang 2009, 5.1.1)."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from mmcrawl.browse.arguments import Arguments, Form
from mmcrawl.browse.context import Context, found_media
from mmcrawl.browse.rendering import page
from mmcrawl.errors import TopicError
from mmcrawl.topic.loading import own_words, parse_plain, topic_names, topic_stages
from mmcrawl.works.collections import Marks, Suggestions

_LONGEST_NAME = 64
_MARKS = {"good": True, "bad": False, "none": None}


def topics_page(context: Context, arguments: Arguments) -> Response:
    desk = context.topics
    if name := arguments.text("name", longest=_LONGEST_NAME):
        return RedirectResponse(arguments.to("/topic", name=name), 303)
    listed = []
    for name in desk.names():
        marks = Marks(context.catalogue).of(name)
        good = sum(mark.is_good for mark in marks)
        model, problem = None, ""
        try:
            model = desk.model(name)
        except TopicError as error:
            problem = str(error)
        listed.append((name, model and model.facts, good, len(marks) - good, problem))
    own = desk.names_of_words()
    return page(arguments, "topics", topics=listed, own=own, can_mark=context.catalogue.can_keep)


def topic_page(context: Context, arguments: Arguments) -> Response:
    """Show a topic, and the pages about which it is least sure."""
    desk = context.topics
    name = arguments.text("name", longest=_LONGEST_NAME)
    learns = name in desk.programs.running()  # asked first: what it writes at its end is read then
    model = desk.model(name)
    marks = Marks(context.catalogue).of(name)
    return page(
        arguments,
        "topic",
        name=name,
        measured=model and model.facts,
        marks=marks,
        candidates=desk.least_sure(name),
        can_mark=context.catalogue.can_keep,
        again=3 if learns else 0,
        failure=desk.programs.failure(name),
    )


# -- what forms do --------------------------------------------------------------------------


def mark_page(context: Context, form: Form) -> str:
    url, name = form.url(), form.text("new", longest=_LONGEST_NAME)
    name = name or form.text("topic", longest=_LONGEST_NAME)
    context.visits(url)
    context.topics.mark(name, url, is_good=_MARKS[form.choice("mark", tuple(_MARKS))])
    if form.text("from", longest=10) == "page":
        return form.to("/page", url=url)
    return form.to("/topic", name=name)


def learn_topic(context: Context, form: Form) -> str:
    name = form.text("name", longest=_LONGEST_NAME)
    context.topics.learn(name)
    return form.to("/topic", name=name)


# -- topics of words ------------------------------------------------------------------------------


_LONGEST = 100_000  # characters of a topic
_LONGEST_HANDED_IN = 2_000
_MOST_SHOWN = 200
_FOUND = 100  # pages of a crawl that words are suggested from


def words_page(context: Context, arguments: Arguments) -> Response:
    """Show the words of a topic to be changed; marks, or what a crawl found, suggest more."""
    desk = context.topics
    name = arguments.text("name", longest=_LONGEST_NAME)
    marked = arguments.text("marks", longest=_LONGEST_NAME)
    job = arguments.text("job", longest=300)
    found = found_media(context, job).best(0, _FOUND) if job else ()
    suggested = desk.suggested(marked, [one.url for one in found]) if marked or job else []
    return page(
        arguments,
        "topic_words",
        name=name,
        marked=marked,
        text=own_words(name) if name else "",
        suggested=suggested,
        asked=bool(marked or job),
        marks=Marks(context.catalogue).topics(),
    )


def save_words(context: Context, form: Form) -> str:
    name = form.text("name", longest=_LONGEST_NAME)
    ticked = "\n".join(form.several("add"))
    text = f"{form.text('words', longest=_LONGEST)}\n{ticked}".strip() + "\n"
    context.topics.keep_words(name, text.replace("\r\n", "\n"))
    return form.to("/topic/words", name=name)


# -- words that people hand in ------------------------------------------------------------


def suggestions_page(context: Context, arguments: Arguments) -> Response:
    """Show the form in which words are handed in, and those that wait to be decided."""
    desk = context.topics
    by_stage: dict[str, list[str]] = {}
    for name, stage in topic_stages().items():
        by_stage.setdefault(stage, []).append(name)
    waiting = Suggestions(context.catalogue).waiting()
    return page(
        arguments,
        "suggestions",
        topic=arguments.text("topic", longest=_LONGEST_NAME),
        by_stage=by_stage,
        own=[name for name in desk.names_of_words() if name not in topic_names()],
        waiting=waiting[:_MOST_SHOWN],
        count=len(waiting),
        new=arguments.whole("new", -1, least=0),
        can_mark=context.catalogue.can_keep,
    )


def suggest_words(context: Context, form: Form) -> str:
    desk, text = context.topics, form.text("words", longest=_LONGEST_HANDED_IN)
    name = form.choice("topic", (*topic_names(), *desk.names_of_words()))
    concepts = parse_plain(text.encode(), name, name).concepts
    by = form.text("by", longest=_LONGEST_NAME)
    new = Suggestions(context.catalogue).put(name, concepts, by)
    return form.to("/topic/suggestions", topic=name, new=new)


def decide_suggestion(context: Context, form: Form) -> str:
    accepted = form.choice("decision", ("accept", "decline")) == "accept"
    context.topics.decide(form.text("id", longest=_LONGEST_NAME), accepted=accepted)
    return form.to("/topic/suggestions")
