"""The interface in the languages of its readers."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from markupsafe import Markup

from mmcrawl.browse.text import isolated
from mmcrawl.terminal.program import as_called
from mmcrawl.topic.loading import shipped_topic, topic_names

LANGUAGES = ("en", "zh")


@lru_cache(maxsize=1)
def sentences() -> dict[str, tuple[str, ...]]:
    """Return the sentences by name, each in all :data:`LANGUAGES`."""
    read = tomllib.loads((files("mmcrawl.browse") / "words.toml").read_text(encoding="utf-8"))
    return {name: tuple(texts) for name, texts in read.items()}


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences of the interface in one language; call it with the name of a sentence.

    Attributes:
        language: ``en`` or ``zh``.
        chosen: Whether the reader named it in the address, so that links must go on naming it.

    >>> Words("en")("pages", n=1), Words("en")("pages", n=1200)
    ('1 page', '1,200 pages')
    """

    language: str
    chosen: bool = False

    def __call__(self, name: str, /, **values: object) -> str:
        """Return a sentence; what it names is isolated, so that it cannot turn the sentence round.

        Raises:
            KeyError: there is no such sentence.
        """
        text = as_called(sentences()[name][LANGUAGES.index(self.language)])
        if "|" in text:
            one, many = text.split("|")
            text = one if values.get("n") == 1 else many
        shown = {key: _shown(value) for key, value in values.items()}
        if any(isinstance(value, Markup) for value in shown.values()):
            return Markup.escape(text).format_map(shown)
        return text.format_map(shown)

    def maybe(self, name: str) -> str:
        """Return a sentence, or what follows the first dot of its name if there is none."""
        return self(name) if name in sentences() else name.partition(".")[2]

    def topic(self, name: str) -> str:
        """Return what a topic that ships with mmcrawl is called, another one's name as it is."""
        titles = _topic_titles().get(name)
        return titles[LANGUAGES.index(self.language)] if titles else name


@lru_cache(maxsize=1)
def _topic_titles() -> dict[str, tuple[str, str]]:
    topics = map(shipped_topic, topic_names())
    return {topic.name: (topic.title_en or topic.title, topic.title) for topic in topics}


def words_for(chosen: str, remembered: str, accepted: str) -> Words:
    """Return the language that is chosen, or was before, else the first of Accept-Language.

    >>> words_for("", "", "fr, zh-CN;q=0.8, en;q=0.5").language
    'zh'
    """
    if chosen in LANGUAGES:
        return Words(chosen, chosen=True)
    return Words(remembered if remembered in LANGUAGES else _accepted(accepted[:500]))


@lru_cache(maxsize=256)
def _accepted(header: str) -> str:
    wanted = []
    for place, part in enumerate(header.split(",")):
        name, _, parameter = part.partition(";")
        try:
            quality = float(parameter.strip().removeprefix("q=")) if parameter else 1.0
        except ValueError:
            continue
        language = name.strip().lower().partition("-")[0]
        if language in LANGUAGES and quality > 0:
            wanted.append((-quality, place, language))
    return min(wanted)[2] if wanted else LANGUAGES[0]


def _shown(value: object) -> str:
    if isinstance(value, Markup):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return isolated(str(value), 200)
